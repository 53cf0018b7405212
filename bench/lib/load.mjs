/**
 * A load generator on raw sockets: closed loop, keep-alive, one request at a time on each
 * connection. It reads whole answers (length or chunked) and hands each to a check.
 */
import { connect } from 'node:net';

export function httpRequest({ method = 'POST', path, host = 'bench', headers = {}, body }) {
  const lines = [`${method} ${path} HTTP/1.1`, `host: ${host}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (body !== undefined) lines.push('content-type: application/json', `content-length: ${body.length}`);
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  return body === undefined ? head : Buffer.concat([head, body]);
}

const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** Collects the reads of one answer until it is whole. */
class AnswerReader {
  reset() {
    this.parts = [];
    this.size = 0;
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
    const head = data.latin1Slice(0, end).toLowerCase();
    this.headEnd = end + 4;
    this.status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/.exec(head);
    this.chunked = length === null && /\r\ntransfer-encoding: *chunked/.test(head);
    if (length !== null) this.total = this.headEnd + Number(length[1]);
    else if (!this.chunked) throw new Error(`no framing in: ${head}`);
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

/**
 * Runs `concurrency` connections for `durationMs`, longer while fewer than `minCount` answers came
 * (but not beyond `maxMs`), then lets running answers finish.
 * `check(body, status, count)` throws for a wrong answer.
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
  const goesOn = (now) => now - begun < durationMs || (count < minCount && now - begun < maxMs);
  let count = 0;
  await Promise.all(
    Array.from(
      { length: concurrency },
      () =>
        new Promise((resolve, reject) => {
          const socket = connect({ port, host: '127.0.0.1', noDelay: true });
          const reader = new AnswerReader();
          let sentAt = 0;
          const send = () => {
            reader.reset();
            sentAt = performance.now();
            socket.write(request);
          };
          const fail = (error) => {
            socket.destroy();
            reject(error);
          };
          socket.on('connect', send);
          socket.on('error', reject);
          socket.on('close', () => reject(new Error(`closed by the target after ${count} answers`)));
          socket.on('data', (data) => {
            try {
              if (!reader.push(data)) return;
              if (reader.status !== 200) throw new Error(`status ${reader.status}: ${reader.body()}`);
              count++;
              check(reader.body(), reader.status, count);
            } catch (error) {
              fail(error);
              return;
            }
            const now = performance.now();
            latencies.push(now - sentAt);
            firstBytes.push(reader.firstByteAt - sentAt);
            if (goesOn(now)) {
              send();
            } else {
              socket.removeAllListeners('close');
              socket.destroy();
              resolve();
            }
          });
        }),
    ),
  );
  return { count, seconds: (performance.now() - begun) / 1000, latencies, firstBytes };
}

/** Opens `count` streams and resolves once each has sent a byte of its body; `close()` drops them all. */
export async function openStreams({ port, request, count }) {
  const sockets = [];
  // In groups: a burst of connects would measure the listen backlog.
  for (let opened = 0; opened < count; opened += 50) {
    await Promise.all(
      Array.from(
        { length: Math.min(50, count - opened) },
        () =>
          new Promise((resolve, reject) => {
            const socket = connect({ port, host: '127.0.0.1', noDelay: true });
            sockets.push(socket);
            let seen = '';
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
          }),
      ),
    );
  }
  return {
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
