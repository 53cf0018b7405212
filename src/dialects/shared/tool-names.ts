/**
 * Tool names and call ids inside another wire's limits. Names are mapped back from the request's
 * own tools; ids need no way back, because the same stable id is put on a call and on its result.
 */
import { createHash } from 'node:crypto';

export interface NameLimits {
  pattern: RegExp;
  maxLength: number;
}

const hash = (text: string, length: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, length);

/** `name` if it fits; else its allowed characters, cut, with a hash of the whole. */
export function fitName(name: string, limits: NameLimits): string {
  if (name.length > 0 && name.length <= limits.maxLength && limits.pattern.test(name)) return name;
  const kept = name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, limits.maxLength - 9);
  return `${kept}_${hash(name, 8)}`;
}

const FREE_ID = /^[\x21-\x7e]+$/;
const SHORT_ID = /^[a-zA-Z0-9]+$/;
/** Mistral takes ids of exactly nine letters and digits; no other wire has so small a limit. */
const EXACT_ID_LENGTH = 9;

/** A call id of at most `limit` characters. Stable, so that a call and its result keep the same one. */
export function fitId(id: string, limit: number): string {
  if (limit <= EXACT_ID_LENGTH) return id.length === limit && SHORT_ID.test(id) ? id : hash(id, limit);
  return fitName(id, { pattern: FREE_ID, maxLength: limit });
}

/** A tool that the upstream may call, by the name it knows. */
export interface OfferedTool {
  /** Properties whose value is text, so that `5` written as text stays text. */
  strings: ReadonlySet<string>;
}

const NO_STRINGS: ReadonlySet<string> = new Set();

export class ToolNames {
  readonly #limits: NameLimits;
  readonly #wire = new Map<string, string>();
  readonly #own = new Map<string, string>();
  readonly #offered = new Map<string, OfferedTool>();
  readonly #typed = new Map<string, string>();
  /** Calls that the model writes as text are to be read as calls. */
  textCalls = false;
  /** How often the upstream got another name than the client's. */
  mapped = 0;

  constructor(limits: NameLimits) {
    this.#limits = limits;
  }

  /** The name for the upstream. */
  encode(name: string): string {
    const known = this.#wire.get(name);
    if (known !== undefined) {
      this.mapped += 1;
      return known;
    }
    const fitted = fitName(name, this.#limits);
    if (fitted !== name) {
      this.mapped += 1;
      this.#wire.set(name, fitted);
      this.#own.set(fitted, name);
    }
    return fitted;
  }

  /** As `encode`, for a tool that is sent along. */
  offer(name: string, strings: ReadonlySet<string> = NO_STRINGS): string {
    const wire = this.encode(name);
    this.#offered.set(wire, { strings });
    return wire;
  }

  /** As `offer`, for a tool that the upstream knows by its type and calls without a name. */
  offerTyped(kind: string, name: string): void {
    this.#typed.set(kind, name);
  }

  get hasTyped(): boolean {
    return this.#typed.size > 0;
  }

  /** The client's name of a tool that was offered by its type. */
  ofType(kind: string): string | undefined {
    return this.#typed.get(kind);
  }

  /** The type by which a tool was offered. */
  typeOf(name: string): string | undefined {
    for (const [kind, own] of this.#typed) if (own === name) return kind;
    return undefined;
  }

  /** By wire name. */
  get offered(): ReadonlyMap<string, OfferedTool> {
    return this.#offered;
  }

  /** `name` is an offered tool and not the beginning of another: nothing of it can still come. */
  isWhole(name: string): boolean {
    if (!this.#offered.has(name)) return false;
    for (const other of this.#offered.keys()) {
      if (other.length > name.length && other.startsWith(name)) return false;
    }
    return true;
  }

  /** The client's name for what the upstream called. A name that the model made up is kept within the limits. */
  decode(name: string): string {
    const own = this.#own.get(name);
    if (own !== undefined) return own;
    return name === '' || this.#offered.has(name) ? name : fitName(name, this.#limits);
  }
}
