// Counts the source files of the gateway that one request runs: `npm run walk [-- --list]`.
//
// The sources are compiled file by file, so that V8's precise coverage names them. Each request is made
// once to warm up, then once more while functions are counted: a file counts where at least one of its
// functions ran. `--list` prints the files of each walk.
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const isListed = process.argv.includes('--list');
const root = fileURLToPath(new URL('..', import.meta.url));
const compiled = await mkdtemp(join(root, '.build-walk-'));
const home = await mkdtemp(join(tmpdir(), 'toolgate-walk-'));
const workspace = join(home, 'work');

async function compile() {
  const names = await readdir(join(root, 'src'), { recursive: true });
  const entryPoints = names.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  await build({
    entryPoints: entryPoints.map((name) => join(root, 'src', name)),
    outbase: root,
    outdir: compiled,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    supported: { 'import-attributes': true },
  });
  await cp(join(root, 'package.json'), join(compiled, 'package.json'));
}

/** An upstream of the dialect openai-chat: a server tool and a client tool first, words after their results. */
function startUpstream() {
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}');
    const offered = (body.tools ?? []).map((tool) => tool.function.name);
    const read = offered.find((name) => name === 'Read');
    const weather = offered.find((name) => name.endsWith('get_weather'));
    const last = body.messages?.at(-1);
    const calls = last?.role !== 'tool' && read !== undefined && weather !== undefined;
    const deltas = calls
      ? [callOf(0, read, { file_path: join(workspace, 'a.txt') }), callOf(1, weather, { city: 'Paris' })]
      : [{ content: 'One ' }, { content: 'answer.' }];
    const choice = (delta, finish = null) => ({
      id: 'c1',
      object: 'chat.completion.chunk',
      created: 1,
      model: body.model,
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    if (body.stream !== true) {
      response.setHeader('content-type', 'application/json');
      const message = { role: 'assistant', content: 'One answer.' };
      response.end(
        JSON.stringify({
          id: 'c1',
          object: 'chat.completion',
          created: 1,
          model: body.model,
          choices: [{ index: 0, message, finish_reason: 'stop' }],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        }),
      );
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    const events = [
      choice({ role: 'assistant' }),
      ...deltas.map((delta) => choice(delta)),
      choice({}, calls ? 'tool_calls' : 'stop'),
      { ...choice({}), choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
    ];
    for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end('data: [DONE]\n\n');
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({ server, port: server.address().port }));
  });
}

let calls = 0;
function callOf(index, name, input) {
  calls += 1;
  const call = { index, id: `call_${calls}`, type: 'function' };
  return { tool_calls: [{ ...call, function: { name, arguments: JSON.stringify(input) } }] };
}

const configOf = (upstreamPort, port) => `
server: { host: 127.0.0.1, port: ${port} }
upstreams:
  chat: { dialect: openai-chat, base_url: "http://127.0.0.1:${upstreamPort}/v1" }
models:
  plain: { upstream: chat, model: m }
  native: { engine: native, upstream: chat, model: m, cwd: ${JSON.stringify(workspace)}, tools: all }
  claude: { engine: claude-code, upstream: chat, model: m, cwd: ${JSON.stringify(workspace)}, tools: [Read] }
`;

const WEATHER = {
  name: 'get_weather',
  description: 'The weather of a city.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

async function ask(url, body) {
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({ max_tokens: 1000, stream: true, ...body }),
  });
  const text = await response.text();
  if (!response.ok || /event: error/.test(text)) throw new Error(`${response.status} ${text}`);
  return text;
}

/** The tool call of the client in an answer. */
function callIn(text) {
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)));
  const block = events.map(({ content_block: found }) => found).find((found) => found?.type === 'tool_use');
  if (block === undefined) throw new Error(`no tool call in ${text}`);
  return { type: 'tool_use', id: block.id, name: block.name, input: { city: 'Paris' } };
}

const WALKS = [
  {
    name: 'relay, streamed',
    run: async (url, count) => {
      await count('relay, streamed', () => ask(url, { model: 'plain', messages: [user('Hello')] }));
    },
  },
  agentWalk('native'),
  agentWalk('claude'),
];

function agentWalk(model) {
  return {
    name: model,
    run: async (url, count, round) => {
      const messages = [user(`What is the weather? (${round})`)];
      const first = await count(`${model}, server tool and client tool`, () =>
        ask(url, { model, messages, tools: [WEATHER] }),
      );
      const call = callIn(first);
      const result = { type: 'tool_result', tool_use_id: call.id, content: 'sunny' };
      const next = [...messages, { role: 'assistant', content: [call] }, { role: 'user', content: [result] }];
      await count(`${model}, the result`, () => ask(url, { model, messages: next, tools: [WEATHER] }));
    },
  };
}

function user(text) {
  return { role: 'user', content: text };
}

async function filesOf(coverage) {
  const { result } = await coverage.post('Profiler.takePreciseCoverage');
  const prefix = pathToFileURL(join(compiled, 'src')).href;
  const own = result.filter(({ url }) => url.startsWith(prefix));
  return own
    .map(({ url, functions }) => ({
      file: url.slice(prefix.length + 1).replace(/\.js$/, '.ts'),
      // The one at the beginning is the module itself.
      functions: functions.filter(({ ranges: [range] }) => range.startOffset > 0 && range.count > 0).length,
    }))
    .filter(({ functions }) => functions > 0);
}

async function main() {
  await compile();
  await mkdir(workspace, { recursive: true });
  await writeFile(join(workspace, 'a.txt'), 'One line.\n');
  const upstream = await startUpstream();
  const port = await freePort();
  const config = join(home, 'toolgate.yaml');
  await writeFile(config, configOf(upstream.port, port));
  Object.assign(process.env, {
    HOME: home,
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CONFIG_HOME: join(home, 'config'),
  });
  const command = await import(pathToFileURL(join(compiled, 'src/cli/main.js')).href);
  process.argv = [process.argv[0], 'toolgate', 'start', '--config', config, '--log-level', 'error'];
  const running = command.main(process);
  const url = `http://127.0.0.1:${port}`;
  await untilUp(url);
  const coverage = new Session();
  coverage.connect();
  await coverage.post('Profiler.enable');
  await coverage.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  for (const { run } of WALKS) {
    await run(url, (_name, request) => request(), 'first');
    await run(
      url,
      async (name, request) => {
        await filesOf(coverage);
        const answer = await request();
        const files = await filesOf(coverage);
        const functions = files.reduce((sum, file) => sum + file.functions, 0);
        console.log(`${name}: ${files.length} files, ${functions} functions`);
        if (isListed) for (const { file } of files) console.log(`  ${file}`);
        return answer;
      },
      'second',
    );
  }
  process.kill(process.pid, 'SIGTERM');
  await running;
  upstream.server.closeAllConnections();
  upstream.server.close();
}

async function untilUp(url) {
  for (;;) {
    const response = await fetch(`${url}/healthz`).catch(() => undefined);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

try {
  await main();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await rm(compiled, { recursive: true, force: true });
  await rm(home, { recursive: true, force: true });
  process.exit();
}
