/**
 * The parts of bodies that one key has sent, by their bytes. An agent sends its system prompt, its
 * tools and its history again with every turn: a part that was seen before is found by comparing
 * bytes, which costs a fraction of parsing them.
 */
import { isAscii } from 'node:buffer';
import { hash } from 'node:crypto';
import type { JsonObject } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { heapBytesOf, isDeeper } from '../../core/json-text.js';
import { share } from '../../core/shared-values.js';
import { endOfNested } from './scan-json.js';

/** A part's own bytes, and what was encoded of it. */
const COST_PER_BYTE = 2;
/** Its parsed form, and what was decoded from that. */
const COST_PER_HEAP_BYTE = 2;
const COST_PER_PART = 1_024;
/** A digest that was seen once. */
const COST_PER_DIGEST = 160;
const MAX_DIGESTS = 16_384;
/** Conversations of one key that share their beginning go on with different parts. */
const MAX_FOLLOWERS = 4;

const NO_BYTES = Buffer.alloc(0);

export class Part {
  bytes: Buffer;
  value: JsonObject;
  /** The parts that came after this one, the latest first. */
  followers: readonly Part[] = [];
  /** It came again since it was last asked. */
  isUsed = false;
  /** The last body that it stood in. */
  body = 0;
  /** Of a part that is kept. */
  digest = '';
  cost = 0;

  constructor(bytes: Buffer, value: JsonObject) {
    this.bytes = bytes;
    this.value = value;
  }

  /** A value that begins as this one ends where it ends: no object begins with another whole one. */
  standsAt(bytes: Buffer, at: number): boolean {
    const { length } = this.bytes;
    const end = at + length;
    return length > 0 && end <= bytes.length && bytes.compare(this.bytes, 0, length, at, end) === 0;
  }

  followedBy(part: Part): void {
    const others = this.followers.filter((each) => each !== part && each.bytes.length > 0);
    this.followers = [part, ...others.slice(0, MAX_FOLLOWERS - 1)];
  }

  /** Other parts may still name this one as their follower. */
  empty(): void {
    this.bytes = NO_BYTES;
    this.value = {};
    this.followers = [];
  }
}

export class PartShelf {
  readonly #byDigest = new Map<string, Part>();
  readonly #beginnings = new Map<string, Part>();
  /** In the order in which they are asked whether they were used. */
  readonly #parts = new Set<Part>();
  readonly #maxDepth: number;
  /** Digests of parts that came once, in two generations. */
  #seen = new Set<string>();
  #seenBefore = new Set<string>();
  #body = 0;
  cost = 0;

  /** `maxDepth`: how deep a part may nest. */
  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
  }

  beginBody(): void {
    this.#body += 1;
  }

  /** Its value; where it stands in the same body again, one that is equal: messages of a request are told apart by identity. */
  take(part: Part): JsonObject {
    if (part.body === this.#body) return parse(part.bytes) ?? part.value;
    part.body = this.#body;
    return part.value;
  }

  /** What stands before the first part of the list `field`. */
  beginningOf(field: string): Part {
    let first = this.#beginnings.get(field);
    if (first === undefined) {
      first = new Part(NO_BYTES, {});
      this.#beginnings.set(field, first);
    }
    return first;
  }

  /** The part at `at`, which followed `previous`; undefined for what is no JSON object, or nests too deep. */
  partAt(bytes: Buffer, at: number, previous: Part): Part | undefined {
    const { followers } = previous;
    for (const part of followers) {
      if (!part.standsAt(bytes, at)) continue;
      if (part !== followers[0]) previous.followedBy(part);
      part.isUsed = true;
      return part;
    }
    const end = endOfNested(bytes, at, this.#maxDepth);
    if (end < 0) return undefined;
    const slice = bytes.subarray(at, end);
    const digest = digestOf(slice);
    const known = this.#byDigest.get(digest);
    // A digest that others can forge proves nothing.
    const isOther = known !== undefined && !known.bytes.equals(slice);
    if (isOther || (known === undefined && !this.#wasSeen(digest))) return this.#parsed(slice);
    const part = known ?? this.#add(digest, slice);
    if (part === undefined) return undefined;
    part.isUsed = part === known;
    previous.followedBy(part);
    return part;
  }

  /** Whether it comes for the second time: to keep a part costs more than to parse it, and most bodies of strangers come once. */
  #wasSeen(digest: string): boolean {
    if (this.#seen.has(digest) || this.#seenBefore.has(digest)) return true;
    if (this.#seen.size >= MAX_DIGESTS) {
      this.cost -= COST_PER_DIGEST * this.#seenBefore.size;
      this.#seenBefore = this.#seen;
      this.#seen = new Set();
    }
    this.#seen.add(digest);
    this.cost += COST_PER_DIGEST;
    return false;
  }

  /** A part of this body alone. */
  #parsed(slice: Buffer): Part | undefined {
    const value = parse(slice);
    return value === undefined || isDeeper(value, this.#maxDepth) ? undefined : new Part(slice, value);
  }

  /** Forgets parts until those left cost at most `cost`; the least recently used ones go first. */
  shrinkTo(cost: number): void {
    if (this.cost <= cost) return;
    this.cost -= COST_PER_DIGEST * (this.#seen.size + this.#seenBefore.size);
    this.#seen = new Set();
    this.#seenBefore = new Set();
    for (const part of this.#parts) {
      if (this.cost <= cost) return;
      this.#parts.delete(part);
      if (part.isUsed) {
        part.isUsed = false;
        this.#parts.add(part);
      } else this.#forget(part);
    }
  }

  #add(digest: string, slice: Buffer): Part | undefined {
    // A copy: a slice would keep the whole body.
    const own = Buffer.allocUnsafeSlow(slice.length);
    slice.copy(own);
    const part = this.#parsed(own);
    if (part === undefined) return undefined;
    share(part.value);
    part.digest = digest;
    part.cost = COST_PER_PART + COST_PER_BYTE * own.length + COST_PER_HEAP_BYTE * heapBytesOf(part.value);
    this.#byDigest.set(digest, part);
    this.#parts.add(part);
    this.cost += part.cost;
    return part;
  }

  #forget(part: Part): void {
    this.#parts.delete(part);
    this.cost -= part.cost;
    this.#byDigest.delete(part.digest);
    part.empty();
  }
}

/** Undefined where it is no object. `bytes` are UTF-8: a value of JSON begins and ends with ASCII. */
function parse(bytes: Buffer): JsonObject | undefined {
  try {
    // One byte a character where there is nothing else: half the memory, a tenth of the time.
    const value: unknown = JSON.parse(bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Only of parts that did not follow as they did before: comparing bytes is cheaper still. */
function digestOf(bytes: Buffer): string {
  return hash('sha1', bytes, 'base64');
}
