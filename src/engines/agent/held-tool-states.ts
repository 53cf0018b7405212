/**
 * The tool sessions of the conversations that are awake in this process. One is opened on first
 * use, from what its conversation saved last, and kept for the next turn; what it would take along
 * (background jobs, private files) keeps it awake while its conversation sleeps.
 */
import type { JsonObject } from '../../core/conversation.js';
import { GatewayError, toGatewayError } from '../../core/errors.js';
import type { ModelRoute } from '../../routing/model-router.js';
import type { SessionEvent, Sessions, Turn } from '../../sessions/sessions.js';
import type { OpenToolState, ToolRuntime } from '../../tools/runtime/runtime.js';
import { readSnapshot } from '../../tools/runtime/tool-state-snapshot.js';
import { openWorkspace, type Workspace } from '../../workspace/workspace.js';
import { LIMITS } from './limits.js';
import { savedTools } from './turn-persistence.js';

interface HeldToolStatesOptions {
  runtime: Pick<ToolRuntime, 'openToolState'>;
  sessions: Pick<Sessions, 'subscribe'>;
  /** Awake at once, those of running turns not counted. */
  max?: number;
  /** One could not be closed cleanly. */
  onProblem(error: unknown): void;
}

interface HoldOptions {
  id: string;
  principal: string;
  /** `Turn.user`. */
  user: string | undefined;
  workspace: Workspace;
  /** What the conversation saved last. */
  restore: JsonObject | undefined;
  /** `Turn.before`. */
  before: number;
}

/** A tool session while a turn uses it. */
export interface HeldToolState {
  readonly toolState: OpenToolState;
  /** `steps`: `Turn.steps()` at the end of the turn. What comes second does nothing. */
  release(steps: number): void;
}

interface Awake {
  toolState: Promise<OpenToolState>;
  open: OpenToolState | undefined;
  /** Turns that use it: one, but for the moment in which one ends and the next begins. */
  holders: number;
  /** Steps of the conversation when it was used last. */
  steps: number | undefined;
  /** Its conversation is over. */
  ended: boolean;
}

export class HeldToolStates {
  readonly #options: HeldToolStatesOptions;
  /** The one that was unused longest first. */
  readonly #awake = new Map<string, Awake>();
  readonly #closing = new Set<Promise<void>>();
  readonly #unsubscribe: () => void;

  constructor(options: HeldToolStatesOptions) {
    this.#options = options;
    this.#unsubscribe = options.sessions.subscribe((event) => this.#onEvent(event));
  }

  get size(): number {
    return this.#awake.size;
  }

  /** From what the turn's session saved last. */
  holdFor(turn: Turn, workspace: Workspace): Promise<HeldToolState> {
    const { id, principal, user, before } = turn;
    return this.hold({ id, principal, user, workspace, restore: savedTools(turn), before });
  }

  async hold(options: HoldOptions): Promise<HeldToolState> {
    const { id, principal, user, workspace, restore, before } = options;
    const known = this.#awake.get(id);
    const awake: Awake = known ?? {
      toolState: this.#options.runtime.openToolState({
        id,
        principal,
        user,
        workspace,
        ...(restore === undefined ? {} : { restore }),
      }),
      open: undefined,
      holders: 0,
      steps: before,
      ended: false,
    };
    this.#awake.delete(id);
    this.#awake.set(id, awake);
    awake.holders += 1;
    try {
      awake.open = await awake.toolState;
    } catch (error) {
      awake.holders -= 1;
      if (this.#awake.get(id) === awake) this.#awake.delete(id);
      throw error;
    }
    // Another process has had the conversation meanwhile.
    if (awake.holders === 1 && awake.steps !== before && restore !== undefined) take(awake.open, restore);
    let held = true;
    return {
      toolState: awake.open,
      release: (steps) => {
        if (!held) return;
        held = false;
        awake.holders -= 1;
        awake.steps = steps;
        if (awake.ended && awake.holders === 0) this.#close(id, awake);
        else this.#evict();
      },
    };
  }

  /** Closes all of them. Turns must have ended. */
  async close(): Promise<void> {
    this.#unsubscribe();
    for (const [id, awake] of this.#awake) this.#close(id, awake);
    await Promise.all(this.#closing);
  }

  #onEvent(event: SessionEvent): void {
    if (event.type !== 'ended' && event.type !== 'hibernated') return;
    const awake = this.#awake.get(event.session);
    if (awake === undefined) return;
    if (event.type === 'ended') awake.ended = true;
    else if (wouldLose(awake)) return;
    if (awake.holders === 0) this.#close(event.session, awake);
  }

  #evict(): void {
    const max = this.#options.max ?? LIMITS.toolSessions;
    if (this.#awake.size <= max) return;
    const idle = [...this.#awake].filter(([, { holders }]) => holders === 0);
    let beyond = idle.length - max;
    // What cannot be had back goes only when nothing else is left.
    for (const mayLose of [false, true]) {
      for (const [id, awake] of idle) {
        if (beyond <= 0) return;
        if (this.#awake.get(id) !== awake || (!mayLose && wouldLose(awake))) continue;
        this.#close(id, awake);
        beyond -= 1;
      }
    }
  }

  #close(id: string, awake: Awake): void {
    if (this.#awake.get(id) === awake) this.#awake.delete(id);
    const closed = awake.toolState
      .then((session) => session.close())
      .catch((error: unknown) => this.#options.onProblem(error))
      .finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }
}

function wouldLose({ open }: Awake): boolean {
  if (open === undefined) return false;
  return open.jobs.list().length > 0 || (open.ownPaths?.() ?? []).length > 0;
}

function take(toolState: OpenToolState, restore: JsonObject): void {
  const { cwd, todos, files } = readSnapshot(restore);
  if (cwd !== undefined) toolState.cwd = cwd;
  toolState.todos.replace(todos);
  for (const [path] of [...toolState.files.entries()]) toolState.files.delete(path);
  for (const [path, record] of files) toolState.files.set(path, record);
}

/** `startDir`: the folder of a model whose entry names none. */
export function workspaceOf(
  { rule, pattern }: ModelRoute,
  { startDir, home }: { startDir: string; home: string },
): Workspace {
  try {
    return openWorkspace(rule.cwd ?? startDir, home);
  } catch (error) {
    const { message } = toGatewayError(error);
    // Not a 5xx, which SDKs send again: a retry cannot help before the folder exists.
    throw new GatewayError('invalid_request', `The model ${pattern} has no folder to work in: ${message}`, {
      param: 'model',
      cause: error,
    });
  }
}
