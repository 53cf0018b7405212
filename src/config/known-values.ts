/**
 * Finds any of many known values in a text. A gateway may have a thousand keys, and one regular
 * expression with a thousand branches tries them all at every character of every log line.
 *
 * Three characters in a row are looked up at every n-th place, where n is such that no value fits
 * between two of them. Only what looks like the beginning of a value there is compared with values,
 * and by a search, not with each: how many there are does not matter, whatever the text.
 */
const GRAM = 3;
const FILTER_BITS = 16;

/** Up to so many a regular expression is faster: it skips by what none of them has. */
const FEW = 4;

export class KnownValues {
  /** All of them, where they are few. */
  readonly #few: { values: readonly string[]; pattern: string; any: RegExp } | undefined;
  /** Too short to be looked up by three characters. */
  readonly #short: readonly string[];
  /** Of the shortest of the others: as much of every value as is looked up whole. */
  readonly #head: number;
  readonly #longest: number;
  /** Distance of the places that are looked at. */
  readonly #step: number;
  readonly #filter = new Uint8Array(1 << FILTER_BITS);
  /** Where three characters stand in a value. */
  readonly #offsets = new Map<string, Set<number>>();
  /** By their head, sorted. */
  readonly #values = new Map<string, string[]>();
  /** The longest other value that a value starts with. */
  readonly #within = new Map<string, string>();

  constructor(values: Iterable<string>) {
    const all = [...new Set(values)].filter((value) => value !== '').sort();
    if (all.length > 0 && all.length <= FEW) {
      const pattern = alternatives(all);
      this.#few = { values: all, pattern, any: new RegExp(pattern) };
    }
    this.#short = all.filter((value) => value.length < GRAM);
    const long = all.filter((value) => value.length >= GRAM);
    const lengths = long.map(({ length }) => length);
    this.#head = lengths.reduce((least, length) => Math.min(least, length), Number.POSITIVE_INFINITY);
    this.#longest = lengths.reduce((most, length) => Math.max(most, length), 0);
    this.#step = this.#head - GRAM + 1;
    const open: string[] = [];
    for (const value of long) {
      while (open.length > 0 && !value.startsWith(open.at(-1) ?? '')) open.pop();
      const within = open.at(-1);
      if (within !== undefined) this.#within.set(value, within);
      open.push(value);
      this.#add(value);
    }
  }

  /** Finds them all together with something else; only where they are few. */
  get pattern(): string | undefined {
    return this.#few?.pattern;
  }

  /** Those that occur in the text; no more than the first where one is enough. */
  in(text: string, enough: 'all' | 'one' = 'all'): string[] {
    if (this.#few !== undefined) {
      return this.#few.any.test(text) ? this.#few.values.filter((value) => text.includes(value)) : [];
    }
    const found = new Set(this.#short.filter((value) => text.includes(value)));
    if (this.#values.size === 0) return [...found];
    for (let at = 0; at + GRAM <= text.length; at += this.#step) {
      if (this.#filter[slotAt(text, at)] === 0) continue;
      for (const offset of this.#offsets.get(text.slice(at, at + GRAM)) ?? []) {
        if (offset <= at) this.#collect(text, at - offset, found);
      }
      if (enough === 'one' && found.size > 0) break;
    }
    return [...found];
  }

  #add(value: string): void {
    for (let offset = 0; offset < this.#step; offset++) {
      const gram = value.slice(offset, offset + GRAM);
      this.#filter[slotAt(gram, 0)] = 1;
      const offsets = this.#offsets.get(gram);
      if (offsets === undefined) this.#offsets.set(gram, new Set([offset]));
      else offsets.add(offset);
    }
    const head = value.slice(0, this.#head);
    const values = this.#values.get(head);
    if (values === undefined) this.#values.set(head, [value]);
    else values.push(value);
  }

  /** All values that the text has at this place. */
  #collect(text: string, start: number, found: Set<string>): void {
    const values = this.#values.get(text.slice(start, start + this.#head));
    if (values === undefined) return;
    // The last one that is not beyond the text starts with every value that the text starts with.
    let value: string | undefined = lastUpTo(values, text.slice(start, start + this.#longest));
    for (; value !== undefined; value = this.#within.get(value)) {
      if (text.startsWith(value, start)) found.add(value);
    }
  }
}

/** The pattern of any of these values; the longest first, for one may hold another. */
export function alternatives(values: readonly string[]): string {
  return values
    .toSorted((a, b) => b.length - a.length)
    .map(escapeRegExp)
    .join('|');
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

function lastUpTo(sorted: readonly string[], text: string): string | undefined {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? '') <= text) low = middle + 1;
    else high = middle;
  }
  return sorted[low - 1];
}

function slotAt(text: string, at: number): number {
  const mixed =
    Math.imul(text.charCodeAt(at), 0x9e37_79b1) ^
    Math.imul(text.charCodeAt(at + 1), 0x85eb_ca6b) ^
    Math.imul(text.charCodeAt(at + 2), 0xc2b2_ae35);
  return mixed >>> (32 - FILTER_BITS);
}
