/**
 * What the list draws, one row after another. Rows of parts that did not change are the same objects
 * as before, so a piece of text that arrives draws one row anew.
 */
import { groupReads } from '../cards/parse/reads.js';
import type {
  MediaPart,
  NotePart,
  Part,
  TextPart,
  ThinkingPart,
  ToolCard,
  ToolPart,
  UserPart,
} from '../data/reducer/view.js';
import { type Block, BlockSplitter } from '../markdown/markdown-blocks.js';

export type Row =
  | { kind: 'user'; key: string; part: UserPart }
  /** A long answer is several rows. */
  | { kind: 'text'; key: string; blocks: readonly Block[]; streaming: boolean }
  | { kind: 'thinking'; key: string; part: ThinkingPart }
  | { kind: 'media'; key: string; part: MediaPart }
  | { kind: 'tool'; key: string; part: ToolPart }
  | ReadsRow
  /** `last`: nothing was said or done since. */
  | { kind: 'note'; key: string; part: NotePart; last: boolean }
  /** After a turn that has ended. `answer` is its text. */
  | ActionsRow;

/** Several calls in a row that only looked at something. */
interface ReadsRow {
  kind: 'reads';
  key: string;
  cards: readonly ToolCard[];
}

export interface ActionsRow {
  kind: 'actions';
  key: string;
  turn: number | undefined;
  answer: readonly TextPart[];
}

/** A row holds whole blocks of markdown and, where there are more, not much more than this. */
const ROW_CHARACTERS = 6_000;

interface PartRows {
  part: Part;
  rows: Row[];
  /** In which drawing it came. */
  since: number;
}

/** Makes the rows of one conversation. Give it all parts each time. */
export class RowMaker {
  #known: PartRows[] = [];
  #splitters = new Map<string, BlockSplitter>();
  #actions = new Map<string, ActionsRow>();
  #reads = new Map<string, ReadsRow>();
  #drawing = 0;
  #last: { parts: readonly Part[]; running: boolean; rows: readonly Row[] } | undefined;

  rows(parts: readonly Part[], running: boolean): readonly Row[] {
    if (this.#last?.parts === parts && this.#last.running === running) return this.#last.rows;
    const known = finder(this.#known);
    const drawing = ++this.#drawing;
    this.#known = parts.map((part, index) => {
      const before = known(part.key, index);
      if (before?.part === part) return before;
      return { part, rows: this.#rowsOf(part, before?.rows ?? []), since: before?.since ?? drawing };
    });
    this.#forget();
    const rows = this.#withActions(running);
    this.#last = { parts, running, rows };
    return rows;
  }

  #rowsOf(part: Part, before: readonly Row[]): Row[] {
    switch (part.kind) {
      case 'user':
        return [{ kind: 'user', key: part.key, part }];
      case 'thinking':
        return [{ kind: 'thinking', key: part.key, part }];
      case 'media':
        return [{ kind: 'media', key: part.key, part }];
      case 'tool':
        return [{ kind: 'tool', key: part.key, part }];
      case 'note':
        return [{ kind: 'note', key: part.key, part, last: false }];
      case 'text':
        return this.#textRows(part, before);
    }
  }

  #textRows(part: TextPart, before: readonly Row[]): Row[] {
    const splitter = this.#splitters.get(part.key) ?? new BlockSplitter();
    if (part.streaming) this.#splitters.set(part.key, splitter);
    const groups = groupsOf(splitter.split(part.text));
    return groups.map((blocks, index) => {
      const key = index === 0 ? part.key : `${part.key}/${blocks[0]?.start}`;
      const streaming = part.streaming && index === groups.length - 1;
      const known = before[index];
      return known?.kind === 'text' &&
        known.key === key &&
        known.streaming === streaming &&
        sameItems(known.blocks, blocks)
        ? known
        : { kind: 'text', key, blocks, streaming };
    });
  }

  #withActions(running: boolean): Row[] {
    const rows: Row[] = [];
    let answer: TextPart[] = [];
    let begun: UserPart | undefined;
    const end = (): void => {
      if (begun !== undefined && answer.length > 0) rows.push(this.#actionsRow(begun, answer));
      answer = [];
    };
    const newest = this.#known.at(-1);
    for (const group of groupReads(this.#known, ({ part }) => part)) {
      const [lead] = group;
      if (lead === undefined) continue;
      if (group.length > 1) {
        rows.push(this.#readsRow(group));
        continue;
      }
      const { part, rows: own } = lead;
      if (part.kind === 'user') {
        end();
        begun = part;
      } else if (part.kind === 'text' && part.text.trim() !== '') answer.push(part);
      const [first] = own;
      const last = lead === newest;
      if (first?.kind === 'note' && first.last !== last) own[0] = { ...first, last };
      for (const row of own) rows.push(row);
    }
    if (!running) end();
    return rows;
  }

  /**
   * Its key is that of the card that was there first: also when earlier ones are loaded in front, the
   * list finds the row that it knows.
   */
  #readsRow(run: readonly PartRows[]): Row {
    const first = run.reduce((a, b) => (b.since < a.since ? b : a));
    const { key } = first.part;
    const cards = run.flatMap(({ part }) => (part.kind === 'tool' ? [part.card] : []));
    const known = this.#reads.get(key);
    if (known !== undefined && sameItems(known.cards, cards)) return known;
    const made: ReadsRow = { kind: 'reads', key, cards };
    this.#reads.set(key, made);
    return made;
  }

  #actionsRow({ key: begun, turn }: UserPart, answer: readonly TextPart[]): Row {
    const key = `${begun}/actions`;
    const known = this.#actions.get(key);
    if (known !== undefined && known.turn === turn && sameItems(known.answer, answer)) return known;
    const made: ActionsRow = { kind: 'actions', key, turn, answer };
    this.#actions.set(key, made);
    return made;
  }

  #forget(): void {
    if (this.#splitters.size === 0) return;
    const streaming = new Set(
      this.#known.flatMap(({ part }) => (part.kind === 'text' && part.streaming ? [part.key] : [])),
    );
    for (const key of this.#splitters.keys()) if (!streaming.has(key)) this.#splitters.delete(key);
  }
}

/** Mostly nothing but the end has changed, and the place is enough to find a part again. */
function finder(known: readonly PartRows[]): (key: string, index: number) => PartRows | undefined {
  let byKey: Map<string, PartRows> | undefined;
  return (key, index) => {
    const there = known[index];
    if (there?.part.key === key) return there;
    byKey ??= new Map(known.map((each) => [each.part.key, each]));
    return byKey.get(key);
  };
}

/** Neighbouring blocks, so many that a row is neither tiny nor a page long. */
function groupsOf(blocks: readonly Block[]): Block[][] {
  const groups: Block[][] = [];
  let size = 0;
  for (const block of blocks) {
    const last = groups.at(-1);
    if (last !== undefined && size + block.length <= ROW_CHARACTERS) {
      last.push(block);
      size += block.length;
    } else {
      groups.push([block]);
      size = block.length;
    }
  }
  return groups;
}

function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
