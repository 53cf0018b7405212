// Copies the page into dist/, with the gateway's version written into it: both ship in one package.
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const VERSION_MARK = '{{version}}';

/** Resolves to the folder that the gateway serves. */
export async function buildConsole() {
  const dist = join(here, 'dist');
  const { version } = JSON.parse(await readFile(join(here, '..', 'package.json'), 'utf8'));
  await cp(join(here, 'src'), dist, { recursive: true });
  const page = await readFile(join(here, 'src', 'index.html'), 'utf8');
  if (!page.includes(VERSION_MARK)) throw new Error(`console/src/index.html has no ${VERSION_MARK}`);
  await writeFile(join(dist, 'index.html'), page.replaceAll(VERSION_MARK, version));
  const wanted = new Set(await readdir(join(here, 'src')));
  const stale = (await readdir(dist)).filter((name) => !wanted.has(name));
  await Promise.all(stale.map((name) => rm(join(dist, name), { recursive: true })));
  return dist;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildConsole();
