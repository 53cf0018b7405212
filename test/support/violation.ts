/** Helpers of the stream validators: where a stream breaks its protocol, and reading unknown JSON. */
import type { SseEvent } from './sse.js';

export class StreamViolation extends Error {
  override readonly name = 'StreamViolation';
}

/** What a validator knows of the event it looks at; `fail` names it. */
export class Place {
  readonly #index: number;
  readonly #event: SseEvent | undefined;

  constructor(index: number, event: SseEvent | undefined) {
    this.#index = index;
    this.#event = event;
  }

  fail(reason: string): never {
    const shown =
      this.#event === undefined ? 'at the end' : `${this.#event.event} ${this.#event.data}`.trim();
    const cut = shown.length > 300 ? `${shown.slice(0, 300)}…` : shown;
    throw new StreamViolation(`event ${this.#index}: ${reason}\n  ${cut}`);
  }

  check(holds: boolean, reason: string): void {
    if (!holds) this.fail(reason);
  }

  object(value: unknown, what: string): JsonRecord {
    return isRecord(value) ? value : this.fail(`${what} is not an object`);
  }

  array(value: unknown, what: string): readonly unknown[] {
    return Array.isArray(value) ? value : this.fail(`${what} is not an array`);
  }

  string(value: unknown, what: string): string {
    return typeof value === 'string' ? value : this.fail(`${what} is not a string`);
  }

  filled(value: unknown, what: string): string {
    const text = this.string(value, what);
    return text === '' ? this.fail(`${what} is empty`) : text;
  }

  count(value: unknown, what: string): number {
    const right = typeof value === 'number' && Number.isInteger(value) && value >= 0;
    return right ? value : this.fail(`${what} is not a count`);
  }

  json(text: string): JsonRecord {
    try {
      const value: unknown = JSON.parse(text);
      return this.object(value, 'data');
    } catch (error) {
      if (error instanceof StreamViolation) throw error;
      return this.fail('data is not JSON');
    }
  }
}

export type JsonRecord = Record<string, unknown>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object that the argument text of a call holds: `{}` for none; undefined where it is broken. */
export function parseArguments(text: string): JsonRecord | undefined {
  if (text === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
