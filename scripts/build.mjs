// Bundles the gateway into dist/ and builds the console. `npm ci` in a clone runs it as `prepare` of
// the workspace console: in the published package.json npm would take it for an install script.
//
// Packages are bundled because it halves their cost at start-up: reading one file is cheaper than
// resolving a few hundred. Commands are split into chunks, so that `--version` does not load the
// server. Outputs are renamed into place one by one, the entry last, so that a gateway that starts
// meanwhile reads either the old bundle or the new one.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

/** Packages that stay in node_modules: they find a binary, a grammar or a worker relative to themselves. */
const EXTERNAL = [
  'libsql',
  '@swc/wasm-typescript',
  '@vscode/ripgrep',
  '@vscode/tree-sitter-wasm',
  'web-tree-sitter',
  '@anthropic-ai/sandbox-runtime',
  'unpdf',
];

// CommonJS packages inside an ES module need a `require` for Node's own modules.
const BANNER = [
  "import { createRequire as createRequireOfBundle } from 'node:module';",
  'const require = createRequireOfBundle(import.meta.url);',
].join('\n');

async function loadEsbuild() {
  try {
    return await import('esbuild');
  } catch (error) {
    if (error?.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

async function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function writeIfChanged(path, contents) {
  const current = await readFile(path).catch(() => undefined);
  if (current !== undefined && Buffer.compare(current, contents) === 0) return;
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  await writeFile(temporary, contents);
  await rename(temporary, path);
}

async function buildGateway(esbuild) {
  const result = await esbuild.build({
    absWorkingDir: root,
    entryPoints: { cli: 'src/cli/main.ts', tools: 'src/tools/public.ts' },
    outdir: 'dist',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: EXTERNAL,
    chunkNames: 'chunks/[name]-[hash]',
    banner: { js: BANNER },
    // A quarter less to read and to keep in memory. Names stay: logs say the class of an error, and
    // workers are given the text of functions. Lines stay short, for an uncaught error shows its line.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 160,
    sourcemap: 'linked',
    logLevel: 'warning',
    write: false,
  });
  const entry = join(dist, 'cli.js');
  const outputs = result.outputFiles.toSorted((a, b) => Number(a.path === entry) - Number(b.path === entry));
  for (const { path, contents } of outputs) await writeIfChanged(path, contents);
  const kept = new Set([...outputs.map(({ path }) => path), ...(await writeTypes())]);
  for (const path of await filesUnder(dist)) if (!kept.has(path)) await rm(path, { force: true });
  // Marks the bundle as newer than its sources, even where nothing in it changed.
  const stamp = new Date();
  await utimes(entry, stamp, stamp);
  return outputs.filter(({ path }) => path.endsWith('.js'));
}

/** Declarations of `toolgate/tools`, for whoever writes a tool. Gives the paths of the files. */
async function writeTypes() {
  const types = join(dist, 'types');
  const compiler = createRequire(import.meta.url).resolve('typescript/package.json');
  const tsc = join(dirname(compiler), 'bin', 'tsc');
  const made = await mkdtemp(join(tmpdir(), 'toolgate-types-'));
  try {
    const options = ['-p', 'tsconfig.types.json', '--outDir', made];
    await promisify(execFile)(process.execPath, [tsc, ...options], { cwd: root });
    const files = await filesUnder(made);
    const targets = files.map((path) => join(types, relative(made, path)));
    for (const [index, path] of files.entries()) await writeIfChanged(targets[index], await readFile(path));
    return targets;
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

/** What the tools of the build say where the part for this platform, an optional dependency, is not there. */
const NO_NATIVE_PART = /Unable to resolve @typescript\/|Cannot find native binding|needed by esbuild/;

const started = performance.now();
const esbuild = await loadEsbuild();
if (esbuild === undefined) {
  // An install without development dependencies: a published package carries its bundle.
  if (existsSync(join(dist, 'cli.js'))) process.exit(0);
  console.error('Cannot build: esbuild is not installed. Run `npm ci` without `--omit=dev`.');
  process.exit(1);
}

try {
  const outputs = await buildGateway(esbuild);
  const { buildConsole } = await import('../console/build.mjs');
  const pages = await buildConsole();
  const bytes = outputs.reduce((sum, { contents }) => sum + contents.byteLength, 0);
  const took = Math.round(performance.now() - started);
  const shown = (path) => relative(root, path).split(sep).join('/');
  console.log(
    `built ${shown(join(dist, 'cli.js'))} (${outputs.length} files, ${Math.round(bytes / 1024)} KB)` +
      ` and ${shown(pages)} in ${took} ms`,
  );
} catch (error) {
  if (NO_NATIVE_PART.test(error?.message)) {
    console.error(
      'Cannot build: optional dependencies were left out. Run `npm ci` without `--omit=optional`.',
    );
  } else if (!Array.isArray(error?.errors)) {
    // Otherwise esbuild has already printed what it found in the sources.
    console.error(error);
  }
  process.exit(1);
}
