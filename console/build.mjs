// Builds the page into dist/, with the gateway's version written into it: both ship in one package.
// Files are put in place one by one, the page and the worker last, and what is not needed any more
// goes after them: a gateway that serves the folder meanwhile gives out either the old page or the
// new one.
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { filesUnder } from './build/files.mjs';
import { finish } from './build/finish.mjs';
import { versionPlugin } from './build/version.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
/** They name the others. */
const LAST = ['index.html', 'service-worker.js'];

/** Resolves to the folder that the gateway serves. `version` is the gateway's own where it is left out. */
export async function buildConsole(outDir = join(here, 'dist'), { version } = {}) {
  const { build } = await import('vite');
  const made = await mkdtemp(join(here, '.build-'));
  // With another value in the environment the build would contain React's development version, which is slow and large.
  const before = process.env['NODE_ENV'];
  process.env['NODE_ENV'] = 'production';
  try {
    await build({
      root: here,
      configFile: join(here, 'vite.config.ts'),
      logLevel: 'warn',
      build: { outDir: made, emptyOutDir: true },
      plugins: version === undefined ? [] : [versionPlugin(version)],
    });
    await finish(made, join(here, 'service-worker.js'));
    await replace(made, outDir);
  } finally {
    if (before === undefined) delete process.env['NODE_ENV'];
    else process.env['NODE_ENV'] = before;
    await rm(made, { recursive: true, force: true });
  }
  return outDir;
}

async function replace(from, to) {
  const wanted = (await filesUnder(from)).toSorted((a, b) => LAST.indexOf(a) - LAST.indexOf(b));
  await mkdir(to, { recursive: true });
  for (const file of wanted) {
    const temporary = join(to, `${file}.${process.pid}.tmp`);
    await cp(join(from, file), temporary, { recursive: true });
    await rename(temporary, join(to, file));
  }
  const kept = new Set(wanted);
  const stale = (await filesUnder(to)).filter((file) => !kept.has(file) && !file.endsWith('.tmp'));
  for (const file of stale) await rm(join(to, file), { force: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildConsole();
