/**
 * Proof of reasoning that one wire's upstream made, carried in the one field that clients of every
 * wire send back: the signature of a thinking block. The seal names the wire it belongs to, so that
 * no other upstream is ever sent it. It has characters that a signature of Anthropic (plain base64)
 * never has.
 */
import { DIALECT_NAMES, type DialectName } from '../../core/conversation.js';

const SEAL = /^tg1\.([a-z-]+)\.([A-Za-z0-9_-]*)$/;

interface OpenedSignature {
  origin: DialectName;
  payload: string;
}

export function sealSignature(origin: DialectName, payload: string): string {
  return `tg1.${origin}.${Buffer.from(payload, 'utf8').toString('base64url')}`;
}

/** Undefined for a signature that was not sealed here: a provider's own. */
export function openSignature(signature: string): OpenedSignature | undefined {
  if (!signature.startsWith('tg1.')) return undefined;
  const [, name, payload] = SEAL.exec(signature) ?? [];
  const origin = DIALECT_NAMES.find((dialect) => dialect === name);
  if (origin === undefined || payload === undefined) return undefined;
  return { origin, payload: Buffer.from(payload, 'base64url').toString('utf8') };
}
