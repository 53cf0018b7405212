/** A client of `/v1/responses` over a WebSocket that sends and reads whatever a test says. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type ClientOptions, WebSocket } from 'ws';
import { closeAfterTest } from './cleanup.js';
import { isRecord, type JsonRecord } from './violation.js';

export interface Closed {
  code: number;
  reason: string;
}

/** How an answer ends. */
const ENDS = ['response.completed', 'response.incomplete', 'response.failed', 'error'];

const NOT_YET = Symbol('not yet');

export class ResponsesSocketClient {
  readonly webSocket: WebSocket;
  /** Everything that has come, in order. */
  readonly messages: JsonRecord[] = [];
  readonly closed: Promise<Closed>;
  #taken = 0;
  #arrived: () => void = () => {};
  #isClosed = false;

  constructor(webSocket: WebSocket) {
    this.webSocket = webSocket;
    webSocket.on('message', (data) => {
      const message: unknown = JSON.parse(String(data));
      if (!isRecord(message)) throw new Error(`A message is no object: ${String(data).slice(0, 200)}`);
      this.messages.push(message);
      this.#arrived();
    });
    webSocket.on('error', () => {});
    this.closed = once(webSocket, 'close').then(([code, reason]) => {
      this.#isClosed = true;
      this.#arrived();
      return { code: Number(code), reason: String(reason) };
    });
    closeAfterTest(() => webSocket.terminate());
  }

  send(message: object | string | Buffer): void {
    const isRaw = typeof message === 'string' || Buffer.isBuffer(message);
    this.webSocket.send(isRaw ? message : JSON.stringify(message));
  }

  create(body: object): void {
    this.send({ type: 'response.create', ...body });
  }

  /** The next message. Rejects when the connection ends without one. */
  async next(): Promise<JsonRecord> {
    for (;;) {
      const message = this.messages[this.#taken] ?? NOT_YET;
      if (message !== NOT_YET) {
        this.#taken += 1;
        return message;
      }
      if (this.#isClosed) throw new Error(`Closed: ${JSON.stringify(await this.closed)}`);
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
  }

  /** Up to the end of the next answer. */
  async answer(): Promise<JsonRecord[]> {
    const events: JsonRecord[] = [];
    for (;;) {
      const event = await this.next();
      events.push(event);
      if (ENDS.includes(String(event['type']))) return events;
    }
  }

  async ask(body: object): Promise<JsonRecord[]> {
    this.create(body);
    return this.answer();
  }
}

export async function openResponsesSocket(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  options: ClientOptions = {},
): Promise<ResponsesSocketClient> {
  const webSocket = new WebSocket(socketUrl(url), { ...options, headers });
  const client = new ResponsesSocketClient(webSocket);
  await once(webSocket, 'open');
  return client;
}

/** What the gateway says to a handshake that it refuses. */
export async function refusedSocket(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  path = '/v1/responses',
): Promise<{ status: number; headers: IncomingMessage['headers']; body: string }> {
  const webSocket = new WebSocket(socketUrl(url, path), { headers });
  webSocket.on('error', () => {});
  closeAfterTest(() => webSocket.terminate());
  const opened = once(webSocket, 'open').then(() => {
    throw new Error('The WebSocket was opened');
  });
  const refused = once(webSocket, 'unexpected-response');
  const [, response]: unknown[] = await Promise.race([refused, opened]);
  if (!isResponse(response)) throw new Error('There is no response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(Buffer.from(chunk));
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: Buffer.concat(chunks).toString('utf8'),
  };
}

const socketUrl = (url: string, path = '/v1/responses'): string => `${url.replace(/^http/, 'ws')}${path}`;

const isResponse = (value: unknown): value is IncomingMessage =>
  typeof value === 'object' && value !== null && 'statusCode' in value;

/** The words of an answer. */
export const textOf = (events: readonly JsonRecord[]): string =>
  events
    .filter(({ type }) => type === 'response.output_text.delta')
    .map(({ delta }) => String(delta))
    .join('');

/** The response that the last event carries. */
export function responseIn(events: readonly JsonRecord[]): JsonRecord & { id: string } {
  const response = events.at(-1)?.['response'];
  if (!isRecord(response) || typeof response['id'] !== 'string') {
    throw new Error(`The answer has no response: ${JSON.stringify(events.at(-1))}`);
  }
  return { ...response, id: response['id'] };
}
