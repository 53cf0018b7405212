/** What goes out before the body. Everything that could end a line or shift the framing is refused. */
import { GatewayError } from '../../core/errors.js';
import type { Method } from './types.js';

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Set here or not at all: a caller's own would contradict the framing. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export interface HeadOptions {
  method: Method;
  url: URL;
  headers: Readonly<Record<string, string>>;
  /** Undefined where there is no body. */
  bodyLength: number | undefined;
  /** To a proxy that forwards plain HTTP: it wants the whole URL, and its own credentials. */
  viaProxy: { authorization: string | undefined } | undefined;
}

/** Latin-1 text. Throws GatewayError `internal` for a header that cannot be sent. */
export function encodeHead(options: HeadOptions): string {
  const { method, url, headers, bodyLength, viaProxy } = options;
  const path = url.pathname + url.search;
  let head = `${method} ${viaProxy === undefined ? path : url.origin + path} HTTP/1.1\r\nhost: ${url.host}\r\n`;
  let authorized = false;
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined) continue;
    const lower = name.toLowerCase();
    if (!NAME.test(name) || OWN_HEADERS.has(lower)) refuse(name, 'its name is not allowed');
    if (!VALUE.test(value))
      refuse(name, 'its value holds a line break or another character that HTTP forbids');
    authorized ||= lower === 'authorization';
    head += `${name}: ${value}\r\n`;
  }
  if (!authorized && url.username !== '') head += `authorization: ${basicCredentials(url)}\r\n`;
  if (viaProxy?.authorization !== undefined) head += `proxy-authorization: ${viaProxy.authorization}\r\n`;
  if (bodyLength !== undefined) head += `content-length: ${bodyLength}\r\n`;
  else if (method === 'POST' || method === 'PUT') head += 'content-length: 0\r\n';
  return `${head}\r\n`;
}

/** The value is never shown: it may be a credential. */
function refuse(name: string, why: string): never {
  throw new GatewayError(
    'internal',
    `The header ${JSON.stringify(name)} cannot be sent to the upstream: ${why}. Check the headers set for it.`,
  );
}

/** From the user and password of a URL. */
export function basicCredentials(url: URL): string {
  const pair = `${unescapePercent(url.username)}:${unescapePercent(url.password)}`;
  return `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`;
}

/** A URL may hold a `%` that escapes nothing: then it stands for itself. */
function unescapePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
