/**
 * The shape of a provider: how a message is sent, how it is changed when the question has ended, and how an answer is
 * verified and read. One file a provider, of the same parts in the same order; a new one is a copy with
 * a line in `adapters.ts` and a type in `src/config/notify-schema.ts`.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { NotifyTargetConfig } from '../../config/notify-schema.js';
import type { GuardedPost, PostAnswer } from '../../transport/guarded-fetch/guarded-post.js';
import type { Choice, InView, Message } from '../message.js';

export type TargetOf<Type extends NotifyTargetConfig['type']> = Extract<NotifyTargetConfig, { type: Type }>;

export interface Adapter<Target> {
  readonly inView: InView;
  /** Resolves with what the provider calls the message. Rejects with SendProblem or FetchProblem. */
  send(message: Message, target: Target, tools: SendTools): Promise<unknown>;
  /** Absent where a message stays as it was sent. */
  edit?(message: Message, reference: unknown, target: Target, tools: SendTools): Promise<void>;
  /** Throws CallbackProblem for what does not come from the provider, is too old or cannot be read. */
  read(callback: Callback, target: Target, tools: ReadTools): Heard;
}

export interface SendTools {
  post(url: string, post: GuardedPost): Promise<PostAnswer>;
  /** Where answers come to; undefined where nobody outside can reach the gateway. */
  answerUrl: string | undefined;
  /** Proves that an answer is to a message of ours. */
  sign(text: string): string;
}

export interface ReadTools extends Pick<SendTools, 'sign'> {
  now: number;
}

/** A request of a provider, as it came. */
export interface Callback {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
}

export type Heard =
  /** Nothing is decided; the provider wants this back. */
  | { kind: 'other'; reply: Reply }
  | {
      kind: 'answer';
      /** Who pressed, in the provider's own words or by the name of the configuration. */
      who: { id: string } | { name: string };
      delivery: string;
      choice: Choice;
      /** What the provider shows to the person. */
      reply(result: { accepted: boolean; text: string }): Reply;
    };

export interface Reply {
  status: number;
  body: object;
}

/** The provider did not take it. `again`: after so long, or never where it is false. */
export class SendProblem extends Error {
  override readonly name = 'SendProblem';
  readonly again: boolean | number;

  constructor(message: string, again: boolean | number = true) {
    super(message);
    this.again = again;
  }
}

/** A request that is no answer of the provider's. */
export class CallbackProblem extends Error {
  override readonly name = 'CallbackProblem';
}

/** Answers that were signed longer ago are replays. */
const OLDEST_S = 300;

export function hmac(algorithm: 'sha256', key: string | Buffer, text: string): Buffer {
  return createHmac(algorithm, key).update(text).digest();
}

/** In the same time for every wrong one. */
export function isSame(given: string, expected: string): boolean {
  const [one, two] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === two.length && timingSafeEqual(one, two);
}

export function header({ headers }: Callback, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

/** Throws where a signed time is not of the last minutes. */
export function checkAge(seconds: string, now: number): void {
  const age = /^\d{1,12}$/.test(seconds) ? Math.abs(now / 1000 - Number(seconds)) : Number.POSITIVE_INFINITY;
  if (age > OLDEST_S) throw new CallbackProblem('The timestamp is not of the last five minutes.');
}

export function choiceOf(text: unknown): Choice {
  if (text === 'allow' || text === 'deny') return text;
  throw new CallbackProblem('It is no answer to a question.');
}

export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    throw new CallbackProblem('The body is not JSON.');
  }
}

/** A field of JSON that others made, by its path. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}

/** The same for an id: a text or a whole number. */
export function idAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' || Number.isSafeInteger(found) ? String(found) : '';
}

/** The answer of a provider that speaks JSON; throws SendProblem with its own words where it refused. */
export function takenJson(
  { status, headers, text }: PostAnswer,
  problem: (body: unknown) => unknown,
): unknown {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  const said = problem(body);
  if (status >= 200 && status < 300 && body !== undefined && said === undefined) return body;
  const words = typeof said === 'string' || typeof said === 'number' ? `: ${String(said).slice(0, 200)}` : '';
  throw new SendProblem(`It answered ${status}${words}.`, againOf(status, headers));
}

/** `retry-after` in seconds; its other form, a date, is rare and means the usual wait. */
export function againOf(status: number, headers: Readonly<Record<string, string>>): boolean | number {
  if (status === 410) return false;
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  return seconds > 0 ? seconds * 1000 : true;
}

export const JSON_TYPE = 'application/json; charset=utf-8';
