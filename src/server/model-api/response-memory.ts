/**
 * Answers of `/v1/responses` that clients go on from by id. Of each turn two rows are kept: what was
 * added to the conversation when it began, and the answer when it is whole. A conversation is the
 * chain of its turns, so that a long one is stored once and not once for every turn.
 */
import type { JsonObject } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import { isObject } from '../../core/is-object.js';
import { LossLog } from '../../core/losses.js';
import { openaiResponses } from '../../dialects/openai-responses/index.js';
import type { AnswerStore } from '../../store/answers.js';
import type { AnswerMemory, AnswerRecording, KeptAnswer, MemoryContext } from './answer-memory.js';
import { anothers, endUserIn, ownerRow, refuseAnothers } from './forwarded-owners.js';
import { resolveReferences } from './response-references.js';

const DAY_MS = 24 * 3600 * 1000;
/** As long as the API itself keeps them. */
const KEPT_MS = 30 * DAY_MS;
/** A turn that is still used is kept for longer, once it is this close to its end. */
const RENEW_BEFORE_MS = 15 * DAY_MS;
const MAX_TURNS = 1000;

export interface StoredResponse {
  id: string;
  /** Items that the request added. */
  input: readonly JsonObject[];
  /** The answer as the client saw it, with its reasoning as it has to be sent again. */
  response: JsonObject;
  /** The client asked for the reasoning as well. */
  encrypted: boolean;
  previous: string | undefined;
}

export const responseMemory: AnswerMemory = {
  async recall(body, principal, context) {
    if (!isObject(body)) return undefined;
    const chained = await recallChain(body, principal, context);
    const { input } = chained ?? body;
    const resolved = Array.isArray(input)
      ? await resolveReferences(input, (id) => itemsFor(id, body, principal, context))
      : undefined;
    return resolved === undefined ? chained : { ...(chained ?? body), input: resolved };
  },

  keep(turn, context) {
    if (!isObject(turn.body) || turn.body['store'] === false) return undefined;
    return new ResponseRecord(turn, turn.body, context);
  },

  async keepForwarded({ principal, id, upstream, body }, { store, log }) {
    if (!isObject(body) || body['store'] === false) return;
    const row = ownerRow(id, { principal, user: endUserIn(body), upstream }, Date.now() + KEPT_MS);
    await store.answers
      .put(row)
      .catch((err: unknown) => log.warn({ id, err }, 'an answer could not be kept'));
  },
};

async function recallChain(
  body: JsonObject,
  principal: string,
  context: MemoryContext,
): Promise<JsonObject | undefined> {
  const { previous_response_id: id, input, ...rest } = body;
  if (typeof id !== 'string' || id === '') return undefined;
  const { turns, root } = await chainOf(id, principal, context);
  // What was said with another end user is as unknown here as another key's.
  if (!turns.every(isOf(body))) throw anothers({ id, param: 'previous_response_id' });
  if (root !== undefined) {
    const named = { id: root, param: 'previous_response_id' };
    await refuseAnothers(named, { principal, user: endUserIn(body) }, context.store.answers);
  }
  if (turns.length === 0) return undefined;
  const items: unknown[] = [];
  for (const turn of turns) items.push(...turn.input, ...outputOf(turn));
  items.push(...(Array.isArray(input) ? input : itemsOf(input)));
  // What came before the first turn is not kept here, if there was anything: its keeper goes on with it.
  return {
    ...rest,
    input: items,
    $previous: id,
    ...(root === undefined ? {} : { previous_response_id: root }),
  };
}

/** The items of the answer `id`, where the principal and the end user of `body` may go on from it. */
async function itemsFor(
  id: string,
  body: JsonObject,
  principal: string,
  { store: { answers } }: MemoryContext,
): Promise<readonly JsonObject[] | undefined> {
  const turn = await findStoredResponse(id, principal, answers);
  if (turn !== undefined) return isOf(body)(turn) ? outputOf(turn) : undefined;
  await refuseAnothers({ id, param: 'input' }, { principal, user: endUserIn(body) }, answers);
  return undefined;
}

/** `items` with what their references name of this principal's answers; undefined where that is nothing. */
export function resolveOwn(
  items: readonly unknown[],
  principal: string,
  { store }: Pick<MemoryContext, 'store'>,
): Promise<unknown[] | undefined> {
  return resolveReferences(items, async (id) => {
    const turn = await findStoredResponse(id, principal, store.answers);
    return turn === undefined ? undefined : outputOf(turn);
  });
}

/** Of the end user of a request: an answer repeats who asked. */
function isOf(body: JsonObject): (turn: StoredResponse) => boolean {
  const user = endUserIn(body);
  return ({ response }) => endUserIn(response) === user;
}

/** The turns up to `id`, oldest first; `root` is what they go on from, where that is not kept here. */
export async function chainOf(
  id: string,
  principal: string,
  { store }: Pick<MemoryContext, 'store'>,
): Promise<{ turns: readonly StoredResponse[]; root: string | undefined }> {
  const turns: StoredResponse[] = [];
  const seen = new Set<string>();
  let next: string | undefined = id;
  while (next !== undefined && !seen.has(next)) {
    seen.add(next);
    const turn: StoredResponse | undefined = await findStoredResponse(next, principal, store.answers);
    if (turn === undefined) break;
    turns.push(turn);
    if (turns.length > MAX_TURNS) {
      throw new GatewayError(
        'invalid_request',
        `previous_response_id: the conversation has more than ${MAX_TURNS} turns. Begin a new one with the messages that matter.`,
        { param: 'previous_response_id' },
      );
    }
    next = turn.previous;
  }
  return { turns: turns.reverse(), root: next };
}

export async function findStoredResponse(
  id: string,
  principal: string,
  answers: AnswerStore,
): Promise<StoredResponse | undefined> {
  await WRITING.get(answers)?.get(`${principal}\n${id}`);
  const [asked, answered] = await Promise.all([
    answers.get(principal, inputKey(id)),
    answers.get(principal, answerKey(id)),
  ]);
  const begun = asked?.body;
  const ended = answered?.body;
  if (asked === undefined || answered === undefined || !isObject(begun) || !isObject(ended)) return undefined;
  const { input, previous } = begun;
  const { response, encrypted } = ended;
  if (!Array.isArray(input) || !isObject(response)) return undefined;
  if (answered.expiresAt - Date.now() < RENEW_BEFORE_MS) {
    await Promise.all([asked, answered].map((row) => renew(answers, row)));
  }
  return {
    id,
    input: input.filter(isObject),
    response,
    encrypted: encrypted === true,
    previous: typeof previous === 'string' ? previous : undefined,
  };
}

export async function forgetStoredResponse(
  id: string,
  principal: string,
  answers: AnswerStore,
): Promise<boolean> {
  await WRITING.get(answers)?.get(`${principal}\n${id}`);
  const deleted = await answers.delete(principal, answerKey(id));
  await answers.delete(principal, inputKey(id));
  return deleted;
}

/** `input` as items: a text is one message. */
export function itemsOf(input: unknown): JsonObject[] {
  if (Array.isArray(input)) return input.filter(isObject);
  if (typeof input !== 'string' || input === '') return [];
  return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }];
}

function outputOf({ response }: StoredResponse): readonly JsonObject[] {
  return Array.isArray(response['output']) ? response['output'].filter(isObject) : [];
}

const answerKey = (id: string): string => `response:${id}`;
const inputKey = (id: string): string => `response:${id}:input`;

/** Rows that are being written: a client may ask for them before they are there. */
const WRITING = new WeakMap<AnswerStore, Map<string, Promise<void>>>();

type Row = Parameters<AnswerStore['put']>[0];

async function renew(answers: AnswerStore, { principal, key, digest, body }: Row): Promise<void> {
  await answers.delete(principal, key);
  await answers.put({ principal, key, digest, body, expiresAt: Date.now() + KEPT_MS });
}

class ResponseRecord implements AnswerRecording {
  readonly #context: MemoryContext;
  readonly #principal: string;
  readonly #id: string;
  readonly #answer: KeptAnswer['answer'];
  readonly #form: JsonObject;
  readonly #input: Promise<unknown>;

  constructor({ principal, id, request, answer }: KeptAnswer, body: JsonObject, context: MemoryContext) {
    this.#context = context;
    this.#principal = principal;
    this.#id = id;
    this.#answer = answer;
    this.#form = openaiResponses.ingress.answerForm?.(request) ?? {};
    const previous = body['previous_response_id'];
    this.#input = this.#put(inputKey(id), {
      input: itemsOf(body['input']),
      ...(typeof previous === 'string' && previous !== '' ? { previous } : {}),
    });
  }

  finish(turn: Parameters<AnswerRecording['finish']>[0]): Promise<void> {
    const form = { ...this.#form, encrypted: true };
    const response = openaiResponses.ingress.encodeResponse(turn, { ...this.#answer, form }, new LossLog());
    const { encrypted } = this.#form;
    const written = Promise.all([this.#input, this.#put(answerKey(this.#id), { response, encrypted })]);
    return this.#announce(written);
  }

  async drop(): Promise<void> {
    await this.#input;
    const { answers } = this.#context.store;
    await answers.delete(this.#principal, inputKey(this.#id)).catch((error: unknown) => this.#warn(error));
  }

  #put(key: string, body: JsonObject): Promise<unknown> {
    const expiresAt = Date.now() + KEPT_MS;
    const row = { principal: this.#principal, key, digest: '', body, expiresAt };
    return this.#context.store.answers.put(row).catch((error: unknown) => this.#warn(error));
  }

  #announce(written: Promise<unknown>): Promise<void> {
    const { answers } = this.#context.store;
    const all = WRITING.get(answers) ?? new Map<string, Promise<void>>();
    WRITING.set(answers, all);
    const key = `${this.#principal}\n${this.#id}`;
    const done = written.then(() => {
      all.delete(key);
    });
    all.set(key, done);
    return done;
  }

  #warn(error: unknown): void {
    this.#context.log.warn({ id: this.#id, err: error }, 'an answer could not be kept');
  }
}
