/**
 * What the gateway costs, next to nginx and a bare translator. `npm run bench [-- --rounds 3 --only nginx,toolgate]`
 * Targets are pinned to one core, load and mock upstream to the other; rounds are interleaved, CPU
 * comes from the scheduler, every answer is checked.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createCheck } from './gateway/checks.mjs';
import { report } from './gateway/report.mjs';
import { DIRECTIONS, TARGETS } from './gateway/targets.mjs';
import { openStreams, runLoad } from './lib/load.mjs';
import { cpuNs, LOAD_CORE, pinSelf, start } from './lib/process.mjs';
import { percentile } from './lib/stats.mjs';
import { anthropicFrames } from './lib/workload.mjs';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    window: { type: 'string', default: '1500' },
    streams: { type: 'string', default: '500' },
    only: { type: 'string' },
    json: { type: 'string' },
  },
});
const ROUNDS = Number(options.rounds);
const WINDOW_MS = Number(options.window);
const STREAMS = Number(options.streams);
const WARM_UP_MS = 800;
const SETTLE_MS = 3000;
const EVENTS = anthropicFrames().length;

/** `per`: what one answer counts for. `warmUp`: answers after which the code is compiled. */
const JOBS = [
  { mode: 'json', concurrency: 16, per: 1, warmUp: 2000, minCount: 500 },
  { mode: 'burst', concurrency: 16, per: 1, warmUp: 600, minCount: 200 },
  { mode: 'paced', concurrency: 8, per: EVENTS, warmUp: 8, minCount: 16 },
  { mode: 'first', concurrency: 1, per: 1, warmUp: 50, minCount: 50 },
];

const wanted = options.only?.split(',');
const skipped = [];
const targets = TARGETS.filter((target) => {
  if (wanted !== undefined && target.name !== 'direct' && !wanted.includes(target.name)) return false;
  const why = target.unavailable?.();
  if (why !== undefined) skipped.push(`${target.name}: ${why}`);
  return why === undefined;
});

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const say = (text) => process.stderr.write(`${text}\n`);

async function measure(target, running, direction, job, warming) {
  const before = cpuNs(running.pid);
  const { count, seconds, firstBytes, latencies } = await runLoad({
    port: running.port,
    request: target.request(direction, job.mode),
    concurrency: job.concurrency,
    durationMs: warming ? WARM_UP_MS : WINDOW_MS,
    minCount: warming ? job.warmUp : job.minCount,
    check: createCheck(DIRECTIONS[direction].client, job.mode),
  });
  return {
    cpuUs: (cpuNs(running.pid) - before) / count / job.per / 1000,
    perSecond: count / seconds,
    firstByteMs: percentile(firstBytes, 0.5),
    latencyMs: percentile(latencies, 0.5),
  };
}

async function footprint(target, mock) {
  const running = await target.start(mock);
  await pause(1000);
  const idleKb = running.rssKb();
  const held = await openStreams({
    port: running.port,
    request: target.request('forward', 'hold'),
    count: STREAMS,
  });
  await pause(SETTLE_MS);
  const heldKb = running.rssKb();
  held.close();
  await running.stop();
  return { startMs: running.startMs, idleMb: idleKb / 1024, perStreamKb: (heldKb - idleKb) / STREAMS };
}

const cores = availableParallelism();
pinSelf();
if (cores < 2) say('Only one core: targets and load share it, so read the figures as ratios only.');
const mock = await start(
  process.execPath,
  [fileURLToPath(new URL('lib/mock-upstream.mjs', import.meta.url))],
  {
    core: LOAD_CORE,
  },
);

const results = new Map(targets.map((target) => [target.name, { figures: [], footprints: [] }]));
const failures = [];
const running = new Map();
for (const target of targets) running.set(target, await target.start(mock));

for (let round = -1; round < ROUNDS; round++) {
  say(round < 0 ? 'warming up' : `round ${round + 1} of ${ROUNDS}`);
  for (const direction of Object.keys(DIRECTIONS)) {
    for (const job of JOBS) {
      for (const [target, process_] of running) {
        try {
          const figure = await measure(target, process_, direction, job, round < 0);
          if (round >= 0) results.get(target.name).figures.push({ direction, mode: job.mode, ...figure });
        } catch (error) {
          failures.push(`${target.name} ${direction} ${job.mode}: ${error.message}`);
        }
      }
    }
  }
}
for (const process_ of running.values()) await process_.stop();

for (let round = 0; round < ROUNDS; round++) {
  say(`${STREAMS} open streams, round ${round + 1} of ${ROUNDS}`);
  for (const target of targets) {
    if (target.name !== 'direct') results.get(target.name).footprints.push(await footprint(target, mock));
  }
}
await mock.stop();

console.log(
  report({
    results,
    skipped,
    failures,
    rounds: ROUNDS,
    streams: STREAMS,
    load: loadavg()[0],
    node: process.version,
  }),
);
if (options.json !== undefined) writeFileSync(options.json, JSON.stringify([...results], null, 2));
process.exitCode = failures.length === 0 ? 0 : 1;
