/** Stored answers that are replayed: to repeated results, and to a repeated `Idempotency-Key`. */
import * as z from 'zod';
import type { NewAnswer } from '../../store/answers.js';
import { digest } from '../history/hash-chain.js';
import { type FingerprintedRequest, requestKey } from '../history/history-fingerprint.js';
import { type TurnRow, turnRow } from '../persistence/session-row.js';
import type { AttachRequest, GivenAnswer } from '../sessions.js';

/** Enough to recognize the request, and its answer. */
export interface KeptAnswer {
  answer: GivenAnswer;
  turn: TurnRow;
}

// The blocks were written by this program and are read by it alone.
const isAnswer = (value: unknown): value is GivenAnswer =>
  typeof value === 'object' && value !== null && 'blocks' in value && Array.isArray(value.blocks);
const keptAnswer = z.object({ answer: z.custom<GivenAnswer>(isAnswer), turn: turnRow });

export const readAnswer = (body: unknown): KeptAnswer => keptAnswer.parse(body);

/** Keyed by the message whose calls the results answer, so that any split of them finds it. */
export const resultsKey = (session: string, turnEnd: number): string => `results:${session}:${turnEnd}`;

/** Keyed by the end of the turn; a session has at most one undelivered answer. */
export const undeliveredKey = (session: string, turnEnd: number): string =>
  `undelivered:${session}:${turnEnd}`;

export const idempotencyKey = (key: string): string => `idempotency:${digest(key)}`;

/** Digest of what the client sent, whichever session it was matched with. */
export function idempotencyDigest(
  { id, engine, root }: AttachRequest,
  { fingerprint, asks }: FingerprintedRequest,
): string {
  return digest(id ?? '', engine, root, requestKey(fingerprint.end.hash, asks));
}

export function answerKeyOf(
  session: string,
  turn: TurnRow,
  from: AttachRequest,
  request: FingerprintedRequest,
): Pick<NewAnswer, 'key' | 'digest'> | undefined {
  if (turn.batch !== undefined) return { key: resultsKey(session, turn.batch), digest: turn.key };
  if (from.idempotencyKey === undefined) return undefined;
  return { key: idempotencyKey(from.idempotencyKey), digest: idempotencyDigest(from, request) };
}
