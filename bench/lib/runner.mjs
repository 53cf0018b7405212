/**
 * Measures groups of rows: targets take turns in every round, and each round begins with another target and
 * another job, so that what else the machine does meets all of them. Prints what it does to `say`.
 */

const MIN_ROUNDS = 1;
const JOB_TIMEOUT_MS = 90_000;

/**
 * `plan`: `[{ group, jobs, targets }]`. Gives `{ figures, failures, notes }`; `figures[row][target]` has a value
 * for each round, null where that measurement failed.
 */
export async function runPlan({ plan, mock, quick, rounds: wantedRounds, untilMs, say }) {
  const result = { figures: {}, failures: [], notes: [] };
  for (const [index, { group, jobs, targets }] of plan.entries()) {
    if (performance.now() > untilMs) {
      result.notes.push(`${group.name} was not measured: the time was used up`);
      continue;
    }
    const rounds = quick ? 1 : (wantedRounds ?? group.rounds);
    // Its part of the time that is left: what one group takes too long is not the last one's loss alone.
    const weights = plan.slice(index).map(({ group: each }) => each.seconds);
    const share = group.seconds / weights.reduce((sum, each) => sum + each, 0);
    const budgetMs = (untilMs - performance.now()) * share;
    say(`[${index + 1}/${plan.length}] ${group.name}: ${targets.map(({ name }) => name).join(', ')}`);
    await runGroup({ group, jobs, targets, rounds, budgetMs, mock, quick, untilMs, say, result });
  }
  return result;
}

async function runGroup({ group, jobs, targets, rounds, budgetMs, mock, quick, untilMs, say, result }) {
  const begun = performance.now();
  const lanes = await openLanes(group, targets, { mock, quick }, result);
  const broken = new Set();
  try {
    const first = group.warmUp === false ? 0 : -1;
    for (let round = first; round < rounds; round++) {
      if (round >= MIN_ROUNDS && performance.now() - begun > budgetMs) {
        result.notes.push(
          `${group.name}: ${round} of ${rounds} rounds, its ${seconds(budgetMs)} were used up`,
        );
        return;
      }
      say(`  ${round < 0 ? 'warming up' : `round ${round + 1} of ${rounds}`}`);
      for (const job of turned(jobs, round)) {
        if (performance.now() > untilMs) {
          result.notes.push(`${group.name} ended in round ${round + 1} of ${rounds}: the time was used up`);
          return;
        }
        await runJob({ group, job, lanes, round, quick, broken, result });
      }
    }
  } finally {
    for (const { running } of lanes) await running.stop();
  }
}

async function openLanes(group, targets, context, result) {
  const lanes = [];
  for (const target of targets) {
    try {
      lanes.push(await group.open(target, context));
    } catch (error) {
      result.failures.push({ row: group.name, target: target.name, message: error.message });
    }
  }
  return lanes;
}

async function runJob({ group, job, lanes, round, quick, broken, result }) {
  const able = lanes.filter(({ target }) => group.can?.(target, job) ?? true);
  const run = async (lane, place) => {
    const { name } = lane.target;
    const row = group.rowsOf(job).join(', ');
    const id = `${row} ${name}`;
    if (broken.has(id)) return;
    const state = { round, warming: round < 0, quick, place, places: able.length };
    try {
      const found = await inTime(group.measure(lane, job, state));
      if (round >= 0)
        for (const [row, figure] of Object.entries(found)) keep(result, row, name, round, figure);
    } catch (error) {
      // Once is enough: what answers wrongly is not measured.
      broken.add(id);
      for (const each of group.rowsOf(job)) delete result.figures[each]?.[name];
      result.failures.push({ row, target: name, message: error.message });
    }
  };
  const order = turned(able, round);
  if (group.together) await Promise.all(order.map(run));
  else for (const [place, lane] of order.entries()) await run(lane, place);
}

/** The same list, begun at another place in every round. */
function turned(list, round) {
  return list.map((_, i) => list[(i + Math.max(0, round)) % list.length]);
}

function keep({ figures }, row, target, round, figure) {
  figures[row] ??= {};
  figures[row][target] ??= [];
  const rounds = figures[row][target];
  while (rounds.length < round) rounds.push(null);
  rounds[round] = figure;
}

const seconds = (ms) => `${Math.round(ms / 1000)} s`;

function inTime(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${JOB_TIMEOUT_MS / 1000} s`)), JOB_TIMEOUT_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
