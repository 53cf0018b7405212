/**
 * Reads HTTP/1.x messages and keeps their bytes as they came. Lenient on purpose: tests look at
 * what was really sent, so nothing is normalised and a broken message is kept up to where it broke.
 */

export type HeaderList = readonly (readonly [name: string, value: string])[];

export interface HttpHead {
  startLine: string;
  /** In order, with the case and repetition of the wire. */
  rawHeaders: HeaderList;
  /** Lower-case names; repeated ones joined with `, `. */
  headers: Readonly<Record<string, string>>;
  /** Everything up to and including the empty line. */
  bytes: Buffer;
}

type Framing =
  | { type: 'length'; left: number }
  | { type: 'chunked'; state: 'size' | 'data' | 'data-end' | 'trailer'; left: number }
  | { type: 'until-close' };

const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');

function parseHead(bytes: Buffer): HttpHead {
  const [startLine = '', ...lines] = bytes.toString('latin1').trimEnd().split('\r\n');
  const rawHeaders = lines.map((line): readonly [string, string] => {
    const colon = line.indexOf(':');
    return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const headers: Record<string, string> = {};
  for (const [rawName, value] of rawHeaders) {
    const name = rawName.toLowerCase();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return { startLine, rawHeaders, headers, bytes };
}

export const statusOf = (head: HttpHead): number => Number(head.startLine.split(' ')[1]);

export interface ReaderOptions {
  kind: 'request' | 'response';
  /** The answer to HEAD has the headers of a body and no body. */
  bodiless?: boolean;
}

/** Reads one message; `next()` goes on to the one after it on the same connection. */
export class HttpReader {
  readonly #kind: 'request' | 'response';
  readonly #bodiless: boolean;
  #pending: Buffer = Buffer.alloc(0);
  #framing: Framing | undefined;
  #head: HttpHead | undefined;
  #body: Buffer[] = [];
  #bodyLength = 0;
  #complete = false;
  #problem: string | undefined;

  constructor(options: ReaderOptions) {
    this.#kind = options.kind;
    this.#bodiless = options.bodiless ?? false;
  }

  get head(): HttpHead | undefined {
    return this.#head;
  }

  /** The whole message is here. */
  get complete(): boolean {
    return this.#complete;
  }

  /** Why the message cannot be read any further. */
  get problem(): string | undefined {
    return this.#problem;
  }

  get bodyLength(): number {
    return this.#bodyLength;
  }

  /** The body so far, without chunk framing. */
  body(): Buffer {
    if (this.#body.length > 1) this.#body = [Buffer.concat(this.#body)];
    return this.#body[0] ?? Buffer.alloc(0);
  }

  push(bytes: Buffer): void {
    this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    this.#advance();
  }

  /** The other side closed: right for a body without a length, else the message stays incomplete. */
  end(): void {
    if (this.#framing?.type === 'until-close') this.#complete = true;
  }

  /** Forgets the complete message and reads what follows it. */
  next(): void {
    this.#head = undefined;
    this.#framing = undefined;
    this.#body = [];
    this.#bodyLength = 0;
    this.#complete = false;
    this.#advance();
  }

  #advance(): void {
    while (!this.#complete && this.#problem === undefined && this.#step());
  }

  /** One step forward; false when more bytes are needed. */
  #step(): boolean {
    if (this.#head === undefined) return this.#readHead();
    const framing = this.#framing;
    if (framing === undefined) return false;
    if (framing.type === 'until-close') return this.#takeBody(this.#pending.length);
    if (framing.type === 'length') {
      const taken = Math.min(framing.left, this.#pending.length);
      framing.left -= taken;
      this.#takeBody(taken);
      if (framing.left === 0) this.#complete = true;
      return false;
    }
    return this.#readChunked(framing);
  }

  #takeBody(length: number): boolean {
    if (length === 0) return false;
    this.#body.push(this.#pending.subarray(0, length));
    this.#bodyLength += length;
    this.#pending = this.#pending.subarray(length);
    return true;
  }

  #readHead(): boolean {
    const end = this.#pending.indexOf(HEAD_END);
    if (end < 0) return false;
    const head = parseHead(this.#pending.subarray(0, end + HEAD_END.length));
    this.#pending = this.#pending.subarray(end + HEAD_END.length);
    if (this.#kind === 'response' && statusOf(head) >= 100 && statusOf(head) < 200) return true;
    this.#head = head;
    this.#framing = this.#framingOf(head);
    return true;
  }

  #framingOf(head: HttpHead): Framing {
    const status = this.#kind === 'response' ? statusOf(head) : 200;
    if (this.#bodiless || status === 204 || status === 304) return { type: 'length', left: 0 };
    if (/(^|,\s*)chunked$/i.test(head.headers['transfer-encoding'] ?? '')) {
      return { type: 'chunked', state: 'size', left: 0 };
    }
    const length = head.headers['content-length'];
    if (length !== undefined) return { type: 'length', left: Number.parseInt(length, 10) };
    return this.#kind === 'response' ? { type: 'until-close' } : { type: 'length', left: 0 };
  }

  #takeLine(): string | undefined {
    const end = this.#pending.indexOf(LINE_END);
    if (end < 0) return undefined;
    const line = this.#pending.toString('latin1', 0, end);
    this.#pending = this.#pending.subarray(end + LINE_END.length);
    return line;
  }

  #readChunked(framing: Extract<Framing, { type: 'chunked' }>): boolean {
    if (framing.state === 'data') {
      const taken = Math.min(framing.left, this.#pending.length);
      framing.left -= taken;
      if (framing.left === 0) framing.state = 'data-end';
      return this.#takeBody(taken);
    }
    const line = this.#takeLine();
    if (line === undefined) return false;
    if (framing.state === 'data-end') {
      if (line !== '') this.#problem = `chunk data is followed by ${JSON.stringify(line)}`;
      framing.state = 'size';
    } else if (framing.state === 'trailer') {
      if (line === '') this.#complete = true;
    } else {
      const size = line.split(';', 1)[0]?.trim() ?? '';
      if (!/^[0-9a-f]+$/i.test(size)) this.#problem = `not a chunk size: ${JSON.stringify(line)}`;
      framing.left = Number.parseInt(size, 16);
      framing.state = framing.left === 0 ? 'trailer' : 'data';
    }
    return true;
  }
}
