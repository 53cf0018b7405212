/** Random choices that can be made again: one seed, one sequence, on every machine. */

const SYLLABLES = [
  'ab',
  'cre',
  'do',
  'é',
  '中文',
  '😀',
  '\u2028',
  '\\',
  '"',
  '\n',
  ' ',
  'x y',
  '\t',
  'ß',
  '{',
  '}',
];

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
    // Neighbouring seeds begin alike; a few rounds part them.
    for (let round = 0; round < 4; round++) this.next();
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** An integer in [0, limit). */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  between(from: number, to: number): number {
    return from + this.below(to - from + 1);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly [T, ...T[]] | readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('There is nothing to pick from');
    return item;
  }

  /** So many results of `make`, at least `from` and at most `to`. */
  list<T>(from: number, to: number, make: (index: number) => T): T[] {
    return Array.from({ length: this.between(from, to) }, (_, index) => make(index));
  }

  shuffled<T>(items: readonly T[]): T[] {
    const copy = [...items];
    for (let last = copy.length - 1; last > 0; last--) {
      const other = this.below(last + 1);
      const [a, b] = [copy[last], copy[other]];
      if (a === undefined || b === undefined) continue;
      copy[last] = b;
      copy[other] = a;
    }
    return copy;
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }

  /** Of letters, signs that JSON escapes, and characters of two to four bytes. */
  text(from: number, to: number): string {
    return this.list(from, to, () => this.pick(SYLLABLES)).join('');
  }

  /** `size` parts of `bytes`, cut anywhere: inside lines, inside characters, with empty ones. */
  cuts(bytes: Buffer, parts: number): Buffer[] {
    const places = Array.from({ length: parts - 1 }, () => this.below(bytes.length + 1)).sort(
      (a, b) => a - b,
    );
    return [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length));
  }
}
