/** Keeps a turn and the state of its tools in the session, step by step. */
import type { JsonObject } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import type { CompletedTurn, Turn } from '../../sessions/sessions.js';
import type { HeldToolState } from './held-tool-states.js';

const NO_PROBLEMS: ReadonlyMap<string, string> = new Map();

export class TurnPersistence {
  readonly #turn: Turn;
  readonly #onProblem: (error: unknown) => void;
  #tools: HeldToolState | undefined;
  /** Why calls of the last message must not run, by id. */
  #problems: ReadonlyMap<string, string>;
  #stored: string;
  #saved = false;
  #over = false;

  /** `onProblem`: the turn could not be given up. */
  constructor(turn: Turn, onProblem: (error: unknown) => void) {
    this.#turn = turn;
    this.#onProblem = onProblem;
    this.#stored = JSON.stringify(turn.state ?? {});
    this.#problems = new Map(Object.entries(textsOf(turn.state?.['problems'])));
  }

  /** Saved with the turn from now on, and released when it is over. */
  keepTools(tools: HeldToolState): void {
    this.#tools = tools;
  }

  get problems(): ReadonlyMap<string, string> {
    return this.#problems;
  }

  /** `problems`: why calls of the last message must not run. Rejects as the session does: the turn must stop then. */
  async save(problems = NO_PROBLEMS): Promise<void> {
    this.#problems = problems;
    await this.#save();
  }

  async complete(end: Omit<CompletedTurn, 'state'>): Promise<void> {
    this.#problems = NO_PROBLEMS;
    const state = this.#changed();
    await this.#turn.complete({ ...end, ...(state === undefined ? {} : { state }) });
    this.#over = true;
  }

  /** It did not come to its end. Does nothing where it did; never rejects. */
  async abandon(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    // What commands have moved and files were read is true, whatever became of the turn.
    if (this.#saved && !this.#turn.signal.aborted) await this.#save().catch(() => {});
    await this.#turn.abandon().catch(this.#onProblem);
  }

  /** It failed before the client saw anything of it. Never rejects. */
  async discard(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    await this.#turn.discard().catch(this.#onProblem);
  }

  release(): void {
    this.#tools?.release(this.#turn.steps());
  }

  async #save(): Promise<void> {
    this.#saved = true;
    const state = this.#changed();
    await (state === undefined ? this.#turn.save() : this.#turn.save(state));
  }

  #changed(): JsonObject | undefined {
    if (this.#tools === undefined) return undefined;
    const tools = this.#tools.toolState.snapshot();
    const problems = this.#problems.size === 0 ? undefined : Object.fromEntries(this.#problems);
    const state = {
      ...(tools === undefined ? {} : { tools }),
      ...(problems === undefined ? {} : { problems }),
    };
    const text = JSON.stringify(state);
    if (text === this.#stored) return undefined;
    this.#stored = text;
    return state;
  }
}

/**
 * The snapshot of the tools that was saved last. A fork begins with what its parent had at the end of
 * the answer where both part: the model knows of that much. An import begins with nothing.
 */
export function savedTools({ state }: Pick<Turn, 'state'>): JsonObject | undefined {
  const tools = state?.['tools'];
  return isObject(tools) ? tools : undefined;
}

function textsOf(values: unknown): Record<string, string> {
  const texts: Record<string, string> = {};
  if (!isObject(values)) return texts;
  for (const [key, value] of Object.entries(values)) if (typeof value === 'string') texts[key] = value;
  return texts;
}
