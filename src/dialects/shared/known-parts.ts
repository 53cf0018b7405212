/**
 * Bodies of model requests, parsed part by part. The elements of a dialect's lists (messages, tools,
 * system blocks) that the same key sent before are the objects that were parsed then, and so decode
 * and encode to what they did then (`core/shared-values.ts`): only what is new costs anything.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import type { JsonObject } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { isDeeper } from '../../core/json-text.js';
import { PartShelf } from './part-shelf.js';
import { endOfNested, endOfString } from './scan-json.js';

/** A smaller body is parsed faster than it is looked up. */
const LEAST_BYTES = 4 * 1024;
/** Of memory, for the parts of all keys together. */
const BUDGET = 128 * 1024 * 1024;
/** What goes at once when the budget is spent. */
const GIVES_WAY = 1 / 16;

/** No conversation has more elements, and none has such small ones: each costs more than its parsing. */
const MAX_PARTS = 4_096;
const LEAST_MEAN_BYTES = 64;
const COUNTED_FROM = 64;

/** Levels of a body above the elements of its lists. */
const LEVELS_ABOVE = 2;

export class KnownParts {
  readonly #shelves = new Map<string, PartShelf>();
  readonly #maxDepth: number;
  readonly #budget: number;
  readonly #leastBytes: number;
  #cost = 0;

  /** `maxDepth`: how deep a body may nest. */
  constructor(maxDepth: number, { budget = BUDGET, leastBytes = LEAST_BYTES } = {}) {
    this.#maxDepth = maxDepth;
    this.#budget = budget;
    this.#leastBytes = leastBytes;
  }

  /** What the parts of all keys cost, in bytes of memory. */
  get cost(): number {
    return this.#cost;
  }

  /**
   * The value of a JSON object; undefined for anything that is none or is unusual, which the caller
   * parses whole, with its errors. `lists` are the fields whose elements are parts.
   */
  parse(owner: string, lists: ReadonlySet<string>, bytes: Buffer): JsonObject | undefined {
    if (bytes.length < this.#leastBytes || !isUtf8(bytes)) return undefined;
    const shelf = this.#shelfOf(owner);
    this.#cost -= shelf.cost;
    const body = new BodyReader(bytes, lists, shelf, this.#maxDepth).read();
    this.#cost += shelf.cost;
    if (this.#cost > this.#budget) this.#giveWay();
    return body;
  }

  #shelfOf(owner: string): PartShelf {
    const known = this.#shelves.get(owner);
    if (known !== undefined) return known;
    const shelf = new PartShelf(this.#maxDepth - LEVELS_ABOVE);
    this.#shelves.set(owner, shelf);
    return shelf;
  }

  /** Every key down to one level, so that nobody's many bodies push out another's few. */
  #giveWay(): void {
    const target = this.#budget * (1 - GIVES_WAY);
    let left = target;
    const shelves = [...this.#shelves].sort(([, one], [, other]) => one.cost - other.cost);
    for (const [index, [owner, shelf]] of shelves.entries()) {
      shelf.shrinkTo(left / (shelves.length - index));
      left -= shelf.cost;
      if (shelf.cost === 0) this.#shelves.delete(owner);
    }
    this.#cost = target - left;
  }
}

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * One body: the parts are taken out and numbered, and what is left is parsed as one small text. A
 * body that is not read to its end in the expected way is left to the parser, errors and all.
 */
class BodyReader {
  readonly #bytes: Buffer;
  readonly #lists: ReadonlySet<string>;
  readonly #shelf: PartShelf;
  readonly #maxDepth: number;
  readonly #encoding: 'latin1' | 'utf8';
  /** Of the parts, in their order: a part may be forgotten before the end of the body. */
  readonly #values: JsonObject[] = [];
  readonly #fields = new Set<string>();
  #at = 0;
  /** What is left of the body without its parts, up to `#copied`. */
  #rest = '';
  #copied = 0;

  constructor(bytes: Buffer, lists: ReadonlySet<string>, shelf: PartShelf, maxDepth: number) {
    this.#bytes = bytes;
    this.#lists = lists;
    this.#shelf = shelf;
    this.#maxDepth = maxDepth;
    this.#encoding = isAscii(bytes) ? 'latin1' : 'utf8';
  }

  read(): JsonObject | undefined {
    this.#shelf.beginBody();
    if (!this.#takes(OPEN_OBJECT)) return undefined;
    do {
      if (!this.#field()) return undefined;
    } while (this.#takes(COMMA));
    if (!this.#takes(CLOSE_OBJECT) || this.#values.length === 0) return undefined;
    this.#copy(this.#bytes.length);
    return this.#put();
  }

  /** The small text, parsed, with the parts in the places of their numbers. */
  #put(): JsonObject | undefined {
    let body: unknown;
    try {
      body = JSON.parse(this.#rest);
    } catch {
      return undefined;
    }
    if (!isObject(body) || isDeeper(body, this.#maxDepth)) return undefined;
    let next = 0;
    for (const field of this.#fields) {
      const list = body[field];
      if (!Array.isArray(list)) return undefined;
      body[field] = list.map(() => this.#values[next++]);
    }
    return body;
  }

  #field(): boolean {
    if (!this.#takes(QUOTE)) return false;
    const from = this.#at;
    const end = endOfString(this.#bytes, from);
    if (end < 0) return false;
    const name = this.#bytes.toString('latin1', from, end - 1);
    this.#at = end;
    // Written otherwise it may be the name of a list; written twice, the last one counts.
    if (name.includes('\\') || this.#fields.has(name) || !this.#takes(COLON)) return false;
    this.#skipSpace();
    if (!this.#lists.has(name) || this.#bytes[this.#at] !== OPEN_LIST) return this.#skipValue();
    this.#fields.add(name);
    return this.#list(name);
  }

  #list(name: string): boolean {
    const from = this.#at;
    this.#at += 1;
    if (this.#takes(CLOSE_LIST)) return true;
    let part = this.#shelf.beginningOf(name);
    let count = 0;
    do {
      this.#skipSpace();
      if (this.#bytes[this.#at] !== OPEN_OBJECT) return false;
      const next = this.#shelf.partAt(this.#bytes, this.#at, part);
      if (next === undefined) return false;
      part = next;
      this.#copy(this.#at);
      this.#rest += '0';
      this.#values.push(this.#shelf.take(part));
      this.#at += part.bytes.length;
      this.#copied = this.#at;
      count += 1;
      if (this.#values.length > MAX_PARTS) return false;
      if (count >= COUNTED_FROM && this.#at - from < count * LEAST_MEAN_BYTES) return false;
    } while (this.#takes(COMMA));
    return this.#takes(CLOSE_LIST);
  }

  #copy(to: number): void {
    if (to === this.#copied + 1 && this.#bytes[this.#copied] === COMMA) this.#rest += ',';
    else this.#rest += this.#bytes.toString(this.#encoding, this.#copied, to);
    this.#copied = to;
  }

  #skipValue(): boolean {
    const bytes = this.#bytes;
    const byte = bytes[this.#at];
    if (byte === QUOTE) this.#at = endOfString(bytes, this.#at + 1);
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      this.#at = endOfNested(bytes, this.#at, this.#maxDepth);
    } else {
      while (this.#at < bytes.length && isOfScalar(bytes[this.#at] ?? 0)) this.#at += 1;
    }
    return this.#at >= 0;
  }

  /** Steps over white space, and over `byte` where it stands there. */
  #takes(byte: number): boolean {
    this.#skipSpace();
    if (this.#bytes[this.#at] !== byte) return false;
    this.#at += 1;
    return true;
  }

  #skipSpace(): void {
    while ((this.#bytes[this.#at] ?? QUOTE) <= SPACE) this.#at += 1;
  }
}

function isOfScalar(byte: number): boolean {
  return byte > SPACE && byte !== COMMA && byte !== CLOSE_OBJECT && byte !== CLOSE_LIST && byte !== BACKSLASH;
}
