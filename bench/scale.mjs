// What docs/scaling.md says of sizes, measured: `node bench/scale.mjs store|parked|streams [N] [MINUTES] [EVENT_MS]`.
// store: CPU of a node on PostgreSQL against SQLite, for relays and agent turns; SQLite twice, as the noise.
// parked: memory of N sessions that wait for their client. streams: memory of N open streams over some minutes.
// It measures dist/, so `npm run build` first.
import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startPostgres } from './lib/postgres.mjs';
import { quiet, start, withFolder } from './lib/process.mjs';

const COMMAND = fileURLToPath(new URL('../bin/toolgate.js', import.meta.url));
const AT_ONCE = 8;
/** Of the events of streams that are held open. */
const pace = { everyMs: 5000 };
const ROUNDS = 6;
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const frame = (value) => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (delta, finish = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
});

/** Calls the tool that the last message asks for by its name, or says something; `hold` goes on for as long as somebody reads. */
function answer(body, response) {
  const last = body.messages.at(-1);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const asked = last.role === 'user' ? /^call (\w+) (.*)$/s.exec(textOf(last.content)) : null;
  if (asked !== null) {
    const call = { index: 0, id: `call_${Math.random().toString(36).slice(2)}`, type: 'function' };
    const tool = { ...call, function: { name: asked[1], arguments: asked[2] } };
    response.end(
      frame(chunk({ role: 'assistant', tool_calls: [tool] })) +
        frame(chunk({}, 'tool_calls')) +
        'data: [DONE]\n\n',
    );
    return;
  }
  response.write(frame(chunk({ role: 'assistant', content: 'word ' })));
  if (textOf(last.content) === 'hold') {
    const timer = setInterval(() => response.write(frame(chunk({ content: 'word ' }))), pace.everyMs);
    response.on('close', () => clearInterval(timer));
    return;
  }
  for (let index = 0; index < 50; index += 1) response.write(frame(chunk({ content: `word ${index} ` })));
  response.end(`${frame(chunk({}, 'stop'))}data: [DONE]\n\n`);
}

const textOf = (content) =>
  typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('');

async function startMock() {
  const server = createServer((incoming, response) => {
    const chunks = [];
    incoming.on('data', (data) => chunks.push(data));
    incoming.on('end', () => answer(JSON.parse(Buffer.concat(chunks).toString()), response));
    response.on('error', () => {});
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', 8192, resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    close: () => server.closeAllConnections() ?? server.close(),
  };
}

async function startGateway(upstream, store) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolgate-scale-')));
  const file = join(folder, 'toolgate.yaml');
  writeFileSync(join(folder, 'a.txt'), 'A file of one line.\n');
  const config = {
    upstreams: { mock: { dialect: 'openai-chat', base_url: upstream } },
    models: {
      m: { upstream: 'mock' },
      agent: { engine: 'native', upstream: 'mock', model: 'm', cwd: folder },
    },
    sessions: { tool_timeout_s: 86400 },
    permissions: { mode: 'allow' },
    sandbox: 'off',
    ...(store === undefined ? {} : { store }),
  };
  writeFileSync(file, JSON.stringify(config));
  const args = [COMMAND, 'start', '--config', file, '--port', '0', '--log-level', 'warn'];
  return {
    ...withFolder(await start(process.execPath, args, { cwd: folder, env: { HOME: folder } }), folder),
    folder,
  };
}

/** Resolves with the body, or with the open answer for `open`. */
function ask(port, body, open = false) {
  return new Promise((resolve, reject) => {
    const sent = request({
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: '/v1/messages',
      agent: open ? false : agent,
      headers: { 'content-type': 'application/json', 'x-api-key': 'k' },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      if (open) {
        response.on('error', () => {});
        response.once('data', () => resolve({ close: () => sent.destroy() }));
        response.resume();
        return;
      }
      let text = '';
      response.setEncoding('utf8').on('data', (data) => {
        text += data;
      });
      response.on('end', () =>
        response.statusCode === 200 ? resolve(text) : reject(new Error(`${response.statusCode} ${text}`)),
      );
    });
    sent.end(JSON.stringify(body));
  });
}

const bodyOf = (model, content, rest = {}) => ({
  model,
  max_tokens: 1000,
  stream: true,
  messages: [{ role: 'user', content }],
  ...rest,
});

async function repeat(count, work, atOnce = AT_ONCE) {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

async function store(count = 100) {
  const mock = await startMock();
  const postgres = await startPostgres();
  const nodes = [
    ['sqlite', await startGateway(mock.url)],
    ['control', await startGateway(mock.url)],
    ['postgres', await startGateway(mock.url, postgres.url)],
  ];
  const jobs = {
    relay: ({ port }, index) => ask(port, bodyOf('m', `say something ${index}`)),
    agent: ({ port, folder }, index) =>
      ask(
        port,
        bodyOf('agent', `call Read ${JSON.stringify({ file_path: join(folder, 'a.txt') })}`, {
          metadata: { user_id: `u${index}` },
        }),
      ),
  };
  const figures = {};
  const note = (name, value) => {
    figures[name] = [...(figures[name] ?? []), value];
  };
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [job, run] of Object.entries(jobs)) {
      for (const [name, node] of round % 2 === 0 ? nodes : nodes.toReversed()) {
        await quiet(node, { mostMs: 6000 });
        const [before, beforePg] = [node.cpuNs(), postgres.cpuNs()];
        await repeat(count, (index) => run(node, `${round}-${index}`));
        await quiet(node, { mostMs: 6000 });
        // The first round is for the compiler.
        if (round === 0) continue;
        note(`${job} ${name}`, (node.cpuNs() - before) / 1e6 / count);
        if (name === 'postgres') note(`${job} server`, (postgres.cpuNs() - beforePg) / 1e6 / count);
      }
    }
  }
  for (const job of Object.keys(jobs)) {
    const base = figures[`${job} sqlite`];
    for (const name of ['sqlite', 'control', 'postgres', 'server']) {
      const own = figures[`${job} ${name}`];
      const ratio = median(own.map((value, index) => value / base[index]));
      console.log(
        `${job} ${name}: ${median(own).toFixed(2)} ms, ${ratio.toFixed(2)} × sqlite (${own.map((v) => v.toFixed(1)).join(' ')})`,
      );
    }
  }
  for (const [, node] of nodes) await node.stop();
  await postgres.stop();
  mock.close();
}

async function parked(count = 10_000) {
  const mock = await startMock();
  const node = await startGateway(mock.url);
  const tools = [
    { name: 'get_weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } },
  ];
  const idle = node.rssKb();
  const begun = performance.now();
  let done = 0;
  await repeat(count, async (index) => {
    const text = await ask(
      node.port,
      bodyOf('agent', 'call get_weather {"city":"Paris"}', { tools, metadata: { user_id: `u${index}` } }),
    );
    if (!text.includes('tool_use')) throw new Error(text);
    done += 1;
    if (done % 1000 === 0)
      console.log(
        `${done} parked: ${mb(node.rssKb())} MB after ${Math.round((performance.now() - begun) / 1000)} s`,
      );
  });
  await quiet(node, { mostMs: 20_000 });
  const page = await (await fetch(`http://127.0.0.1:${node.port}/metrics`, { headers: { 'x-api-key': 'k' } }))
    .text()
    .catch(() => '');
  console.log(
    `idle ${mb(idle)} MB, with ${count} parked sessions ${mb(node.rssKb())} MB: ${((node.rssKb() - idle) / count).toFixed(1)} KB each`,
  );
  console.log(
    page
      .split('\n')
      .filter((line) => line.startsWith('toolgate_sessions{'))
      .join(' ') || 'no figures of sessions',
  );
  await node.stop();
  mock.close();
}

async function streams(count = 2000, minutes = 5, everyMs = 5000) {
  pace.everyMs = everyMs;
  const mock = await startMock();
  const node = await startGateway(mock.url);
  const idle = node.rssKb();
  const open = [];
  await repeat(count, async () => open.push(await ask(node.port, bodyOf('m', 'hold'), true)), 32);
  await delay(15_000);
  const first = node.rssKb();
  const seen = [first];
  for (let minute = 0; minute < minutes; minute += 1) {
    await delay(60_000);
    seen.push(node.rssKb());
  }
  console.log(
    `idle ${mb(idle)} MB; ${count} streams with an event each ${everyMs} ms, minute by minute: ${seen.map(mb).join(', ')} MB; ${((first - idle) / count).toFixed(0)} KB each`,
  );
  for (const { close } of open) close();
  await node.stop();
  mock.close();
}

const mb = (kb) => Math.round(kb / 1024);
const [what, ...numbers] = process.argv.slice(2);
const parts = { store, parked, streams };
if (parts[what] === undefined) throw new Error('Say which: store, parked or streams.');
const before = loadavg()[0].toFixed(1);
await parts[what](...numbers.map(Number));
console.log(`Node ${process.versions.node}, load average ${before} → ${loadavg()[0].toFixed(1)}`);
agent.destroy();
