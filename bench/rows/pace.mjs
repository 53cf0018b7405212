/**
 * What a request costs at a person's pace. Code and caches are cold, batches hold one thing each, and
 * everything that is sampled is taken: none of it shows when requests follow each other without a pause.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createCheck } from '../lib/checks.mjs';
import { timesTarget } from '../lib/goals.mjs';
import { Connection, renewing } from '../lib/load.mjs';
import { DIRECTIONS } from '../targets/directions.mjs';

const EVERY_MS = 400;
const REQUESTS = 10;
const MODES = { json: 'a 49 KB JSON request', burst: 'a stream of 285 events' };

export const pace = {
  name: 'pace',
  targets: ['bare', 'gateway', 'peer'],
  rounds: 4,
  seconds: 50,
  /** Each has its own turn within the 400 ms: the pause of one is enough for all. */
  together: true,
  rows: Object.entries(MODES).map(([mode, what]) => ({
    name: `pace-${mode}`,
    title: `CPU of ${what} at a person's pace, one each ${EVERY_MS} ms`,
    unit: 'ms',
    goal: timesTarget('bare', 1.5),
  })),
  jobs: Object.keys(MODES).map((mode) => ({ mode })),
  rowsOf: ({ mode }) => [`pace-${mode}`],
  can: (target, { mode }) => target.can?.('forward', mode) ?? true,

  async open(target, { mock }) {
    const running = await target.start(mock);
    return { target, running };
  },

  async measure({ target, running }, { mode }, { warming, quick, place, places }) {
    const next = renewing(target.request('forward', mode));
    const check = createCheck(DIRECTIONS.forward.client, mode);
    const requests = quick ? 2 : warming ? 5 : REQUESTS;
    const connection = new Connection(running.port);
    try {
      await delay((EVERY_MS / places) * place);
      const before = running.cpuNs();
      for (let i = 0; i < requests; i++) {
        const begun = performance.now();
        check((await connection.send(next())).body);
        await delay(Math.max(0, EVERY_MS - (performance.now() - begun)));
      }
      return { [`pace-${mode}`]: (running.cpuNs() - before) / requests / 1e6 };
    } finally {
      connection.close();
    }
  },
};
