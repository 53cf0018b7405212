/**
 * What it costs that turns are watched: `node bench/events.mjs [--rounds 5] [--turns 20]`
 * A turn of the native agent: a message with a call of Read, then one of 200 pieces of text, each
 * piece a write of its own. Four lanes take turns in one run: a gateway whose agents tell nobody
 * anything (the same sources without the one line that connects them), and one that tells its event
 * stream, with nobody, one and twenty readers on `GET /api/events`. CPU is the gateway's, and time is
 * to the end of the answer, one request at a time.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { pinSelf, start } from './lib/process.mjs';
import { median, spread, table } from './lib/stats.mjs';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, turns: { type: 'string', default: '20' } },
});
const ROUNDS = Number(values.rounds);
const TURNS = Number(values.turns);
const PIECES = Array.from({ length: 200 }, (_, index) => `piece ${index} of the answer, `);
const KEY = 'bench-key-0123456789abcdef0123456789';
const CONNECTION = '    watcher: events,\n';

const LANES = [
  { name: 'agents tell nobody', gateway: 'untold', readers: 0 },
  { name: 'nobody watches', gateway: 'told', readers: 0 },
  { name: '1 reader', gateway: 'told', readers: 1 },
  { name: '20 readers', gateway: 'told', readers: 20 },
];

const CALL = stream(
  [
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'ID', name: 'Read', input: {} },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: '{"file_path":' },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: '"notes.txt"}' },
    },
    { type: 'content_block_stop', index: 0 },
  ],
  'tool_use',
);
const TEXT = stream(
  [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...PIECES.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    { type: 'content_block_stop', index: 0 },
  ],
  'end_turn',
);

pinSelf();
const root = fileURLToPath(new URL('..', import.meta.url));
const built = mkdtempSync(join(root, 'node_modules', '.bench-events-'));
const folder = mkdtempSync(join(tmpdir(), 'toolgate-bench-events-'));
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let answers = 0;
const upstream = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (piece) => {
    body += piece;
  });
  request.on('end', () => void answer(response, body.includes('tool_result') ? TEXT : CALL));
}).listen(0, '127.0.0.1');
await new Promise((resolve) => upstream.once('listening', resolve));
const gateways = {};
try {
  writeFileSync(join(folder, 'notes.txt'), 'the answer is 42\n');
  writeFileSync(join(folder, 'toolgate.yaml'), JSON.stringify(configuration(upstream.address().port)));
  for (const name of ['told', 'untold']) {
    const outdir = join(built, name);
    await bundle(outdir, name === 'told');
    gateways[name] = await start(
      process.execPath,
      [join(outdir, 'bin.mjs'), 'start', '--port', '0', '--log-level', 'silent', '--config', 'toolgate.yaml'],
      { cwd: folder, env: { HOME: join(folder, name), TOOLGATE_STORE: name } },
    );
  }
  report(await measure());
} finally {
  for (const gateway of Object.values(gateways)) await gateway.stop();
  agent.destroy();
  upstream.close();
  upstream.closeAllConnections();
  rmSync(built, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
}

/** The command, with or without the line that connects agents and events. */
async function bundle(outdir, told) {
  const disconnect = {
    name: 'disconnect',
    setup({ onLoad }) {
      onLoad({ filter: /src\/main\.ts$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        if (!text.includes(CONNECTION)) throw new Error(`${path} does not have the line ${CONNECTION}`);
        return { contents: text.replace(CONNECTION, ''), loader: 'ts' };
      });
    },
  };
  await build({
    entryPoints: [join(root, 'src/cli/main.ts')],
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'error',
    plugins: told ? [] : [disconnect],
  });
  writeFileSync(join(outdir, 'bin.mjs'), "import { main } from './main.js';\nmain(process);\n");
}

function configuration(port) {
  return {
    server: { keys: [{ key: KEY, name: 'bench' }] },
    upstreams: {
      up: { dialect: 'anthropic-messages', base_url: `http://127.0.0.1:${port}`, api_key: 'upstream' },
    },
    store: 'sqlite:./$' + '{TOOLGATE_STORE}.db',
    models: { agent: { engine: 'native', upstream: 'up', model: 'm', cwd: folder, tools: ['Read'] } },
    permissions: { mode: 'allow' },
    sandbox: 'off',
  };
}

async function measure() {
  const figures = new Map(LANES.map(({ name }) => [name, { cpu: [], ms: [], events: [] }]));
  let number = 0;
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const { name, gateway: which, readers } of LANES) {
      const gateway = gateways[which];
      const reading = await Promise.all(Array.from({ length: readers }, () => read(gateway)));
      await ask(gateway, number++);
      await quiet(gateway);
      const times = [];
      const before = gateway.cpuNs();
      for (let turn = 0; turn < TURNS; turn += 1) {
        const begun = performance.now();
        await ask(gateway, number++);
        times.push(performance.now() - begun);
      }
      const cpu = (gateway.cpuNs() - before) / TURNS / 1e6;
      for (const reader of reading) reader.close();
      if (round < 0) continue;
      const figure = figures.get(name);
      figure.cpu.push(cpu);
      figure.ms.push(median(times));
      figure.events.push((reading[0]?.count() ?? 0) / (TURNS + 1));
    }
  }
  return figures;
}

/** Writes that the gateway puts off must not count for the next lane. */
async function quiet(gateway) {
  for (let before = -1, now = gateway.cpuNs(); now !== before; ) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    [before, now] = [now, gateway.cpuNs()];
  }
}

function report(figures) {
  const ratio = (list, other) => `${(median(list) / median(other)).toFixed(2)} ×`;
  const untold = figures.get(LANES[0].name);
  const rows = LANES.map(({ name }) => {
    const { cpu, ms, events } = figures.get(name);
    const told = median(events);
    return [
      name,
      spread(cpu, 2),
      ratio(cpu, untold.cpu),
      spread(ms, 2),
      ratio(ms, untold.ms),
      told === 0 ? '' : told.toFixed(0),
    ];
  });
  console.log(
    `A turn with one call and ${PIECES.length} pieces of text, ${ROUNDS} rounds of ${TURNS} turns:\n`,
  );
  console.log(table([['', 'CPU ms', 'ratio', 'ms to the end', 'ratio', 'events a reader'], ...rows]));
}

/** Resolves when the stream has begun. */
function read({ port }) {
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
        resolve({ count: () => events, close: () => sent.destroy() });
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}

/** Rejects where the answer is not the one that was to come. */
function ask({ port }, number) {
  const messages = [{ role: 'user', content: `What is the answer? (${number})` }];
  const body = JSON.stringify({ model: 'agent', max_tokens: 1000, stream: true, messages });
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        agent,
        port,
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
          if (text.includes(PIECES.at(-1)) && text.includes('message_stop')) resolve();
          else reject(new Error(`answered ${response.statusCode}: ${text.slice(0, 2000)}`));
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

async function answer(response, events) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  answers += 1;
  for (const event of events) {
    response.write(event.replace('ID', `toolu_${answers}`));
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}

function stream(blocks, stop_reason) {
  const usage = { input_tokens: 400, output_tokens: 200 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] };
  const events = [
    { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null, usage } },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}
