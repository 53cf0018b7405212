/** The turns of a snapshot, within a bound: those with the most give way, and of them what is old. */
import type { ActivityWire, BlockWire } from '../../../activity/wire.js';
import { headOf } from '../../../tools/runtime/clean-text.js';
import type { TurnSnapshotWire } from '../wire/events.js';
import { shortened } from './turn-snapshot.js';

/** A character takes no more than this as JSON: `\u0000`. */
const WIDEST = 6;
/** Of what a turn may take, at most this part is what was said to begin it. */
const MESSAGE_PART = 0.25;
/** Characters differ in what they take: a text is cut to a little less than its part each time. */
const CLOSER = 0.95;

/** `most`: bytes as JSON. What is given is left as it is. */
export function boundTurns(turns: readonly TurnSnapshotWire[], most: number): TurnSnapshotWire[] {
  const sizes = turns.map(bytesOf);
  const share = fairShare(sizes, most);
  return turns.map((turn, index) => ((sizes[index] ?? 0) <= share ? turn : newestOf(turn, share)));
}

/** What each may take, so that those who need less leave the rest to the others. */
function fairShare(sizes: readonly number[], most: number): number {
  let left = most;
  let sharing = sizes.length;
  for (const size of [...sizes].sort((a, b) => a - b)) {
    const share = Math.floor(left / sharing);
    if (size > share) return share;
    left -= size;
    sharing -= 1;
  }
  return most;
}

function newestOf(turn: TurnSnapshotWire, most: number): TurnSnapshotWire {
  const message = boundMessage(turn.message, Math.floor(most * MESSAGE_PART));
  const bare: TurnSnapshotWire = { ...turn, message, chunks: [], truncated: true };
  let room = most - bytesOf(bare);
  const newest: ActivityWire[] = [];
  for (const chunk of turn.chunks.toReversed()) {
    const whole = [chunk, shortened(chunk)].find((each) => each !== undefined && bytesOf(each) < room);
    // A transcript has every text whole but the one that is being written, and knows them by how they begin.
    const end = whole === undefined && newest.length === 0 ? endOf(chunk, room) : undefined;
    const fitting = whole ?? end;
    if (fitting !== undefined) newest.push(fitting);
    if (whole === undefined) break;
    room -= bytesOf(whole) + 1;
  }
  return { ...bare, chunks: newest.reverse() };
}

function boundMessage(message: BlockWire[], most: number): BlockWire[] {
  if (bytesOf(message) <= most) return message;
  const chars = Math.floor(most / WIDEST / 2 / message.length);
  const shorter = message.map((block) =>
    block.type === 'text' && block.text.length > chars
      ? { ...block, text: `${headOf(block.text, chars)} […]` }
      : block,
  );
  const texts = shorter.filter(({ type }) => type === 'text');
  return [shorter, texts].find((each) => bytesOf(each) <= most) ?? [];
}

/** Undefined where it is no text, or nothing of it fits. */
function endOf(chunk: ActivityWire, room: number): ActivityWire | undefined {
  if (chunk.type !== 'text' && chunk.type !== 'thinking') return undefined;
  for (let chars = room; chars > 0; ) {
    // Not from within a pair of surrogates.
    const end = { ...chunk, text: chunk.text.slice(-chars).replace(/^[\udc00-\udfff]/, '') };
    const bytes = bytesOf(end);
    if (bytes < room) return end;
    chars = Math.floor(((chars * room) / bytes) * CLOSER);
  }
  return undefined;
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
