/** Where the agent works, as facts for the model. Nothing in it changes within a day. */
import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface EnvironmentFacts {
  root: string;
  platform: string;
  /** Milliseconds since the epoch. */
  now: number;
}

export async function environmentBlock({ root, platform, now }: EnvironmentFacts): Promise<string> {
  const day = new Date(now).toISOString().slice(0, 10);
  return [
    '# Environment',
    `- Working folder: ${root}`,
    `- Git repository: ${(await isInRepository(root)) ? 'yes' : 'no'}`,
    `- Platform: ${platform}`,
    `- Date: ${day}`,
  ].join('\n');
}

/** A worktree has a file of that name. */
async function isInRepository(root: string): Promise<boolean> {
  for (let folder = root; ; folder = dirname(folder)) {
    const found = await lstat(join(folder, '.git')).catch(() => undefined);
    if (found !== undefined) return true;
    if (dirname(folder) === folder) return false;
  }
}
