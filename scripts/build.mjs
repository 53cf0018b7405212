// Bundles the gateway into dist/ and builds the console. `npm ci` in a clone runs it as `prepare` of
// the workspace console: in the published package.json npm would take it for an install script.
//
// Packages are bundled because it halves their cost at start-up: reading one file is cheaper than
// resolving a few hundred. The bundle is one script, not a module, because only a script can be loaded
// with V8's code cache, which halves the start again (bin/load-bundle.js, decision 0020). Outputs are
// renamed into place one by one, the script last, so that a gateway that starts meanwhile reads either
// the old bundle or the new one.
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
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
  // What `pg` would take instead of its own protocol, if it were there.
  'pg-native',
];

// CommonJS packages inside an ES module need a `require` for Node's own modules.
const MODULE_BANNER = [
  "import { createRequire as createRequireOfBundle } from 'node:module';",
  'const require = createRequireOfBundle(import.meta.url);',
].join('\n');

/** The script is a function of these, which `bin/load-bundle.js` gives. */
const PARAMETERS = 'exports, require, bundleUrl, bundleLoader';

/** `import()` of what is not in the bundle. Types, as in `typeof import('pg')`, are not calls. */
const OUTSIDE_IMPORT = /(?<!typeof |: )\bimport\((?!\s*['"]\.{1,2}\/)(\s*['"]([^'"]+)['"])?/g;

const isOutside = (specifier) =>
  EXTERNAL.some((name) => specifier === name || specifier.startsWith(`${name}/`));

/** A script has no loader of its own: what it loads at run time, it asks of who loaded it. */
const outsideImports = {
  name: 'outside-imports',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path, namespace: 'built-in' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'built-in' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)})`,
    }));
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const contents = source.replaceAll(OUTSIDE_IMPORT, (call, argument = '', specifier) =>
        specifier === undefined || isOutside(specifier) ? `bundleLoader.load(${argument}` : call,
      );
      return { contents, loader: 'ts' };
    });
  },
};

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

/**
 * One byte a character, in the file and in memory: esbuild escapes what stands in strings, and leaves
 * regular expressions. The script ends with its digest, by which its code cache is known to be of it.
 */
function marked({ path, contents }) {
  if (!path.endsWith('.js')) return { path, contents };
  const text = Buffer.from(contents)
    .toString('utf8')
    .replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const mark = createHash('sha256').update(text).digest('hex');
  return { path, contents: Buffer.from(`${text}//# digest=${mark}`) };
}

const COMMON = {
  absWorkingDir: root,
  outdir: 'dist',
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  external: EXTERNAL,
  // A quarter less to read and to keep in memory. Names stay: logs say the class of an error, and
  // workers are given the text of functions. Lines stay short, for an uncaught error shows its line.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 160,
  sourcemap: 'linked',
  logLevel: 'warning',
  write: false,
};

async function buildGateway(esbuild) {
  const script = await esbuild.build({
    ...COMMON,
    entryPoints: { cli: 'src/cli/main.ts' },
    format: 'cjs',
    define: { 'import.meta.url': 'bundleUrl', 'import.meta.resolve': 'bundleLoader.resolve' },
    // Strict, as modules are.
    banner: { js: `(function (${PARAMETERS}) { 'use strict'; const module = { exports };` },
    footer: { js: 'return module.exports })' },
    plugins: [outsideImports],
    metafile: true,
  });
  const { imports } = script.metafile.outputs['dist/cli.js'];
  const left = imports.find(({ kind, external }) => external && kind === 'dynamic-import');
  if (left !== undefined) throw new Error(`The bundle is a script and cannot import() ${left.path}.`);
  const modules = await esbuild.build({
    ...COMMON,
    entryPoints: {
      tools: 'src/tools/public.ts',
      // A program of its own, for `toolgate conformance`: it needs nothing of the gateway.
      conformance: 'test/conformance/packaged.ts',
    },
    format: 'esm',
    banner: { js: MODULE_BANNER },
  });
  const outputs = [...modules.outputFiles, ...script.outputFiles.map(marked)];
  for (const { path, contents } of outputs) await writeIfChanged(path, contents);
  const kept = new Set([...outputs.map(({ path }) => path), ...(await writeTypes()), await writeCases()]);
  for (const path of await filesUnder(dist)) if (!kept.has(path)) await rm(path, { force: true });
  // Marks the bundle as newer than its sources, even where nothing in it changed.
  const stamp = new Date();
  await utimes(join(dist, 'cli.js'), stamp, stamp);
  await warmUp();
  return outputs.filter(({ path }) => path.endsWith('.js'));
}

/** The cases of the conformance suite as one file. Gives its path. */
async function writeCases() {
  const folder = join(root, 'test/conformance/cases');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json') && name !== 'not-here.json');
  const cases = await Promise.all(
    names.toSorted().map(async (name) => ({
      name: name.replace(/\.json$/, ''),
      ...JSON.parse(await readFile(join(folder, name), 'utf8')),
    })),
  );
  const path = join(dist, 'conformance-cases.json');
  await writeIfChanged(path, Buffer.from(JSON.stringify(cases)));
  return path;
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

/**
 * A gateway that lives for some requests leaves V8's code cache of what it ran beside the bundle. A build
 * without it is whole: starts are slower.
 */
async function warmUp() {
  const home = await mkdtemp(join(tmpdir(), 'toolgate-warm-up-'));
  const env = { PATH: process.env.PATH, HOME: home, SystemRoot: process.env.SystemRoot };
  const command = [join(root, 'bin/toolgate.js'), 'start', '--port', '0'];
  const gateway = spawn(process.execPath, command, { cwd: home, env, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(gateway, 'exit');
  try {
    let printed = '';
    for await (const text of gateway.stdout.setEncoding('utf8')) {
      printed += text;
      const [, url] = /listens on (http\S+)/.exec(printed) ?? [];
      if (url === undefined) continue;
      for (const stream of [false, true, true]) await ask(url, stream);
      break;
    }
    gateway.kill('SIGTERM');
    await ended;
  } finally {
    gateway.kill('SIGKILL');
    await rm(home, { recursive: true, force: true });
  }
}

/** The demo model, by the two dialects that most clients speak. */
async function ask(url, stream) {
  const messages = [{ role: 'user', content: 'What is 6 * 7?' }];
  const body = JSON.stringify({ model: 'demo', max_tokens: 100, messages, stream });
  const headers = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' };
  for (const path of ['/v1/messages', '/v1/chat/completions']) {
    const answer = await fetch(url + path, { method: 'POST', headers, body });
    await answer.text();
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
