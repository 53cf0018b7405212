/**
 * The upstream of every benchmark, on raw sockets so that it costs little. The path says what it
 * answers: /json|burst|paced|first|hold|text100|agent/v1/messages or …/v1/chat/completions. Each event is an
 * HTTP chunk of its own, as providers send them. Run as a process: prints `listening <port>`.
 */
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import {
  agentCallFrames,
  agentTextFrames,
  anthropicAnswer,
  anthropicFrames,
  anthropicTextFrames,
  chatAnswer,
  chatFrames,
  chatTextFrames,
} from './workload.mjs';

const TICK_MS = 2;
const HOLD_TICKS = 100;
const REST_TICKS = 5;
/** Anthropic: start of the message, start of the block, first delta. */
const FIRST_TOKEN_PIECES = 3;

const chunk = (text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n';

function jsonAnswer(value) {
  const body = JSON.stringify(value);
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function streamAnswer(frames) {
  const chunks = frames.map(chunk);
  return {
    whole: Buffer.from(`${STREAM_HEAD}${chunks.join('')}0\r\n\r\n`),
    pieces: [`${STREAM_HEAD}${chunks[0]}`, ...chunks.slice(1), '0\r\n\r\n'].map((piece) =>
      Buffer.from(piece),
    ),
  };
}

const DIALECTS = {
  '/v1/messages': {
    json: jsonAnswer(anthropicAnswer()),
    stream: streamAnswer(anthropicFrames()),
    text: memoized((pieces) => streamAnswer(anthropicTextFrames(pieces))),
  },
  '/v1/chat/completions': {
    json: jsonAnswer(chatAnswer()),
    stream: streamAnswer(chatFrames()),
    text: memoized((pieces) => streamAnswer(chatTextFrames(pieces))),
  },
};

function memoized(make) {
  const made = new Map();
  return (key) => made.get(key) ?? made.set(key, make(key)).get(key);
}

/** Streams in progress: advanced together by one timer. */
const active = new Set();
setInterval(() => {
  for (const stream of active) stream.tick();
}, TICK_MS).unref();

function pace(socket, pieces, every, last) {
  let next = 0;
  let left = 0;
  const stream = {
    socket,
    tick() {
      if (--left > 0) return;
      left = every;
      socket.write(pieces[next++]);
      if (next === last) active.delete(stream);
    },
  };
  // The first event goes out at once: time to first token is not the timer's.
  stream.tick();
  active.add(stream);
}

const MODES = {
  json: (socket, { json }) => socket.write(json),
  burst: (socket, { stream }) => socket.write(stream.whole),
  paced: (socket, { stream }) => pace(socket, stream.pieces, 1, stream.pieces.length),
  /** Up to the first token at once, all else together 10 ms later: for the time to the first token. */
  first: (socket, { stream }) => {
    const { pieces } = stream;
    const parts = [pieces.slice(0, FIRST_TOKEN_PIECES), pieces.slice(FIRST_TOKEN_PIECES)];
    pace(
      socket,
      parts.map((part) => Buffer.concat(part)),
      REST_TICKS,
      2,
    );
  },
  hold: (socket, { stream }) => pace(socket, stream.pieces, HOLD_TICKS, stream.pieces.length),
  /** Text alone, in as many events as the mode says, in one write. */
  text: (socket, { text }, { count }) => socket.write(text(count).whole),
  /** A call of Read, and 200 pieces of text once its result is there; each event a write of its own. */
  agent: (socket, _, { body }) =>
    writeOneByOne(
      socket,
      streamAnswer(body.includes('tool_result') ? agentTextFrames() : agentCallFrames()).pieces,
    ),
};

async function writeOneByOne(socket, pieces) {
  for (const piece of pieces) {
    socket.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A response of our own for "not found": the target asked for the wrong thing. */
function refuse(socket, why) {
  socket.end(`HTTP/1.1 404 Not Found\r\ncontent-length: ${why.length}\r\n\r\n${why}`);
}

export function createMockUpstream() {
  return createServer({ noDelay: true }, (socket) => {
    let parts = [];
    let size = 0;
    let needed = -1;
    let target = '';
    socket.on('data', (data) => {
      parts.push(data);
      size += data.length;
      if (needed === -1) {
        if (parts.length > 1) parts = [Buffer.concat(parts)];
        const end = parts[0].indexOf('\r\n\r\n');
        if (end === -1) return;
        const head = parts[0].latin1Slice(0, end);
        target = head.split(' ', 2)[1];
        needed = end + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      }
      if (size < needed) return;
      const [, mode, count, path] = /^\/([a-z]+)(\d*)(\/v1\/[\w/]+)/.exec(target) ?? [];
      const body = mode === 'agent' ? Buffer.concat(parts) : undefined;
      parts = [];
      size = 0;
      needed = -1;
      const dialect = DIALECTS[path];
      const answer = MODES[mode];
      if (dialect === undefined || answer === undefined) refuse(socket, target);
      else answer(socket, dialect, { count: Number(count), body });
    });
    const drop = () => {
      for (const stream of active) if (stream.socket === socket) active.delete(stream);
    };
    socket.on('error', drop);
    socket.on('close', drop);
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = createMockUpstream();
  server.listen(0, '127.0.0.1', 1024, () => console.log(`listening ${server.address().port}`));
}
