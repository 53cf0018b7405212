/**
 * What a turn of a conversation costs against the same model call through the relay:
 * `node bench/sessions.mjs [--rounds 5] [--turns 60]`
 * Every turn goes on with a conversation of its own, which has 50 messages, on an agent without tools.
 * All lanes are in one process and take turns; what is shown is CPU of the gateway and time to the
 * end of the answer, one request at a time. It measures `dist/`, so build first.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { pinSelf, start } from './lib/process.mjs';
import { median, spread, table } from './lib/stats.mjs';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, turns: { type: 'string', default: '60' } },
});
const ROUNDS = Number(values.rounds);
const TURNS = Number(values.turns);
const MESSAGES = 50;
const KEY = 'bench-key-0123456789abcdef0123456789';

const PIECES = Array.from({ length: 40 }, (_, index) => `piece ${index} of the answer, `);
const ANSWER = PIECES.join('');

/** Each wire's answer to a stream, in one write. */
const STREAMS = { '/v1/messages': messagesStream(), '/v1/chat/completions': chatStream() };

/** `upstream` and `model` of each lane; the first is what the others are compared with. */
const LANES = [
  { name: 'relay, bytes', model: 'bytes', entry: { upstream: 'anthropic' } },
  { name: 'relay, translated', model: 'translated', entry: { upstream: 'chat' } },
  {
    name: 'native agent, same wire',
    model: 'native-same',
    entry: { engine: 'native', tools: 'none', upstream: 'anthropic' },
  },
  {
    name: 'native agent, translated',
    model: 'native-translated',
    entry: { engine: 'native', tools: 'none', upstream: 'chat' },
  },
];

pinSelf();
const folder = mkdtempSync(join(tmpdir(), 'toolgate-bench-sessions-'));
const upstream = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(STREAMS[request.url.split('?')[0]]);
  });
}).listen(0, '127.0.0.1');
await new Promise((resolve) => upstream.once('listening', resolve));
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let gateway;
try {
  writeFileSync(join(folder, 'toolgate.yaml'), JSON.stringify(configuration(upstream.address().port)));
  gateway = await start(
    process.execPath,
    [
      fileURLToPath(new URL('../bin/toolgate.js', import.meta.url)),
      'start',
      '--port',
      '0',
      '--log-level',
      'silent',
      '--config',
      'toolgate.yaml',
    ],
    { cwd: folder, env: { HOME: folder } },
  );
  report(await measure());
} finally {
  await gateway?.stop();
  agent.destroy();
  upstream.close();
  rmSync(folder, { recursive: true, force: true });
}

function configuration(port) {
  const base = `http://127.0.0.1:${port}`;
  return {
    server: { keys: [{ key: KEY, name: 'bench' }] },
    upstreams: {
      anthropic: { dialect: 'anthropic-messages', base_url: base, api_key: 'upstream' },
      chat: { dialect: 'openai-chat', base_url: `${base}/v1`, api_key: 'upstream' },
    },
    models: Object.fromEntries(LANES.map(({ model, entry }) => [model, { ...entry, model: 'm' }])),
  };
}

async function measure() {
  const figures = new Map(LANES.map(({ name }) => [name, { cpu: [], ms: [] }]));
  let number = 0;
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const { name, model } of LANES) {
      const talks = Array.from({ length: TURNS }, () => conversation(number++));
      // The turn before, which the measured one goes on from; for the relay a call like any other.
      for (const messages of talks)
        messages.push(await ask(model, messages), { role: 'user', content: 'Go on.' });
      await quiet();
      const times = [];
      const before = gateway.cpuNs();
      for (const messages of talks) {
        const begun = performance.now();
        await ask(model, messages);
        times.push(performance.now() - begun);
      }
      const cpu = (gateway.cpuNs() - before) / TURNS / 1e6;
      if (round < 0) continue;
      figures.get(name).cpu.push(cpu);
      figures.get(name).ms.push(median(times));
    }
  }
  return figures;
}

/** Writes that the gateway puts off must not count for the next lane. */
async function quiet() {
  for (let before = -1, now = gateway.cpuNs(); now !== before; ) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    [before, now] = [now, gateway.cpuNs()];
  }
}

function report(figures) {
  const [first] = LANES;
  const base = figures.get(first.name);
  const ratio = (list, other) => `${(median(list) / median(other)).toFixed(2)} ×`;
  const rows = LANES.map(({ name }) => {
    const { cpu, ms } = figures.get(name);
    return [name, spread(cpu, 2), ratio(cpu, base.cpu), spread(ms, 2), ratio(ms, base.ms)];
  });
  console.log(`A turn of a conversation of ${MESSAGES} messages, ${ROUNDS} rounds of ${TURNS} turns:\n`);
  console.log(table([['', 'CPU ms', 'ratio', 'ms to the end', 'ratio'], ...rows]));
  for (const kind of ['same wire', 'translated']) {
    const relay = figures.get(kind === 'same wire' ? 'relay, bytes' : 'relay, translated');
    const native = figures.get(`native agent, ${kind}`);
    console.log(
      `native against the relay, ${kind}: CPU ${ratio(native.cpu, relay.cpu)}, time ${ratio(native.ms, relay.ms)}`,
    );
  }
}

/** Ends with a user message: the answer to it makes it whole. */
function conversation(number) {
  const messages = Array.from({ length: MESSAGES - 1 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `Message ${index} of conversation ${number}. ${'Some words that were said in it. '.repeat(12)}`,
  }));
  return messages;
}

/** Resolves with the assistant's message; rejects where the answer is not the one that was to come. */
function ask(model, messages) {
  const body = JSON.stringify({ model, max_tokens: 1000, stream: true, messages });
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        agent,
        port: gateway.port,
        host: '127.0.0.1',
        method: 'POST',
        path: '/v1/messages',
        headers: { 'content-type': 'application/json', 'x-api-key': KEY, 'anthropic-version': '2023-06-01' },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece) => {
          text += piece;
        });
        response.on('end', () => {
          const said = [...text.matchAll(/"text_delta","text":"([^"]*)"/g)]
            .map(([, piece]) => piece)
            .join('');
          if (said !== ANSWER)
            reject(new Error(`${model} answered ${response.statusCode}: ${text.slice(0, 2000)}`));
          else if (
            model.startsWith('native') &&
            messages.length > MESSAGES &&
            response.headers['x-toolgate-attach'] !== 'continue'
          )
            reject(new Error(`${model} attached as ${response.headers['x-toolgate-attach']}`));
          else resolve({ role: 'assistant', content: said });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

function messagesStream() {
  const usage = { input_tokens: 4000, output_tokens: 200 };
  const events = [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage,
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...PIECES.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

function chatStream() {
  const chunk = (delta, finish_reason = null) => ({
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const chunks = [
    chunk({ role: 'assistant', content: '' }),
    ...PIECES.map((content) => chunk({ content })),
    chunk({}, 'stop'),
  ];
  return `${chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`;
}
