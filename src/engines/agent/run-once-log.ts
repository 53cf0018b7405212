/**
 * The calls of a turn that must not run twice. Each is written down before it runs, and its result
 * when it ends, before anything acts on it: a resumed turn finds what was done.
 */
import type { ToolResultBlock, ToolUseBlock } from '../../core/conversation.js';
import { errorResult } from '../../sessions/history/repair-history.js';
import type { Turn } from '../../sessions/sessions.js';

const MAY_HAVE_RUN =
  'No result: the gateway stopped while this call was running, so it may have run, wholly or in part, or not at all. It was not run again. Find out what it has done before you go on.';

export function mayHaveRun(toolUseId: string): ToolResultBlock {
  return errorResult(toolUseId, MAY_HAVE_RUN);
}

export class RunOnceLog {
  readonly #turn: Pick<Turn, 'start' | 'finish'>;
  readonly #calls = new Map<string, ToolUseBlock>();
  readonly #begun = new Map<string, Promise<boolean>>();
  /** Calls that have begun and have no result. */
  readonly unfinished = new Set<string>();

  constructor(turn: Pick<Turn, 'start' | 'finish'>) {
    this.#turn = turn;
  }

  /** Calls of the turn, by whose id sub-agents name what they work for. */
  note(calls: readonly ToolUseBlock[]): void {
    for (const call of calls) this.#calls.set(call.id, call);
  }

  /** Before it runs. A text: it must not run, and the model gets this text. Rejects as the session does. */
  async begin(id: string): Promise<string | undefined> {
    const call = this.#calls.get(id);
    if (call === undefined) throw new Error(`The call ${id} is not one of this turn`);
    const begun = this.#begun.get(id) ?? this.#turn.start(call);
    this.#begun.set(id, begun);
    if (!(await begun)) return MAY_HAVE_RUN;
    this.unfinished.add(id);
    return undefined;
  }

  /** The result of a call that was begun; of any other, nothing is written. */
  async finish(result: ToolResultBlock): Promise<void> {
    const begun = this.#begun.get(result.toolUseId);
    if (begun === undefined || !(await begun)) return;
    await this.#turn.finish(result);
    this.unfinished.delete(result.toolUseId);
  }
}
