/** Puts together what is kept of what people were shown of each turn of a conversation. */
import type { ActivityRecord, RecordedChunk } from '../../activity/wire.js';
import { isObject } from '../../core/is-object.js';
import type { ShownRecord } from '../../sessions/sessions.js';
import type { RecordedTurnWire } from './wire/sessions.js';

/** Characters of an answer: older turns are left out, and show what the transcript says. */
const MOST_CHARS = 4 * 1024 * 1024;

/** `turns`: only these. */
export function recordsToWire(
  records: readonly ShownRecord[],
  turns: ReadonlySet<number>,
  mostChars = MOST_CHARS,
): RecordedTurnWire[] {
  const byTurn = new Map<number, ActivityRecord[]>();
  for (const { turn, shown } of records) {
    if (!turns.has(turn) || !isRecord(shown)) continue;
    const known = byTurn.get(turn) ?? [];
    const others = shown.whole === true ? known.filter(({ id }) => id !== shown.id) : known;
    others.push(shown);
    byTurn.set(turn, others);
  }
  let room = mostChars;
  const newest = [...byTurn].reverse().flatMap(([turn, pieces]) => {
    const recorded = joined(turn, pieces);
    room -= JSON.stringify(recorded).length;
    return room < 0 ? [] : [recorded];
  });
  return newest.reverse();
}

/** A turn that broke off and was resumed has pieces of several requests, one after the other. */
function joined(turn: number, pieces: readonly ActivityRecord[]): RecordedTurnWire {
  const [first] = pieces;
  if (first === undefined) throw new Error('A turn was recorded without a record.');
  const { id, began_at, model } = first;
  const over = new Map<string, string>();
  const chunks = pieces.flatMap((piece) => {
    const own = piece.chunks.filter((chunk) => !isKnown(chunk, over, piece.id));
    for (const chunk of own)
      if (chunk.type === 'tool_result' && chunk.outcome !== 'aborted') over.set(callOf(chunk), piece.id);
    return own;
  });
  return { turn, id, began_at, model, chunks, ended: pieces.at(-1)?.ended ?? null };
}

/** A resumed turn is shown from its beginning: what an earlier request did stands as it was then. */
function isKnown(chunk: RecordedChunk, over: ReadonlyMap<string, string>, id: string): boolean {
  const by = over.get(callOf(chunk));
  return by !== undefined && by !== id;
}

function callOf(chunk: RecordedChunk): string {
  return 'tool_use_id' in chunk ? `${chunk.agent?.id ?? ''}\n${chunk.tool_use_id}` : '';
}

// Only this program writes it: a check of its kind is enough.
function isRecord(value: unknown): value is ActivityRecord {
  return isObject(value) && typeof value['id'] === 'string' && Array.isArray(value['chunks']);
}
