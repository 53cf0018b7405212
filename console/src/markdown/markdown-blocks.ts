/**
 * Markdown in pieces that can be drawn one by one. A text that streams only ever changes its last
 * piece, so finished ones are not looked at again; and what would take a parser long (a megabyte of
 * nested quotes, thousands of stars in a row) is found here, in one pass, and shown as plain text.
 */

export type Block =
  /** `start` is its place in the text, which no later piece of the text changes. */
  | { type: 'code'; start: number; length: number; language: string; text: string }
  | { type: 'markdown'; start: number; length: number; source: string }
  /** What is long comes in several; `origin` is where the first of them begins. */
  | { type: 'plain'; start: number; length: number; text: string; origin: number };

/** What one block may hold and still be parsed. Each is well below what takes a parser 100 ms. */
export const PARSE_LIMITS = {
  characters: 32_768,
  /** Quotes and lists inside of each other. */
  nesting: 16,
  indent: 64,
  /** Runs of `*`, `_` and `~` in one paragraph, item or cell. */
  emphasis: 400,
  run: 12,
  brackets: 1_000,
  /** Characters without a space. */
  word: 2_000,
  /** A longer list continues in a block of its own. */
  list: 8_192,
  definitions: 200,
  /** Of a piece of plain text. */
  piece: 6_000,
} as const;

const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})[ \t]*([^\n]*)$/;
const HEADING = /^ {0,3}#{1,6}(?:[ \t]|$)/;
const ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|(?:-[ \t]*){3,})$/;
const DEFINITION = /^ {0,3}\[([^\]\n]{1,200})\]:[ \t]*(\S{1,2000})/;

type Kind = 'none' | 'text' | 'list' | 'indented' | 'heading';

interface Cursor {
  text: string;
  at: number;
  start: number;
  kind: Kind;
  blank: boolean;
}

/** Splits a text that grows. Give it the whole text each time. */
export class BlockSplitter {
  #text = '';
  #blocks: Block[] = [];
  #definitions = new Map<string, { at: number; line: string }>();

  /** Blocks that did not change are the same objects as before. */
  split(text: string): readonly Block[] {
    if (text === this.#text) return this.#blocks;
    const grows = this.#text !== '' && text.startsWith(this.#text);
    const last = grows ? this.#blocks.at(-1) : undefined;
    const from = last === undefined ? 0 : last.type === 'plain' ? last.origin : last.start;
    const before = this.#blocks;
    const kept = before.findLastIndex(({ start }) => start < from) + 1;
    for (const [label, { at }] of this.#definitions) if (at >= from) this.#definitions.delete(label);
    this.#text = text;
    this.#blocks = before.slice(0, kept);
    for (const block of this.#scan(text, from)) {
      const known = before[this.#blocks.length];
      this.#blocks.push(known !== undefined && same(known, block) ? known : block);
    }
    return this.#blocks;
  }

  *#scan(text: string, from: number): Generator<Block> {
    const cursor: Cursor = { text, at: from, start: from, kind: 'none', blank: false };
    while (cursor.at < text.length) {
      const lineEnd = endOfLine(text, cursor.at);
      const line = text.slice(cursor.at, lineEnd);
      if (line.trim() === '') {
        cursor.blank = true;
        cursor.at = lineEnd + 1;
        continue;
      }
      const fence = cursor.kind === 'list' && indentOf(line) > 1 ? null : FENCE.exec(line);
      if (fence !== null) {
        yield* this.#finish(cursor);
        yield code(cursor, lineEnd, fence[1] ?? '', fence[2] ?? '');
        continue;
      }
      if (cursor.kind !== 'none' && beginsBlock(cursor, line)) yield* this.#finish(cursor);
      if (cursor.kind === 'none') cursor.kind = kindOf(line);
      this.#define(line, cursor.at);
      cursor.blank = false;
      cursor.at = lineEnd + 1;
    }
    yield* this.#finish(cursor);
  }

  *#finish(cursor: Cursor): Generator<Block> {
    const { text, start } = cursor;
    const end = Math.min(cursor.at, text.length);
    cursor.start = end;
    cursor.blank = false;
    if (cursor.kind === 'none') return;
    cursor.kind = 'none';
    const length = end - start;
    const source = text.slice(start, end).replace(/\s+$/, '');
    if (canBeParsed(source)) {
      yield { type: 'markdown', start, length, source: this.#withDefinitions(source) };
    } else yield* plainPieces(source, start, length);
  }

  #define(line: string, at: number): void {
    const found = DEFINITION.exec(line);
    if (found === null || this.#definitions.size >= PARSE_LIMITS.definitions) return;
    const label = (found[1] ?? '').toLowerCase();
    if (!this.#definitions.has(label)) this.#definitions.set(label, { at, line: line.trim() });
  }

  /** A link may be named in one block and defined in an earlier one. */
  #withDefinitions(source: string): string {
    if (this.#definitions.size === 0) return source;
    const used = new Set<string>();
    for (const [, label = ''] of source.matchAll(/\[([^\][\n]{1,200})\](?!:)/g)) {
      const definition = this.#definitions.get(label.toLowerCase());
      if (definition !== undefined) used.add(definition.line);
    }
    return used.size === 0 ? source : `${source}\n\n${[...used].join('\n')}`;
  }
}

/** Cuts after a line, else after a word, else anywhere. */
function* plainPieces(source: string, origin: number, length: number): Generator<Block> {
  let at = 0;
  while (at < source.length) {
    const end = source.length - at <= PARSE_LIMITS.piece ? source.length : cutBehind(source, at);
    const start = origin + at;
    const isLast = end === source.length;
    // The line feed at the cut is the border between two blocks.
    const text = isLast ? source.slice(at) : source.slice(at, end).replace(/\n$/, '');
    yield { type: 'plain', start, length: isLast ? length - at : end - at, text, origin };
    at = end;
  }
}

function cutBehind(source: string, from: number): number {
  const most = from + PARSE_LIMITS.piece;
  for (const separator of ['\n', ' ']) {
    const found = source.lastIndexOf(separator, most - 1);
    if (found > from + PARSE_LIMITS.piece / 2) return found + 1;
  }
  // Not between the halves of a character.
  return /[\ud800-\udbff]/.test(source.charAt(most - 1)) ? most - 1 : most;
}

function same(a: Block, b: Block): boolean {
  if (a.type !== b.type || a.start !== b.start || a.length !== b.length) return false;
  if (a.type === 'markdown') return b.type === 'markdown' && a.source === b.source;
  return b.type !== 'markdown' && a.text === b.text && (a.type !== 'code' || languageOf(a) === languageOf(b));
}

function languageOf(block: Block): string {
  return block.type === 'code' ? block.language : '';
}

function code(cursor: Cursor, lineEnd: number, fence: string, info: string): Block {
  const { text, start } = cursor;
  const begin = Math.min(lineEnd + 1, text.length);
  const closing = new RegExp(`^ {0,3}${fence}${fence.charAt(0)}*[ \\t]*$`, 'gm');
  closing.lastIndex = begin;
  const found = closing.exec(text);
  const end = found === null ? text.length : Math.min(found.index + found[0].length + 1, text.length);
  const inside = text.slice(begin, found?.index ?? text.length).replace(/\n$/, '');
  cursor.at = end;
  cursor.start = end;
  const [language = ''] = info.trim().split(/\s/, 1);
  return { type: 'code', start, length: end - start, language: language.slice(0, 40), text: inside };
}

function beginsBlock({ kind, blank, at, start }: Cursor, line: string): boolean {
  const indent = indentOf(line);
  if (kind === 'heading') return true;
  if (kind === 'list') {
    const item = ITEM.test(line) && !RULE.test(line);
    if (item && indent === 0) return at - start > PARSE_LIMITS.list;
    if (indent > 1) return false;
    return (blank && !item) || HEADING.test(line);
  }
  if (kind === 'indented') return indent < 4;
  return blank || HEADING.test(line);
}

function kindOf(line: string): Kind {
  if (HEADING.test(line)) return 'heading';
  if (ITEM.test(line) && !RULE.test(line)) return 'list';
  return indentOf(line) >= 4 ? 'indented' : 'text';
}

function indentOf(line: string): number {
  let columns = 0;
  for (const character of line) {
    if (character === ' ') columns += 1;
    else if (character === '\t') columns += 4 - (columns % 4);
    else break;
  }
  return columns;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

/** Where a new paragraph, item, quote line or row begins. */
const UNIT = /\n(?=[ \t]*(?:\n|[-*+|>]|\d{1,9}[.)]))/;

function canBeParsed(source: string): boolean {
  if (source.length > PARSE_LIMITS.characters) return false;
  if (new RegExp(`\\S{${PARSE_LIMITS.word + 1}}`).test(source)) return false;
  if (new RegExp(`([*_~])\\1{${PARSE_LIMITS.run}}(?!\\1*[ \\t]*$)`, 'm').test(source)) return false;
  if (source.split('\n').some(nestsTooDeep)) return false;
  return source
    .split(UNIT)
    .every(
      (unit) =>
        count(unit, /[*_~]+/g) <= PARSE_LIMITS.emphasis && count(unit, /[[\]]/g) <= PARSE_LIMITS.brackets,
    );
}

/** Quote and list markers at the beginning of a line, and how far it is indented. */
function nestsTooDeep(line: string): boolean {
  const markers = /^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t])))+/.exec(line)?.[0] ?? '';
  return indentOf(line) > PARSE_LIMITS.indent || count(markers, />|[-*+]|\d[.)]/g) > PARSE_LIMITS.nesting;
}

function count(text: string, pattern: RegExp): number {
  let found = 0;
  for (const _ of text.matchAll(pattern)) found += 1;
  return found;
}
