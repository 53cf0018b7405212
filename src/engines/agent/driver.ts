/**
 * A driver produces the steps of a turn: it asks the model, runs tool calls, and gives what the client
 * sees of them. Everything around the steps is the engine's (agent-engine.ts): it attaches the request
 * to its session, shares the live turn, reports its begin and its end, and completes or abandons it. A
 * driver saves a turn with its `persistence`, and never ends one.
 */
import type { AgentObserver } from '../../activity/activity.js';
import type { Block, StopReason, ToolResultBlock, ToolUseBlock, Usage } from '../../core/conversation.js';
import type { GatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import type { Loss } from '../../core/losses.js';
import type { ModelRoute } from '../../routing/model-router.js';
import type { Turn } from '../../sessions/sessions.js';
import type { Workspace } from '../../workspace/workspace.js';
import type { Answer, ModelRequest } from '../engine.js';
import type { ToolCallStream } from './tool-call-stream.js';
import type { TurnPersistence } from './turn-persistence.js';

/** `Folder`: where the turns of the driver work; one without a folder has the root ''. */
export interface AgentDriver<Folder extends Pick<Workspace, 'root'> = Workspace> {
  readonly name: 'native' | 'claude-code' | 'plain';
  /** Throws GatewayError where the model has no folder to work in. */
  workspaceOf(route: ModelRoute): Folder;
  /** Rejects before anything of the turn is under way. */
  open(turn: OpeningTurn<Folder>): Promise<DriverTurn>;
  /** Tokens of the request with what the driver adds to it. */
  countTokens(call: ModelRequest, route: ModelRoute): Promise<number>;
  /** Ends what outlives turns. They must have ended. */
  close(): Promise<void>;
}

/** A turn as the engine gives it to its driver. */
export interface OpeningTurn<Folder> {
  call: ModelRequest;
  route: ModelRoute;
  turn: Turn;
  workspace: Folder;
  persistence: TurnPersistence;
  /** Fires when no reader waits for the turn any more, or its session is lost. */
  signal: AbortSignal;
  /** Never throws. */
  observe: AgentObserver;
}

export interface DriverTurn {
  /** What the driver could not use of the request. */
  readonly losses: readonly Loss[];
  /** What the client has seen, tool calls apart. */
  readonly said: readonly Block[];
  /** Of all model requests of the turn; undefined where that is not known. */
  readonly usage: Usage | undefined;
  /** Tool calls of the client that it has seen before they were saved. */
  readonly shown: ToolCallStream;
  /**
   * Does what a broken turn has left undone and asks the model for the first step. Rejects while an
   * error can still be the status of the answer. Undefined where no model is asked.
   */
  begin(): Promise<AskedModel | undefined>;
  /** After `begin`. Yields what the client is to see; never throws for what a model or a tool does. */
  steps(): AsyncGenerator<readonly ModelEvent[], StepsEnd, void>;
  /** The turn is complete in its session: what serves the next turn may stay. */
  completed(): void;
  /** Ends what the turn has under way, however it ended. The second time it does nothing. */
  close(): Promise<void>;
}

/** Who answers the first model request, as far as the head of the answer says it. */
export type AskedModel = Pick<Answer, 'upstream' | 'losses'> & {
  promptTokens?: number | undefined;
} & Partial<Pick<Answer, 'headers' | 'settle'>>;

/** Ends at which the client has an answer. */
export type AnsweredEnd =
  | { kind: 'done'; reason: StopReason; stopSequence?: string }
  | HandedBack
  | { kind: 'max-steps'; steps: number };

/** The last message has calls that only the client can run; `results` are those of the others. */
export interface HandedBack {
  kind: 'handed-back';
  calls: readonly ToolUseBlock[];
  open: readonly ToolUseBlock[];
  results: ReadonlyMap<string, ToolResultBlock>;
}

export type StepsEnd =
  | AnsweredEnd
  | { kind: 'failed'; error: GatewayError }
  | { kind: 'aborted' }
  /** A person stopped the turn, and what was said so far is its answer. */
  | { kind: 'stopped' };
