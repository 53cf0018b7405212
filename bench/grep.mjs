// Grep against ripgrep itself, on a tree of 100,000 files: `node bench/grep.mjs [files]`.
// The runs alternate, so that a busy machine is busy for both. Needs `npm ci` only.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { rgPath } from '@vscode/ripgrep';
import { build } from 'esbuild';

const FILES = Number(process.argv[2] ?? 100_000);
const RUNS = 9;
const LIMIT = 1.3;

const folder = mkdtempSync(join(tmpdir(), 'toolgate-bench-grep-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const root = join(folder, 'tree');
for (let index = 0; index < FILES; index += 1) {
  const place = join(root, `d${index % 100}`, `e${Math.floor(index / 100) % 50}`);
  if (index < 5000) mkdirSync(place, { recursive: true });
  const found = index % 1000 === 0 ? 'const needle = findThis(value);\n' : '';
  writeFileSync(
    join(place, `file-${index}.ts`),
    `export const value${index} = ${index};\n${'// some ordinary line of a source file\n'.repeat(20)}${found}`,
  );
}

const bundle = join(folder, 'tools.mjs');
await build({
  stdin: {
    contents: `export { grepTool } from './src/tools/grep/grep.ts';
export { createTestContext, runTool } from './test/support/tool-context.ts';`,
    resolveDir: process.cwd(),
    loader: 'ts',
  },
  bundle: true,
  platform: 'node',
  format: 'esm',
  outfile: bundle,
  external: ['@vscode/ripgrep'],
  banner: {
    js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`,
  },
});
const { grepTool, createTestContext, runTool } = await import(bundle);
// The bundle lies where no packages are found.
process.env.TOOLGATE_RIPGREP = rgPath;
const context = await createTestContext({ root });

const CASES = [
  { name: 'files', rg: ['-l', 'findThis'], input: { pattern: 'findThis' } },
  { name: 'content', rg: ['-n', 'findThis'], input: { pattern: 'findThis', output_mode: 'content' } },
  { name: 'count', rg: ['-c', 'findThis'], input: { pattern: 'findThis', output_mode: 'count' } },
  { name: 'every file', rg: ['-l', 'ordinary'], input: { pattern: 'ordinary' } },
];

const median = (times) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];

console.log(`${FILES} files, ${RUNS} runs of each, in turn`);
let worst = 0;
for (const { name, rg, input } of CASES) {
  const own = [];
  const plain = [];
  for (let run = 0; run < RUNS; run += 1) {
    let start = performance.now();
    spawnSync(rgPath, ['--hidden', ...rg, './'], { cwd: root, maxBuffer: 1 << 30 });
    plain.push(performance.now() - start);
    start = performance.now();
    await runTool(grepTool, input, context);
    own.push(performance.now() - start);
  }
  const ratio = median(own) / median(plain);
  worst = Math.max(worst, ratio);
  console.log(
    `${name.padEnd(10)}  rg ${median(plain).toFixed(0).padStart(5)} ms   Grep ${median(own).toFixed(0).padStart(5)} ms   ratio ${ratio.toFixed(2)}`,
  );
}
await context.close();
console.log(worst <= LIMIT ? `at most ${LIMIT}: yes` : `at most ${LIMIT}: no`);
process.exitCode = worst <= LIMIT ? 0 : 1;
