/** Writes one reply to a socket, piece by piece. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Gate, turnOfLoop } from './gate.js';
import type { AnswerReply, Bytes, Ending, Piece, Reply } from './replies.js';

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  413: 'Payload Too Large',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  529: 'Overloaded',
};

const bytesOf = (bytes: Bytes): Buffer =>
  typeof bytes === 'string'
    ? Buffer.from(bytes)
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Thrown inside the writer when the client has gone: nothing more can be said. */
class ClientGone extends Error {}

/**
 * Resolves to whether the connection may serve another request. `answered` is called as soon as all
 * is said that will be said; a reply that hangs never calls it.
 */
export async function writeReply(
  socket: Socket,
  reply: Reply,
  gone: Promise<void>,
  answered: () => void,
): Promise<boolean> {
  try {
    return await new ReplyWriter(socket, gone, answered).write(reply);
  } catch (error) {
    if (error instanceof ClientGone) return false;
    throw error;
  }
}

class ReplyWriter {
  readonly #socket: Socket;
  readonly #gone: Promise<never>;
  readonly #answered: () => void;
  #held: Buffer[] = [];
  #unread = false;
  #writeSize = Number.POSITIVE_INFINITY;
  #together = false;

  constructor(socket: Socket, gone: Promise<void>, answered: () => void) {
    this.#socket = socket;
    this.#answered = answered;
    this.#gone = gone.then(() => {
      throw new ClientGone();
    });
    this.#gone.catch(() => {});
  }

  async write(reply: Reply): Promise<boolean> {
    switch (reply.kind) {
      case 'hang':
        return this.#end('hang');
      case 'reset':
        return this.#end('reset');
      case 'close':
        return this.#end('close');
      case 'raw':
        for (const piece of reply.pieces) await this.#piece(piece, (bytes) => [bytes]);
        return this.#end(reply.end);
      case 'answer':
        return this.#answer(reply);
    }
  }

  async #answer(reply: AnswerReply): Promise<boolean> {
    this.#writeSize = reply.writeSize ?? Number.POSITIVE_INFINITY;
    this.#together = reply.together ?? false;
    const framing = reply.framing ?? 'length';
    const frame = framing === 'chunked' ? chunk : (bytes: Buffer): Buffer[] => [bytes];
    await this.#bytes(headOf(reply));
    let left = reply.cutAt ?? Number.POSITIVE_INFINITY;
    for (const piece of reply.body) {
      if (left <= 0) break;
      if (piece instanceof Gate || isUnframed(piece)) {
        await this.#piece(piece, frame);
        continue;
      }
      const bytes = bytesOf(piece).subarray(0, left);
      left -= bytes.length;
      await this.#piece(bytes, frame);
    }
    const end = reply.end ?? (framing === 'close' ? 'close' : 'keep-alive');
    const whole = end === 'keep-alive' || end === 'close';
    if (framing === 'chunked' && whole) await this.#bytes(Buffer.from('0\r\n\r\n'));
    return this.#end(end);
  }

  async #piece(piece: Piece, frame: (bytes: Buffer) => Buffer[]): Promise<void> {
    if (piece instanceof Gate) {
      await this.#flush();
      await this.#letRead();
      await Promise.race([piece.pass(), this.#gone]);
    } else if (isUnframed(piece)) {
      await this.#bytes(bytesOf(piece.unframed));
    } else {
      const bytes = bytesOf(piece);
      // An empty chunk would be the end of the body.
      if (bytes.length > 0) await this.#bytes(Buffer.concat(frame(bytes)));
    }
  }

  async #bytes(bytes: Buffer): Promise<void> {
    this.#held.push(bytes);
    if (!this.#together) await this.#flush();
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#held);
    this.#held = [];
    for (let from = 0; from < bytes.length; from += this.#writeSize) {
      const part = bytes.subarray(from, from + this.#writeSize);
      await this.#letRead();
      this.#unread = true;
      const written = new Promise<void>((done, failed) => {
        this.#socket.write(part, (error) => (error == null ? done() : failed(new ClientGone())));
      });
      await Promise.race([written, this.#gone]);
    }
  }

  /**
   * Keeps one write apart from the next. Waiting before a write and not after it matters for the
   * last one: a client may close as soon as it has that, and its answer was whole all the same.
   */
  async #letRead(): Promise<void> {
    if (this.#unread) await turnOfLoop();
    this.#unread = false;
  }

  async #end(end: Ending): Promise<boolean> {
    await this.#flush();
    if (end !== 'hang') this.#answered();
    if (end !== 'keep-alive') await this.#letRead();
    switch (end) {
      case 'keep-alive':
        return true;
      case 'close':
      case 'truncate':
        this.#socket.end();
        return false;
      case 'reset':
        this.#socket.resetAndDestroy();
        return false;
      case 'hang':
        if (!this.#socket.destroyed) await once(this.#socket, 'close');
        return false;
    }
  }
}

const isUnframed = (piece: Piece): piece is { unframed: Bytes } =>
  typeof piece === 'object' && 'unframed' in piece;

const chunk = (bytes: Buffer): Buffer[] => [
  Buffer.from(`${bytes.length.toString(16)}\r\n`),
  bytes,
  Buffer.from('\r\n'),
];

function headOf(reply: AnswerReply): Buffer {
  const status = reply.status ?? 200;
  const given = Array.isArray(reply.headers) ? [...reply.headers] : Object.entries(reply.headers ?? {});
  const lines = [
    `HTTP/1.1 ${status} ${reply.reason ?? REASONS[status] ?? 'Status'}`,
    ...given.map(([name, value]) => `${name}: ${value}`),
  ];
  switch (reply.framing ?? 'length') {
    case 'chunked':
      lines.push('transfer-encoding: chunked');
      break;
    case 'length':
      lines.push(`content-length: ${reply.contentLength ?? lengthOf(reply.body)}`);
      break;
    case 'close':
      lines.push('connection: close');
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function lengthOf(pieces: readonly Piece[]): number {
  let length = 0;
  for (const piece of pieces) {
    if (!(piece instanceof Gate) && !isUnframed(piece)) length += Buffer.byteLength(piece);
  }
  return length;
}
