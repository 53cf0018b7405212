/**
 * How long a new conversation with Claude Code takes from being asked for to its first model call:
 * `node bench/claude-start.mjs [rounds]`
 * Cold: a process is started for it. Warm: one waits. Each round does both, one after the other, with
 * a client tool, hooks and a system prompt of its own; medians of the rounds. Ends with 1 where warm
 * takes more than a quarter of cold.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createSdkMcpServer, tool } from '@anthropic-ai/claude-agent-sdk';
import { build } from 'esbuild';
import * as z from 'zod';

const LIMIT = 1 / 4;
const ROUNDS = Number(process.argv[2] ?? 9);
/** A spare is there and idle after this. */
const SETTLE_MS = 2_500;

const root = fileURLToPath(new URL('..', import.meta.url));
const built = mkdtempSync(join(root, 'node_modules', '.bench-claude-'));
const folder = mkdtempSync(join(tmpdir(), 'toolgate-claude-'));
try {
  await build({
    entryPoints: [join(root, 'src/engines/claude-code/processes/create-claude-processes.ts')],
    outfile: join(built, 'processes.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
  });
  const { createClaudeProcesses } = await import(pathToFileURL(join(built, 'processes.mjs')).href);
  process.exitCode = (await measure(createClaudeProcesses)) ? 0 : 1;
} finally {
  rmSync(built, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
}

async function measure(createClaudeProcesses) {
  const model = await startModel();
  const cwd = join(folder, 'work');
  mkdirSync(cwd);
  const log = { debug() {}, info() {}, warn: console.warn, error: console.error };
  const create = (name, spares) => createClaudeProcesses({ stateDir: join(folder, name), log, spares });
  const kinds = { cold: create('cold', 0), warm: create('warm', 1) };
  const profile = {
    cwd,
    model: 'claude-sonnet-5',
    baseUrl: model.url,
    tools: ['Read', 'Bash', 'Edit', 'Write'],
  };
  const times = { cold: [], warm: [] };
  try {
    for (let round = -1; round < ROUNDS; round += 1) {
      for (const [kind, processes] of Object.entries(kinds)) {
        if (kind === 'warm') processes.warm(profile);
        await sleep(SETTLE_MS);
        const ms = await firstCall(processes, profile, model, kind === 'warm');
        // The first round fills the file cache.
        if (round >= 0) times[kind].push(ms);
      }
    }
  } finally {
    await Promise.all(Object.values(kinds).map((processes) => processes.close()));
    model.close();
  }
  const [cold, warm] = [times.cold, times.warm].map(summary);
  const ratio = warm.median / cold.median;
  console.log(`cold ${show(cold)}\nwarm ${show(warm)}`);
  console.log(`warm / cold ${ratio.toFixed(3)} (limit ${LIMIT}): ${ratio <= LIMIT ? 'met' : 'missed'}`);
  return ratio <= LIMIT;
}

async function firstCall(processes, profile, model, expectWarm) {
  const handler = async () => ({ content: [{ type: 'text', text: 'sunny' }] });
  const gateway = createSdkMcpServer({
    name: 'gateway',
    alwaysLoad: true,
    tools: [tool('weather', 'The weather in a city', { city: z.string() }, handler)],
  });
  const nothing = async () => ({});
  const asked = model.next();
  const began = performance.now();
  const opened = await processes.open({
    profile,
    system: { mode: 'append', text: 'Be brief.' },
    servers: { gateway },
    canUseTool: async () => ({ behavior: 'deny', message: 'no' }),
    hooks: { preToolUse: nothing, postToolUse: nothing, postToolUseFailure: nothing },
    history: [],
    signal: new AbortController().signal,
  });
  opened.send({
    type: 'user',
    message: { role: 'user', content: 'Hello' },
    parent_tool_use_id: null,
  });
  const ms = (await asked) - began;
  if (opened.warm !== expectWarm) throw new Error(`It was ${opened.warm ? 'warm' : 'cold'}`);
  for (;;) {
    const { value, done } = await opened.messages.next();
    if (done || value.type === 'result') break;
  }
  await opened.close();
  return ms;
}

/** Answers every call with one word; `next` resolves with the time of the next call. */
async function startModel() {
  let waiting = () => {};
  const server = createServer((request, response) => {
    if (request.url.startsWith('/v1/messages?')) waiting(performance.now());
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(
        events()
          .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
          .join(''),
      );
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    next: () => new Promise((resolve) => (waiting = resolve)),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function events() {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage };
  return [
    { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
}

function summary(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)], min: sorted[0], max: sorted.at(-1) };
}

function show({ median, min, max }) {
  return `${Math.round(median)} ms [${Math.round(min)}–${Math.round(max)}]`;
}
