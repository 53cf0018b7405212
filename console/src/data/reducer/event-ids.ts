/**
 * Ids of events are `EPOCH.SEQ`. Each gateway process has its own epoch, and numbers of different
 * epochs cannot be compared. A filtered stream still names the predecessor of each event.
 */

interface EventId {
  epoch: string;
  seq: number;
}

function parseEventId(id: string): EventId | undefined {
  const dot = id.lastIndexOf('.');
  const seq = Number(id.slice(dot + 1));
  return dot > 0 && Number.isSafeInteger(seq) && seq >= 0 ? { epoch: id.slice(0, dot), seq } : undefined;
}

/**
 * The position of an event relative to `last`, the last known one. `next`: it follows directly.
 * `repeat`: it is known already. `gap`: events before it are missing. `foreign`: it has the epoch of
 * another gateway process, or no valid id.
 */
type EventPosition = 'next' | 'repeat' | 'gap' | 'foreign';

export function eventPosition(
  last: string | null,
  { id, prev }: { id: string; prev: string | null },
): EventPosition {
  if (last === null) return 'gap';
  const [known, own] = [parseEventId(last), parseEventId(id)];
  if (known === undefined || own === undefined || known.epoch !== own.epoch) return 'foreign';
  if (own.seq <= known.seq) return 'repeat';
  if (prev === null) return 'gap';
  const before = parseEventId(prev);
  if (before === undefined || before.epoch !== known.epoch) return 'foreign';
  // A snapshot may be of a later moment than the last event of the stream: nothing was between them.
  return before.seq <= known.seq ? 'next' : 'gap';
}

/** Whether a snapshot of the same epoch is not newer than `last`. */
export function isKnown(id: string, last: string | null): boolean {
  if (last === null) return false;
  const [known, own] = [parseEventId(last), parseEventId(id)];
  return known !== undefined && own !== undefined && known.epoch === own.epoch && own.seq <= known.seq;
}
