/**
 * Which files found in working folders the user has taken as their own: configurations by path and
 * digest, stores by path and a secret beside them. Each is a file of its own, so that two commands
 * at once lose nothing of each other's.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import type { Environment } from './environment-references.js';
import { userStateFolder } from './user-folders.js';

const entrySchema = z.object({
  path: z.string(),
  sha256: z.string(),
  /** What the configuration did when it was trusted, to say what has changed since. */
  does: z.array(z.string()).default([]),
});

type TrustEntry = z.infer<typeof entrySchema>;
type TrustedKind = 'configurations' | 'stores';

export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Undefined where nothing is recorded for the path, or what is there cannot be read. */
export async function findTrust(
  env: Environment,
  kind: TrustedKind,
  path: string,
): Promise<TrustEntry | undefined> {
  const text = await readFile(entryFile(env, kind, path), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const parsed = entrySchema.safeParse(parseJson(text));
  return parsed.success && parsed.data.path === path ? parsed.data : undefined;
}

/** Rejects with what the file system says where the user's state folder cannot be written. */
export async function recordTrust(env: Environment, kind: TrustedKind, entry: TrustEntry): Promise<void> {
  const file = entryFile(env, kind, entry.path);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeFile(temporary, `${JSON.stringify(entry, null, 2)}\n`, { flag: 'wx', mode: 0o600 });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function entryFile(env: Environment, kind: TrustedKind, path: string): string {
  return join(userStateFolder(env), 'trusted', kind, `${sha256(path)}.json`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
