// Builds the page into dist/, with the gateway's version written into it: both ship in one package.
// Files are put in place one by one, the page last, and what is not needed any more goes after it:
// a gateway that serves the folder meanwhile gives out either the old page or the new one.
import { cp, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const PAGE = 'index.html';

/** Resolves to the folder that the gateway serves. */
export async function buildConsole(outDir = join(here, 'dist')) {
  const { build } = await import('vite');
  const made = await mkdtemp(join(here, '.build-'));
  try {
    await build({
      root: here,
      configFile: join(here, 'vite.config.ts'),
      logLevel: 'warn',
      build: { outDir: made, emptyOutDir: true },
    });
    await replace(made, outDir);
  } finally {
    await rm(made, { recursive: true, force: true });
  }
  return outDir;
}

async function replace(from, to) {
  const wanted = (await filesUnder(from)).toSorted((a, b) => Number(a === PAGE) - Number(b === PAGE));
  for (const file of wanted) {
    const temporary = join(to, `${file}.${process.pid}.tmp`);
    await cp(join(from, file), temporary, { recursive: true });
    await rename(temporary, join(to, file));
  }
  const kept = new Set(wanted);
  const stale = (await filesUnder(to)).filter((file) => !kept.has(file) && !file.endsWith('.tmp'));
  for (const file of stale) await rm(join(to, file), { force: true });
}

async function filesUnder(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? dirname(folder), entry.name).slice(folder.length + 1));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildConsole();
