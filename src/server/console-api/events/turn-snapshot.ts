/**
 * A turn that runs, as it stands: what a reader from its beginning would know, in as few chunks as
 * say it, and never more than a bound.
 */
import type { AgentActivity } from '../../../activity/activity.js';
import { boundInput } from '../../../activity/encode.js';
import type { ActivityWire, BlockWire } from '../../../activity/wire.js';
import { headOf } from '../../../tools/runtime/clean-text.js';
import type { TurnSnapshotWire as LiveTurnWire, TurnSnapshotWire } from '../wire/events.js';
import type { EventLimits } from './limits.js';

type Began = Pick<LiveTurnWire, 'session' | 'turn' | 'began_at' | 'model' | 'message'>;
type Limits = Pick<EventLimits, 'inputChars' | 'progressChars' | 'turnChars'>;

interface Kept {
  chunk: ActivityWire;
  chars: number;
}

interface OpenText extends Kept {
  chunk: Extract<ActivityWire, { type: 'text' | 'thinking' }>;
}

/** What is kept about one call. */
interface CallChunks {
  use: Kept | undefined;
  delta: Kept | undefined;
  progress: Kept[];
}

/** Beside the texts in it. */
const CHUNK_CHARS = 150;
/** Where it has become too much, it is cut down to this part of the bound. */
const CUT_TO = 0.75;
/** Of results, arguments and changes that are cut for being old. */
const OLD_CHARS = 500;

export class TurnSnapshot {
  readonly id: string;
  readonly session: string;
  readonly principal: string;
  readonly began: Began;
  readonly #limits: Limits;
  readonly #kept = new Set<Kept>();
  /** Those of the kept that `takeRecent` has not given. */
  #recent = new Set<Kept>();
  /** The text or thinking that the next piece may belong to, by agent. */
  readonly #open = new Map<string, Kept>();
  readonly #calls = new Map<string, CallChunks>();
  #chars = 0;
  #truncated: boolean;

  constructor(principal: string, began: Began, limits: Limits, truncated = false) {
    this.#truncated = truncated;
    this.id = began.turn;
    this.session = began.session;
    this.principal = principal;
    this.began = began;
    this.#limits = limits;
  }

  add(chunk: ActivityWire): void {
    const agent = chunk.agent?.id ?? '';
    if (chunk.type === 'text' || chunk.type === 'thinking') this.#addText(agent, chunk);
    else {
      this.#open.delete(agent);
      this.#addOther(agent, chunk);
    }
    if (this.#chars > this.#limits.turnChars) this.#shrink();
  }

  /** Like `add`, for the next piece of a text that goes on. False where it is anything else. */
  extend(activity: AgentActivity): boolean {
    if (activity.type !== 'text' && activity.type !== 'thinking') return false;
    const open = this.#open.get(activity.agent?.id ?? '');
    if (open === undefined || !this.#goesOn(open, activity.type)) return false;
    this.#append(open, activity.text);
    if (this.#chars > this.#limits.turnChars) this.#shrink();
    return true;
  }

  toWire(): LiveTurnWire {
    const chunks = [...this.#kept].map(({ chunk }) => chunk);
    return { ...this.began, chunks, ...(this.#truncated ? { truncated: true } : {}) };
  }

  /** What is new since the last call and does not change any more. */
  takeRecent(): ActivityWire[] {
    const open = new Set(this.#open.values());
    const unfinished = new Set<Kept>();
    const taken: ActivityWire[] = [];
    for (const kept of this.#recent) {
      if (open.has(kept) || isBegun(kept.chunk)) unfinished.add(kept);
      else taken.push(kept.chunk);
    }
    this.#recent = unfinished;
    return taken;
  }

  #addText(agent: string, chunk: Extract<ActivityWire, { type: 'text' | 'thinking' }>): void {
    const open = this.#open.get(agent);
    if (open !== undefined && this.#goesOn(open, chunk.type)) this.#append(open, chunk.text);
    else this.#open.set(agent, this.#keep({ ...chunk }));
  }

  #goesOn(open: Kept, type: 'text' | 'thinking'): open is OpenText {
    return open.chunk.type === type && this.#kept.has(open);
  }

  #append(open: OpenText, text: string): void {
    open.chunk.text += text;
    this.#grow(open, text.length);
  }

  #addOther(agent: string, chunk: Exclude<ActivityWire, { type: 'text' | 'thinking' }>): void {
    switch (chunk.type) {
      case 'tool_use':
        if (!chunk.complete) this.#call(agent, chunk.tool_use_id).use = this.#keep(chunk);
        else this.#addWhole(agent, chunk);
        break;
      case 'tool_input_delta':
        this.#addInput(this.#call(agent, chunk.tool_use_id), chunk);
        break;
      case 'dropped':
        for (const id of chunk.tool_use_ids) this.#forget(agent, id);
        break;
      case 'tool_progress':
        this.#addProgress(this.#call(agent, chunk.tool_use_id), chunk);
        break;
      case 'tool_result': {
        const { progress } = this.#call(agent, chunk.tool_use_id);
        for (const each of progress.splice(0)) this.#remove(each);
        this.#keep(chunk);
        break;
      }
      default:
        this.#keep(chunk);
    }
  }

  /** It stands where the call began, and what it came from is not needed any more. */
  #addWhole(agent: string, chunk: Extract<ActivityWire, { type: 'tool_use'; complete: true }>): void {
    const { was = chunk.tool_use_id, ...whole } = chunk;
    const call = this.#call(agent, was);
    this.#calls.delete(nameOf(agent, was));
    this.#calls.set(nameOf(agent, chunk.tool_use_id), call);
    if (call.delta !== undefined) this.#remove(call.delta);
    call.delta = undefined;
    if (call.use === undefined || !this.#kept.has(call.use)) call.use = this.#keep(whole);
    else this.#replace(call.use, whole);
  }

  #addInput(call: CallChunks, chunk: Extract<ActivityWire, { type: 'tool_input_delta' }>): void {
    const { delta } = call;
    if (delta?.chunk.type !== 'tool_input_delta' || !this.#kept.has(delta)) {
      call.delta = this.#keep({ ...chunk });
      return;
    }
    // The rest comes with the whole call.
    const room = this.#limits.inputChars - delta.chunk.delta.length;
    const more = headOf(chunk.delta, Math.max(0, room));
    delta.chunk.delta += more;
    this.#grow(delta, more.length);
  }

  #addProgress({ progress }: CallChunks, chunk: ActivityWire): void {
    progress.push(this.#keep(chunk));
    let chars = progress.reduce((sum, each) => sum + each.chars, 0);
    while (chars > this.#limits.progressChars && progress.length > 1) {
      const oldest = progress.shift();
      if (oldest === undefined) return;
      chars -= oldest.chars;
      this.#remove(oldest);
    }
  }

  #call(agent: string, id: string): CallChunks {
    const name = nameOf(agent, id);
    const known = this.#calls.get(name);
    if (known !== undefined) return known;
    const call: CallChunks = { use: undefined, delta: undefined, progress: [] };
    this.#calls.set(name, call);
    return call;
  }

  #forget(agent: string, id: string): void {
    const { use, delta } = this.#call(agent, id);
    if (use !== undefined) this.#remove(use);
    if (delta !== undefined) this.#remove(delta);
    this.#calls.delete(nameOf(agent, id));
  }

  #keep(chunk: ActivityWire): Kept {
    const kept = { chunk, chars: charsOf(chunk) };
    this.#kept.add(kept);
    this.#recent.add(kept);
    this.#chars += kept.chars;
    return kept;
  }

  #replace(kept: Kept, chunk: ActivityWire): void {
    kept.chunk = chunk;
    this.#grow(kept, charsOf(chunk) - kept.chars);
  }

  #grow(kept: Kept, by: number): void {
    kept.chars += by;
    this.#chars += by;
  }

  #remove(kept: Kept): void {
    this.#recent.delete(kept);
    if (this.#kept.delete(kept)) this.#chars -= kept.chars;
  }

  /** What is old gives way: first what was long in it, then all of it. */
  #shrink(): void {
    const enough = this.#limits.turnChars * CUT_TO;
    for (const kept of this.#kept) {
      if (this.#chars <= enough) return;
      const shorter = shortened(kept.chunk);
      if (shorter !== undefined) this.#replace(kept, shorter);
    }
    for (const kept of this.#kept) {
      if (this.#chars <= enough) return;
      this.#truncated = true;
      this.#remove(kept);
    }
  }
}

/** A call whose arguments still come, and what it prints while it runs. */
function isBegun(chunk: ActivityWire): boolean {
  return (
    (chunk.type === 'tool_use' && !chunk.complete) ||
    chunk.type === 'tool_input_delta' ||
    chunk.type === 'tool_progress'
  );
}

function nameOf(agent: string, id: string): string {
  return `${agent}\n${id}`;
}

/** Undefined where nothing in it is long. */
export function shortened(chunk: ActivityWire): ActivityWire | undefined {
  if (charsOf(chunk) <= OLD_CHARS + CHUNK_CHARS) return undefined;
  switch (chunk.type) {
    case 'tool_result': {
      const content = chunk.content.map((block) =>
        block.type === 'text' ? { ...block, text: headOf(block.text, OLD_CHARS) } : block,
      );
      const { shown: _, ...rest } = chunk;
      return { ...rest, content, truncated: true };
    }
    case 'tool_start': {
      const command = chunk.command === null ? null : headOf(chunk.command, OLD_CHARS);
      return { ...chunk, command, diff: null };
    }
    case 'tool_use': {
      if (!chunk.complete || typeof chunk.input !== 'object' || chunk.input === null) return undefined;
      return { ...chunk, input: boundInput({ ...chunk.input }, OLD_CHARS).input, truncated: true };
    }
    default:
      return undefined;
  }
}

function charsOf(chunk: ActivityWire): number {
  switch (chunk.type) {
    case 'text':
    case 'thinking':
    case 'tool_progress':
      return CHUNK_CHARS + chunk.text.length;
    case 'tool_input_delta':
      return CHUNK_CHARS + chunk.delta.length;
    case 'tool_use':
      return CHUNK_CHARS + (chunk.complete ? JSON.stringify(chunk.input).length : 0);
    case 'tool_start':
      return CHUNK_CHARS + (chunk.command?.length ?? 0) + (chunk.diff?.length ?? 0);
    case 'tool_result':
      return CHUNK_CHARS + JSON.stringify(chunk.content).length + (chunk.shown?.length ?? 0);
    default:
      return CHUNK_CHARS;
  }
}

/** A character takes no more than this as JSON: `\u0000`. */
const WIDEST = 6;
/** Of what a turn may take, at most this part is what was said to begin it. */
const MESSAGE_PART = 0.25;
/** Characters differ in what they take: a text is cut to a little less than its part each time. */
const CLOSER = 0.95;

/**
 * The turns of a snapshot, within a bound: those with the most give way, and of them what is old.
 * `most`: bytes as JSON. What is given is left as it is.
 */
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
