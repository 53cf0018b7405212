/** What a target costs before anybody asks it anything, and while streams are open. */
import { setTimeout as delay } from 'node:timers/promises';
import { createCheck } from '../lib/checks.mjs';
import { atMost, timesTarget } from '../lib/goals.mjs';
import { Connection, openStreams } from '../lib/load.mjs';
import { DIRECTIONS } from '../targets/directions.mjs';

const IDLE_MS = 1000;
const SETTLE_MS = 2500;
const STREAMS = 500;

export const start = {
  name: 'start',
  targets: ['nginx', 'bare', 'gateway', 'peer'],
  rounds: 5,
  seconds: 50,
  warmUp: false,
  rows: [
    { name: 'cold-start', title: 'CPU until it listens', unit: 'ms', goal: timesTarget('bare', 2.2) },
    { name: 'cold-start-settled', title: 'CPU until a second later, with what it puts off', unit: 'ms' },
    { name: 'cold-start-wall', title: 'time until it listens', unit: 'ms' },
    { name: 'idle-memory', title: 'idle memory', unit: 'MB', goal: atMost(75, 'MB') },
  ],
  jobs: [{}],
  rowsOf: () => start.rows.map(({ name }) => name),

  /** Nothing is kept: each measurement is a start. */
  open: async (target, { mock }) => ({ target, mock, running: { stop: async () => {} } }),

  async measure({ target, mock }, _, { quick }) {
    const running = await target.start(mock);
    try {
      await delay(quick ? 200 : IDLE_MS);
      const found = {
        'cold-start': running.startCpuNs / 1e6,
        'cold-start-settled': running.cpuNs() / 1e6,
        'cold-start-wall': running.startMs,
        'idle-memory': running.rssKb() / 1024,
      };
      await checkAnswer(target, running);
      return found;
    } finally {
      await running.stop();
    }
  },
};

/** What cannot answer has not started. */
async function checkAnswer(target, running) {
  const direction = target.direction ?? 'forward';
  const connection = new Connection(running.port);
  try {
    const { body } = await connection.send(target.request(direction, 'json'));
    createCheck(DIRECTIONS[direction].client, 'json')(body);
  } finally {
    connection.close();
  }
}

export const openStreamMemory = {
  name: 'open-streams',
  targets: ['nginx', 'bare', 'gateway'],
  rounds: 2,
  seconds: 60,
  warmUp: false,
  rows: [
    {
      name: 'open-stream',
      title: `memory of an open stream, ${STREAMS} at once with five events a second`,
      unit: 'KB',
      goal: atMost(85, 'KB'),
    },
  ],
  jobs: [{}],
  rowsOf: () => ['open-stream'],

  open: async (target, { mock }) => ({ target, mock, running: { stop: async () => {} } }),

  async measure({ target, mock }, _, { quick }) {
    const running = await target.start(mock);
    try {
      await delay(quick ? 200 : IDLE_MS);
      const idleKb = running.rssKb();
      const count = quick ? 50 : STREAMS;
      const held = await openStreams({
        port: running.port,
        request: target.request('forward', 'hold'),
        count,
      });
      await delay(quick ? 200 : SETTLE_MS);
      const heldKb = running.rssKb();
      held.close();
      return { 'open-stream': (heldKb - idleKb) / count };
    } finally {
      await running.stop();
    }
  },
};
