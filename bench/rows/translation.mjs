/** What translating costs when there is no pause: whole answers, streams in one write, paced streams, first tokens. */
import { createCheck } from '../lib/checks.mjs';
import { overTarget, timesTarget } from '../lib/goals.mjs';
import { runLoad } from '../lib/load.mjs';
import { percentile } from '../lib/stats.mjs';
import { anthropicFrames } from '../lib/workload.mjs';
import { DIRECTIONS } from '../targets/directions.mjs';

const EVENTS = anthropicFrames().length;
const WINDOW_MS = 700;
const QUICK_WINDOW_MS = 60;

/** `per`: what one answer counts for. `warmUp`: answers after which the code is compiled. */
const MODES = {
  json: { concurrency: 16, per: 1, warmUp: 1000, minCount: 30 },
  burst: { concurrency: 16, per: 1, warmUp: 400, minCount: 30 },
  paced: { concurrency: 8, per: EVENTS, warmUp: 8, minCount: 16 },
  first: { concurrency: 1, per: 1, warmUp: 50, minCount: 40 },
};

const WORDS = {
  forward: 'Anthropic client on a chat upstream',
  reverse: 'OpenAI client on an Anthropic upstream',
};

const both = (row) => Object.keys(DIRECTIONS).map(row);

export const translation = {
  name: 'translation',
  targets: ['direct', 'nginx', 'bare', 'gateway', 'peer'],
  rounds: 5,
  seconds: 200,
  rows: [
    ...both((direction) => ({
      name: `json-${direction}`,
      title: `CPU of a 49 KB JSON request, ${WORDS[direction]}`,
      unit: 'ms',
      goal: timesTarget('nginx', 10),
    })),
    ...both((direction) => ({
      name: `paced-${direction}`,
      title: `CPU of a paced stream event, ${WORDS[direction]}`,
      unit: 'µs',
      goal: timesTarget('nginx', 2.4),
    })),
    ...both((direction) => ({
      name: `burst-${direction}`,
      title: `CPU of a burst stream of ${EVENTS} events, ${WORDS[direction]}`,
      unit: 'ms',
      goal: timesTarget('nginx', 12),
    })),
    ...both((direction) => ({
      name: `first-${direction}`,
      title: `time to the first token, one client, ${WORDS[direction]}`,
      unit: 'ms',
      goal: overTarget('nginx', 1.2, 'ms'),
    })),
  ],
  jobs: Object.keys(MODES).flatMap((mode) => both((direction) => ({ mode, direction }))),
  rowsOf: ({ mode, direction }) => [`${mode}-${direction}`],
  /** Without anything in between there is no CPU of a target; only the first token is compared with it. */
  can: (target, { mode, direction }) =>
    (target.kind !== 'direct' || mode === 'first') && (target.can?.(direction, mode) ?? true),

  async open(target, { mock }) {
    return { target, running: await target.start(mock) };
  },

  async measure({ target, running }, { mode, direction }, { warming, quick }) {
    const { concurrency, per, warmUp, minCount } = MODES[mode];
    const before = running.cpuNs();
    const { count, firstBytes } = await runLoad({
      port: running.port,
      request: target.request(direction, mode),
      concurrency,
      durationMs: quick ? QUICK_WINDOW_MS : WINDOW_MS,
      minCount: quick ? concurrency : warming ? warmUp : minCount,
      maxMs: 2000,
      check: createCheck(DIRECTIONS[direction].client, mode),
    });
    const cpuUs = (running.cpuNs() - before) / count / per / 1000;
    const figure = { first: percentile(firstBytes, 0.5), paced: cpuUs }[mode] ?? cpuUs / 1000;
    return { [`${mode}-${direction}`]: figure };
  },
};
