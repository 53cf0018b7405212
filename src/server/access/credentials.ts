/** Secrets are never compared themselves: by digest, however many there are, so that how long it takes says nothing. */
import { hash, randomBytes } from 'node:crypto';

export function digestOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/**
 * Finds what a secret stands for, by its digest, hashed again with a salt that only this process knows: an attacker
 * who measures how much of that agreed with another cannot tell what it is, nor choose one.
 */
export class CredentialIndex<T> {
  readonly #salt = randomBytes(32).toString('base64');
  readonly #found = new Map<string, T>();

  /** Of two with the same digest the last one counts. */
  constructor(known: Iterable<readonly [digest: Buffer, value: T]>) {
    for (const [digest, value] of known) this.#found.set(this.#salted(digest), value);
  }

  find(digest: Buffer): T | undefined {
    return this.#found.get(this.#salted(digest));
  }

  #salted(digest: Buffer): string {
    return hash('sha256', `${this.#salt}${digest.toString('base64')}`, 'base64');
  }
}

interface CredentialHeaders {
  authorization?: string | undefined;
  'x-api-key'?: string | string[] | undefined;
}

const BEARER = /^Bearer +(\S+) *$/i;

/** Clients of either SDK may send both; each is tried. */
export function presentedSecrets(headers: CredentialHeaders): string[] {
  const secrets: string[] = [];
  const bearer = headers.authorization === undefined ? undefined : BEARER.exec(headers.authorization)?.[1];
  if (bearer !== undefined) secrets.push(bearer);
  const key = headers['x-api-key'];
  if (typeof key === 'string' && key !== '' && key !== bearer) secrets.push(key);
  return secrets;
}
