/**
 * What the store keeps of a session beside its transcript. The metadata is written with every step,
 * so it stays small: what is large or rarely changes has channels of its own.
 */
import * as z from 'zod';
import type {
  Block,
  JsonObject,
  Message,
  TextBlock,
  ToolDefinition,
  ToolResultBlock,
} from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import type { Session } from '../../store/sessions.js';

/** Client tools and system prompts, one entry for each that differs from the one before. */
export const SETUP_CHANNEL = 'setup';
/** Ends of answers: where a conversation can be gone on with, or forked. */
export const TURNS_CHANNEL = 'turns';

const count = z.int().min(0);
const link = z.object({ hash: z.string(), position: count });
const kept = z.object({ digest: z.string(), seq: count });
const asks = z.object({
  model: z.string(),
  tools: z.string().optional(),
  choice: z.string(),
  idempotency: z.string().optional(),
});
const jsonObject = z.record(z.string(), z.unknown());

export const turnRow = z.object({
  key: z.string(),
  how: z.enum(['new', 'continue', 'fork', 'import']),
  /** Messages of the transcript behind which the answer begins. */
  began: count,
  /** Steps of the transcript at that time. */
  step: count,
  /** The visible conversation with the request's messages. */
  tail: z.string(),
  /** The mark whose calls' results the turn goes on with. */
  batch: count.optional(),
  /** What the user said beside those results. */
  said: z.array(z.string()),
  asks,
  /** Of everything in the request. */
  exact: z.string().optional(),
  /** Somebody ended it on purpose. */
  stopped: z.boolean().optional(),
});

const pending = z.object({
  /** The mark of the message whose calls wait. */
  mark: count,
  /** Where that mark is in its channel. */
  entry: count,
  /** Every way in which the conversation up to there has been told; the first is the mark's own. */
  tellings: z.array(z.string()),
  /** When the results are late. */
  until: z.number(),
  /** Where in the channel of turns stands what the user said meanwhile. */
  said: z.array(count),
});

/** The last answer, as long as its client may not have heard its end. */
const undelivered = z.object({ mark: count, turn: turnRow, /** In front of the turn. */ head: link });

const record = z.object({
  version: z.literal(1),
  root: z.string(),
  /** The end user whose it is; absent: of requests that name none. */
  user: z.string().optional(),
  /** Of the last system prompt. */
  prompt: z.string().optional(),
  /** The first session of those that were forked from one another; absent: this one. */
  family: z.string().optional(),
  forkNumber: count,
  /** The visible conversation up to the last answer. */
  head: link,
  /** Entries of the transcript up to the last answer. */
  step: count,
  /** Marks made so far. */
  marks: count,
  /** Entries in the channel of turns. */
  turns: count,
  setup: z.object({ count, tools: kept.optional(), system: kept.optional() }),
  pending: pending.optional(),
  /** Began and has not come to its end. */
  turn: turnRow.optional(),
  undelivered: undelivered.optional(),
  /** The engine's own. */
  state: jsonObject.optional(),
});

export type SessionRow = z.infer<typeof record>;
export type TurnRow = z.infer<typeof turnRow>;
export type Undelivered = z.infer<typeof undelivered>;
export type Asks = z.infer<typeof asks>;

/** Undefined for a session of another kind or of a later version. */
export function readSessionRow(session: Pick<Session, 'metadata'>): SessionRow | undefined {
  const read = record.safeParse(session.metadata);
  return read.success ? read.data : undefined;
}

const isListOf = <T>(value: unknown, isItem: (item: unknown) => item is T): value is T[] =>
  Array.isArray(value) && value.every(isItem);

// These were written by this program and are read by it alone: a look at their kind is enough.
const isBlock = (value: unknown): value is Block => isObject(value) && typeof value['type'] === 'string';
const isText = (value: unknown): value is TextBlock => isBlock(value) && value.type === 'text';
const isResult = (value: unknown): value is ToolResultBlock => isBlock(value) && value.type === 'tool_result';
const isTool = (value: unknown): value is ToolDefinition =>
  isObject(value) && typeof value['name'] === 'string';
const isMessage = (value: unknown): value is Message =>
  isObject(value) && typeof value['role'] === 'string' && isListOf(value['content'], isBlock);

/** One step of the transcript: a message more, the message of an earlier step again, or only the first `count`. */
export type LogEntry =
  | { kind: 'message'; message: Message }
  | { kind: 'again'; step: number }
  | { kind: 'keep'; count: number };

const logEntry = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('message'), message: z.custom<Message>(isMessage) }),
  z.object({ kind: z.literal('again'), step: count }),
  z.object({ kind: z.literal('keep'), count }),
]);

const turnEntry = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('mark'),
    mark: count,
    hash: z.string(),
    position: count,
    step: count,
    /** Calls of the last message that are the client's to run. */
    open: z.array(z.string()),
    /** Results of the others in that message. */
    results: z.array(z.custom<ToolResultBlock>(isResult)),
    state: z.custom<JsonObject>(isObject).optional(),
  }),
  /** The same point of the conversation, told in another way. */
  z.object({ kind: z.literal('alias'), mark: count, hash: z.string() }),
  z.object({ kind: z.literal('said'), blocks: z.custom<Block[]>((value) => isListOf(value, isBlock)) }),
]);

const setupEntry = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('tools'),
    tools: z.custom<ToolDefinition[]>((value) => isListOf(value, isTool)),
  }),
  z.object({
    kind: z.literal('system'),
    system: z.custom<TextBlock[]>((value) => isListOf(value, isText)),
  }),
]);

export type TurnEntry = z.infer<typeof turnEntry>;
export type TurnEndMark = Extract<TurnEntry, { kind: 'mark' }>;
export type SetupEntry = z.infer<typeof setupEntry>;

/** These throw for what this program did not write: the store is damaged then. */
export const readLogEntry = (value: unknown): LogEntry => logEntry.parse(value);
export const readTurnEntry = (value: unknown): TurnEntry => turnEntry.parse(value);
export const readSetupEntry = (value: unknown): SetupEntry => setupEntry.parse(value);
