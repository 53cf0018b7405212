import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** Relative to the folder, with `/` on every system. */
export async function filesUnder(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'));
}
