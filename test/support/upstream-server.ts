/**
 * An upstream on loopback that answers what the test says, byte for byte, and records what it was
 * asked, byte for byte. It knows no dialect: `wire.ts` makes the bytes of each, `scripted-answers.ts`
 * answers in whatever dialect it is asked.
 */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { DialectName } from '../../src/core/conversation.js';
import { type Deferred, deferred } from './gate.js';
import { type HeaderList, type HttpHead, HttpReader } from './http-message.js';
import { json, type Reply } from './replies.js';
import { writeReply } from './reply-writer.js';

export type ScriptFunction = (request: RecordedRequest, index: number) => Reply | Promise<Reply>;

/** Replies in order, each used once; or one function for every request. */
export type Script = readonly (Reply | ScriptFunction)[] | ScriptFunction;

export class RecordedRequest {
  readonly method: string;
  /** The request target as it was sent, with its query. */
  readonly path: string;
  readonly rawHeaders: HeaderList;
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes of the request line and the headers. */
  readonly head: Buffer;
  /** Without chunk framing. */
  readonly body: Buffer;
  /** Which connection it came on, counted from 0. */
  readonly connection: number;
  /** How it ended. Stays open while the reply does. */
  readonly outcome: Promise<'answered' | 'aborted'>;
  /** Resolves when the client went away before its answer was complete. */
  readonly aborted: Promise<void>;

  constructor(head: HttpHead, body: Buffer, connection: number, outcome: Promise<'answered' | 'aborted'>) {
    const [method = '', path = ''] = head.startLine.split(' ');
    this.method = method;
    this.path = path;
    this.rawHeaders = head.rawHeaders;
    this.headers = head.headers;
    this.head = head.bytes;
    this.body = body;
    this.connection = connection;
    this.outcome = outcome;
    const aborted = deferred();
    void outcome.then((how) => how === 'aborted' && aborted.resolve());
    this.aborted = aborted.promise;
  }

  get text(): string {
    return this.body.toString('utf8');
  }

  /** The body as a JSON object; throws with the body where it is none. */
  get json(): Record<string, unknown> {
    const value: unknown = JSON.parse(this.text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new Error(`${this.method} ${this.path} did not carry a JSON object: ${this.text.slice(0, 200)}`);
    }
    return { ...value };
  }
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  return address.port;
}

export class ScriptedUpstream {
  /** In the order in which they were complete. */
  readonly requests: RecordedRequest[] = [];
  readonly #queue: (Reply | ScriptFunction)[];
  readonly #always: ScriptFunction | undefined;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #failures: Error[] = [];
  readonly #takers: Deferred<RecordedRequest>[] = [];
  #waiting: { until: () => boolean; done: () => void }[] = [];
  #taken = 0;
  #connections = 0;
  #underWay = 0;
  #url = '';

  constructor(script: Script) {
    this.#always = typeof script === 'function' ? script : undefined;
    this.#queue = typeof script === 'function' ? [] : [...script];
    // A client that closes its side is gone for us; the reply in progress notices and stops.
    this.#server = createServer({ allowHalfOpen: false, noDelay: true }, (socket) => this.#serve(socket));
  }

  async listen(port: number): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#url = `http://127.0.0.1:${portOf(this.#server)}`;
  }

  /** The origin, without a slash at the end. */
  get url(): string {
    return this.#url;
  }

  /** What the official SDK of the dialect takes as its base. */
  baseUrl(dialect: DialectName): string {
    return dialect === 'anthropic-messages' ? this.#url : `${this.#url}/v1`;
  }

  /** An entry for `upstreams` in a gateway's configuration. */
  config(dialect: DialectName): { dialect: DialectName; base_url: string; api_key: string } {
    return { dialect, base_url: this.baseUrl(dialect), api_key: 'upstream-secret' };
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  /** Connections ever made. */
  get connections(): number {
    return this.#connections;
  }

  /** Requests whose reply is not over. */
  get openRequests(): number {
    return this.#underWay;
  }

  /** Adds replies to the end of the script. */
  reply(...replies: (Reply | ScriptFunction)[]): void {
    this.#queue.push(...replies);
  }

  /** Every call gives the request after the one that the last call gave, as soon as it is there. */
  nextRequest(): Promise<RecordedRequest> {
    const request = this.requests[this.#taken++];
    if (request !== undefined) return Promise.resolve(request);
    const taker = deferred<RecordedRequest>();
    this.#takers.push(taker);
    return taker.promise;
  }

  /** Resolves when no reply is under way. */
  whenIdle(): Promise<void> {
    return this.#when(() => this.#underWay === 0);
  }

  /** Resolves when no connection is open. */
  whenDisconnected(): Promise<void> {
    return this.#when(() => this.#sockets.size === 0);
  }

  /** Rejects with what went wrong in the script: an assertion of it, or more requests than replies. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    if (this.#server.listening) {
      this.#server.close();
      await once(this.#server, 'close');
    }
    const [failure] = this.#failures.splice(0);
    if (failure !== undefined) throw failure;
  }

  #when(until: () => boolean): Promise<void> {
    return new Promise((done) => {
      this.#waiting.push({ until, done });
      this.#settle();
    });
  }

  #settle(): void {
    const due = this.#waiting.filter(({ until }) => until());
    this.#waiting = this.#waiting.filter((each) => !due.includes(each));
    for (const { done } of due) done();
  }

  #serve(socket: Socket): void {
    const connection = this.#connections++;
    const gone = deferred();
    const reader = new HttpReader({ kind: 'request' });
    let busy = false;
    let continued = false;
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('end', () => gone.resolve());
    socket.on('close', () => {
      gone.resolve();
      this.#sockets.delete(socket);
      this.#settle();
    });
    const serveNext = async (): Promise<void> => {
      while (!busy && reader.complete && reader.head !== undefined) {
        busy = true;
        const more = await this.#answer(socket, reader.head, reader.body(), connection, gone.promise);
        busy = false;
        if (!more || socket.destroyed) return;
        continued = false;
        reader.next();
      }
    };
    socket.on('data', (bytes) => {
      reader.push(bytes);
      if (!continued && !reader.complete && reader.head?.headers['expect'] === '100-continue') {
        continued = true;
        socket.write('HTTP/1.1 100 Continue\r\n\r\n');
      }
      void serveNext();
    });
  }

  async #answer(
    socket: Socket,
    head: HttpHead,
    body: Buffer,
    connection: number,
    gone: Promise<void>,
  ): Promise<boolean> {
    const outcome = deferred<'answered' | 'aborted'>();
    const request = new RecordedRequest(head, body, connection, outcome.promise);
    const index = this.requests.length;
    this.#underWay++;
    void outcome.promise.then(() => {
      this.#underWay--;
      this.#settle();
    });
    // Settled at once, also while the script itself is still thinking about its reply.
    void gone.then(() => outcome.resolve('aborted'));
    this.requests.push(request);
    this.#takers.shift()?.resolve(request);
    const reply = await this.#replyTo(request, index);
    const more = await writeReply(socket, reply, gone, () => outcome.resolve('answered'));
    return more;
  }

  async #replyTo(request: RecordedRequest, index: number): Promise<Reply> {
    const scripted = this.#always ?? this.#queue.shift();
    const what = `request ${index + 1} (${request.method} ${request.path})`;
    if (scripted === undefined) return this.#fail(new Error(`The script has no reply for ${what}`));
    if (typeof scripted !== 'function') return scripted;
    try {
      return await scripted(request, index);
    } catch (error) {
      return this.#fail(error instanceof Error ? error : new Error(`The script failed at ${what}: ${error}`));
    }
  }

  #fail(error: Error): Reply {
    this.#failures.push(error);
    return json(
      { error: { message: `Scripted upstream: ${error.message}`, type: 'server_error' } },
      { status: 500 },
    );
  }
}
