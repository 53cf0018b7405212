/**
 * Conversations of `/v1/conversations`, which the gateway keeps for every model. Each is a log of changes, one
 * row a change: a row is written once and never again, so that two requests at once add both, and a gateway
 * that dies leaves no half of one.
 */
import { randomBytes } from 'node:crypto';
import type { AnswerMemory } from '../../../answers/answer-memory.js';
import type { AssistantMessage, JsonObject } from '../../../core/conversation.js';
import { GatewayError } from '../../../core/errors.js';
import { isObject } from '../../../core/is-object.js';
import { LossLog } from '../../../core/losses.js';
import { openaiResponses } from '../../../dialects/openai-responses/index.js';
import { unknownHistory } from '../../../engines/demands.js';
import type { RecordedAnswer } from '../../../store/answers.js';
import { endUserIn } from './forwarded-owners.js';
import type { AnswerRecording, KeptAnswer, MemoryContext } from './recording.js';
import { itemsOf, outputItems } from './response-items.js';
import { KEPT_MS, RENEW_BEFORE_MS } from './retention.js';

/** Unlike those of a provider: which conversations are kept here is known from the id. */
const OWN_ID = /^conv_tg[0-9a-f]{32}$/;
const CHANGES = 2_000;
/** Rows that are read at once. */
const AT_ONCE = 16;
/** Of all changes together: every turn reads them. */
const BYTES = 32 * 1024 * 1024;

export interface ConversationItem {
  id: string;
  /** As it came, or as the model said it. */
  item: JsonObject;
}

export interface KeptConversation {
  id: string;
  /** Unix milliseconds. */
  createdAt: number;
  metadata: unknown;
  items: readonly ConversationItem[];
  /** End users in whose name something was said in it. */
  users: ReadonlySet<string | undefined>;
  changes: number;
  bytes: number;
}

type Change =
  | { metadata: unknown }
  | { items: readonly ConversationItem[]; user?: string; said?: true }
  | { removed: string };

/** The id that a request names, where that is a conversation of the gateway's. */
export function ownConversation({ conversation }: JsonObject): string | undefined {
  const id = isObject(conversation) ? conversation['id'] : conversation;
  return typeof id === 'string' && OWN_ID.test(id) ? id : undefined;
}

export function unknownConversation(id: string): GatewayError {
  return unknownHistory(
    { dialect: 'openai-responses', id, param: 'conversation' },
    'Make one with POST /v1/conversations.',
  );
}

/** Changes that are being written, so that the request after one finds it. By the memory they go to. */
const writing = new WeakMap<AnswerMemory, Map<string, Promise<unknown>>>();

export async function createConversation(
  principal: string,
  metadata: unknown,
  answers: AnswerMemory,
): Promise<string> {
  const id = `conv_tg${randomBytes(16).toString('hex')}`;
  await answers.claim(
    principal,
    { kind: 'conversation', id, change: 0 },
    { body: { metadata }, keptMs: KEPT_MS },
  );
  return id;
}

/** Undefined where this principal has none of this id. What is used is kept for longer. */
export async function findConversation(
  id: string,
  principal: string,
  answers: AnswerMemory,
): Promise<KeptConversation | undefined> {
  if (!OWN_ID.test(id)) return undefined;
  await writing.get(answers)?.get(nameOf(principal, id));
  return read(id, principal, answers);
}

async function read(
  id: string,
  principal: string,
  answers: AnswerMemory,
): Promise<KeptConversation | undefined> {
  const items = new Map<string, ConversationItem>();
  const users = new Set<string | undefined>();
  let metadata: unknown = {};
  const read: RecordedAnswer[] = [];
  let bytes = 0;
  for (let from = 0; ; from += AT_ONCE) {
    const rows = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) =>
        answers.get(principal, { kind: 'conversation', id, change: from + index }),
      ),
    );
    for (const [index, row] of rows.entries()) {
      if (row === undefined) {
        const [first] = read;
        if (first === undefined) return undefined;
        await keep(read, answers);
        const { createdAt } = first;
        return { id, createdAt, metadata, items: [...items.values()], users, changes: from + index, bytes };
      }
      read.push(row);
      const change = row.body;
      if (!isObject(change)) continue;
      if (typeof change['bytes'] === 'number') bytes += change['bytes'];
      if ('metadata' in change) metadata = change['metadata'];
      if (typeof change['removed'] === 'string') items.delete(change['removed']);
      for (const item of readItems(change['items'])) items.set(item.id, item);
      if (change['said'] === true) users.add(typeof change['user'] === 'string' ? change['user'] : undefined);
    }
  }
}

/** All rows or none: a conversation ends at the first row that is not there. */
async function keep(rows: readonly RecordedAnswer[], answers: AnswerMemory): Promise<void> {
  const soonest = Math.min(...rows.map(({ expiresAt }) => expiresAt));
  if (soonest - Date.now() >= RENEW_BEFORE_MS) return;
  // The later ones first: where this is cut off, the first row does not outlive them.
  for (const row of rows.toReversed()) await answers.renew(row, KEPT_MS);
}

function readItems(value: unknown): ConversationItem[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  return items.flatMap((each) => {
    if (!isObject(each) || typeof each['id'] !== 'string' || !isObject(each['item'])) return [];
    return [{ id: each['id'], item: each['item'] }];
  });
}

/** Behind all changes so far. Rejects with `not_found` where there is no such conversation any more. */
export async function changeConversation(
  id: string,
  principal: string,
  change: Change,
  answers: AnswerMemory,
): Promise<void> {
  const pending = writing.get(answers) ?? new Map<string, Promise<unknown>>();
  writing.set(answers, pending);
  const name = nameOf(principal, id);
  const before = pending.get(name) ?? Promise.resolve();
  const written = before.then(() => append(id, principal, change, answers));
  const settled = written.then(
    () => {},
    () => {},
  );
  pending.set(name, settled);
  try {
    await written;
  } finally {
    if (pending.get(name) === settled) pending.delete(name);
  }
}

async function append(id: string, principal: string, change: Change, answers: AnswerMemory): Promise<void> {
  const found = await read(id, principal, answers);
  if (found === undefined) throw unknownConversation(id);
  const bytes = Buffer.byteLength(JSON.stringify(change));
  if (found.bytes + bytes > BYTES) {
    throw new GatewayError(
      'too_large',
      `conversation: it would be larger than ${BYTES / 1024 / 1024} MB. Begin a new one with the messages that matter.`,
      { param: 'conversation' },
    );
  }
  // Another node may write at the same time: the next free row is ours.
  for (let next = found.changes; next < CHANGES; next += 1) {
    const key = { kind: 'conversation', id, change: next } as const;
    if (await answers.claim(principal, key, { body: { ...change, bytes }, keptMs: KEPT_MS })) return;
  }
  throw new GatewayError(
    'invalid_request',
    `conversation: it was changed ${CHANGES} times, which is the most. Begin a new one with the messages that matter.`,
    { param: 'conversation' },
  );
}

/** False where this principal has none of this id. */
export async function forgetConversation(
  id: string,
  principal: string,
  answers: AnswerMemory,
): Promise<boolean> {
  const found = await findConversation(id, principal, answers);
  if (found === undefined) return false;
  // The first row is the conversation: what is left of the others, if this is cut off, expires.
  for (let change = 0; change < found.changes; change += 1) {
    await answers.delete(principal, { kind: 'conversation', id, change });
  }
  return true;
}

const nameOf = (principal: string, id: string): string => `${principal}\n${id}`;

/** Items under ids of their own where they have none. */
export function withIds(items: readonly JsonObject[]): ConversationItem[] {
  return items.map((item) => {
    const { id, type = 'message' } = item;
    const prefix = typeof type === 'string' ? (ID_PREFIXES[type] ?? 'item') : 'item';
    return {
      id: typeof id === 'string' && id !== '' ? id : `${prefix}_${randomBytes(16).toString('hex')}`,
      item,
    };
  });
}

const ID_PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  function_call: 'fc',
  function_call_output: 'fco',
  reasoning: 'rs',
};

/** The body with what the conversation that it names has; undefined where it names none of the gateway's. */
export async function recallConversation(
  body: JsonObject,
  principal: string,
  answers: AnswerMemory,
): Promise<JsonObject | undefined> {
  const id = ownConversation(body);
  if (id === undefined || typeof body['previous_response_id'] === 'string') return undefined;
  const { conversation: _named, input, ...rest } = body;
  const found = await findConversation(id, principal, answers);
  const user = endUserIn(body);
  // What was said with another end user is as unknown here as another key's.
  if (found === undefined || [...found.users].some((each) => each !== user)) throw unknownConversation(id);
  const items = [...found.items.map(({ item }) => item), ...(Array.isArray(input) ? input : itemsOf(input))];
  return { ...rest, input: items, $conversation: id };
}

/** Adds a turn to its conversation, once it is whole. */
export class ConversationRecord implements AnswerRecording {
  readonly #id: string;
  readonly #turn: Pick<KeptAnswer, 'principal' | 'answer'>;
  readonly #form: JsonObject;
  readonly #asked: { items: readonly JsonObject[]; user: string | undefined };
  readonly #context: MemoryContext;
  readonly #stored: AnswerRecording | undefined;

  /** `stored`: the answer itself, where that is kept too. Undefined where the turn is of no conversation of the gateway's. */
  static of(
    turn: KeptAnswer,
    body: JsonObject,
    context: MemoryContext,
    stored: AnswerRecording | undefined,
  ): ConversationRecord | undefined {
    const id = ownConversation(body);
    return id === undefined ? undefined : new ConversationRecord(id, turn, body, context, stored);
  }

  private constructor(
    id: string,
    { principal, answer, request }: KeptAnswer,
    body: JsonObject,
    context: MemoryContext,
    stored: AnswerRecording | undefined,
  ) {
    this.#id = id;
    this.#turn = { principal, answer };
    this.#form = { ...openaiResponses.ingress.answerForm?.(request), encrypted: true };
    // A reference has the id of the item that it names, which is here already or is another answer's.
    const items = itemsOf(body['input']).filter(({ type }) => type !== 'item_reference');
    this.#asked = { items, user: endUserIn(body) };
    this.#context = context;
    this.#stored = stored;
  }

  async finish(message: AssistantMessage): Promise<void> {
    const { principal, answer } = this.#turn;
    const { items, user } = this.#asked;
    const whole = { ...answer, form: this.#form };
    const response = openaiResponses.ingress.encodeResponse(message, whole, new LossLog());
    const said = withIds([...items, ...outputItems(response)]);
    const change = { items: said, said: true, ...(user === undefined ? {} : { user }) } as const;
    const { answers, log } = this.#context;
    await Promise.all([
      this.#stored?.finish(message),
      changeConversation(this.#id, principal, change, answers).catch((err: unknown) =>
        log.warn({ id: this.#id, err }, 'a turn could not be added to its conversation'),
      ),
    ]);
  }

  async drop(): Promise<void> {
    await this.#stored?.drop();
  }
}
