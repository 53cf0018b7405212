/** Markdown as it streams, for a terminal: words come as they are said, and no character is lost. */
import type { Paint } from './render.js';

/** What could still become a heading or a fence. */
const UNDECIDED = /^ {0,3}(?:#{0,6}|`{0,2}|~{0,2})$/;
const HEADING = /^ {0,3}#{1,6} $/;
const FENCE = /^ {0,3}(?<mark>```|~~~)$/;
/** A mark of emphasis begins no word inside of a word (`2**3`), and none before a space. */
const BEFORE_MARK = /[\s([{"'—–-]/;

/**
 * Headings, strong words, code and fences get a style; everything else stays as it was written. A span
 * is held until its end is there, at most until the end of its line: one that has none is printed with
 * its mark.
 */
export class MarkdownStream {
  readonly #paint: Paint;
  /** Of a line that has just begun, or of a span that is open. */
  #held = '';
  #place: 'line-start' | 'text' | 'heading' | 'fence-line' | 'code-line' | 'span' = 'line-start';
  #mark = '';
  #fence = '';
  #before = '\n';
  #out = '';

  constructor(paint: Paint) {
    this.#paint = paint;
  }

  push(text: string): string {
    for (const char of text) this.#take(char);
    return this.#given();
  }

  /** What was held back; the next text begins a line. */
  end(): string {
    this.#flush();
    const given = this.#given();
    this.#place = 'line-start';
    this.#fence = '';
    this.#before = '\n';
    return given;
  }

  #given(): string {
    // Of a line that runs on, what is there is printed.
    if (this.#place !== 'line-start' && this.#place !== 'span') this.#flush();
    const given = this.#out;
    this.#out = '';
    return given;
  }

  #take(char: string): void {
    if (char === '\n') {
      this.#endLine();
      return;
    }
    if (this.#place === 'line-start') this.#begin(char);
    else if (this.#place === 'span') this.#inSpan(char);
    else if (this.#place === 'text') this.#inText(char);
    else this.#held += char;
    this.#before = char;
  }

  #endLine(): void {
    this.#flush();
    this.#out += '\n';
    this.#place = 'line-start';
    this.#before = '\n';
  }

  #begin(char: string): void {
    this.#held += char;
    const fence = FENCE.exec(this.#held)?.groups?.['mark'];
    if (fence !== undefined && (this.#fence === '' || this.#fence === fence)) {
      this.#fence = this.#fence === '' ? fence : '';
      this.#place = 'fence-line';
    } else if (this.#fence !== '') {
      if (!UNDECIDED.test(this.#held) || this.#held.includes('#')) this.#place = 'code-line';
    } else if (HEADING.test(this.#held)) this.#place = 'heading';
    else if (!UNDECIDED.test(this.#held)) this.#replay();
  }

  /** It was the beginning of plain text. */
  #replay(): void {
    const text = this.#held;
    this.#held = '';
    this.#place = 'text';
    this.#before = '\n';
    for (const char of text) this.#take(char);
  }

  #inText(char: string): void {
    const isMark =
      char === '`' || (char === '*' && (this.#before === '\n' || BEFORE_MARK.test(this.#before)));
    if (!isMark) {
      this.#held += char;
      return;
    }
    this.#flush();
    this.#place = 'span';
    this.#mark = char;
  }

  #inSpan(char: string): void {
    const isOpening = this.#held === '';
    if (isOpening && char === this.#mark[0]) {
      this.#mark += char;
      return;
    }
    const isEmphasis = this.#mark.startsWith('*');
    if (isOpening && isEmphasis && (this.#mark.length !== 2 || char === ' ')) {
      this.#leaveSpan(char);
      return;
    }
    this.#held += char;
    if (!this.#held.endsWith(this.#mark)) return;
    const inner = this.#held.slice(0, -this.#mark.length);
    this.#held = '';
    this.#place = 'text';
    this.#out += this.#paint(isEmphasis ? 'bold' : 'cyan', inner);
  }

  /** It was no span. */
  #leaveSpan(next: string): void {
    const text = this.#mark + this.#held;
    this.#mark = '';
    this.#place = 'text';
    this.#held = text + next;
  }

  #flush(): void {
    const text = this.#place === 'span' ? this.#mark + this.#held : this.#held;
    const style = STYLES[this.#place];
    this.#out += style === undefined || text === '' ? text : this.#paint(style, text);
    this.#held = '';
    if (this.#place === 'span') this.#place = 'text';
  }
}

const STYLES: Readonly<Record<string, 'bold' | 'cyan' | 'dim' | undefined>> = {
  heading: 'bold',
  'fence-line': 'dim',
  'code-line': 'cyan',
};
