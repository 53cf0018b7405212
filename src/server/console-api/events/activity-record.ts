/**
 * What is kept of what people were shown of a turn: what each call did and why it was let through,
 * all that sub-agents do, and what came in between. The words of the main agent, and the arguments
 * and results of its calls, stand in the transcript alone, unless the turn ends before they are written.
 */
import type { TurnOutcome } from '../../../activity/activity.js';
import type { ActivityRecord, ActivityWire, RecordedChunk, TurnEndWire } from '../../../activity/wire.js';
import type { TurnSnapshot } from './turn-snapshot.js';

/** Of the main agent: worth a record. */
const TELLING: ReadonlySet<ActivityWire['type']> = new Set([
  'tool_start',
  'tool_waiting',
  'tool_result',
  'handed_back',
  'compacted',
  'max_turns',
]);

/** Recorded beside those, and not alone. */
const BESIDE: ReadonlySet<ActivityWire['type']> = new Set(['model_start', 'usage']);

/** Stop reasons that a page shows. */
const NOTED: ReadonlySet<string> = new Set(['max_tokens', 'refusal', 'model_context_window_exceeded']);

const ABORTED = 'aborted';

export class ActivityRecorder {
  readonly #live: TurnSnapshot;
  #outcome: TurnOutcome | undefined;
  #over = false;

  constructor(live: TurnSnapshot) {
    this.#live = live;
  }

  end(outcome: TurnOutcome): void {
    this.#outcome ??= outcome;
  }

  /** What is new since the last call, or all of a turn that does not come to its end; undefined for nothing. */
  take(outcome = this.#outcome): ActivityRecord | undefined {
    if (this.#over) return undefined;
    this.#over = outcome !== undefined && outcome === this.#outcome;
    const { turn, began_at, model } = this.#live.began;
    const base = { id: turn, began_at, model };
    const ended = outcome === undefined ? {} : { ended: endToWire(outcome) };
    const recent = this.#live.takeRecent();
    if (outcome !== undefined && outcome.end !== 'complete' && outcome.end !== 'parked')
      return { ...base, chunks: allOf(this.#live, outcome).map(recorded), whole: true, ...ended };
    const isTelling = recent.some(({ type, agent }) => agent !== null || TELLING.has(type));
    if (!isTelling && !NOTED.has(outcome?.stopReason ?? '')) return undefined;
    const chunks = recent.filter(
      ({ type, agent }) => agent !== null || TELLING.has(type) || BESIDE.has(type),
    );
    return { ...base, chunks: chunks.map(withoutContent).map(recorded), ...ended };
  }
}

export function endToWire({ end, stopReason, error }: TurnOutcome): TurnEndWire {
  return {
    end,
    stop_reason: stopReason ?? null,
    error: error === undefined ? null : { type: error.code, message: error.message },
  };
}

/** Calls that end because the gateway stops go on after its start: that is no end of theirs. */
function allOf(live: TurnSnapshot, { end }: TurnOutcome): ActivityWire[] {
  const { chunks } = live.toWire();
  if (end !== 'broken') return chunks;
  return chunks.filter((chunk) => chunk.type !== 'tool_result' || chunk.outcome !== ABORTED);
}

function withoutContent(chunk: ActivityWire): ActivityWire {
  return chunk.type === 'tool_result' && chunk.agent === null ? { ...chunk, content: [] } : chunk;
}

function recorded(chunk: ActivityWire): RecordedChunk {
  const { session: _, turn: __, ...rest } = chunk;
  return rest;
}
