/** The last events, for readers that come back. */

/** Who may see an event: the key of this name and administrators; null for everyone who is signed in. */
export type Audience = string | null;

export interface RingEntry {
  seq: number;
  audience: Audience;
  /** It happened here and other nodes hear of it from here alone. */
  forNodes?: boolean;
  /** Of another node, as viewers of this class see that: no one else is given it. */
  view?: string;
  /** The JSON object without its first brace: `id` and `prev` stand in front of it, and differ. */
  tail: string;
}

interface RingLimits {
  events: number;
  bytes: number;
}

export class EventRing {
  readonly #limits: RingLimits;
  #entries: RingEntry[] = [];
  /** Where the entries begin: they are taken off the front one by one, and the array is cut now and then. */
  #first = 0;
  #bytes = 0;
  /** Every event after this number is here, as far as it was to be kept. */
  #after = 0;

  constructor(limits: RingLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.length - this.#first;
  }

  get bytes(): number {
    return this.#bytes;
  }

  push(entry: RingEntry): void {
    this.#entries.push(entry);
    this.#bytes += entry.tail.length;
    while (this.size > this.#limits.events || this.#bytes > this.#limits.bytes) this.#shift();
  }

  /** Events up to this number were not kept: no reader can resume from before it. */
  lose(seq: number): void {
    this.#after = seq;
    if (this.#entries.length === 0) return;
    this.#entries = [];
    this.#first = 0;
    this.#bytes = 0;
  }

  /** Undefined where an event after `seq` is gone. */
  since(seq: number): readonly RingEntry[] | undefined {
    if (seq < this.#after) return undefined;
    let low = this.#first;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const entry = this.#entries[middle];
      if (entry !== undefined && entry.seq <= seq) low = middle + 1;
      else high = middle;
    }
    return this.#entries.slice(low);
  }

  #shift(): void {
    const oldest = this.#entries[this.#first];
    if (oldest === undefined) return;
    this.#bytes -= oldest.tail.length;
    this.#after = oldest.seq;
    this.#first += 1;
    if (this.#first > 1000 && this.#first * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#first);
      this.#first = 0;
    }
  }
}
