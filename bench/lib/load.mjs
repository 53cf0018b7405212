/**
 * A load generator on raw sockets: keep-alive, one request at a time on each connection. It reads
 * whole answers (by length or chunked).
 */
import { connect } from 'node:net';
import { NUMBER } from './workload.mjs';

const ANSWER_TIMEOUT_MS = 30_000;

export function httpRequest({ method = 'POST', path, host = 'bench', headers = {}, body }) {
  const lines = [`${method} ${path} HTTP/1.1`, `host: ${host}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (body !== undefined) lines.push('content-type: application/json', `content-length: ${body.length}`);
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  return body === undefined ? head : Buffer.concat([head, body]);
}

let numbered = 0;

/**
 * Gives the same request again and again with a new number in its last message: an agent repeats its
 * history, never its question. A request without the mark stays as it is.
 */
export function renewing(request) {
  const own = Buffer.from(request);
  const at = own.lastIndexOf(NUMBER);
  if (at === -1) return () => own;
  return () => {
    own.write(`#${String(++numbered).padStart(NUMBER.length - 1, '0')}`, at);
    return own;
  };
}

const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** Collects the reads of one answer until it is whole. */
class AnswerReader {
  reset() {
    this.parts = [];
    this.size = 0;
    this.head = '';
    this.headEnd = -1;
    this.total = -1;
    this.chunked = false;
    this.status = 0;
    this.firstByteAt = 0;
  }

  /** True when the answer is whole. */
  push(data) {
    this.parts.push(data);
    this.size += data.length;
    if (this.headEnd === -1 && !this.#readHead()) return false;
    if (this.firstByteAt === 0 && this.size > this.headEnd) this.firstByteAt = performance.now();
    if (!this.chunked) return this.size >= this.total;
    return this.#endsWithLastChunk(data);
  }

  #readHead() {
    if (this.parts.length > 1) this.parts = [Buffer.concat(this.parts)];
    const data = this.parts[0];
    const end = data.indexOf('\r\n\r\n');
    if (end === -1) return false;
    this.head = data.latin1Slice(0, end).toLowerCase();
    this.headEnd = end + 4;
    this.status = Number(this.head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/.exec(this.head);
    this.chunked = length === null && /\r\ntransfer-encoding: *chunked/.test(this.head);
    if (length !== null) this.total = this.headEnd + Number(length[1]);
    else if (!this.chunked) throw new Error(`no framing in: ${this.head}`);
    return true;
  }

  #endsWithLastChunk(data) {
    if (data.length >= 7) return data.subarray(-5).equals(LAST_CHUNK) && data[data.length - 6] === 0x0a;
    const joined = Buffer.concat(this.parts);
    this.parts = [joined];
    return joined.subarray(-5).equals(LAST_CHUNK) && joined[joined.length - 6] === 0x0a;
  }

  body() {
    const raw = Buffer.concat(this.parts).subarray(this.headEnd);
    return this.chunked ? dechunk(raw) : raw;
  }
}

function dechunk(raw) {
  const parts = [];
  for (let at = 0; ; ) {
    const line = raw.indexOf('\r\n', at);
    const size = Number.parseInt(raw.latin1Slice(at, line), 16);
    if (size === 0) return Buffer.concat(parts);
    parts.push(raw.subarray(line + 2, line + 2 + size));
    at = line + 4 + size;
  }
}

/** A connection that is asked again and again. `send` rejects for any status but 200. */
export class Connection {
  #socket;
  #reader = new AnswerReader();
  #waiting;

  constructor(port) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.setTimeout(ANSWER_TIMEOUT_MS, () => {
      if (this.#waiting) this.#socket.destroy(new Error(`no answer in ${ANSWER_TIMEOUT_MS} ms`));
    });
    this.#socket.on('data', (data) => this.#read(data));
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('closed by the target')));
  }

  /** Resolves with the whole answer and when it came: `{ head, body, firstByteMs, ms }`. */
  send(request) {
    return new Promise((resolve, reject) => {
      this.#reader.reset();
      this.#waiting = { resolve, reject, sentAt: performance.now() };
      this.#socket.write(request);
    });
  }

  close() {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #read(data) {
    const reader = this.#reader;
    if (this.#waiting === undefined) return;
    try {
      if (!reader.push(data)) return;
      if (reader.status !== 200) throw new Error(`status ${reader.status}: ${reader.body()}`);
    } catch (error) {
      this.#fail(error);
      return;
    }
    const { resolve, sentAt } = this.#waiting;
    this.#waiting = undefined;
    const ms = performance.now() - sentAt;
    resolve({ head: reader.head, body: reader.body(), firstByteMs: reader.firstByteAt - sentAt, ms });
  }

  #fail(error) {
    const { reject } = this.#waiting ?? {};
    this.#waiting = undefined;
    this.#socket.destroy();
    reject?.(error);
  }
}

/**
 * Runs `concurrency` connections for `durationMs`, longer while fewer than `minCount` answers came
 * (but not beyond `maxMs`), then lets running answers finish. `check(body)` throws for a wrong answer.
 */
export async function runLoad({
  port,
  request,
  concurrency,
  durationMs,
  minCount = 0,
  maxMs = 20_000,
  check = () => {},
}) {
  const latencies = [];
  const firstBytes = [];
  const begun = performance.now();
  const goesOn = (now) => now - begun < durationMs || (latencies.length < minCount && now - begun < maxMs);
  let failed = false;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      const connection = new Connection(port);
      const next = renewing(request);
      try {
        do {
          const { body, ms, firstByteMs } = await connection.send(next());
          check(body);
          latencies.push(ms);
          firstBytes.push(firstByteMs);
        } while (!failed && goesOn(performance.now()));
      } catch (error) {
        failed = true;
        throw error;
      } finally {
        connection.close();
      }
    }),
  );
  const seconds = (performance.now() - begun) / 1000;
  return { count: latencies.length, seconds, latencies, firstBytes };
}

/** Opens `count` streams and resolves once each has sent a byte of its body; `close()` drops them all. */
export async function openStreams({ port, request, count }) {
  const sockets = [];
  const close = () => {
    for (const socket of sockets) socket.destroy();
  };
  try {
    // In groups: a burst of connects would measure the listen backlog.
    for (let opened = 0; opened < count; opened += 50) {
      const group = Math.min(50, count - opened);
      await Promise.all(Array.from({ length: group }, () => openStream(port, renewing(request)(), sockets)));
    }
  } catch (error) {
    close();
    throw error;
  }
  return { close };
}

function openStream(port, request, sockets) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    sockets.push(socket);
    let seen = '';
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => reject(new Error('a stream did not begin')));
    socket.on('connect', () => socket.write(request));
    socket.on('error', reject);
    socket.on('data', (data) => {
      if (seen === undefined) return;
      seen += data.latin1Slice();
      const end = seen.indexOf('\r\n\r\n');
      if (end === -1 || seen.length === end + 4) return;
      if (!/^HTTP\/1\.1 200/.test(seen)) reject(new Error(seen.slice(0, 200)));
      seen = undefined;
      resolve();
    });
  });
}
