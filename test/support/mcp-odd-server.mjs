// An MCP server on stdio that misbehaves on request. Written on the wire format alone, so that it can
// do what no library would.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const mode = process.argv[2] ?? 'plain';
const MB = 1024 * 1024;
const cancelled = [];
const held = new Map();
const asked = new Map();
let extra = 0;

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const answer = (id, text, more = {}) => write({ id, result: { content: [{ type: 'text', text }], ...more } });

const NAMES = [
  'echo hold release hang cancelled die exit-later error tool-error huge huge-anonymous flood endless',
  'grow pid child environment ask progress duplicate-answer',
]
  .join(' ')
  .split(' ');
const tool = (name) => ({ name, description: `Does ${name}`, inputSchema: { type: 'object' } });

function listTools(cursor) {
  switch (mode) {
    case 'many':
      return { tools: Array.from({ length: 10_000 }, (_, index) => tool(`tool-${index}`)) };
    case 'paged': {
      const page = Number(cursor ?? 0);
      return { tools: [tool(`page-${page}`)], ...(page < 4 ? { nextCursor: String(page + 1) } : {}) };
    }
    case 'says':
      return { tools: ['say', 'pid'].map(tool) };
    case 'looping':
      return { tools: [tool('only')], nextCursor: 'again' };
    case 'endless-pages':
      return { tools: [tool(`page-${cursor ?? 0}`)], nextCursor: String(Number(cursor ?? 0) + 1) };
    case 'odd-tools':
      return {
        tools: [
          { ...tool('fine'), annotations: { readOnlyHint: true, destructiveHint: 'maybe' } },
          { name: 'no-schema' },
          { ...tool('chatty'), description: 'x'.repeat(100_000) },
          { ...tool('heavy'), inputSchema: { type: 'object', description: 'y'.repeat(1_000_000) } },
          { ...tool('typeless'), inputSchema: { properties: { a: { type: 'string' } } } },
          tool('a.b'),
          tool('a/b'),
          tool('a_b'),
        ],
      };
    default:
      return {
        tools: [...NAMES.map(tool), ...Array.from({ length: extra }, (_, index) => tool(`extra-${index}`))],
      };
  }
}

const CALLS = {
  echo: (id, input) => answer(id, JSON.stringify(input)),
  // Answered when another call says so, in whatever order the test wants.
  hold: (id, { key }) => held.set(key, id),
  release(id, { key, text }) {
    answer(held.get(key), text);
    answer(id, 'released');
  },
  hang() {},
  cancelled: (id) => answer(id, JSON.stringify(cancelled)),
  die() {
    process.stderr.write('about to fall over\n', () => process.exit(3));
  },
  'exit-later'(id) {
    answer(id, 'bye');
    process.stdout.write('', () => process.exit(0));
  },
  error: (id) => write({ id, error: { code: -32_000, message: 'the disk is full' } }),
  'tool-error': (id) => answer(id, 'no such file', { isError: true }),
  huge: (id, { mb }) => answer(id, 'z'.repeat(mb * MB)),
  'huge-anonymous': (_id, { mb }) => process.stdout.write(`{"junk":"${'z'.repeat(mb * MB)}"}\n`),
  flood() {
    const line = `${'not a message '.repeat(1000)}\n`;
    const more = () => {
      while (process.stdout.write(line));
      process.stdout.once('drain', more);
    };
    more();
  },
  endless() {
    const part = 'x'.repeat(MB);
    const more = () => {
      while (process.stdout.write(part));
      process.stdout.once('drain', more);
    };
    more();
  },
  grow(id) {
    extra += 1;
    write({ method: 'notifications/tools/list_changed' });
    answer(id, 'grown');
  },
  pid: (id) => answer(id, String(process.pid)),
  // What it is told to, with the id of the call where it belongs, and then an answer that is one.
  say(id, { lines, sound }) {
    for (const line of lines) process.stdout.write(`${line.replaceAll('"$ID"', JSON.stringify(id))}\n`);
    answer(id, sound);
  },
  child(id) {
    const child = spawn(
      process.execPath,
      ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'],
      {
        stdio: 'ignore',
      },
    );
    child.once('spawn', () => answer(id, String(child.pid)));
  },
  environment: (id) => answer(id, JSON.stringify(process.env)),
  ask(id, { method, params = {} }) {
    asked.set('q', id);
    write({ id: 'q', method, params });
  },
  progress(id, { steps }, token) {
    for (let step = 1; step <= steps; step += 1) {
      write({
        method: 'notifications/progress',
        params: { progressToken: token, progress: step, total: steps, message: `step ${step}` },
      });
    }
    answer(id, 'done');
  },
  'duplicate-answer'(id) {
    answer(id, 'first');
    answer(id, 'second');
  },
};

function onMessage(message) {
  const { id, method, params } = message;
  if (mode === 'hang-at-start') return;
  if (mode === 'stray') process.stdout.write('Listening on stdio!\n\n{"level":"info"}\n');
  if (method === undefined) {
    answer(asked.get(id), JSON.stringify(message.error ?? message.result));
    return;
  }
  if (method === 'server/discover') {
    if (mode === 'ends-when-asked') process.exit(3);
    if (mode !== 'silent-when-asked') write({ id, error: { code: -32601, message: 'Method not found' } });
    return;
  }
  if (method === 'initialize') {
    if (mode === 'wrong-version') {
      write({
        id,
        result: {
          protocolVersion: '1999-01-01',
          capabilities: {},
          serverInfo: { name: 'odd', version: '1' },
        },
      });
      return;
    }
    const capabilities = mode === 'no-tools' ? {} : { tools: { listChanged: true } };
    write({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities,
        serverInfo: { name: 'odd', version: '1.0' },
      },
    });
  } else if (method === 'tools/list') {
    if (mode === 'hang-at-list') return;
    if (mode === 'huge-list') answer(id, 'l'.repeat(20 * MB));
    else write({ id, result: listTools(params?.cursor) });
  } else if (method === 'tools/call') {
    CALLS[params.name](id, params.arguments ?? {}, params._meta?.progressToken);
  } else if (method === 'notifications/cancelled') {
    cancelled.push(params.requestId);
  } else if (method === 'ping') {
    write({ id, result: {} });
  }
}

if (mode === 'exit-at-start') {
  process.stderr.write('no licence found\n', () => process.exit(7));
} else if (mode === 'flood-at-start') {
  CALLS.flood();
} else {
  if (mode === 'stubborn') {
    process.on('SIGTERM', () => {});
    setInterval(() => {}, 1000);
  }
  createInterface({ input: process.stdin }).on('line', (line) => onMessage(JSON.parse(line)));
}
