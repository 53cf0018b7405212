/**
 * The two secrets of a sign-in, and what ties it to the credential that it was made with. Browsers
 * send a cookie to every port of a host, so a server on another port gets it. The second
 * secret is kept by the page for its origin, which has the port in it, and sent as a header.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from '../../engines/engine.js';
import { digestOf } from './credentials.js';

/** What one signs in with. */
export interface Credential {
  principal: Principal;
  /** What a sign-in is tied to: a digest of the key. Never kept as it is. */
  tie: Buffer;
}

/**
 * Where there are no keys the token is another one in each process. It stands for the operator all
 * the same: a sign-in goes on until there are keys. As long as no digest is, so never that of a key.
 */
export const OPERATOR_TIE = Buffer.from('the operator of a gateway without keys');

/** Under which a sign-in is kept: a lookup by the id itself would compare it byte by byte. */
export function keyOf(id: string): string {
  return digestOf(id).toString('base64');
}

/** Without the cookie's id it says nothing about the credential, so no key can be guessed by it. */
export function bindingOf(id: string, { tie }: Credential): string {
  return createHmac('sha256', id).update(tie).digest('base64');
}

/** The last of `credentials` that the sign-in is tied to. Looks at all of them, whichever matches. */
export function boundTo(
  id: string,
  binding: string,
  credentials: readonly Credential[],
): Credential | undefined {
  const bound = Buffer.from(binding, 'base64');
  let found: Credential | undefined;
  for (const credential of credentials) {
    const own = Buffer.from(bindingOf(id, credential), 'base64');
    if (own.length === bound.length && timingSafeEqual(own, bound)) found = credential;
  }
  return found;
}

/** What a page keeps for its origin. */
export const PAGE_HEADER = 'x-toolgate-page';
const PAGE_SECRET = /^[A-Za-z0-9_-]{32,128}$/;

/** Headers of a request; only the cookie and the secret of the page are looked at. */
export type Presented = Pick<IncomingHttpHeaders, 'cookie'> & {
  readonly [PAGE_HEADER]?: string | string[] | undefined;
};

function pageSecretIn(headers: Presented | undefined): string | undefined {
  const secret = headers?.[PAGE_HEADER];
  return typeof secret === 'string' && PAGE_SECRET.test(secret) ? secret : undefined;
}

export class SignInCookie {
  readonly #name: string;

  /** Browsers keep cookies by host, not by port: the name keeps two gateways on one machine apart. */
  constructor(port: number) {
    this.#name = `toolgate_${port}`;
  }

  /** The value of `set-cookie`. `secure` where the browser came over TLS. */
  give(value: string, secure: boolean): string {
    return `${this.#name}=${value}; Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
  }

  /** The value of `set-cookie` that makes the browser forget. */
  get taken(): string {
    return `${this.#name}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`;
  }

  /** For a new sign-in: bound to the secret that the page has, or else to one that it is to keep. */
  make(presented: Presented | undefined): { id: string; value: string; page: string } {
    const value = randomBytes(32).toString('base64url');
    const page = pageSecretIn(presented) ?? randomBytes(32).toString('base64url');
    return { id: joined(value, page), value, page };
  }

  /** Of both secrets: one alone identifies no sign-in. */
  idIn(headers: Presented | undefined): string | undefined {
    const value = this.#valueIn(headers?.cookie);
    const page = pageSecretIn(headers);
    return value === undefined || page === undefined ? undefined : joined(value, page);
  }

  #valueIn(header: string | undefined): string | undefined {
    if (header === undefined) return undefined;
    for (const pair of header.split(';')) {
      const at = pair.indexOf('=');
      if (at > 0 && pair.slice(0, at).trim() === this.#name) return pair.slice(at + 1).trim() || undefined;
    }
    return undefined;
  }
}

/** No secret of a page has a dot in it, so no two pairs make the same id. */
function joined(value: string, page: string): string {
  return `${value}.${page}`;
}
