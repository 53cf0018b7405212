/** One tool call on its way through the lifecycle. */
import { GatewayError } from './errors.js';
import type { ToolExtensions } from './events.js';
import { isObject } from './is-object.js';
import { completeJson, isJson, JsonObjectScanner } from './json-text.js';

/** All but `broken` leave an object; that one was passed on before it could be known. */
type ArgumentsRepair = 'completed' | 'unparsable' | 'not-an-object' | 'broken';

export class ToolCallState {
  id = '';
  name = '';
  extensions: ToolExtensions | undefined;
  /** Its block has been opened for the client. */
  opened = false;
  closed = false;
  /** The upstream said that the arguments are whole. */
  ended = false;
  /** Text followed the end of the object and was left out. */
  trailing = false;
  readonly #scanner = new JsonObjectScanner();
  /** Everything passed on so far, to complete it if the answer is cut. */
  #passed = '';
  /** Arrived, but not to be passed on yet. */
  #held = '';
  #streams = false;

  get whole(): boolean {
    return this.ended || this.#scanner.whole;
  }

  /** Characters of the arguments so far. */
  get length(): number {
    return this.#held.length + this.#passed.length;
  }

  get hasInput(): boolean {
    return this.#held !== '' || this.#passed !== '';
  }

  add(json: string): void {
    this.#held += json;
  }

  /** What may be passed on now: nothing until the text is known to be an object. */
  take(): string {
    if (!this.opened || this.#held === '') return '';
    if (!this.#streams) {
      const first = this.#held.search(/\S/);
      if (first < 0 || this.#held.charCodeAt(first) !== 0x7b) return '';
      this.#streams = true;
    }
    const text = this.#held;
    this.#held = '';
    const used = this.#scanner.push(text);
    if (used < text.length && text.slice(used).trim() !== '') this.trailing = true;
    const own = used < text.length ? text.slice(0, used) : text;
    this.#passed += own;
    return own;
  }

  /** The last piece. A text that was cut by the answer's own limit (`cut`) stays as it is. */
  finish(cut: boolean): { json: string; repair?: ArgumentsRepair } {
    const json = this.take();
    if (this.#streams) {
      if (this.#scanner.tooDeep) return { json, repair: 'broken' };
      if (cut) return { json };
      if (this.#scanner.whole) return isJson(this.#passed) ? { json } : { json, repair: 'broken' };
      const missing = completeJson(this.#passed);
      if (missing === undefined) return { json, repair: 'broken' };
      return { json: json + missing, repair: 'completed' };
    }
    const held = this.#held;
    this.#held = '';
    return held.trim() === '' ? { json: '{}' } : asObject(held);
  }
}

export function brokenArguments(name: string): GatewayError {
  return new GatewayError(
    'upstream_failed',
    `The model wrote arguments for the tool ${name} that are not valid JSON. Retry the request.`,
    { retryable: true },
  );
}

/** Arguments that are not an object: `null` is none, a string may hold the object, anything else is wrapped. */
function asObject(text: string): { json: string; repair: ArgumentsRepair } {
  try {
    const value: unknown = JSON.parse(text);
    const inner = typeof value === 'string' ? parseOrUndefined(value) : undefined;
    if (isObject(inner)) return { json: JSON.stringify(inner), repair: 'not-an-object' };
    if (value === null) return { json: '{}', repair: 'not-an-object' };
    return { json: JSON.stringify({ value }), repair: 'not-an-object' };
  } catch {
    // No JSON, or nested deeper than can be written again.
    return { json: JSON.stringify({ value: text }), repair: 'unparsable' };
  }
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
