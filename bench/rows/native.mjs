/**
 * A turn of a conversation on the native agent without tools (found by its history, one model call, kept in
 * the store) against the same model call through the relay, which keeps nothing. Every measured turn goes on
 * with a conversation of its own.
 */
import { createTextCheck } from '../lib/checks.mjs';
import { talk } from '../lib/conversations.mjs';
import { addsFlat, flat, timesRow } from '../lib/goals.mjs';
import { Connection } from '../lib/load.mjs';
import { quiet } from '../lib/process.mjs';
import { textOf } from '../lib/workload.mjs';
import { upstreamName } from '../targets/gateway.mjs';

const ANSWER_PIECES = 40;
const MODE = `text${ANSWER_PIECES}`;
/** The growth of the agent's own part is a difference of differences: it needs more room than a plain ratio. */
const FLAT_ADDED = 1.3;
const STORED = 1000;

const LENGTHS = [
  { messages: 50, turns: 24 },
  { messages: 200, turns: 12 },
  { messages: 800, turns: 6 },
];

/** By upstream: one of another dialect, and one of the client's own. */
const MODELS = {
  relay: { upstream: upstreamName('chat', MODE) },
  native: { upstream: upstreamName('chat', MODE), engine: 'native', tools: 'none' },
  'relay-bytes': { upstream: upstreamName('anthropic', MODE) },
  'native-bytes': { upstream: upstreamName('anthropic', MODE), engine: 'native', tools: 'none' },
};

function configure(configuration) {
  configuration.models = Object.fromEntries(
    Object.entries(MODELS).map(([name, entry]) => [name, { ...entry, model: 'm' }]),
  );
}

let conversations = 2_000_000;

/** CPU of a turn in ms. The turn before it, which it goes on from, is not counted. */
async function measureTurns({ target, running }, model, messages, turns) {
  const connection = new Connection(running.port);
  const check = createTextCheck(ANSWER_PIECES);
  const isNative = model.startsWith('native');
  const ask = async (said, isContinuation) => {
    const body = JSON.stringify({ model, max_tokens: 1000, stream: true, messages: said });
    const { head, body: answer } = await connection.send(
      target.request('forward', MODE, { body: Buffer.from(body), model }),
    );
    check(answer);
    if (isNative && isContinuation && !/\r\nx-toolgate-attach: continue\b/.test(head))
      throw new Error(`the turn did not go on with its conversation: ${head}`);
  };
  try {
    const talks = Array.from({ length: turns }, () => talk(++conversations, messages - 1));
    for (const said of talks) {
      await ask(said, false);
      said.push({ role: 'assistant', content: textOf(ANSWER_PIECES) }, { role: 'user', content: 'Go on.' });
    }
    await quiet(running);
    const before = running.cpuNs();
    for (const said of talks) await ask(said, true);
    await quiet(running);
    return (running.cpuNs() - before) / turns / 1e6;
  } finally {
    connection.close();
  }
}

const turnsOf = (turns, { quick, warming }) => (quick ? 2 : warming ? Math.ceil(turns / 2) : turns);

export const native = {
  name: 'native',
  targets: ['gateway'],
  rounds: 4,
  seconds: 110,
  rows: [
    ...LENGTHS.flatMap(({ messages }) => [
      {
        name: `relay-${messages}`,
        title: `CPU of a turn of ${messages} messages through the relay`,
        unit: 'ms',
      },
      {
        name: `native-${messages}`,
        title: `CPU of a turn of ${messages} messages on the native agent without tools`,
        unit: 'ms',
        goal: timesRow(`relay-${messages}`, 2.5),
      },
    ]),
    {
      name: 'native-growth',
      title: 'what the native agent adds to the relay, 800 messages against 50',
      unit: '×',
      derived: true,
      goal: addsFlat(['native-800', 'relay-800'], ['native-50', 'relay-50'], FLAT_ADDED),
    },
    {
      name: 'relay-bytes-50',
      title: 'CPU of a turn of 50 messages through the relay, same dialect',
      unit: 'ms',
    },
    {
      name: 'native-bytes-50',
      title: 'CPU of a turn of 50 messages on the native agent, same dialect',
      unit: 'ms',
      goal: timesRow('relay-bytes-50', 2.5),
    },
  ],
  jobs: [
    ...LENGTHS.flatMap((length) => [
      { model: 'relay', ...length },
      { model: 'native', ...length },
    ]),
    { model: 'relay-bytes', ...LENGTHS[0] },
    { model: 'native-bytes', ...LENGTHS[0] },
  ],
  rowsOf: ({ model, messages }) => [`${model}-${messages}`, ...(messages === 800 ? ['native-growth'] : [])],

  async open(target, { mock }) {
    return { target, running: await target.start(mock, { configure }) };
  },

  async measure(lane, { model, messages, turns }, state) {
    return { [`${model}-${messages}`]: await measureTurns(lane, model, messages, turnsOf(turns, state)) };
  },
};

export const stored = {
  name: 'stored',
  targets: ['gateway'],
  rounds: 4,
  seconds: 50,
  rows: [
    { name: 'stored-0', title: 'CPU of a native turn of 50 messages, few sessions stored', unit: 'ms' },
    {
      name: `stored-${STORED}`,
      title: `the same with ${STORED} more sessions stored`,
      unit: 'ms',
      goal: flat('stored-0'),
    },
  ],
  jobs: [{ name: 'stored-0' }, { name: `stored-${STORED}` }],
  rowsOf: ({ name }) => [name],

  async open(target, { mock, quick }) {
    const few = await target.start(mock, { configure });
    try {
      const full = await target.start(mock, { configure });
      const lane = { target, lanes: { 'stored-0': few, [`stored-${STORED}`]: full } };
      lane.running = { stop: () => Promise.all([few.stop(), full.stop()]) };
      await fill(target, full, quick ? 10 : STORED);
      return lane;
    } catch (error) {
      await few.stop();
      throw error;
    }
  },

  async measure({ target, lanes }, { name }, state) {
    const turns = turnsOf(LENGTHS[0].turns, state);
    return { [name]: await measureTurns({ target, running: lanes[name] }, 'native', 50, turns) };
  },
};

/** Conversations of one turn each, as many as are to be stored. */
async function fill(target, running, count) {
  let left = count;
  const check = createTextCheck(ANSWER_PIECES);
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      const connection = new Connection(running.port);
      while (left-- > 0) {
        const body = JSON.stringify({
          model: 'native',
          max_tokens: 1000,
          stream: true,
          messages: talk(++conversations, 1),
        });
        const request = target.request('forward', MODE, { body: Buffer.from(body), model: 'native' });
        check((await connection.send(request)).body);
      }
      connection.close();
    }),
  );
}
