/**
 * Keeps web pages out. A page that the user visits can reach a server on loopback, by its address
 * or, after DNS rebinding, by a name of its own; so a foreign `Host` is refused on loopback, and
 * whatever a browser marks as coming from another origin is refused everywhere, reads included. No
 * CORS header is ever sent.
 */
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../core/errors.js';

interface GuardOptions {
  /** What the server is bound to. */
  host: string;
  port: number;
  loopback: boolean;
  /** `name` or `name:port`. */
  publicHosts: readonly string[];
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'] as const;
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/;

export class OriginGuard {
  readonly #loopback: boolean;
  /** Of the gateway itself, as they stand in the header, in lower case. */
  readonly #own = new Set<string>();
  /** Of a proxy in front, with the port. */
  readonly #public = new Set<string>();
  /** Of a proxy in front, good with any port. */
  readonly #publicNames = new Set<string>();

  constructor({ host, port, loopback, publicHosts }: GuardOptions) {
    this.#loopback = loopback;
    const bound = host.includes(':') ? `[${host}]` : host;
    for (const name of [...LOOPBACK_NAMES, bound.toLowerCase()]) {
      // A browser leaves the port out only where it is 80, so a name alone cannot be a page's doing.
      this.#own.add(name);
      this.#own.add(`${name}:${port}`);
    }
    for (const name of publicHosts) {
      const lower = name.toLowerCase();
      if (/:\d+$/.test(lower)) this.#public.add(lower);
      else this.#publicNames.add(lower);
    }
  }

  /** `navigation`: a page of another site may lead here. Throws `invalid_request` or `forbidden`. */
  check(request: IncomingMessage, { navigation = false }: { navigation?: boolean } = {}): void {
    const host = this.#checkHost(request);
    const { origin } = request.headers;
    if (origin !== undefined && !this.#isOwn(origin, host)) {
      throw new GatewayError(
        'forbidden',
        'Requests from web pages of another origin are refused. Call the gateway from a server or a command line, or add its public name to server.public_hosts.',
      );
    }
    if (navigation && isNavigation(request)) return;
    const site = request.headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin' && site !== 'none') {
      throw new GatewayError(
        'forbidden',
        'Requests from web pages of another origin are refused. Open the address of the gateway itself.',
      );
    }
  }

  #checkHost(request: IncomingMessage): string {
    const host = request.headers.host?.toLowerCase();
    if (host === undefined || host === '') {
      // Before HTTP/1.1 there was no such header, and no browser leaves it out.
      if (request.httpVersionMajor === 1 && request.httpVersionMinor === 0) return '';
      throw new GatewayError('invalid_request', 'The request has no Host header. Send one.');
    }
    if (hasSecondHost(request.rawHeaders)) {
      throw new GatewayError('invalid_request', 'The request has more than one Host header. Send one.');
    }
    if (this.#loopback && !this.#own.has(host) && !this.#isPublic(host)) {
      throw new GatewayError(
        'forbidden',
        'The Host header names another server. Use the address that the gateway printed, or add the name to server.public_hosts.',
      );
    }
    return host;
  }

  /** The page came from where the request goes to, or from a name of the proxy in front. */
  #isOwn(origin: string, host: string): boolean {
    const scheme = /^https?:\/\//i.exec(origin)?.[0];
    if (scheme === undefined) return false;
    const from = origin.slice(scheme.length).toLowerCase();
    return from === host || this.#isPublic(from);
  }

  #isPublic(host: string): boolean {
    if (this.#public.has(host)) return true;
    const name = HOST.exec(host)?.[1];
    return name !== undefined && this.#publicNames.has(name);
  }
}

/** The address bar goes there; no page reads the answer. */
function isNavigation({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    headers.origin === undefined &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document'
  );
}

/** Node keeps the first of several; something in front may have gone by the last. */
function hasSecondHost(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name !== undefined && name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count > 1;
}
