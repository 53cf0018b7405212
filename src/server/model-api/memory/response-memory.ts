/**
 * Answers of `/v1/responses` that clients go on from by id. Of each turn two rows are kept: what was
 * added to the conversation when it began, and the answer when it is whole. A conversation is the
 * chain of its turns, so that a long one is stored once and not once for every turn.
 */
import type { AnswerMemory } from '../../../answers/answer-memory.js';
import { AnswerCollector } from '../../../core/answer-collector.js';
import type { AssistantMessage, JsonObject } from '../../../core/conversation.js';
import { GatewayError } from '../../../core/errors.js';
import type { AnswerEvent } from '../../../core/events.js';
import { isObject } from '../../../core/is-object.js';
import { LossLog } from '../../../core/losses.js';
import { openaiResponses } from '../../../dialects/openai-responses/index.js';
import type { AnswerContext, StreamEncoder } from '../../../dialects/shared/dialect.js';
import { ConversationRecord, ownConversation, recallConversation } from './conversation-memory.js';
import { anothers, endUserIn, keepOwner, refuseAnothers } from './forwarded-owners.js';
import { resolveReferences } from './item-references.js';
import type { AnswerRecording, AskedOf, KeptAnswer, MemoryContext } from './recording.js';
import { itemsOf, openSummaries, outputItems } from './response-items.js';
import { KEPT_MS, RENEW_BEFORE_MS } from './retention.js';

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
  /** The one that it is a part of. */
  conversation: string | undefined;
}

export interface Recalled {
  body: JsonObject;
  /** The bytes that came ask for the same already. */
  saysRaw?: boolean;
}

/** What a route remembers, for clients that need not send the whole history. */
export interface ResponseMemory {
  /**
   * The body with everything that was said before, where it names an answer of this principal that
   * is kept here; undefined for any other body. Throws GatewayError where it names one that is known
   * to be another principal's or another end user's.
   */
  recall(body: unknown, principal: string, context: MemoryContext): Promise<Recalled | undefined>;
  /** Undefined when the answer is not to be kept. What it needs of the request is written, not held. */
  keep(turn: KeptAnswer, context: MemoryContext): AnswerRecording | undefined;
  /** The upstream keeps the answer itself, under its own id: its owner has to be known when a client asks for it. */
  keepForwarded(answer: AskedOf & { upstream: string }, context: MemoryContext): Promise<void>;
}

export const responseMemory: ResponseMemory = {
  async recall(body, principal, { answers }) {
    if (!isObject(body)) return undefined;
    const chained =
      (await recallConversation(body, principal, answers)) ?? (await recallChain(body, principal, answers));
    const { input } = chained ?? body;
    const opened = Array.isArray(input) ? openSummaries(input) : undefined;
    const items = opened ?? input;
    const resolved = Array.isArray(items)
      ? ((await resolveReferences(items, (id) => itemsFor(id, body, principal, answers))) ?? opened)
      : undefined;
    const recalled = resolved === undefined ? chained : { ...(chained ?? body), input: resolved };
    return recalled && { body: recalled };
  },

  keep(turn, context) {
    const { body } = turn;
    if (!isObject(body)) return undefined;
    const record = body['store'] === false ? undefined : new ResponseRecord(turn, body, context);
    return ConversationRecord.of(turn, body, context, record) ?? record;
  },

  async keepForwarded({ principal, id, upstream, body }, { answers, log }) {
    if (!isObject(body) || body['store'] === false) return;
    await keepOwner(id, { principal, user: endUserIn(body), upstream }, answers, KEPT_MS).catch(
      (err: unknown) => log.warn({ id, err }, 'an answer could not be kept'),
    );
  },
};

async function recallChain(
  body: JsonObject,
  principal: string,
  answers: AnswerMemory,
): Promise<JsonObject | undefined> {
  const { previous_response_id: id, input, ...rest } = body;
  if (typeof id !== 'string' || id === '') return undefined;
  const { turns, root } = await chainOf(id, principal, answers);
  const conversation = turns.find((turn) => turn.conversation !== undefined)?.conversation;
  if (conversation !== undefined) {
    throw new GatewayError(
      'invalid_request',
      `previous_response_id: the response belongs to the conversation ${conversation}, which has what was said before it. Send conversation instead.`,
      { param: 'previous_response_id' },
    );
  }
  // What was said with another end user is as unknown here as another key's.
  if (!turns.every(isOf(body))) throw anothers({ id, param: 'previous_response_id' });
  if (root !== undefined) {
    const named = { id: root, param: 'previous_response_id' };
    await refuseAnothers(named, { principal, user: endUserIn(body) }, answers);
  }
  if (turns.length === 0) return undefined;
  const items: unknown[] = [];
  for (const turn of turns) items.push(...turn.input, ...outputItems(turn.response));
  items.push(...(Array.isArray(input) ? input : itemsOf(input)));
  // What came before the first turn is not kept here, if there was anything: its upstream continues it.
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
  answers: AnswerMemory,
): Promise<readonly JsonObject[] | undefined> {
  const turn = await findStoredResponse(id, principal, answers);
  if (turn !== undefined) return isOf(body)(turn) ? outputItems(turn.response) : undefined;
  await refuseAnothers({ id, param: 'input' }, { principal, user: endUserIn(body) }, answers);
  return undefined;
}

/** `items` with what their references name of this principal's answers; undefined where that is nothing. */
export function resolveOwn(
  items: readonly unknown[],
  principal: string,
  answers: AnswerMemory,
): Promise<unknown[] | undefined> {
  return resolveReferences(items, async (id) => {
    const turn = await findStoredResponse(id, principal, answers);
    return turn === undefined ? undefined : outputItems(turn.response);
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
  answers: AnswerMemory,
): Promise<{ turns: readonly StoredResponse[]; root: string | undefined }> {
  const turns: StoredResponse[] = [];
  const seen = new Set<string>();
  let next: string | undefined = id;
  while (next !== undefined && !seen.has(next)) {
    seen.add(next);
    const turn: StoredResponse | undefined = await findStoredResponse(next, principal, answers);
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
  answers: AnswerMemory,
): Promise<StoredResponse | undefined> {
  const [asked, answered] = await Promise.all([
    answers.get(principal, { kind: 'response-input', id }),
    answers.get(principal, { kind: 'response', id }),
  ]);
  const begun = asked?.body;
  const ended = answered?.body;
  if (asked === undefined || answered === undefined || !isObject(begun) || !isObject(ended)) return undefined;
  const { input, previous, conversation } = begun;
  const { response, encrypted } = ended;
  if (!Array.isArray(input) || !isObject(response)) return undefined;
  if (answered.expiresAt - Date.now() < RENEW_BEFORE_MS) {
    await Promise.all([asked, answered].map((row) => answers.renew(row, KEPT_MS)));
  }
  return {
    id,
    input: input.filter(isObject),
    response,
    encrypted: encrypted === true,
    previous: typeof previous === 'string' ? previous : undefined,
    conversation: typeof conversation === 'string' ? conversation : undefined,
  };
}

/** Of an answer in the background that has come to its end, also where it failed. What is written already stands. */
export async function keepEndedResponse(
  {
    id,
    principal,
    body,
    response,
    events,
  }: {
    id: string;
    principal: string;
    body: JsonObject;
    response: JsonObject;
    events: unknown;
  },
  answers: AnswerMemory,
): Promise<void> {
  const asked = { input: itemsOf(body['input']), ...goesOnFrom(body) };
  if (events !== undefined) {
    await answers.put(principal, { kind: 'response-events', id }, { body: { events }, keptMs: KEPT_MS });
  }
  await answers.put(principal, { kind: 'response-input', id }, { body: asked, keptMs: KEPT_MS });
  await answers.put(
    principal,
    { kind: 'response', id },
    { body: { response, encrypted: false }, keptMs: KEPT_MS },
  );
}

/** The text of the events of an answer that was made in the background, behind `after`; undefined where none are kept. */
export async function findEvents(
  id: string,
  principal: string,
  after: number,
  answers: AnswerMemory,
): Promise<string[] | undefined> {
  const body = (await answers.get(principal, { kind: 'response-events', id }))?.body;
  if (!isObject(body) || !Array.isArray(body['events'])) return undefined;
  return body['events'].flatMap((event: unknown) => {
    if (!isObject(event) || typeof event['text'] !== 'string') return [];
    return Number(event['sequence']) > after ? [event['text']] : [];
  });
}

export async function forgetStoredResponse(
  id: string,
  principal: string,
  answers: AnswerMemory,
): Promise<boolean> {
  const deleted = await answers.delete(principal, { kind: 'response', id });
  await answers.delete(principal, { kind: 'response-input', id });
  await answers.delete(principal, { kind: 'response-events', id });
  return deleted;
}

function goesOnFrom(body: JsonObject): JsonObject {
  const { previous_response_id: previous } = body;
  const conversation = ownConversation(body);
  return {
    ...(typeof previous === 'string' && previous !== '' ? { previous } : {}),
    ...(conversation === undefined ? {} : { conversation }),
  };
}

class ResponseRecord implements AnswerRecording {
  readonly #context: MemoryContext;
  readonly #principal: string;
  readonly #id: string;
  readonly #answer: AnswerContext;
  readonly #form: JsonObject;
  readonly #input: Promise<void>;

  constructor({ principal, id, request, answer }: KeptAnswer, body: JsonObject, context: MemoryContext) {
    this.#context = context;
    this.#principal = principal;
    this.#id = id;
    this.#answer = answer;
    this.#form = openaiResponses.ingress.answerForm?.(request) ?? {};
    this.#input = this.#put('response-input', { input: itemsOf(body['input']), ...goesOnFrom(body) });
  }

  async finish(turn: AssistantMessage): Promise<void> {
    const form = { ...this.#form, encrypted: true };
    const response = openaiResponses.ingress.encodeResponse(turn, { ...this.#answer, form }, new LossLog());
    const { encrypted } = this.#form;
    await Promise.all([this.#input, this.#put('response', { response, encrypted })]);
  }

  async drop(): Promise<void> {
    await this.#input;
    const { answers } = this.#context;
    const key = { kind: 'response-input', id: this.#id } as const;
    await answers.delete(this.#principal, key).catch((error: unknown) => this.#warn(error));
  }

  #put(kind: 'response' | 'response-input', body: JsonObject): Promise<void> {
    const key = { kind, id: this.#id };
    return this.#context.answers
      .put(this.#principal, key, { body, keptMs: KEPT_MS })
      .catch((error: unknown) => this.#warn(error));
  }

  #warn(error: unknown): void {
    this.#context.log.warn({ id: this.#id, err: error }, 'an answer could not be kept');
  }
}

/** Passes events on to the client's encoder and records what they add up to. */
export class RecordingEncoder implements StreamEncoder {
  readonly #encoder: StreamEncoder;
  readonly #record: AnswerRecording;
  #collector: AnswerCollector | undefined = new AnswerCollector();

  constructor(encoder: StreamEncoder, record: AnswerRecording) {
    this.#encoder = encoder;
    this.#record = record;
  }

  encode(events: readonly AnswerEvent[]): string {
    if (this.#collector !== undefined) this.#collect(this.#collector, events);
    return this.#encoder.encode(events);
  }

  /** The stream is over, whichever way. */
  close(): void {
    if (this.#collector === undefined) return;
    this.#collector = undefined;
    void this.#record.drop();
  }

  #collect(collector: AnswerCollector, events: readonly AnswerEvent[]): void {
    const last = events.at(-1)?.type;
    if (last === 'error') {
      this.close();
      return;
    }
    collector.push(events);
    if (last !== 'message-stop') return;
    this.#collector = undefined;
    // Begun before the client gets the end, so that its next request finds it.
    void this.#record.finish(collector.finish());
  }
}
