/**
 * Conversations with agents, whichever engine runs them. What a client sees of a conversation is
 * not what the model sees, so the rest is kept here, in the store: nothing about a conversation is
 * true because a process remembers it, and a turn that broke off, for whatever reason, is gone on
 * with from its last step.
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
import type { Loss } from '../core/losses.js';
import type { ListedSession, Session, SessionQuery } from '../store/sessions.js';
import type { Page } from '../store/store.js';

export interface Sessions {
  /**
   * Finds or makes the conversation that a request belongs to. A session id that was never given out
   * is ignored and noted. Throws GatewayError and changes nothing: `not_found` for a session id that
   * has expired or is another key's;
   * `unknown_tool_call` for a result without a call; `conflict` while another request of the session
   * is being answered, or where the session belongs to another engine or folder.
   */
  attach(request: AttachRequest): Promise<NotedAttachment>;
  /**
   * The client has the whole answer of that turn: the same request is another one from now on.
   * Never throws; what has to be written is written by and by.
   */
  delivered(session: string, key: string): void;
  /** For people; `principal` undefined sees all. Newest first. */
  list(query: SessionQuery): Promise<Page<ListedSession>>;
  get(id: string): Promise<Session | undefined>;
  /** The conversation as the model has it, and the calls that wait for the client. */
  read(id: string): Promise<SessionContent | undefined>;
  /** What of a session is known without reading its conversation; undefined for one of another kind. */
  standing(session: Session): SessionProgress | undefined;
  /** Sessions with a turn that runs in this process. */
  running(): string[];
  /**
   * A session of its own with the same conversation, up to its last finished turn, or only the first
   * `keep` turns of it (see `turns.ts`). Throws `invalid_request` where there are fewer.
   */
  fork(id: string, options?: { keep?: number }): Promise<Session | undefined>;
  /**
   * Ends the turn that runs here; what it has said and done stays. Resolves when it is over. One that
   * broke off is given up. False when there was none, or another process has it.
   */
  stop(id: string, by: string): Promise<boolean>;
  /** Ends a running turn as well. False when there was none. */
  delete(id: string, by: string): Promise<boolean>;
  /** Told of every change, after it is written; a listener that throws is logged. */
  subscribe(listener: (event: SessionEvent) => void): () => void;
  /** Stops timers and gives its sessions free for the next process. Turns must have been aborted. */
  close(): Promise<void>;
}

/** `relay`: a conversation of the console with a plain model. */
export type SessionEngineName = 'relay' | 'native' | 'claude-code';

export interface AttachRequest {
  principal: string;
  /** The end user behind the key; undefined where the request names none, who is a user as well. */
  user?: string | undefined;
  /** The key's holder: goes on with whichever end user's session it names, and as that user. */
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
  /** The session that the whole conversation was taken from: it is never looked for among those that are known. */
  parent?: string | undefined;
  /** One that was made for the request stays, also where the turn fails at once. */
  lasting?: boolean | undefined;
  /** The client says that it has sent the request before. */
  repeat?: boolean | undefined;
  /** Fires when who asks is gone; without it, nobody is known to wait for the answer. */
  signal?: AbortSignal | undefined;
  request: Partial<ConversationRequest> &
    Pick<ConversationRequest, 'messages' | 'tools' | 'system' | 'toolChoice' | 'parallelToolCalls'>;
}

/** How the request was attached, for `x-toolgate-attach`. */
export type AttachKind = 'new' | 'continue' | 'fork' | 'import';

export type Attachment =
  /** The caller ends it with `complete`, `abandon` or `discard`; what comes second does nothing. */
  | { kind: 'turn'; turn: Turn }
  /** The same request is being answered in this process: `key` names that turn. */
  | { kind: 'running'; session: string; how: AttachKind; key: string }
  /** Results are still missing; those that came are recorded. */
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
 * One request on its way to an answer, with the session's lease in hand. Every method that writes
 * rejects with `conflict` once the lease is lost or the session is gone: the turn must stop then.
 */
export interface Turn {
  readonly id: string;
  readonly principal: string;
  /** The end user whose session it is; undefined where requests name none. */
  readonly user: string | undefined;
  readonly root: string;
  readonly how: AttachKind;
  /** Of this request in this session; the same when it is repeated. */
  readonly key: string;
  /** Which fork of a conversation this is, counted from 0. */
  readonly forkNumber: number;
  /** The client's own tools and system prompt: the request's, or those of an earlier one. */
  readonly tools: readonly ToolDefinition[];
  readonly system: readonly TextBlock[];
  /**
   * What the model is to be told, the request's new messages included. Results of one message stand
   * in one user message behind it, in the order of the calls. The engine's to change, with `save`.
   */
  readonly transcript: Message[];
  /**
   * Messages of the transcript that stood there when the turn began. What the assistant says behind
   * them belongs to this answer: after a break some of it is there already, and is said again.
   */
  readonly began: number;
  /**
   * Whole messages of the assistant in this answer that were written before the break, also those
   * that notes have taken the place of since: what is to be said again. Empty on a fresh turn.
   */
  readonly spoken: readonly Message[];
  /**
   * Steps that were written when the turn before this one ended. Whoever keeps something alive
   * beside the transcript compares it with `steps()` of then: equal means nothing came in between.
   */
  readonly before: number;
  /** Where the turn broke off behind a message with calls: those that have no result in the transcript. */
  readonly outstanding: OutstandingToolCalls | undefined;
  /** What the engine saved last. */
  readonly state: JsonObject | undefined;
  /** Something of the request that could not be used. */
  readonly losses: readonly Loss[];
  /**
   * Fires when the session is deleted or the lease lost.
   */
  readonly signal: AbortSignal;
  /** Steps written so far. */
  steps(): number;
  /**
   * Writes what has changed since the last time, compared message by message by identity: after each
   * message of the model, before its calls run, and after their results, before the model is asked.
   */
  save(state?: JsonObject): Promise<void>;
  /** An id for a call that no other call of this session has or had. */
  claimId(id: string): string;
  /**
   * Before a call that changes something runs here. False: it was started before and has no result,
   * so it may have run; it must not be run again.
   */
  start(call: ToolUseBlock): Promise<boolean>;
  /** The result of a call that was started: there before anything acts on it. */
  finish(result: ToolResultBlock): Promise<void>;
  /** The turn came to its end; saves as well. Resolves before the client hears of the end. */
  complete(end: CompletedTurn): Promise<void>;
  /** It did not: the same request goes on from what was saved, any other from before it. */
  abandon(): Promise<void>;
  /** It failed before the client heard of the session: one that was made for it goes. */
  discard(): Promise<void>;
}

export interface OutstandingToolCalls {
  /** All calls of the last message. */
  calls: readonly ToolUseBlock[];
  /** Results that are recorded. */
  results: ReadonlyMap<string, ToolResultBlock>;
  /** Calls that were started here and have no result: they may have run. */
  started: ReadonlySet<string>;
}

export interface CompletedTurn {
  /** What the client was given in this turn, calls included. */
  answer: GivenAnswer;
  /** Calls that the client has to run, with the results of the others in the same message that are there. */
  handedBack?: {
    /** Of the last message, in order. */
    calls: readonly ToolUseBlock[];
    open: readonly ToolUseBlock[];
    results: ReadonlyMap<string, ToolResultBlock>;
  };
  state?: JsonObject;
}

export interface SessionProgress {
  /** Empty for a plain model. */
  root: string;
  /** The turn that began and has not come to its end, whether or not it runs. */
  turn: UnfinishedTurn | undefined;
}

export interface UnfinishedTurn {
  /** It runs in this process. */
  running: boolean;
  /** Somebody ended it on purpose. */
  stopped: boolean;
  /** Of the request that it is to answer; compared with `idempotencyMark`. */
  idempotency: string | undefined;
}

export interface SessionContent {
  session: Session;
  messages: readonly Message[];
  open: readonly ToolUseBlock[];
  /** What is known of the calls that it ends with, for one who takes it elsewhere without them. */
  settled?: Message | undefined;
}

export type SessionEvent =
  | { type: 'created'; session: string; principal: string; how: AttachKind }
  | { type: 'turn-began'; session: string; principal: string }
  | { type: 'turn-ended'; session: string; principal: string; end: 'complete' | 'parked' | 'broken' }
  /** It had broken off, and nobody goes on with its calls: `by` stopped it, or the conversation went on behind it. */
  | { type: 'turn-left'; session: string; principal: string; by?: string }
  /** Its client's results did not come in time: whoever keeps something alive for it lets go. */
  | { type: 'hibernated'; session: string; principal: string }
  | { type: 'ended'; session: string; principal: string; why: 'deleted' | 'expired' };
