/** Installs what a benchmark compares with into bench/node_modules: the gateway itself depends on none of it. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));

export function installPeers(...names) {
  if (names.every((name) => existsSync(join(folder, 'node_modules', name, 'package.json')))) return;
  const done = spawnSync(
    'npm',
    ['install', '--prefix', folder, '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts'],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  if (done.status !== 0) throw new Error(`npm install in ${folder} failed with ${done.status}`);
}
