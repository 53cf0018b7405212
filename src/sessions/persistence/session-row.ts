/**
 * The stored form of a session beside its transcript. The metadata is written with every step, so it
 * stays small: large or rarely changed data has channels of its own. Stored keys keep their old names:
 * `mark` is the number of a turn's end, `tail` the fingerprint of a request, `tellings` are fingerprints.
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
import { Memo } from '../../core/shared-values.js';
import type { Session } from '../../store/sessions.js';

/** Client tools and system prompts, one entry for each that differs from the one before. */
export const SETUP_CHANNEL = 'setup';
/** Ends of turns: positions where a conversation continues or forks. */
export const TURNS_CHANNEL = 'turns';

/** What people were shown of turns, beside what the transcript says. */
export const RECORD_CHANNEL = 'record';

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
  /** Messages of the transcript before the answer. */
  began: count,
  /** Steps of the transcript before the answer. */
  step: count,
  /** Fingerprint of the visible history with the request's messages. */
  tail: z.string(),
  /** The number of the turn end whose calls' results the turn began with. */
  batch: count.optional(),
  /** Digests of what the user said beside those results. */
  said: z.array(z.string()),
  asks,
  /** Digest of everything in the request. */
  exact: z.string().optional(),
  /** A person stopped it. */
  stopped: z.boolean().optional(),
});

const pending = z.object({
  /** The number of the turn end whose calls are pending. */
  mark: count,
  /** Position of that turn end in its channel. */
  entry: count,
  /** Fingerprints of every form of the history up to there; the first is the turn end's own. */
  tellings: z.array(z.string()),
  /** When the results are overdue. */
  until: z.number(),
  /** Positions in the channel of turns of what the user said meanwhile. */
  said: z.array(count),
});

/** The last answer, until its delivery is confirmed. */
const undelivered = z.object({ mark: count, turn: turnRow, /** The head before the turn. */ head: link });

const record = z.object({
  version: z.literal(1),
  root: z.string(),
  /** The end user that it belongs to; absent for requests that name none. */
  user: z.string().optional(),
  /** Digest of the last system prompt. */
  prompt: z.string().optional(),
  /** The root of the tree of forks; absent: this session. */
  family: z.string().optional(),
  forkNumber: count,
  /** Fingerprint of the visible history up to the last answer. */
  head: link,
  /** Entries of the transcript up to the last answer. */
  step: count,
  /** Turn ends written so far. */
  marks: count,
  /** Entries in the channel of turns. */
  turns: count,
  setup: z.object({ count, tools: kept.optional(), system: kept.optional() }),
  /** Entries in the channel of records when this was written: there are as many, or more. */
  records: count.default(0),
  pending: pending.optional(),
  /** The running, broken or stopped turn. */
  turn: turnRow.optional(),
  undelivered: undelivered.optional(),
  /** Ids of the last messages that were said into running turns: they are in the transcript. */
  steered: z.array(z.string()).optional(),
  /** State of the engine. */
  state: jsonObject.optional(),
  /** The node that has its folder, and whether it shares it; absent where there is one gateway, and without a folder. */
  home: z.object({ node: z.string(), shared: z.boolean() }).optional(),
});

export type SessionRow = z.infer<typeof record>;
export type TurnRow = z.infer<typeof turnRow>;

const known = new Memo<JsonObject, SessionRow>({ last: true });

/** Undefined for a session of another kind or of a later version. Nobody changes it. */
export function readSessionRow({ metadata }: Pick<Session, 'metadata'>): SessionRow | undefined {
  const before = known.get(metadata);
  if (before !== undefined) return before;
  const read = record.safeParse(metadata);
  return read.success ? known.keep(metadata, read.data) : undefined;
}

const isListOf = <T>(value: unknown, isItem: (item: unknown) => item is T): value is T[] =>
  Array.isArray(value) && value.every(isItem);

// Only this program writes and reads these: a check of their kind is enough.
const isBlock = (value: unknown): value is Block => isObject(value) && typeof value['type'] === 'string';
const isText = (value: unknown): value is TextBlock => isBlock(value) && value.type === 'text';
const isResult = (value: unknown): value is ToolResultBlock => isBlock(value) && value.type === 'tool_result';
const isTool = (value: unknown): value is ToolDefinition =>
  isObject(value) && typeof value['name'] === 'string';
const isMessage = (value: unknown): value is Message =>
  isObject(value) && typeof value['role'] === 'string' && isListOf(value['content'], isBlock);

/** One step of the transcript: a new message, the message of an earlier step again, or a cut to the first `count`. */
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
    /** Calls of the last message that the client runs. */
    open: z.array(z.string()),
    /** Results of the others in that message. */
    results: z.array(z.custom<ToolResultBlock>(isResult)),
    state: z.custom<JsonObject>(isObject).optional(),
  }),
  /** Another fingerprint of the same position. */
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

const recordEntry = z.object({
  /** Steps of the transcript before the answer that it is about. */
  step: count,
});

export type TurnEntry = z.infer<typeof turnEntry>;
export type RecordEntry = z.infer<typeof recordEntry>;
export type TurnEndEntry = Extract<TurnEntry, { kind: 'mark' }>;
export type SetupEntry = z.infer<typeof setupEntry>;

/** These throw where the store is damaged. */
export const readLogEntry = (value: unknown): LogEntry => logEntry.parse(value);
export const readTurnEntry = (value: unknown): TurnEntry => turnEntry.parse(value);
export const readRecordEntry = (value: unknown): RecordEntry => recordEntry.parse(value);
export const readSetupEntry = (value: unknown): SetupEntry => setupEntry.parse(value);
