/** Keeps a turn and what goes with it in the session, step by step. */
import type { JsonObject } from '../../core/conversation.js';
import type { CompletedTurn, Turn } from '../../sessions/sessions.js';
import type { HeldToolState } from './held-tool-states.js';
import { decodeTurnState, encodeTurnState } from './turn-state.js';

export interface TurnPersistenceOptions {
  turn: Turn;
  tools: HeldToolState;
  onProblem(error: unknown): void;
}

export class TurnPersistence {
  readonly #options: TurnPersistenceOptions;
  /** Why calls of the last message must not run, by id. */
  readonly #problems = new Map<string, string>();
  #stored: string;
  #saved = false;
  #over = false;

  constructor(options: TurnPersistenceOptions) {
    this.#options = options;
    this.#stored = JSON.stringify(options.turn.state ?? {});
    for (const [id, problem] of Object.entries(decodeTurnState(options.turn).problems ?? {})) {
      this.#problems.set(id, problem);
    }
  }

  get problems(): ReadonlyMap<string, string> {
    return this.#problems;
  }

  /** Of the message that is saved next. */
  setProblems(problems: ReadonlyMap<string, string>): void {
    this.#problems.clear();
    for (const [id, problem] of problems) this.#problems.set(id, problem);
  }

  /** Rejects as the session does: the turn must stop then. */
  async save(): Promise<void> {
    this.#saved = true;
    const state = this.#changed();
    if (state === undefined) await this.#options.turn.save();
    else await this.#options.turn.save(state);
  }

  async complete(end: Omit<CompletedTurn, 'state'>): Promise<void> {
    this.#problems.clear();
    const state = this.#changed();
    await this.#options.turn.complete({ ...end, ...(state === undefined ? {} : { state }) });
    this.#over = true;
  }

  /** It did not come to its end. Does nothing where it did; never rejects. */
  async abandon(): Promise<void> {
    const { turn, onProblem } = this.#options;
    if (this.#over) return;
    this.#over = true;
    // What commands have moved and files were read is true, whatever became of the turn.
    if (this.#saved && !turn.signal.aborted) await this.save().catch(() => {});
    await turn.abandon().catch(onProblem);
  }

  /** It failed before the client heard of it. */
  async discard(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    await this.#options.turn.discard().catch(this.#options.onProblem);
  }

  release(): void {
    const { tools, turn } = this.#options;
    tools.release(turn.steps());
  }

  #changed(): JsonObject | undefined {
    const state = encodeTurnState({
      tools: this.#options.tools.session.snapshot(),
      problems: this.#problems.size === 0 ? undefined : Object.fromEntries(this.#problems),
    });
    const text = JSON.stringify(state);
    if (text === this.#stored) return undefined;
    this.#stored = text;
    return state;
  }
}
