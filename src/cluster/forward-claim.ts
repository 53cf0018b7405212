/**
 * What a node vouches for when it forwards a request: who asks, and that it is this request, to this process,
 * now. Signed with the secret of the cluster. A client's own credential is never a part of it.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';

export const FORWARD_HEADER = 'x-toolgate-forward';
/** On every answer to a forwarded request: only who has the secret can give it. */
export const PROOF_HEADER = 'x-toolgate-forwarded';

const claim = z.object({
  /** The node that forwards. */
  from: z.string(),
  /** The instance that it is for. */
  to: z.string(),
  /** Milliseconds since 1970. */
  at: z.number(),
  nonce: z.string(),
  /** The name of the key whose request it is: checked by `from`. */
  principal: z.string(),
  /** Of the request, the same on both nodes. */
  id: z.string(),
  method: z.string(),
  /** With the query. */
  path: z.string(),
  /** Digest of the body. */
  body: z.string(),
  /** `from` answers for the `Idempotency-Key`. */
  once: z.boolean().optional(),
  /** `from` has sent it before, and heard nothing of it. */
  again: z.boolean().optional(),
});

export type ForwardClaim = z.infer<typeof claim>;

/** Nodes may be a minute away from the database each (`NODE_LIMITS.clockMs`). */
const VALID_MS = 150_000;

export const digestOfBody = (body: Uint8Array | undefined): string =>
  createHash('sha256')
    .update(body ?? '')
    .digest('base64url');

export function signClaim(secret: string, asked: Omit<ForwardClaim, 'at' | 'nonce'>, now: number) {
  const nonce = randomBytes(18).toString('base64url');
  const text = Buffer.from(JSON.stringify({ ...asked, at: now, nonce })).toString('base64url');
  return { header: `${text}.${macOf(secret, 'request', text)}`, nonce };
}

export const proofOf = (secret: string, nonce: string): string => macOf(secret, 'answer', nonce);

export function isProof(secret: string, nonce: string, given: string | undefined): boolean {
  return given !== undefined && same(given, proofOf(secret, nonce));
}

/** Takes each claim once. */
export class ClaimReader {
  readonly #secret: string;
  readonly #instance: string;
  readonly #now: () => number;
  /** Claims that were taken, with when they end: in about that order. */
  readonly #taken = new Map<string, number>();

  constructor(secret: string, instance: string, now: () => number) {
    this.#secret = secret;
    this.#instance = instance;
    this.#now = now;
  }

  /** Undefined for anything but a claim of another node about this very request, made just now and not seen before. */
  read(header: string, { method, path }: Pick<ForwardClaim, 'method' | 'path'>): ForwardClaim | undefined {
    const [text = '', mac = '', ...rest] = header.split('.');
    if (rest.length > 0 || !same(mac, macOf(this.#secret, 'request', text))) return undefined;
    const parsed = claim.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
    if (!parsed.success) return undefined;
    const { data } = parsed;
    const isThis = data.to === this.#instance && data.method === method && data.path === path;
    const now = this.#now();
    if (!isThis || Math.abs(now - data.at) > VALID_MS || this.#taken.has(data.nonce)) return undefined;
    for (const [nonce, until] of this.#taken) {
      if (until > now) break;
      this.#taken.delete(nonce);
    }
    this.#taken.set(data.nonce, now + 2 * VALID_MS);
    return data;
  }
}

function macOf(secret: string, what: 'request' | 'answer', text: string): string {
  return createHmac('sha256', secret).update(`toolgate ${what}\n${text}`).digest('base64url');
}

function same(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
