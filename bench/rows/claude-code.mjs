/**
 * How long a new conversation with Claude Code takes from being asked for to its first model call: cold, where
 * a process is started for it, and warm, where one waits.
 */
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createTextCheck } from '../lib/checks.mjs';
import { timesRow } from '../lib/goals.mjs';
import { Connection } from '../lib/load.mjs';
import { anthropicTextFrames } from '../lib/workload.mjs';

const SDK = fileURLToPath(new URL('../../node_modules/@anthropic-ai/claude-agent-sdk', import.meta.url));
const PIECES = 5;
const MODEL = 'claude';
/** With so few sessions none is spent on a process that waits. */
const COLD_MAX_LIVE = 2;
/** A process that waits is there and idle after this, and one that ended is gone. */
const SETTLE_MS = 2500;
let questions = 0;

export const claudeCode = {
  name: 'claude-code',
  targets: ['gateway'],
  /** Seconds a measurement: the control would double them, and what is compared is in one target. */
  control: false,
  rounds: 5,
  seconds: 50,
  unavailable: () => (existsSync(SDK) ? undefined : 'the Agent SDK is not installed'),
  rows: [
    { name: 'claude-cold', title: 'time to the first model call of Claude Code, cold', unit: 'ms' },
    {
      name: 'claude-warm',
      title: 'time to the first model call of Claude Code, warm',
      unit: 'ms',
      goal: timesRow('claude-cold', 0.25),
    },
  ],
  jobs: [{ name: 'claude-cold' }, { name: 'claude-warm' }],
  rowsOf: ({ name }) => [name],

  async open(target, { mock }) {
    const model = await startModel();
    const configure = (maxLive) => (configuration, folder) => {
      const upstream = { dialect: 'anthropic-messages', base_url: model.url, api_key: 'upstream' };
      configuration.upstreams = { model: upstream };
      configuration.models = {
        [MODEL]: {
          engine: 'claude-code',
          upstream: 'model',
          model: 'claude-sonnet-5',
          cwd: folder,
          tools: ['Read', 'Bash', 'Edit', 'Write'],
        },
      };
      configuration.sandbox = 'off';
      if (maxLive !== undefined) configuration.sessions = { max_live: maxLive };
    };
    const lanes = {
      'claude-cold': await target.start(mock, { configure: configure(COLD_MAX_LIVE) }),
      'claude-warm': await target.start(mock, { configure: configure() }),
    };
    const stop = async () => {
      await Promise.all(Object.values(lanes).map((running) => running.stop()));
      model.close();
    };
    return { target, model, lanes, running: { stop } };
  },

  async measure({ target, model, lanes }, { name }) {
    const connection = new Connection(lanes[name].port);
    const request = target.request('forward', 'claude', { body: question(), model: MODEL });
    try {
      await delay(SETTLE_MS);
      const asked = model.next();
      const begun = performance.now();
      const answered = connection.send(request);
      const ms = (await Promise.race([asked, answered.then(() => asked)])) - begun;
      createTextCheck(PIECES)((await answered).body);
      return { [name]: ms };
    } finally {
      connection.close();
    }
  },
};

/** With a system prompt and a tool of the client's own, as agents ask. */
function question() {
  const tool = {
    name: 'weather',
    description: 'The weather in a city',
    input_schema: { type: 'object', properties: { city: { type: 'string' } } },
  };
  return Buffer.from(
    JSON.stringify({
      model: MODEL,
      max_tokens: 1000,
      stream: true,
      system: 'Be brief.',
      tools: [tool],
      messages: [{ role: 'user', content: `Hello (${++questions})` }],
    }),
  );
}

/** The upstream, in this process, because only its own clock can say when it was called. */
async function startModel() {
  let called = () => {};
  const answer = anthropicTextFrames(PIECES).join('');
  const server = createServer((request, response) => {
    if (request.url.split('?')[0] === '/v1/messages') called(performance.now());
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(answer);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    next: () =>
      new Promise((resolve) => {
        called = resolve;
      }),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
