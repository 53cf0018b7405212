/**
 * `<think>…</think>` at the very beginning of an answer: how models without a field for reasoning
 * write it. Anywhere else the tag is text. Tags may be split over any number of pieces.
 */
import type { ModelEvent } from '../../core/events.js';

const OPEN = '<think>';
const CLOSE = '</think>';

/** White space before a tag is no longer than this. */
const HELD_LIMIT = 4096;

type Phase = 'start' | 'thinking' | 'between' | 'text';

export class ThinkTags {
  #phase: Phase = 'start';
  /** Arrived, but still ambiguous: perhaps a tag, or white space that is dropped. */
  #held = '';
  #empty = true;

  /** From here on everything is text and `push` need not be called. */
  get settled(): boolean {
    return this.#phase === 'text' && this.#held === '';
  }

  /** The reasoning came in a field of its own, so a tag in the text is text. */
  settle(): void {
    if (this.#phase === 'start') this.#phase = 'text';
  }

  /** Thinking goes to `out`; what is text is returned. */
  push(text: string, out: ModelEvent[]): string {
    this.#held += text;
    if (this.#phase === 'start') this.#begin();
    if (this.#phase === 'thinking') this.#think(out);
    if (this.#phase === 'between') this.#skip();
    return this.#phase === 'text' ? this.#take() : '';
  }

  /** The text is over: what waited is what it looks like. Returns text. */
  flush(out: ModelEvent[]): string {
    const held = this.#take();
    if (this.#phase === 'thinking') {
      if (held !== '' && !(this.#empty && held.trim() === '')) out.push({ type: 'thinking', text: held });
      return '';
    }
    return this.#phase === 'between' ? '' : held;
  }

  #take(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }

  #begin(): void {
    const text = this.#held.trimStart();
    if (text.startsWith(OPEN)) {
      this.#held = text.slice(OPEN.length);
      this.#phase = 'thinking';
    } else if (!OPEN.startsWith(text) || this.#held.length > HELD_LIMIT) this.#phase = 'text';
  }

  #think(out: ModelEvent[]): void {
    // Models with thinking switched off write the tags around nothing.
    if (this.#empty) this.#held = this.#held.trimStart();
    const end = this.#held.indexOf(CLOSE);
    const length = end < 0 ? this.#held.length - tagStart(this.#held) : end;
    if (length > 0) {
      out.push({ type: 'thinking', text: this.#held.slice(0, length) });
      this.#empty = false;
    }
    this.#held = this.#held.slice(end < 0 ? length : end + CLOSE.length);
    if (end >= 0) this.#phase = 'between';
  }

  #skip(): void {
    this.#held = this.#held.trimStart();
    if (this.#held !== '') this.#phase = 'text';
  }
}

/** How many characters at the end of `text` may be the beginning of the closing tag. */
function tagStart(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(CLOSE.slice(0, length))) return length;
  }
  return 0;
}
