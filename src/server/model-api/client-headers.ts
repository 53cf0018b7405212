import type { IncomingHttpHeaders } from 'node:http';
import type { WireHeaders } from '../../dialects/shared/dialect.js';

/** A client's credentials end here, and so does what is about its own connection. */
const DROPPED: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'cookie',
  'x-toolgate-page',
  'host',
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'content-length',
  'content-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
]);

/** The headers of a request that an engine may see. */
export function clientHeaders(headers: IncomingHttpHeaders): WireHeaders {
  const kept: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === 'string' && !DROPPED.has(name)) kept[name] = value;
  }
  return kept;
}
