/** Answers that are given again: to results that come again, and to a repeated `Idempotency-Key`. */
import * as z from 'zod';
import type { NewAnswer } from '../../store/answers.js';
import { digest } from '../matching/hash-chain.js';
import { type FingerprintedRequest, requestKey } from '../matching/history-fingerprint.js';
import { type TurnRow, turnRow } from '../persistence/session-row.js';
import type { AttachRequest, GivenAnswer } from '../sessions.js';

/** Enough to know the request again, and what it was told. */
export interface KeptAnswer {
  answer: GivenAnswer;
  turn: TurnRow;
}

// The blocks were written by this program and are read by it alone.
const isAnswer = (value: unknown): value is GivenAnswer =>
  typeof value === 'object' && value !== null && 'blocks' in value && Array.isArray(value.blocks);
const keptAnswer = z.object({ answer: z.custom<GivenAnswer>(isAnswer), turn: turnRow });

export const readAnswer = (body: unknown): KeptAnswer => keptAnswer.parse(body);

/** By the message whose calls they answer, so that any split of them finds it. */
export const resultsKey = (session: string, mark: number): string => `results:${session}:${mark}`;

/** By the end of the answer: there is one at most for each session. */
export const undeliveredKey = (session: string, mark: number): string => `undelivered:${session}:${mark}`;

export const idempotencyKey = (key: string): string => `idempotency:${digest(key)}`;

/** Of what the client sent, whatever it was attached to. */
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
