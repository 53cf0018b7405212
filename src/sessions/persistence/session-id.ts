/**
 * Ids of sessions have a checksum, which distinguishes them from ids that clients make up: some send
 * one of their own in `X-Session-ID` with every request.
 */
import { createHash, randomBytes } from 'node:crypto';

const PREFIX = 'ses_';
const RANDOM_BYTES = 16;
const CHECK_BYTES = 4;

/** Ids without a checksum, as earlier versions gave them out: 16 bytes, which end in one of four letters. */
const UNCHECKED = /^ses_[A-Za-z0-9_-]{21}[AQgw]$/;

export function newSessionId(): string {
  const random = randomBytes(RANDOM_BYTES);
  return PREFIX + Buffer.concat([random, checkOf(random)]).toString('base64url');
}

/** It has the form of an issued id; whether the session still exists, the store knows. */
export function hasSessionForm(id: string): boolean {
  if (!id.startsWith(PREFIX)) return false;
  if (UNCHECKED.test(id)) return true;
  const text = id.slice(PREFIX.length);
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== RANDOM_BYTES + CHECK_BYTES || bytes.toString('base64url') !== text) return false;
  return checkOf(bytes.subarray(0, RANDOM_BYTES)).equals(bytes.subarray(RANDOM_BYTES));
}

function checkOf(random: Uint8Array): Buffer {
  return createHash('sha256').update('toolgate session').update(random).digest().subarray(0, CHECK_BYTES);
}
