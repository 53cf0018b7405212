/**
 * Keys on their way to readline, which takes each end of a line for the end of the input. Those that are pasted
 * (bracketed paste), and Ctrl-J and Alt+Enter, stand in the line as a sign instead, until it is sent.
 */

import { Transform, type TransformCallback } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** The terminal marks what is pasted. */
export const PASTE_MARKS = { on: '\x1b[?2004h', off: '\x1b[?2004l' } as const;

const LINE_SIGN = '⏎';
const PASTE = { begin: '\x1b[200~', end: '\x1b[201~' } as const;
/** A mark of which only the beginning has come; a lone escape is a key. */
const BEGUN_MARK = /\x1b\[2(?:0[01]?)?$/;
/** Enter sends a carriage return, Ctrl-J a line feed, and Alt puts an escape before either. */
const NEW_LINE_KEYS = /\x1b[\r\n]|\n/g;
/** Nothing that is pasted presses a key: of controls only the tab stays. */
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

export interface KeySource {
  setRawMode?(raw: boolean): unknown;
}

/** What was typed, with its lines. */
export const linesOf = (line: string): string => line.replaceAll(LINE_SIGN, '\n');

export class TypedKeys extends Transform {
  readonly isTTY = true;
  readonly #source: KeySource;
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';
  #isPasting = false;

  constructor(source: KeySource) {
    super();
    this.#source = source;
  }

  setRawMode(raw: boolean): this {
    this.#source.setRawMode?.(raw);
    return this;
  }

  override _transform(chunk: Buffer | string, _encoding: string, done: TransformCallback): void {
    this.#rest += typeof chunk === 'string' ? chunk : this.#decoder.write(chunk);
    done(null, this.#take());
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#rest);
  }

  #take(): string {
    let taken = '';
    for (;;) {
      const mark = this.#isPasting ? PASTE.end : PASTE.begin;
      const at = this.#rest.indexOf(mark);
      if (at === -1) break;
      taken += this.#keys(this.#rest.slice(0, at));
      this.#rest = this.#rest.slice(at + mark.length);
      this.#isPasting = !this.#isPasting;
    }
    const begun = BEGUN_MARK.exec(this.#rest)?.index ?? this.#rest.length;
    taken += this.#keys(this.#rest.slice(0, begun));
    this.#rest = this.#rest.slice(begun);
    return taken;
  }

  #keys(text: string): string {
    if (!this.#isPasting) return text.replace(NEW_LINE_KEYS, LINE_SIGN);
    return text.replace(/\r\n?|\n/g, LINE_SIGN).replace(CONTROLS, '');
  }
}
