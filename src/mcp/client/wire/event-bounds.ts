/** How long the event is that a stream of server-sent events is in the middle of. */

const LF = 0x0a;
const CR = 0x0d;
/** A line may end with LF, CR or both; CR and LF together are one end and no blank line. */
const BLANK_LINES = ['\n\n', '\n\r', '\r\r'] as const;

export class EventBounds {
  #bytes = 0;
  #last: number | undefined;

  /** Bytes since the last blank line, this chunk included. */
  take(chunk: Buffer): number {
    const [first] = chunk;
    const continues = this.#last === LF ? first === LF || first === CR : this.#last === CR && first === CR;
    if (continues) this.#bytes = 0;
    const blank = Math.max(...BLANK_LINES.map((text) => chunk.lastIndexOf(text)));
    this.#bytes = blank === -1 ? this.#bytes + chunk.length : chunk.length - blank;
    this.#last = chunk.at(-1);
    return this.#bytes;
  }
}
