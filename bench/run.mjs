/**
 * What the gateway costs next to nginx, a bare translator and others, and whether it meets its goals:
 * `npm run bench`. bench/README.md has the options and the method.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chart } from './lib/chart.mjs';
import { LOAD_CORE, pinSelf, start } from './lib/process.mjs';
import { listRows, report } from './lib/report.mjs';
import { runPlan } from './lib/runner.mjs';
import { GROUPS, ROWS } from './rows/all.mjs';
import { targetsOf } from './targets/all.mjs';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    targets: { type: 'string' },
    base: { type: 'string' },
    peers: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    minutes: { type: 'string', default: '14' },
    json: { type: 'string' },
    from: { type: 'string' },
    markdown: { type: 'boolean', default: false },
    chart: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});

const say = (text) => process.stderr.write(`${text}\n`);

if (options.list) {
  console.log(listRows(options));
} else {
  const run = options.from === undefined ? await measure() : JSON.parse(readFileSync(options.from, 'utf8'));
  console.log(report(run, options));
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(run, null, 1)}\n`);
  if (options.chart !== undefined) writeFileSync(options.chart, chart(run));
  // A goal that is missed is a result; a wrong answer of ours is a failure.
  process.exitCode = run.failures.some(({ target }) => !run.peers.includes(target)) ? 1 : 0;
}

/** `--only` takes names of rows and groups, and beginnings of them; rows that they are compared with come along. */
function isWanted(name) {
  const wanted = options.only?.split(',');
  const asked = (each) => wanted === undefined || wanted.some((beginning) => each.startsWith(beginning));
  return asked(name) || ROWS.some((row) => asked(row.name) && row.goal?.rows.includes(name));
}

async function measure() {
  const begun = performance.now();
  const notes = [];
  const peers = options.peers ? await (await import('./targets/peers.mjs')).installedPeers(notes, say) : [];
  const base = options.base === undefined ? undefined : resolve(options.base);
  const targets = selectTargets(targetsOf({ base, peers }), notes);
  const plan = planOf(targets, notes);
  if (plan.length === 0) throw new Error(`nothing to measure: --list names the rows`);
  if (availableParallelism() < 2) notes.push('one core: targets and load share it, so read ratios alone');
  pinSelf();
  const loadBefore = loadavg()[0];
  const program = fileURLToPath(new URL('lib/mock-upstream.mjs', import.meta.url));
  const mock = await start(process.execPath, [program], { core: LOAD_CORE });
  const rounds = options.rounds === undefined ? undefined : Number(options.rounds);
  const untilMs = begun + Number(options.minutes) * 60_000;
  const found = await runPlan({ plan, mock, quick: options.quick, rounds, untilMs, say });
  await mock.stop();
  return {
    date: new Date().toISOString().slice(0, 16).replace('T', ' '),
    node: process.version,
    cores: cpus().length,
    machine: `${cpus().length} × ${cpus()[0].model.trim()}`,
    load: [loadBefore, loadavg()[0]],
    seconds: Math.round((performance.now() - begun) / 1000),
    quick: options.quick,
    rows: ROWS.filter(({ name, group }) => isWanted(name) || isWanted(group)).map(({ name }) => name),
    targets: targets.map(({ name }) => name),
    peers: peers.map(({ name }) => name),
    figures: found.figures,
    failures: found.failures,
    notes: [...notes, ...found.notes],
  };
}

function selectTargets(all, notes) {
  const wanted = options.targets?.split(',');
  return all.filter((target) => {
    if (wanted !== undefined && !wanted.includes(target.name)) return false;
    const why = target.unavailable?.();
    if (why !== undefined) notes.push(`${target.name} was not measured: ${why}`);
    return why === undefined;
  });
}

function planOf(targets, notes) {
  return GROUPS.flatMap((group) => {
    const jobs = group.jobs.filter((job) => [group.name, ...group.rowsOf(job)].some(isWanted));
    if (jobs.length === 0) return [];
    const why = group.unavailable?.();
    if (why !== undefined) notes.push(`${group.name} was not measured: ${why}`);
    const able = targets.filter(
      (target) =>
        group.targets.includes(target.kind) &&
        (group.control !== false || target.name !== 'control') &&
        jobs.some((job) => group.can?.(target, job) ?? true),
    );
    return why !== undefined || able.length === 0 ? [] : [{ group, jobs, targets: able }];
  });
}
