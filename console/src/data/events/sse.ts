/** Server-sent events, read from the pieces in which they arrive. */

export interface SseFrame {
  id: string | undefined;
  data: string;
}

/** A frame that is longer is no frame of the gateway. */
const LONGEST = 64 * 1024 * 1024;

export class SseParser {
  readonly #decoder = new TextDecoder();
  #rest: string[] = [];
  #restLength = 0;
  #data: string[] = [];
  #id: string | undefined;
  #skipLineFeed = false;

  /** The frames that are complete now. Throws where a line exceeds the limit. */
  push(bytes: Uint8Array): SseFrame[] {
    const frames: SseFrame[] = [];
    let text = this.#decoder.decode(bytes, { stream: true });
    if (this.#skipLineFeed && text.startsWith('\n')) text = text.slice(1);
    if (text !== '') this.#skipLineFeed = false;
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      const sign = text.charCodeAt(at);
      if (sign !== 10 && sign !== 13) continue;
      this.#line(this.#whole(text.slice(from, at)), frames);
      if (sign === 13) {
        if (at + 1 === text.length) this.#skipLineFeed = true;
        else if (text.charCodeAt(at + 1) === 10) at += 1;
      }
      from = at + 1;
    }
    if (from < text.length) this.#keep(text.slice(from));
    return frames;
  }

  #keep(piece: string): void {
    this.#rest.push(piece);
    this.#restLength += piece.length;
    if (this.#restLength > LONGEST) throw new Error('A line of the event stream does not end.');
  }

  #whole(piece: string): string {
    if (this.#rest.length === 0) return piece;
    const line = this.#rest.join('') + piece;
    this.#rest = [];
    this.#restLength = 0;
    return line;
  }

  #line(line: string, frames: SseFrame[]): void {
    if (line === '') {
      if (this.#data.length > 0) frames.push({ id: this.#id, data: this.#data.join('\n') });
      this.#data = [];
      this.#id = undefined;
      return;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1);
    if (field === 'data') this.#data.push(value);
    else if (field === 'id') this.#id = value;
  }
}
