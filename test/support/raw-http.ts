/** A client that sends exactly the bytes it is given: for malformed requests and for leaving early. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { closeAfterTest } from './cleanup.js';
import { turnOfLoop } from './gate.js';
import { type HeaderList, HttpReader, statusOf } from './http-message.js';
import type { Bytes } from './replies.js';

export interface RawResponse {
  status: number;
  statusLine: string;
  rawHeaders: HeaderList;
  headers: Readonly<Record<string, string>>;
  /** Without chunk framing. */
  body: Buffer;
  text: string;
  /** The body as JSON; throws where it is none. */
  json(): unknown;
  /** False when the connection ended before the body did. */
  complete: boolean;
}

export interface RequestParts {
  method?: string;
  path?: string;
  headers?: Readonly<Record<string, string>> | HeaderList;
  body?: Bytes;
}

/** The bytes of a well-formed request. `host` and `content-length` are added unless they are given. */
export function requestBytes(url: string, parts: RequestParts = {}): Buffer {
  const body = Buffer.from(parts.body ?? '');
  const given = Array.isArray(parts.headers) ? [...parts.headers] : Object.entries(parts.headers ?? {});
  const has = (name: string): boolean => given.some(([each]) => each.toLowerCase() === name);
  if (!has('host')) given.unshift(['host', new URL(url).host]);
  if (!has('content-length') && !has('transfer-encoding') && parts.body !== undefined) {
    given.push(['content-length', String(body.length)]);
  }
  const lines = [
    `${parts.method ?? (parts.body === undefined ? 'GET' : 'POST')} ${parts.path ?? '/'} HTTP/1.1`,
    ...given.map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}

/** A POST of JSON. */
export const jsonRequest = (url: string, path: string, value: unknown): Buffer =>
  requestBytes(url, {
    path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(value),
  });

export class RawConnection {
  readonly socket: Socket;
  #reader = new HttpReader({ kind: 'response' });
  #received: Buffer[] = [];
  #ended: 'no' | 'closed' | 'reset' = 'no';
  #wake: () => void = () => {};

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (bytes) => {
      this.#received.push(bytes);
      this.#reader.push(bytes);
      this.#wake();
    });
    socket.on('error', () => {
      this.#ended = 'reset';
    });
    const over = (): void => {
      if (this.#ended === 'no') this.#ended = 'closed';
      this.#reader.end();
      this.#wake();
    };
    socket.on('end', over);
    socket.on('close', over);
  }

  /** How the server ended the connection, so far. */
  get ended(): 'no' | 'closed' | 'reset' {
    return this.#ended;
  }

  /** Everything received, framing included. */
  get received(): Buffer {
    return Buffer.concat(this.#received);
  }

  /** The body received so far, without framing. */
  get body(): Buffer {
    return this.#reader.body();
  }

  /** The next answer is to a HEAD request. */
  expectNoBody(): void {
    this.#reader = new HttpReader({ kind: 'response', bodiless: true });
  }

  /** Each of `pieces` is a write of its own. A server that has hung up is not an error here. */
  async send(...pieces: readonly Bytes[]): Promise<void> {
    for (const piece of pieces) {
      await new Promise<void>((done) => this.socket.write(piece, () => done()));
      if (pieces.length > 1) await turnOfLoop();
    }
  }

  /** Resolves when `enough` holds or the connection is over. */
  async until(enough: () => boolean): Promise<void> {
    while (!enough() && this.#ended === 'no') {
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    }
  }

  /** Resolves when the status line and headers are here. */
  async head(): Promise<void> {
    await this.until(() => this.#reader.head !== undefined);
  }

  /** Resolves when so many bytes of the body are here, or `text` is in it. */
  async bodyHas(what: number | string): Promise<void> {
    await this.until(() =>
      typeof what === 'number' ? this.#reader.bodyLength >= what : this.#reader.body().includes(what),
    );
  }

  /** The whole answer; the next call reads the answer after it. Rejects where there is none at all. */
  async response(): Promise<RawResponse> {
    await this.until(() => this.#reader.complete || this.#reader.problem !== undefined);
    const { head, complete, problem } = this.#reader;
    if (problem !== undefined) throw new Error(`The answer is not HTTP: ${problem}`);
    if (head === undefined) {
      const got = this.received.toString('latin1').slice(0, 200);
      throw new Error(
        `The connection was ${this.#ended} without an answer. Received: ${JSON.stringify(got)}`,
      );
    }
    const body = this.#reader.body();
    if (complete) this.#reader.next();
    return {
      status: statusOf(head),
      statusLine: head.startLine,
      rawHeaders: head.rawHeaders,
      headers: head.headers,
      body,
      text: body.toString('utf8'),
      json: () => JSON.parse(body.toString('utf8')),
      complete,
    };
  }

  /** Closes our side and reads on. */
  end(): void {
    this.socket.end();
  }

  /** Leaves at once: `close` with FIN, `reset` with RST. */
  async leave(how: 'close' | 'reset' = 'reset'): Promise<void> {
    if (this.socket.destroyed) return;
    const closed = once(this.socket, 'close');
    if (how === 'reset') this.socket.resetAndDestroy();
    else this.socket.destroy();
    await closed;
  }
}

export async function openRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  await once(socket, 'connect');
  const connection = new RawConnection(socket);
  closeAfterTest(() => socket.destroy());
  return connection;
}

/** Sends bytes (each piece a write of its own) and reads one whole answer. */
export async function sendRaw(url: string, ...pieces: readonly Bytes[]): Promise<RawResponse> {
  const connection = await openRaw(url);
  const isHead =
    Buffer.from(pieces[0] ?? '')
      .subarray(0, 5)
      .toString() === 'HEAD ';
  if (isHead) connection.expectNoBody();
  await connection.send(...pieces);
  try {
    return await connection.response();
  } finally {
    await connection.leave('close');
  }
}

export interface Abandon {
  /** `sent`: right after the request; `head`: with the headers of the answer; else with so much of its body. */
  after: 'sent' | 'head' | number | string;
  how?: 'close' | 'reset';
}

/** Sends a request and leaves before the answer is over. Resolves to the part of the body it got. */
export async function openAndAbandon(
  url: string,
  request: Bytes,
  { after, how = 'reset' }: Abandon,
): Promise<Buffer> {
  const connection = await openRaw(url);
  await connection.send(request);
  if (after === 'head') await connection.head();
  else if (after !== 'sent') await connection.bodyHas(after);
  const { body } = connection;
  await connection.leave(how);
  return body;
}
