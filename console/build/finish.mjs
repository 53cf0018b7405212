/** What is made of the built page: icons, the service worker with its list of files, compressed copies. */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { filesUnder } from './files.mjs';
import { drawIcon, ICONS } from './icons.mjs';

const PAGE = 'index.html';
const WORKER = 'service-worker.js';
/**
 * The list of modules, the worker itself, compressed copies and licences: no page asks for them. Faces
 * beyond Latin are fetched with the first character that needs them.
 */
const NOT_FETCHED = /^\.vite\/|^service-worker\.js$|\.(?:gz|br)$|^licences\.txt$|-latin-ext-.*\.woff2$/;
/** The Open Font License goes with every copy of a face. */
const FACES = ['@fontsource-variable/inter', '@fontsource-variable/jetbrains-mono'];
const LICENCES = 'licences.txt';
const ASSETS = 'assets/';
/** Only files with a hash in their name: a copy can then never be of another version than the file. */
const COMPRESSED = new Set(['.js', '.css', '.svg']);
/** Below this the headers cost more than is won. */
const WORTH_BYTES = 1024;

const compressGzip = promisify(gzip);
const compressBrotli = promisify(brotliCompress);

export async function finish(folder, workerSource) {
  await Promise.all(ICONS.map((icon) => writeFile(join(folder, icon.file), drawIcon(icon))));
  await writeFile(join(folder, LICENCES), await licencesOfFaces());
  await writeWorker(folder, workerSource);
  const assets = (await filesUnder(folder)).filter((file) => file.startsWith(ASSETS));
  await Promise.all(assets.map((file) => compress(join(folder, file))));
}

async function licencesOfFaces() {
  const texts = await Promise.all(
    FACES.map((name) => readFile(fileURLToPath(import.meta.resolve(`${name}/LICENSE`)), 'utf8')),
  );
  return FACES.map((name, index) => `${name}\n\n${texts[index].trim()}\n`).join('\n\n');
}

/** Lists the files of the folder in it; its version is a hash of them. */
export async function writeWorker(folder, sourceFile) {
  const files = (await filesUnder(folder)).filter((file) => !NOT_FETCHED.test(file)).toSorted();
  const hash = createHash('sha256');
  for (const file of files)
    hash
      .update(file)
      .update('\0')
      .update(await readFile(join(folder, file)));
  const version = hash.digest('hex').slice(0, 16);
  const paths = files.map((file) => (file === PAGE ? '/' : `/${file}`));
  const source = await readFile(sourceFile, 'utf8');
  const worker = source
    .replace("'%VERSION%'", () => `'${version}'`)
    .replace("['%FILES%']", () => JSON.stringify(paths));
  if (worker.includes('%FILES%') || worker.includes('%VERSION%'))
    throw new Error(`${sourceFile} has no place for its files`);
  await writeFile(join(folder, WORKER), worker);
}

async function compress(path) {
  if (!COMPRESSED.has(extname(path))) return;
  const body = await readFile(path);
  if (body.length < WORTH_BYTES) return;
  const [small, smaller] = await Promise.all([
    compressGzip(body, { level: 9 }),
    compressBrotli(body, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
    }),
  ]);
  await Promise.all([writeFile(`${path}.gz`, small), writeFile(`${path}.br`, smaller)]);
}
