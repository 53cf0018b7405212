/**
 * Tools that take free text instead of arguments (`custom` on the OpenAI wires). To every other wire
 * such a tool is a function whose one property, `input`, is that text.
 */
import { parseInput } from '../../core/answer-collector.js';
import type { JsonObject } from '../../core/conversation.js';

export const FREE_TEXT_SCHEMA: JsonObject = Object.freeze({
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
});

/** Free text stands in the property `input`; a model that made up others still said something. */
export function freeText(input: JsonObject): string {
  const { input: text } = input;
  return typeof text === 'string' ? text : JSON.stringify(input);
}

/** The arguments' JSON before the text, and after it. */
export const FREE_TEXT_OPEN = '{"input":"';
export const FREE_TEXT_CLOSE = '"}';

/** A piece of free text as it stands between the two. */
export function escapeFreeText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

const HEAD = /^\s*\{\s*"input"\s*:\s*"/;

/** Reads the text out of the arguments' JSON as it streams in. */
export class FreeTextReader {
  /** `head` until the text begins; `whole` where something else came first and only the end decides. */
  #state: 'head' | 'text' | 'whole' | 'over' = 'head';
  #waiting = '';
  #text = '';

  /** All that was given out so far. */
  get text(): string {
    return this.#text;
  }

  /** The piece of text that `json` brings. */
  push(json: string): string {
    if (this.#state === 'over') return '';
    this.#waiting += json;
    if (this.#state === 'head') this.#readHead();
    return this.#state === 'text' ? this.#give(this.#readText()) : '';
  }

  /** The arguments are over: the rest of the text. */
  end(): string {
    const state = this.#state;
    this.#state = 'over';
    // A cut escape, or a beginning without more, says nothing; the rest has been given out.
    return state === 'whole' ? this.#give(freeText(parseInput(this.#waiting))) : '';
  }

  #give(piece: string): string {
    this.#text += piece;
    return piece;
  }

  #readHead(): void {
    const head = HEAD.exec(this.#waiting)?.[0];
    if (head !== undefined) {
      this.#waiting = this.#waiting.slice(head.length);
      this.#state = 'text';
    } else if (!FREE_TEXT_OPEN.startsWith(this.#waiting.replace(/\s+/g, ''))) this.#state = 'whole';
  }

  #readText(): string {
    const raw = this.#waiting;
    const end = stringEnd(raw);
    if (end.closed) this.#state = 'over';
    this.#waiting = end.closed ? '' : raw.slice(end.at);
    return readEscapes(raw.slice(0, end.at));
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

/** Where the string ends, or where an escape begins that is not whole yet. */
function stringEnd(raw: string): { at: number; closed: boolean } {
  let at = 0;
  while (at < raw.length) {
    const code = raw.charCodeAt(at);
    if (code === QUOTE) return { at, closed: true };
    if (code !== BACKSLASH) {
      at += 1;
      continue;
    }
    const length = raw.charCodeAt(at + 1) === LETTER_U ? 6 : 2;
    if (at + length > raw.length) return { at, closed: false };
    at += length;
  }
  return { at, closed: false };
}

function readEscapes(raw: string): string {
  if (!raw.includes('\\')) return raw;
  try {
    // Models write line breaks as they are, which JSON does not allow.
    const text: unknown = JSON.parse(
      `"${raw.replace(/[\n\r\t]/g, (char) => JSON.stringify(char).slice(1, -1))}"`,
    );
    return typeof text === 'string' ? text : raw;
  } catch {
    return raw;
  }
}
