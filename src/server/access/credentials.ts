/** Secrets are compared by digest, in constant time, against every candidate: neither length nor position leaks. */
import { hash, timingSafeEqual } from 'node:crypto';

export function digestOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** The last of `candidates` whose digest is that of `secret`. Looks at all of them, whichever matches. */
export function findByDigest<T extends { digest: Buffer }>(
  candidates: readonly T[],
  secret: string,
): T | undefined {
  const digest = digestOf(secret);
  let found: T | undefined;
  for (const candidate of candidates) {
    if (timingSafeEqual(candidate.digest, digest)) found = candidate;
  }
  return found;
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
