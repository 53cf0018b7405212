/** The head of an answer: parsed strictly, so that its body can have only one length. */

export interface ResponseHead {
  status: number;
  headers: Record<string, string>;
  framing: Framing;
  /** The connection may carry another request once the body is read. */
  keepAlive: boolean;
}

type Framing =
  | { kind: 'none' }
  | { kind: 'length'; length: number }
  | { kind: 'chunked' }
  /** Everything until the connection closes. */
  | { kind: 'close' };

/** Not HTTP, or HTTP that two readers could understand differently. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: |$)/;
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Once over the whole head, with lines split at CR LF: a lone CR or LF is among these too. */
const FORBIDDEN = /[^\t\x20-\x7e\x80-\xff\r\n]|\r(?!\n)|(?<!\r)\n/;

/** Names that have passed, with their lower case: peers repeat the same few. */
const KNOWN_NAMES = new Map<string, string>();
const MAX_KNOWN_NAMES = 256;
/** 15 digits stay exact in a double. */
const LENGTH = /^\d{1,15}$/;

/** `text` is the head as Latin-1, without the empty line at its end. */
export function parseHead(text: string, bodiless: boolean): ResponseHead {
  if (FORBIDDEN.test(text)) throw new ProtocolError('the headers hold a control character');
  const lines = text.split('\r\n');
  const status = STATUS_LINE.exec(lines[0] ?? '');
  if (status === null) throw new ProtocolError('the status line is not HTTP/1.x');
  const headers: Record<string, string> = Object.create(null);
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i] ?? '';
    const colon = line.indexOf(':');
    const name = readName(line.slice(0, Math.max(0, colon)));
    const value = trimBlanks(line.slice(colon + 1));
    const before = headers[name];
    if (before !== undefined && name === 'content-length')
      throw new ProtocolError('two content-length headers');
    headers[name] = before === undefined ? value : `${before}, ${value}`;
  }
  const code = Number(status[2]);
  const framing = framingOf(code, headers, bodiless);
  return {
    status: code,
    headers,
    framing,
    keepAlive: framing.kind !== 'close' && staysOpen(status[1] === '1', headers),
  };
}

/** Refuses a folded line and a space before the colon, too: neither is a name. */
function readName(raw: string): string {
  const known = KNOWN_NAMES.get(raw);
  if (known !== undefined) return known;
  if (!HEADER_NAME.test(raw)) throw new ProtocolError('a header line has no valid name');
  const lower = raw.toLowerCase();
  if (KNOWN_NAMES.size < MAX_KNOWN_NAMES) KNOWN_NAMES.set(raw, lower);
  return lower;
}

function trimBlanks(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isBlank(value.charCodeAt(start))) start++;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--;
  return value.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function framingOf(status: number, headers: Record<string, string>, bodiless: boolean): Framing {
  const length = headers['content-length'];
  const coding = headers['transfer-encoding'];
  if (length !== undefined && !LENGTH.test(length)) throw new ProtocolError('content-length is not a number');
  if (length !== undefined && coding !== undefined) {
    throw new ProtocolError('both content-length and transfer-encoding');
  }
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw new ProtocolError('a transfer-encoding other than chunked');
  }
  if (bodiless || status < 200 || status === 204 || status === 304) return { kind: 'none' };
  if (coding !== undefined) return { kind: 'chunked' };
  if (length === undefined) return { kind: 'close' };
  return length === '0' ? { kind: 'none' } : { kind: 'length', length: Number(length) };
}

/** HTTP/1.0 closes unless it says otherwise, and its chunked framing is not to be trusted further. */
function staysOpen(is11: boolean, headers: Record<string, string>): boolean {
  const options = headers['connection']?.toLowerCase().split(',') ?? [];
  const has = (option: string) => options.some((each) => each.trim() === option);
  if (is11) return !has('close');
  return has('keep-alive') && headers['transfer-encoding'] === undefined;
}
