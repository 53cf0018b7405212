// What a browser fetches on its first visit: the page, its entry, the chat, what these import, and the
// faces of a page in a Latin script.
// Run as a program it prints the figure.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const DIST = fileURLToPath(new URL('../console/dist', import.meta.url));
const PAGE = 'index.html';
/** As the build's list of modules names them. */
const FIRST_MODULES = [PAGE, 'src/chat/chat-page.tsx'];
/** The other faces are loaded with the first character of their range. */
const FACES = /-latin-wght-normal-.*\.woff2$/;

/** Bytes with gzip, by file, the largest first. */
export async function firstLoad(dist = DIST) {
  const modules = JSON.parse(await readFile(join(dist, '.vite/manifest.json'), 'utf8'));
  const files = new Set([PAGE]);
  const seen = new Set();
  const visit = (name) => {
    if (seen.has(name)) return;
    seen.add(name);
    const found = modules[name];
    if (found === undefined) throw new Error(`The build has no ${name}`);
    files.add(found.file);
    for (const css of found.css ?? []) files.add(css);
    for (const imported of found.imports ?? []) visit(imported);
  };
  for (const name of FIRST_MODULES) visit(name);
  for (const { file } of Object.values(modules)) if (FACES.test(file)) files.add(file);
  const sizes = await Promise.all(
    [...files].map(async (file) => ({
      file,
      bytes: gzipSync(await readFile(join(dist, file)), { level: 9 }).length,
    })),
  );
  return sizes.toSorted((a, b) => b.bytes - a.bytes);
}

export const totalOf = (files) => files.reduce((sum, { bytes }) => sum + bytes, 0);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = await firstLoad();
  for (const { file, bytes } of files) console.log(`${String(bytes).padStart(8)}  ${file}`);
  console.log(`${String(totalOf(files)).padStart(8)}  bytes in all, with gzip`);
}
