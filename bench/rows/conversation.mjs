/** A conversation as an agent has it: every turn sends all that was said before again, and a little more. */
import { createCheck } from '../lib/checks.mjs';
import { growingRequest } from '../lib/conversations.mjs';
import { timesTarget } from '../lib/goals.mjs';
import { Connection } from '../lib/load.mjs';
import { DIRECTIONS } from '../targets/directions.mjs';

/** The turns before `FROM` are sent, too, but not counted: they are what makes the history known. */
const [BEGIN, FROM, TO] = [26, 30, 70];
let conversations = 0;

export const conversation = {
  name: 'conversation',
  targets: ['bare', 'gateway'],
  rounds: 6,
  seconds: 40,
  rows: Object.keys(DIRECTIONS).map((direction) => ({
    name: `growing-${direction}`,
    title: `CPU of a turn that resends a growing history, turns ${FROM}–${TO}, JSON, ${direction}`,
    unit: 'ms',
    goal: timesTarget('bare', 0.6),
  })),
  jobs: Object.keys(DIRECTIONS).map((direction) => ({ direction })),
  rowsOf: ({ direction }) => [`growing-${direction}`],

  async open(target, { mock }) {
    return { target, running: await target.start(mock) };
  },

  async measure({ target, running }, { direction }, { quick }) {
    const { client } = DIRECTIONS[direction];
    const number = ++conversations;
    const check = createCheck(client, 'json');
    const last = quick ? FROM + 2 : TO;
    const requests = [];
    for (let turn = BEGIN; turn <= last; turn++) {
      requests.push(target.request(direction, 'json', { body: growingRequest(client, number, turn) }));
    }
    const connection = new Connection(running.port);
    try {
      const known = requests.splice(0, FROM - BEGIN);
      for (const request of known) check((await connection.send(request)).body);
      const before = running.cpuNs();
      for (const request of requests) check((await connection.send(request)).body);
      return { [`growing-${direction}`]: (running.cpuNs() - before) / requests.length / 1e6 };
    } finally {
      connection.close();
    }
  },
};
