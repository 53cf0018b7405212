/**
 * How smoothly a long conversation scrolls in the console: `node bench/console-scroll.mjs
 * [--messages 5000] [--rounds 3] [--frames 240]`
 * A real gateway, a conversation of so many messages with tool cards in it, a real Chromium. The list
 * is moved by the same distance in every frame, next to an empty box as high as it, in turns; what is
 * shown are the frames of both. It measures `dist/` and `console/dist/`, so build first.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { findTestProgram } from '../scripts/test-programs.mjs';
import { start } from './lib/process.mjs';
import { median, percentile, spread, table } from './lib/stats.mjs';

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '5000' },
    rounds: { type: 'string', default: '3' },
    frames: { type: 'string', default: '240' },
  },
});
const MESSAGES = Number(values.messages);
const ROUNDS = Number(values.rounds);
const FRAMES = Number(values.frames);
/** A fast flick of a wheel or a finger. */
const STEP_PX = 120;
const KEY = 'bench-key-0123456789abcdef0123456789';
/** Longer than one and a half of a 60 Hz screen's frames is a frame that was not shown. */
const DROPPED_MS = 25;

const ANSWERS = [
  'It was **renamed**, see `src/a.ts`.',
  'Three things:\n\n1. one\n2. two\n3. three\n\n> and a remark',
  '```ts\nexport const answer = 42;\nexport const question = undefined;\n```\n\nThat is all of it.',
  '| file | lines |\n|---|--:|\n| a.ts | 12 |\n| b.ts | 7 |',
];

const folder = mkdtempSync(join(tmpdir(), 'toolgate-bench-scroll-'));
const upstream = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(answerStream('The last answer.'));
  });
}).listen(0, '127.0.0.1');
await new Promise((resolve) => upstream.once('listening', resolve));
let gateway;
let browser;
try {
  writeFileSync(join(folder, 'toolgate.yaml'), JSON.stringify(configuration(upstream.address().port)));
  const command = fileURLToPath(new URL('../bin/toolgate.js', import.meta.url));
  gateway = await start(
    process.execPath,
    [command, 'start', '--port', '0', '--log-level', 'silent', '--config', 'toolgate.yaml'],
    {
      cwd: folder,
      env: { HOME: folder },
    },
  );
  const session = await importConversation(`http://127.0.0.1:${gateway.port}`);
  browser = await chromium.launch({ executablePath: findTestProgram('Chromium'), args: ['--no-sandbox'] });
  report(await measure(session));
} finally {
  await browser?.close();
  await gateway?.stop();
  upstream.close();
  rmSync(folder, { recursive: true, force: true });
}

function configuration(port) {
  return {
    server: { keys: [{ key: KEY, name: 'bench', scopes: ['call', 'approve', 'admin'] }], body_limit_mb: 64 },
    upstreams: {
      mock: { dialect: 'anthropic-messages', base_url: `http://127.0.0.1:${port}`, api_key: 'none' },
    },
    models: {
      coder: { engine: 'native', upstream: 'mock', model: 'm', cwd: folder, context_window: 50_000_000 },
    },
    permissions: { mode: 'read-only' },
    sandbox: 'off',
  };
}

/** Question, call, result, answer, over and over. */
function conversation() {
  const messages = [];
  for (let index = 0; messages.length < MESSAGES; index += 1) {
    const id = `call_${index}`;
    const input =
      index % 2 === 0 ? { command: `git log --oneline -n ${index}` } : { file_path: `/src/${index}.ts` };
    messages.push(
      { role: 'user', content: `Question ${index}: what changed, and why?` },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I will look.' },
          { type: 'tool_use', id, name: index % 2 === 0 ? 'Bash' : 'Read', input },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: id, content: `line ${index}\n`.repeat(12) }],
      },
      { role: 'assistant', content: ANSWERS[index % ANSWERS.length] },
    );
  }
  return [...messages.slice(0, MESSAGES), { role: 'user', content: 'The last question' }];
}

async function importConversation(origin) {
  const answer = await fetch(`${origin}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': KEY },
    body: JSON.stringify({ model: 'coder', max_tokens: 100, messages: conversation() }),
  });
  const text = await answer.text();
  const session = answer.headers.get('x-session-id');
  if (!answer.ok || session === null) throw new Error(`${answer.status} ${text}`);
  return { origin, session };
}

async function measure({ origin, session }) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
  await page.goto(`${origin}/#token=${KEY}`);
  await page.locator('[data-connection="live"]').waitFor();
  await page.goto(`${origin}/#/chat/${session}`);
  await page.getByText('The last answer.').waitFor();
  const up = [];
  const down = [];
  const rows = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    up.push({ empty: await scroll(page, 'empty', -STEP_PX), list: await scroll(page, 'list', -STEP_PX) });
    rows.push(await page.locator('[data-row]').count());
    down.push({ empty: await scroll(page, 'empty', STEP_PX), list: await scroll(page, 'list', STEP_PX) });
  }
  return { up, down, rows };
}

/** Milliseconds between frames while one of both is moved. */
function scroll(page, what, step) {
  return page.evaluate(
    async ({ what, step, frames }) => {
      const list = document.querySelector('section[aria-busy]');
      let box = list;
      if (what === 'empty') {
        box = document.createElement('div');
        const inside = document.createElement('div');
        inside.style.height = '10000000px';
        box.append(inside);
        Object.assign(box.style, {
          position: 'fixed',
          inset: '0',
          overflow: 'auto',
          background: 'white',
          zIndex: 99,
        });
        document.body.append(box);
        box.scrollTop = step < 0 ? 10_000_000 : 0;
      }
      const next = () => new Promise((done) => requestAnimationFrame(done));
      await next();
      const times = [];
      let before = await next();
      for (let frame = 0; frame < frames; frame += 1) {
        box.scrollTop += step;
        const now = await next();
        times.push(now - before);
        before = now;
      }
      if (box !== list) box.remove();
      return times;
    },
    { what, step, frames: FRAMES },
  );
}

function report({ up, down, rows }) {
  const line = (name, runs) => {
    const of = (what, count) => median(runs.map((run) => count(run[what])));
    const dropped = (times) => (times.filter((time) => time > DROPPED_MS).length / times.length) * 100;
    const mean = (times) => times.reduce((sum, time) => sum + time, 0) / times.length;
    const each = (count, digits = 1) => {
      const [list, empty] = [of('list', count), of('empty', count)];
      return `${list.toFixed(digits)} / ${empty.toFixed(digits)} (${(list / Math.max(empty, 0.1)).toFixed(2)})`;
    };
    return [
      name,
      each(mean),
      each((times) => percentile(times, 0.99)),
      each((times) => Math.max(...times)),
      each(dropped),
    ];
  };
  console.log(
    table([
      ['list / empty box (ratio)', 'mean frame ms', '99th percentile', 'longest', `over ${DROPPED_MS} ms, %`],
      line('up, earlier messages are fetched', up),
      line('down', down),
    ]),
  );
  console.log(`rows in the page: ${spread(rows, 0)}`);
}

function answerStream(text) {
  const events = [
    [
      'message_start',
      {
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 1, output_tokens: 1 },
        },
      },
    ],
    ['content_block_start', { index: 0, content_block: { type: 'text', text: '' } }],
    ['content_block_delta', { index: 0, delta: { type: 'text_delta', text } }],
    ['content_block_stop', { index: 0 }],
    [
      'message_delta',
      { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } },
    ],
    ['message_stop', {}],
  ];
  return events
    .map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
    .join('');
}
