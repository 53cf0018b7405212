/** A git repository and a home for a client, both its own and removed after the test. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, watch, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { tempFolder } from '../support/cleanup.js';
import { systemProgram } from '../support/system-program.js';

const run = promisify(execFile);

export type Files = Readonly<Record<string, string | Uint8Array>>;

export interface Workspace {
  /** The repository. */
  path: string;
  home: string;
  /** The path of a file as clients name it. */
  at(name: string): string;
  read(name: string): Promise<string>;
  /** Resolves when a file of this name is made at the top of the repository. */
  appears(name: string): Promise<void>;
}

const WHO = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];

/** The files are committed, so that the client finds a clean tree. */
export async function makeWorkspace(files: Files = {}): Promise<Workspace> {
  const { path: root } = await tempFolder('toolgate-client');
  const [path, home] = [join(root, 'repo'), join(root, 'home')];
  await mkdir(path);
  await mkdir(home);
  const at = (name: string): string => join(path, name);
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(at(name)), { recursive: true });
    await writeFile(at(name), content);
  }
  const git = (...args: string[]) =>
    run(systemProgram('Git'), [...WHO, ...args], {
      cwd: path,
      env: { PATH: process.env['PATH'], HOME: home },
    });
  await git('init', '-q', '-b', 'main');
  await git('add', '.');
  await git('commit', '-q', '--allow-empty', '-m', 'Start');
  const appears = async (name: string): Promise<void> => {
    const ended = new AbortController();
    const changes = watch(path, { signal: ended.signal })[Symbol.asyncIterator]();
    // It is watched from the first question on: asked before the look, nothing is missed in between.
    let change = changes.next();
    while (!existsSync(at(name))) {
      await change;
      change = changes.next();
    }
    // The question that is still open is answered by its end.
    change.catch(() => {});
    ended.abort();
  };
  return { path, home, at, appears, read: (name) => readFile(at(name), 'utf8') };
}
