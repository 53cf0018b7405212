/**
 * What the first page of a 1 GB file costs more than that of a small one. `node bench/read-large.mjs [rounds]`
 * Every measurement is a process of its own, since memory is its peak; small and large take turns.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, spread, table } from './lib/stats.mjs';

const ROUNDS = Number(process.argv[2] ?? 7);
const READS = 20;
const LIMITS = { moreMs: 50, moreMb: 2 };
const GIGABYTE = 1024 ** 3;

if (process.argv[2] === 'child') await measure(process.argv[3], process.argv[4]);
else process.exitCode = await compare();

/** In a process of its own: the first read with a cold tool, then the median of more of them. */
async function measure(bundle, path) {
  const { readTool } = await import(bundle);
  const context = () => ({
    signal: new AbortController().signal,
    session: { cwd: '/' },
    workspace: { root: '/', home: '/' },
    options: { tools: [] },
    files: new Map(),
    readable: () => true,
  });
  const before = process.resourceUsage().maxRSS;
  const times = [];
  for (let index = 0; index < READS; index++) {
    const start = performance.now();
    for await (const { resultForAssistant } of readTool.call({ file_path: path }, context())) {
      if (!resultForAssistant.includes('  2000\t')) throw new Error('this is not the first page');
    }
    times.push(performance.now() - start);
  }
  const [first, ...rest] = times;
  const peakMb = (process.resourceUsage().maxRSS - before) / 1024;
  console.log(JSON.stringify({ first, warm: median(rest), peakMb }));
}

async function compare() {
  const { build } = await import('esbuild');
  const folder = mkdtempSync(join(tmpdir(), 'toolgate-bench-'));
  try {
    const bundle = join(folder, 'read.mjs');
    await build({
      entryPoints: [fileURLToPath(new URL('../src/tools/files/read.ts', import.meta.url))],
      outfile: bundle,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      external: ['unpdf'],
    });
    const line = 'a line as it is in a log, not long\n';
    const files = { small: join(folder, 'small.log'), large: join(folder, 'large.log') };
    writeFileSync(files.small, line.repeat(2100));
    writeFileSync(files.large, line.repeat(100_000));
    truncateSync(files.large, GIGABYTE);

    const found = { small: [], large: [] };
    for (let round = 0; round < ROUNDS; round++) {
      for (const name of Object.keys(files)) {
        const self = fileURLToPath(import.meta.url);
        const printed = execFileSync(process.execPath, [self, 'child', bundle, files[name]], {
          encoding: 'utf8',
        });
        found[name].push(JSON.parse(printed));
      }
    }
    return report(found);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(found) {
  const row = (label, key, digits) => {
    const [small, large] = [found.small, found.large].map((all) => all.map((each) => each[key]));
    const more = median(large) - median(small);
    const ratio = median(large) / median(small);
    return {
      more,
      cells: [label, spread(small, digits), spread(large, digits), more.toFixed(digits), ratio.toFixed(2)],
    };
  };
  const first = row('first read, ms', 'first', 2);
  const warm = row('later reads, ms', 'warm', 2);
  const peak = row('peak memory over the idle process, MB', 'peakMb', 1);
  console.log(
    table([['', 'small file', '1 GB file', 'difference', 'ratio'], first.cells, warm.cells, peak.cells]),
  );
  const met = first.more <= LIMITS.moreMs && warm.more <= LIMITS.moreMs && peak.more <= LIMITS.moreMb;
  console.log(
    `\nAt most ${LIMITS.moreMs} ms more, and no more memory (within ${LIMITS.moreMb} MB): ${met ? 'met' : 'missed'}`,
  );
  return met ? 0 : 1;
}
