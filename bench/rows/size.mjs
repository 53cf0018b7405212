/**
 * How the cost of a request grows with its body, and how long it holds the event loop in one piece: all
 * other clients wait that long. "Known" is a body whose history was sent before, with a new question at
 * its end; "new" is one of which nothing was.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createCheck } from '../lib/checks.mjs';
import { sizedRequest } from '../lib/conversations.mjs';
import { atMost } from '../lib/goals.mjs';
import { Connection, renewing } from '../lib/load.mjs';
import { quiet } from '../lib/process.mjs';

const KB = 1024;
const SIZES = [
  { label: '4k', bytes: 4 * KB, count: 60 },
  { label: '48k', bytes: 48 * KB, count: 40 },
  { label: '200k', bytes: 200 * KB, count: 20 },
  { label: '1m', bytes: 1024 * KB, count: 8 },
  { label: '4m', bytes: 4096 * KB, count: 4 },
  { label: '8m', bytes: 8192 * KB, count: 3 },
];
const LARGEST = SIZES.at(-1);
/** The event loop's own clock ticks each millisecond; it has seen the piece after this. */
const SEEN_MS = 20;
let conversations = 1_000_000;

const label = ({ bytes }) => (bytes < 1024 * KB ? `${bytes / KB} KB` : `${bytes / KB / 1024} MB`);

export const size = {
  name: 'size',
  targets: ['bare', 'gateway'],
  rounds: 4,
  seconds: 60,
  rows: [
    ...SIZES.map((each) => ({
      name: `body-${each.label}`,
      title: `CPU of a JSON request of ${label(each)}, known`,
      unit: 'ms',
      ...(each === LARGEST && { goal: atMost(50, 'ms') }),
    })),
    { name: 'body-8m-new', title: 'CPU of a JSON request of 8 MB, new', unit: 'ms' },
    {
      name: 'hold-8m',
      title: 'longest piece of the event loop for 8 MB, known',
      unit: 'ms',
      goal: atMost(30, 'ms'),
    },
    {
      name: 'hold-8m-new',
      title: 'longest piece of the event loop for 8 MB, new',
      unit: 'ms',
      goal: atMost(30, 'ms'),
    },
  ],
  jobs: SIZES,
  rowsOf: (each) =>
    each === LARGEST ? ['body-8m', 'body-8m-new', 'hold-8m', 'hold-8m-new'] : [`body-${each.label}`],

  async open(target, { mock }) {
    const preload = fileURLToPath(new URL('../lib/loop-hold.mjs', import.meta.url));
    const running = await target.start(mock, { nodeArguments: ['--import', preload], ipc: true });
    return { target, running };
  },

  async measure({ target, running }, each, { quick, warming }) {
    const body = sizedRequest('anthropic', ++conversations, each.bytes);
    const next = renewing(target.request('forward', 'json', { body }));
    const check = createCheck('anthropic', 'json');
    const connection = new Connection(running.port);
    const send = async () => check((await connection.send(next())).body);
    try {
      const first = await held(running, send);
      const known = await held(running, send);
      await quiet(running);
      const count = quick || warming ? Math.ceil(each.count / 4) : each.count;
      const before = running.cpuNs();
      for (let i = 0; i < count; i++) await send();
      const cpu = (running.cpuNs() - before) / count / 1e6;
      if (each !== LARGEST) return { [`body-${each.label}`]: cpu };
      return {
        'body-8m': cpu,
        'body-8m-new': first.cpuMs,
        'hold-8m': known.longestMs,
        'hold-8m-new': first.longestMs,
      };
    } finally {
      connection.close();
    }
  },
};

async function held(running, send) {
  const before = running.cpuNs();
  await running.ask('start');
  await send();
  await delay(SEEN_MS);
  const longestMs = await running.ask('stop');
  return { longestMs, cpuMs: (running.cpuNs() - before) / 1e6 };
}
