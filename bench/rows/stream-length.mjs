/** Does an event of a long stream cost more than one of a short stream? */
import { createTextCheck } from '../lib/checks.mjs';
import { sizedRequest } from '../lib/conversations.mjs';
import { flat } from '../lib/goals.mjs';
import { runLoad } from '../lib/load.mjs';

/** Answers of one measurement: about as many events for every length. */
const LENGTHS = [
  { events: 100, count: 300 },
  { events: 1000, count: 30 },
  { events: 10_000, count: 4 },
];

/** A small one, so that it is the events that are measured. */
const BODY = sizedRequest('anthropic', 3_000_000, 2048, true);

export const streamLength = {
  name: 'stream-length',
  targets: ['bare', 'gateway'],
  rounds: 5,
  seconds: 25,
  rows: LENGTHS.map(({ events }) => ({
    name: `events-${events}`,
    title: `CPU of an event in a burst stream of ${events.toLocaleString('en')}`,
    unit: 'µs',
    ...(events > 1000 && { goal: flat('events-1000') }),
  })),
  jobs: LENGTHS,
  rowsOf: ({ events }) => [`events-${events}`],

  async open(target, { mock }) {
    return { target, running: await target.start(mock) };
  },

  async measure({ target, running }, { events, count }, { quick }) {
    const mode = `text${events}`;
    const before = running.cpuNs();
    const { count: answers } = await runLoad({
      port: running.port,
      request: target.request('forward', mode, { body: BODY }),
      concurrency: 2,
      durationMs: 0,
      minCount: quick ? 2 : count,
      check: createTextCheck(events),
    });
    return { [`events-${events}`]: (running.cpuNs() - before) / answers / events / 1000 };
  },
};
