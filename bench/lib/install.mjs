/** Installs what a benchmark compares with below bench/: the gateway itself depends on none of it. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const bench = fileURLToPath(new URL('..', import.meta.url));

/** `folder`: of bench/, with a package.json that has them. Scripts of packages do not run. */
export function installPeers(names, folder = '.') {
  const prefix = join(bench, folder);
  const installed = (name) => existsSync(join(prefix, 'node_modules', name, 'package.json'));
  if (names.every(installed)) return;
  const done = spawnSync(
    'npm',
    ['install', '--prefix', prefix, '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts'],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  if (done.status !== 0) throw new Error(`npm install in ${prefix} failed with ${done.status}`);
}
