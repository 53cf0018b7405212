/** The cookie of a sign-in, and what ties a sign-in to the credential that it was made with. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Principal } from '../engines/engine.js';
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

export class SessionCookie {
  readonly #name: string;

  /** Browsers keep cookies by host, not by port: the name keeps two gateways on one machine apart. */
  constructor(port: number) {
    this.#name = `toolgate_${port}`;
  }

  /** The value of `set-cookie`. `secure` where the browser came over TLS. */
  give(id: string, secure: boolean): string {
    return `${this.#name}=${id}; Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
  }

  /** The value of `set-cookie` that makes the browser forget. */
  get taken(): string {
    return `${this.#name}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`;
  }

  idIn(header: string | undefined): string | undefined {
    if (header === undefined) return undefined;
    for (const pair of header.split(';')) {
      const at = pair.indexOf('=');
      if (at > 0 && pair.slice(0, at).trim() === this.#name) return pair.slice(at + 1).trim() || undefined;
    }
    return undefined;
  }
}
