// Starts the built gateway on one Node (`node scripts/smoke.mjs [path of node]`), in an empty folder
// with an empty HOME, and takes a tool call round both endpoints. Ends with `N passed, M failed`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const node = resolve(process.argv[2] ?? process.execPath);
const command = fileURLToPath(new URL('../bin/toolgate.js', import.meta.url));
const PATIENCE_MS = 30_000;

const MODEL = 'custom-claude-4-sonnet';
const QUESTION = '请帮我计算 123 + 456';
const SCHEMA = {
  type: 'object',
  properties: { expression: { type: 'string', description: '数学表达式' } },
  required: ['expression'],
};
const [NAME, DESCRIPTION] = ['calculate', '执行数学计算'];

function expect(holds, message, got) {
  if (!holds) throw new Error(`${message}; got ${JSON.stringify(got)?.slice(0, 500)}`);
}

function post(url, path, body, headers = {}) {
  return fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
}

async function checkHealth({ url }) {
  const answer = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(PATIENCE_MS) });
  expect(answer.status === 200, '/healthz is not 200', answer.status);
}

async function checkChat({ url }) {
  const user = { role: 'user', content: QUESTION };
  const tools = [
    { type: 'function', function: { name: NAME, description: DESCRIPTION, parameters: SCHEMA } },
  ];
  const first = await post(url, '/v1/chat/completions', { model: MODEL, messages: [user], tools });
  const asked = await first.json();
  const [choice] = asked.choices ?? [];
  const call = choice?.message?.tool_calls?.[0];
  expect(choice?.finish_reason === 'tool_calls', 'finish_reason is not tool_calls', asked);
  expect(call?.function?.name === NAME, 'the tool is not called', asked);
  const { expression } = JSON.parse(call.function.arguments);
  expect(expression === '123 + 456', 'the expression is not 123 + 456', call);

  const result = { role: 'tool', tool_call_id: call.id, content: '579' };
  const second = await post(url, '/v1/chat/completions', {
    model: MODEL,
    messages: [user, choice.message, result],
  });
  const answered = await second.json();
  const [last] = answered.choices ?? [];
  expect(last?.finish_reason === 'stop', 'finish_reason is not stop', answered);
  expect(last?.message?.content?.includes('579'), 'the answer does not contain 579', answered);
}

/** Assembles the blocks of a stream of messages. */
async function readMessage(response) {
  expect(response.status === 200, 'the status is not 200', response.status);
  const text = await response.text();
  const blocks = [];
  let stopReason;
  for (const line of text.split('\n')) {
    if (!line.startsWith('data: ')) continue;
    const event = JSON.parse(line.slice('data: '.length));
    if (event.type === 'content_block_start') blocks.push({ ...event.content_block, json: '' });
    const block = blocks.at(-1);
    if (event.delta?.type === 'text_delta') block.text += event.delta.text;
    if (event.delta?.type === 'input_json_delta') block.json += event.delta.partial_json;
    if (event.type === 'message_delta') stopReason = event.delta.stop_reason;
  }
  expect(
    text.trimEnd().endsWith('{"type":"message_stop"}'),
    'the stream has no message_stop',
    text.slice(-200),
  );
  return { blocks, stopReason };
}

async function checkMessages({ url }) {
  const user = { role: 'user', content: QUESTION };
  const tools = [{ name: NAME, description: DESCRIPTION, input_schema: SCHEMA }];
  const base = { model: MODEL, max_tokens: 1024, stream: true, tools };
  const headers = { 'anthropic-version': '2023-06-01', 'x-api-key': 'any' };
  const asked = await readMessage(await post(url, '/v1/messages', { ...base, messages: [user] }, headers));
  const call = asked.blocks.find(({ type }) => type === 'tool_use');
  expect(asked.stopReason === 'tool_use', 'stop_reason is not tool_use', asked);
  const input = JSON.parse(call?.json ?? 'null');
  expect(input?.expression === '123 + 456', 'the expression is not 123 + 456', asked);

  const messages = [
    user,
    { role: 'assistant', content: [{ type: 'tool_use', id: call.id, name: call.name, input }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: '579' }] },
  ];
  const answered = await readMessage(await post(url, '/v1/messages', { ...base, messages }, headers));
  expect(answered.stopReason === 'end_turn', 'stop_reason is not end_turn', answered);
  const said = answered.blocks.map(({ text }) => text ?? '').join('');
  expect(said.includes('579'), 'the answer does not contain 579', answered);
}

async function checkStop({ child, exited }) {
  child.kill('SIGTERM');
  const [code, signal] = await exited;
  expect(code === 0, 'SIGTERM does not end it with code 0', { code, signal });
}

const CHECKS = [
  ['health', checkHealth],
  ['a tool call round /v1/chat/completions', checkChat],
  ['a streamed tool call round /v1/messages', checkMessages],
  ['SIGTERM stops it with code 0', checkStop],
];

async function start(folder) {
  const child = spawn(node, [command, 'start', '--port', '0', '--log-level', 'warn'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  let output = '';
  const url = new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`no address within ${PATIENCE_MS} ms\n${output}`)),
      PATIENCE_MS,
    );
    const read = (text) => {
      output += text;
      const address = /https?:\/\/127\.0\.0\.1:\d+/.exec(output);
      if (address === null) return;
      clearTimeout(timer);
      resolve(address[0]);
    };
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', read);
    exited.then(
      ([code]) => reject(new Error(`it ended with code ${code} before it printed an address\n${output}`)),
      reject,
    );
  });
  try {
    return { child, exited, url: await url };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

let passed = 0;
let failed = 0;

async function check(name, run) {
  try {
    const result = await run();
    passed++;
    console.log(`  ✓ ${name}`);
    return result;
  } catch (error) {
    failed++;
    console.log(`  ✗ ${name}: ${error.message}`);
    return undefined;
  }
}

const folder = await mkdtemp(join(tmpdir(), 'toolgate-smoke-'));
console.log(`smoke of the built gateway on ${node}`);
const gateway = await check('start prints its address', () => start(folder));
for (const [name, run] of gateway === undefined ? [] : CHECKS) await check(name, () => run(gateway));
if (gateway?.child.exitCode === null) gateway.child.kill('SIGKILL');
await gateway?.exited;
await rm(folder, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
