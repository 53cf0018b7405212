/**
 * Whose the answers are that an upstream keeps. All keys may share one account there, so the upstream
 * would tell any of them. Rows are found by the answer's id alone: an id that was seen here is its
 * owner's, one that was not may have been made elsewhere with the same account.
 */
import { type AnswerMemory, GATEWAY } from '../../../answers/answer-memory.js';
import type { JsonObject } from '../../../core/conversation.js';
import { endUserNamed } from '../../../core/end-user.js';
import { isObject } from '../../../core/is-object.js';
import { unknownHistory } from '../../../engines/demands.js';

interface Owner {
  principal: string;
  /** A digest; undefined where the request named no user. */
  user: string | undefined;
}

interface Forwarded extends Owner {
  upstream: string;
}

export function keepOwner(
  id: string,
  { principal, user, upstream }: Forwarded,
  answers: AnswerMemory,
  keptMs: number,
): Promise<void> {
  const body = { upstream, principal, ...(user === undefined ? {} : { user }) };
  return answers.put(GATEWAY, { kind: 'response-owner', id }, { body, keptMs });
}

/** The upstream that keeps an answer of this principal which it gave itself. */
export async function keeperOf(
  id: string,
  principal: string,
  answers: AnswerMemory,
): Promise<string | undefined> {
  const found = await find(id, answers);
  return found?.principal === principal ? found.upstream : undefined;
}

/** After `keeperOf` has said that it is the caller's. */
export async function forgetKeeper(id: string, answers: AnswerMemory): Promise<void> {
  await answers.delete(GATEWAY, { kind: 'response-owner', id });
}

/** Throws GatewayError where the answer `id`, which `param` of a request names, is known to be another's. */
export async function refuseAnothers(
  { id, param }: { id: string; param: string },
  { principal, user }: Owner,
  answers: AnswerMemory,
): Promise<void> {
  const found = await find(id, answers);
  if (found === undefined || (found.principal === principal && found.user === user)) return;
  throw anothers({ id, param });
}

/** True where the answer `id`, which an upstream keeps, was made for this principal and end user. */
export async function isOwnAnswer(
  id: string,
  { principal, user }: Owner,
  answers: AnswerMemory,
): Promise<boolean> {
  const found = await find(id, answers);
  return found?.principal === principal && found.user === user;
}

/** The same text as for an unknown id. */
export function anothers(named: { id: string; param: string }): Error {
  return unknownHistory({ dialect: 'openai-responses', ...named }, 'Send the whole conversation.');
}

/** Who asks, by the body of the request; an answer repeats it. */
export function endUserIn({ user, safety_identifier: safety }: JsonObject): string | undefined {
  return endUserNamed([user, safety]);
}

async function find(id: string, answers: AnswerMemory): Promise<Forwarded | undefined> {
  const body = (await answers.get(GATEWAY, { kind: 'response-owner', id }))?.body;
  if (!isObject(body)) return undefined;
  const { upstream, principal, user } = body;
  if (typeof upstream !== 'string' || typeof principal !== 'string') return undefined;
  return { upstream, principal, user: typeof user === 'string' ? user : undefined };
}
