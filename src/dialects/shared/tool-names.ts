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

export class ToolNames {
  readonly #limits: NameLimits;
  readonly #wire = new Map<string, string>();
  readonly #own = new Map<string, string>();

  constructor(limits: NameLimits) {
    this.#limits = limits;
  }

  /** The name for the upstream. */
  encode(name: string): string {
    const known = this.#wire.get(name);
    if (known !== undefined) return known;
    const fitted = fitName(name, this.#limits);
    if (fitted !== name) {
      this.#wire.set(name, fitted);
      this.#own.set(fitted, name);
    }
    return fitted;
  }

  /** The client's name for what the upstream called. */
  decode(name: string): string {
    return this.#own.get(name) ?? name;
  }
}
