/** Before any test: tests that start `bin/toolgate.js` must run what the sources say, not an old bundle. */
import { spawnSync } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** What the build printed when it failed; empty when the bundle is good. */
    buildProblem: string;
  }
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BUILT = 'dist/cli.js';
const SOURCES = [
  'src',
  'test/conformance',
  'console/src',
  'console/index.html',
  'console/vite.config.ts',
  'console/public',
  'console/build',
  'console/service-worker.js',
  'scripts/build.mjs',
  'console/build.mjs',
  'package.json',
];

async function changedAt(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || !found.isDirectory()) return found?.mtimeMs ?? 0;
  const inside = await readdir(path);
  return Math.max(found.mtimeMs, ...(await Promise.all(inside.map((name) => changedAt(join(path, name))))));
}

async function isStale(): Promise<boolean> {
  const built = await changedAt(join(ROOT, BUILT));
  const changes = await Promise.all(SOURCES.map((path) => changedAt(join(ROOT, path))));
  return Math.max(...changes) > built;
}

/** A build that fails is a failure of the tests that need it, and of no others. */
export async function setup(project: TestProject): Promise<void> {
  let problem = '';
  if (await isStale()) {
    const build = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: ROOT, encoding: 'utf8' });
    if (build.status !== 0) problem = `${build.stdout}${build.stderr}`.trim() || 'scripts/build.mjs failed';
  }
  project.provide('buildProblem', problem);
}
