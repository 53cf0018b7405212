/**
 * Conversations with the native agent: what the client sees of one is not what the model sees, so
 * somebody must keep the rest between two requests.
 */
import type {
  Block,
  Message,
  StopReason,
  TextBlock,
  ToolDefinition,
  ToolResultBlock,
  ToolUseBlock,
} from '../../../core/conversation.js';
import type { OpenToolSession } from '../../../tools/runtime/runtime.js';
import type { Workspace } from '../../../workspace/workspace.js';

export interface NativeSessions {
  /**
   * Finds or makes the conversation that a request belongs to. Throws GatewayError: `not_found` for
   * a session id that is unknown, `unknown_tool_call` for a result without a call (nothing is
   * changed then), `conflict` while another request of the session is being answered.
   */
  attach(request: AttachRequest): Promise<Attachment>;
  /** Ends every session's background jobs and removes its private files. */
  close(): Promise<void>;
}

export interface AttachRequest {
  principal: string;
  /** `X-Session-ID`. */
  id?: string | undefined;
  workspace: Workspace;
  messages: readonly Message[];
  tools: readonly ToolDefinition[];
  system: readonly TextBlock[];
  /** At most one call in an answer. */
  oneCall: boolean;
}

/** How the request was attached, for `x-toolgate-attach`. */
export type AttachKind = 'new' | 'continue' | 'fork' | 'import';

export type Attachment =
  /** The caller ends it with `complete`, `abandon` or `discard`; what comes second does nothing. */
  | { kind: 'turn'; how: AttachKind; session: NativeSession; transcript: Message[] }
  /** Results are still missing; those that came are recorded. */
  | { kind: 'waiting'; session: Pick<NativeSession, 'id'>; open: readonly ToolUseBlock[] }
  /** The same results were answered before. */
  | { kind: 'answered'; session: Pick<NativeSession, 'id'>; answer: GivenAnswer };

export interface GivenAnswer {
  blocks: readonly Block[];
  reason: StopReason;
}

export interface NativeSession {
  readonly id: string;
  /** The client's own tools and system prompt: the request's, or those of an earlier one. */
  readonly tools: readonly ToolDefinition[];
  readonly system: readonly TextBlock[];
  /** Which fork of a conversation this is, counted from 0. */
  readonly forkNumber: number;
  /** Opened on first use, closed with the session. */
  toolSession(): Promise<OpenToolSession>;
  /** An id for a call that is handed back: no other open call of this principal has it. */
  claimId(id: string): string;
  /** The turn came to its end. */
  complete(turn: CompletedTurn): void;
  /** It did not: the same request goes on from `transcript`, any other from before it. */
  abandon(transcript: readonly Message[]): void;
  /** It failed before the client heard of the session: one that was made for it goes. */
  discard(transcript: readonly Message[]): void;
}

export interface CompletedTurn {
  transcript: readonly Message[];
  /** Messages were dropped from the front of the transcript. */
  compacted: boolean;
  /** What the client was given, calls included. */
  answer: GivenAnswer;
  /** Calls that the client has to run, with the results of the others in the same message. */
  handedBack?: {
    /** Of the last message, in order. */
    calls: readonly ToolUseBlock[];
    open: readonly ToolUseBlock[];
    results: ReadonlyMap<string, ToolResultBlock>;
  };
}
