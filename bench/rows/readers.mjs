/**
 * What it costs that turns are watched: a turn of the native agent with a call of Read and 200 pieces of
 * text, with nobody, one and twenty readers of the console's event stream.
 */
import { writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { createTextCheck } from '../lib/checks.mjs';
import { timesRow } from '../lib/goals.mjs';
import { Connection } from '../lib/load.mjs';
import { quiet } from '../lib/process.mjs';
import { AGENT_PIECES } from '../lib/workload.mjs';
import { KEY, upstreamName } from '../targets/gateway.mjs';

const READERS = [0, 1, 20];
const TURNS = 15;
let questions = 0;

function configure(configuration, folder) {
  writeFileSync(join(folder, 'notes.txt'), 'the answer is 42\n');
  Object.assign(configuration, {
    models: {
      agent: {
        engine: 'native',
        upstream: upstreamName('anthropic', 'agent'),
        model: 'm',
        cwd: folder,
        tools: ['Read'],
      },
    },
    permissions: { mode: 'allow' },
    sandbox: 'off',
  });
  configuration.server.keys[0].scopes = ['call', 'approve', 'admin'];
}

export const readers = {
  name: 'readers',
  targets: ['gateway'],
  rounds: 4,
  seconds: 40,
  rows: READERS.map((count) => ({
    name: `readers-${count}`,
    title: `CPU of a native turn of ${AGENT_PIECES} pieces, ${count} reader${count === 1 ? '' : 's'} of its events`,
    unit: 'ms',
    ...(count > 0 && { goal: timesRow('readers-0', count === 1 ? 1.25 : 2) }),
  })),
  jobs: READERS.map((count) => ({ count })),
  rowsOf: ({ count }) => [`readers-${count}`],

  async open(target, { mock }) {
    return { target, running: await target.start(mock, { configure }) };
  },

  async measure({ target, running }, { count }, { quick }) {
    const check = createTextCheck(AGENT_PIECES);
    const connection = new Connection(running.port);
    const reading = [];
    const ask = async () => {
      const messages = [{ role: 'user', content: `What is the answer? (${++questions})` }];
      const body = JSON.stringify({ model: 'agent', max_tokens: 1000, stream: true, messages });
      const request = target.request('forward', 'agent', { body: Buffer.from(body), model: 'agent' });
      check((await connection.send(request)).body);
    };
    try {
      for (let i = 0; i < count; i++) reading.push(await readEvents(running.port));
      await ask();
      await quiet(running);
      const turns = quick ? 2 : TURNS;
      const before = running.cpuNs();
      for (let turn = 0; turn < turns; turn++) await ask();
      const cpu = (running.cpuNs() - before) / turns / 1e6;
      if (reading.some((reader) => reader.events() < turns))
        throw new Error('a reader was not told of every turn');
      return { [`readers-${count}`]: cpu };
    } finally {
      for (const reader of reading) reader.close();
      connection.close();
    }
  },
};

/** Resolves when the stream has begun. */
function readEvents(port) {
  return new Promise((resolve, reject) => {
    let events = 0;
    const sent = httpRequest(
      { host: '127.0.0.1', port, path: '/api/events', headers: { 'x-api-key': KEY }, agent: false },
      (response) => {
        if (response.statusCode !== 200) reject(new Error(`/api/events answered ${response.statusCode}`));
        response.setEncoding('utf8').on('data', (text) => {
          events += text.split('\ndata: ').length - 1;
        });
        response.on('error', () => {});
        resolve({ events: () => events, close: () => sent.destroy() });
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}
