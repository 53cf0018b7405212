/**
 * Conversations with agents, whichever engine runs them. A client sees only a part of what the model
 * sees, so the whole is in the store. No state of a conversation exists in a process alone, so a
 * broken turn can resume from its last step after any failure.
 *
 * States of a turn: running, then complete (answered), parked (its client has to run tools), broken
 * (it began and did not end), stopped (broken on purpose, by a person) or discarded (it failed before
 * anything was said; the session that was created for it goes as well).
 *
 * Rooms, each of which imports only those after it: `lifetime` (assembly, stop, expiry, timeouts),
 * `matching` (which session a request belongs to), `turns`, `persistence`, `history` (pure).
 */
import type {
  Block,
  ConversationRequest,
  JsonObject,
  Message,
  StopReason,
  TextBlock,
  ToolDefinition,
  ToolResultBlock,
  ToolUseBlock,
} from '../core/conversation.js';
import type { NodeReference } from '../core/elsewhere.js';
import type { Loss } from '../core/losses.js';
import type {
  CountedSessions,
  ListedSession,
  Session,
  SessionLabels,
  SessionMode,
  SessionQuery,
} from '../store/sessions.js';
import type { Page } from '../store/store.js';

export interface Sessions {
  /**
   * Finds or creates the session that a request belongs to. A session id that was never issued is
   * ignored and noted. Throws GatewayError and changes nothing: `not_found` for a session id that
   * has expired or is another key's;
   * `unknown_tool_call` for a result without a call; `conflict` while another request of the session
   * is being answered, or where the session belongs to another engine or folder.
   */
  attach(request: AttachRequest): Promise<NotedAttachment>;
  /**
   * The client has the whole answer of that turn: an equal request is a new one from now on. Never
   * throws; writes in the background.
   */
  delivered(session: string, key: string): void;
  /** Another node has the whole answer of that turn for its client, and calls `delivered` where the client has it. */
  passedOn(session: string, key: string): void;
  /** For people; `principal` undefined sees all. Newest first. */
  list(query: SessionQuery): Promise<Page<ListedSession>>;
  count(query: CountedSessions): Promise<number>;
  get(id: string): Promise<Session | undefined>;
  /** The conversation as the model has it and as people read it, and the calls that are pending at the client. */
  read(id: string, options?: ReadOptions): Promise<SessionContent | undefined>;
  /** Where a turn begins, as people count. Throws `invalid_request` where there are fewer. */
  turnStart(id: string, turn: number): Promise<TurnStart | undefined>;
  /** The state of a session, without reading its conversation; undefined for a session of another kind. */
  standing(session: Session): SessionProgress | undefined;
  /** The node that runs a turn of the session now, or alone has its folder; undefined where this one may. */
  elsewhere(session: Pick<Session, 'id' | 'metadata'>): Promise<NodeReference | undefined>;
  /**
   * All sessions with a turn that runs, in this process or in another one, and perhaps one that is only written to
   * just now.
   */
  running(): Promise<string[]>;
  /**
   * A new session with the same conversation up to its last complete turn, or only the first `keep`
   * turns of it (see `user-turns.ts`). Throws `invalid_request` where there are fewer.
   */
  fork(id: string, options?: { keep?: number }): Promise<Session | undefined>;
  /**
   * Stops the turn that runs in this process and keeps its work. Resolves when it has ended. A broken
   * turn is marked as stopped. False when there was none, or another process has it.
   */
  stop(id: string, by: string): Promise<boolean>;
  /**
   * Says something into the turn that runs in this process, before its model is asked again. False
   * where none runs. A turn that ends before has not taken it; one that takes it says so (`steered`).
   */
  steer(id: string, message: SteeringMessage): boolean;
  /** Takes a message back before it is said. False where a turn that runs in this process has taken it. */
  unsteer(id: string, message: string): boolean;
  /** What people make of it in their lists; a turn that runs goes on. Undefined when it is gone. */
  label(id: string, labels: SessionLabels): Promise<Session | undefined>;
  /** Ends a running turn as well. False when there was none. */
  delete(id: string, by: string): Promise<boolean>;
  /** Receives every change after it is written; a listener that throws is logged. */
  subscribe(listener: (event: SessionEvent) => void): () => void;
  /** Stops timers and releases the leases. Turns must have been aborted. */
  close(): Promise<void>;
}

/** `relay`: a conversation of the console with a plain model. */
export type SessionEngineName = 'relay' | 'native' | 'claude-code';

export interface AttachRequest {
  principal: string;
  /** The end user; undefined where the request names none, which counts as one user. */
  user?: string | undefined;
  /** The key's holder: it may name any end user's session, and continues it as that user. */
  anyUser?: boolean | undefined;
  /** `X-Session-ID`. */
  id?: string | undefined;
  /** `Idempotency-Key`: two requests with different ones are never the same request. */
  idempotencyKey?: string | undefined;
  engine: SessionEngineName;
  /** As the client named it. */
  model: string;
  /** The folder that the agent works in, as a real path; empty for a plain model. */
  root: string;
  /** The session that the conversation was copied from: the request is not matched by its history. */
  parent?: string | undefined;
  /** Of a session that is made for the request; a fork has its parent's. */
  mode?: SessionMode | undefined;
  /** A session that was created for the request stays, also where the turn fails at once. */
  lasting?: boolean | undefined;
  /** The client says that it has sent the request before. */
  repeat?: boolean | undefined;
  /** Fires when the client disconnects; without it, no client counts as waiting for the answer. */
  signal?: AbortSignal | undefined;
  request: Partial<ConversationRequest> &
    Pick<ConversationRequest, 'messages' | 'tools' | 'system' | 'toolChoice' | 'parallelToolCalls'>;
}

/** How the request was attached, for `x-toolgate-attach`. */
export type AttachKind = 'new' | 'continue' | 'fork' | 'import';

export type Attachment =
  /** The caller ends it with `complete`, `abandon` or `discard`; a second call does nothing. */
  | { kind: 'turn'; turn: Turn }
  /** The same request is being answered in this process: `key` names that turn. */
  | { kind: 'running'; session: string; how: AttachKind; key: string }
  /** Results are still missing; the given ones are recorded. */
  | {
      kind: 'waiting';
      session: string;
      how: AttachKind;
      open: readonly ToolUseBlock[];
      losses: readonly Loss[];
    }
  /** The same request was answered before: `key` names the turn that did. */
  | {
      kind: 'answered';
      session: string;
      how: AttachKind;
      key: string;
      answer: GivenAnswer;
      losses: readonly Loss[];
    };

/** Something of the request that was ignored, for `x-toolgate-attach-note`. */
export type AttachNote = 'foreign-session-id';

export type NotedAttachment = Attachment & { note?: AttachNote };

export interface GivenAnswer {
  blocks: readonly Block[];
  reason: StopReason;
  stopSequence?: string;
}

/**
 * A running turn, which holds the session's lease. Every method that writes rejects with `conflict`
 * once the lease is lost or the session is gone: the turn must stop then.
 */
export interface Turn {
  readonly id: string;
  readonly principal: string;
  /** The end user that the session belongs to; undefined where requests name none. */
  readonly user: string | undefined;
  readonly root: string;
  readonly how: AttachKind;
  /** Identifies this request in this session; equal when the client repeats it. */
  readonly key: string;
  /** Which fork of a conversation this is, counted from 0. */
  readonly forkNumber: number;
  /** The client's own tools and system prompt: the request's, or those of an earlier one. */
  readonly tools: readonly ToolDefinition[];
  readonly system: readonly TextBlock[];
  /**
   * The messages for the model, the request's new ones included. The results of one message are in one
   * user message after it, in the order of the calls. The engine changes it, with `save`.
   */
  readonly transcript: Message[];
  /**
   * Messages of the transcript when the turn began. Assistant messages after them belong to this
   * answer: a resumed turn has some of them already and sends them again.
   */
  readonly began: number;
  /**
   * Whole assistant messages of this answer that were written before the break, also those that a
   * compaction has replaced since: a resumed turn sends them again. Empty on a fresh turn.
   */
  readonly spoken: readonly Message[];
  /**
   * Steps written before this turn. A cache beside the transcript compares it with its own `steps()`:
   * equal means that no other turn came in between.
   */
  readonly before: number;
  /** Where the turn broke off after a message with calls: those without a result in the transcript. */
  readonly outstanding: OutstandingToolCalls | undefined;
  /** What the engine saved last. */
  readonly state: JsonObject | undefined;
  /** Parts of the request that could not be used. */
  readonly losses: readonly Loss[];
  /** Fires when the session is deleted or the lease lost. */
  readonly signal: AbortSignal;
  /** Steps written so far. */
  steps(): number;
  /**
   * Writes the changes since the last save, by the identity of messages: after each message of the
   * model, before its calls run, and after their results, before the next request to the model.
   */
  save(state?: JsonObject): Promise<void>;
  /** Every write from now on also keeps what `take` gives: what people were shown since the write before. JSON. */
  recordFrom(take: () => object | undefined): void;
  /** Keeps that alone, now. */
  saveRecord(): Promise<void>;
  /** What was said into the turn meanwhile: it is taken with the next `save`, which must have it in the transcript. */
  takeSteering(): Block[];
  /** An id for a call that is unique in this session. */
  claimId(id: string): string;
  /**
   * Called before the gateway runs a call with side effects. False: it was started before and has no
   * result, so it may have run and must not run again.
   */
  start(call: ToolUseBlock): Promise<boolean>;
  /** Records the result of a started call, before anything acts on it. */
  finish(result: ToolResultBlock): Promise<void>;
  /** The turn is complete, or parked where calls are handed back; saves as well. Resolves before the client receives the end. */
  complete(end: CompletedTurn): Promise<void>;
  /** The turn is broken: the same request resumes it, any other continues from before it. */
  abandon(): Promise<void>;
  /** The turn failed before the client knew the session: a session that was created for it is deleted. */
  discard(): Promise<void>;
}

export interface SteeringMessage {
  id: string;
  content: readonly Block[];
}

export interface OutstandingToolCalls {
  /** All calls of the last message. */
  calls: readonly ToolUseBlock[];
  /** Recorded results. */
  results: ReadonlyMap<string, ToolResultBlock>;
  /** Calls that the gateway started and that have no result: they may have run. */
  started: ReadonlySet<string>;
}

export interface CompletedTurn {
  /** The answer of this turn, calls included. */
  answer: GivenAnswer;
  /** Calls that the client has to run, with the results of the others in the same message. */
  handedBack?: {
    /** All calls of the last message, in order. */
    calls: readonly ToolUseBlock[];
    open: readonly ToolUseBlock[];
    results: ReadonlyMap<string, ToolResultBlock>;
  };
  state?: JsonObject;
}

export interface SessionProgress {
  /** Empty for a plain model. */
  root: string;
  /** The running, broken or stopped turn. */
  turn: UnfinishedTurn | undefined;
  /** Ids of the last messages that were said into running turns and taken. */
  steered?: readonly string[] | undefined;
}

export interface UnfinishedTurn {
  /** It runs in this process. */
  running: boolean;
  /** A person stopped it. */
  stopped: boolean;
  /** Digest of its request's `Idempotency-Key`; compared with `idempotencyMark`. */
  idempotency: string | undefined;
}

export interface ReadOptions {
  /** Read what people were shown in about so many of the last writes. */
  records?: number;
}

/** What people were shown of a turn, in one write. */
export interface ShownRecord {
  /** The turn of the conversation that it is of, as people count (see `user-turns.ts`). */
  turn: number;
  /** As the engine gave it, redacted. */
  shown: unknown;
}

export interface TurnStart {
  /** What the model had before it. */
  before: readonly Message[];
  /** What the user said; undefined after the last turn. */
  said: Message | undefined;
}

export interface SessionContent {
  session: Session;
  messages: readonly Message[];
  /** With what compactions have replaced since. */
  readable: readonly Message[];
  open: readonly ToolUseBlock[];
  /** Results for the calls at its end, so that a copy can continue without them. */
  settled?: Message | undefined;
  /** Of the turns that the conversation has, the newest last; empty where it was not asked for. */
  records: readonly ShownRecord[];
}

export type SessionEvent =
  | { type: 'created'; session: string; principal: string; how: AttachKind }
  | { type: 'turn-began'; session: string; principal: string }
  | { type: 'turn-ended'; session: string; principal: string; end: 'complete' | 'parked' | 'broken' }
  /** A broken turn resumes no more, or with its own request alone: the conversation continued after it, or `by` stopped it. */
  | { type: 'turn-left'; session: string; principal: string; by?: string }
  /** These were said into the running turn, and are in its transcript. */
  | { type: 'steered'; session: string; principal: string; ids: readonly string[] }
  | { type: 'labelled'; session: string; principal: string }
  /** The client's results are overdue: caches for the session may be freed. */
  | { type: 'hibernated'; session: string; principal: string }
  | { type: 'ended'; session: string; principal: string; why: 'deleted' | 'expired' };
