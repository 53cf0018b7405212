/** Something of the request or answer that the other side's dialect cannot carry. */
export interface Loss {
  /** Path in the neutral request or answer: `messages.3.content.0`, `tools.web_search`, `thinking`. */
  path: string;
  /** A short sentence for people; ASCII, for it may travel in a header. */
  reason: string;
}

/** Collects losses during one translation; the same loss is kept once. */
export class LossLog {
  readonly #losses: Loss[] = [];
  readonly #seen = new Set<string>();
  #reported = 0;

  add(path: string, reason: string): void {
    this.#reported += 1;
    const key = `${path}\n${reason}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#losses.push({ path, reason });
  }

  get size(): number {
    return this.#losses.length;
  }

  /** How often one was added, the same ones too. */
  get reported(): number {
    return this.#reported;
  }

  list(): readonly Loss[] {
    return this.#losses;
  }
}

const HEADER_LIMIT = 1024;

/** `path: reason; path: reason`, cut to what a header may hold, with the count of what was cut. */
export function lossesHeader(losses: readonly Loss[]): string {
  let header = '';
  for (const [index, loss] of losses.entries()) {
    const entry = `${loss.path}: ${loss.reason}`.replace(/[^\x20-\x7e]/g, '?').replaceAll(';', ',');
    const next = header === '' ? entry : `${header}; ${entry}`;
    if (next.length > HEADER_LIMIT) {
      const more = `(+${losses.length - index} more)`;
      return header === '' ? `${entry.slice(0, HEADER_LIMIT - more.length)}${more}` : `${header}; ${more}`;
    }
    header = next;
  }
  return header;
}
