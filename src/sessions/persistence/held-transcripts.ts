/**
 * Transcripts that this process used last, so that the next turn reads only what is new. A transcript
 * is append-only, and each of its entries names the lease that wrote it: one that ends with the entry
 * that the store has there is its beginning, whichever process wrote after it.
 *
 * Who takes a transcript has it alone: a turn writes to its own.
 */
import type { Session } from '../../store/sessions.js';
import type { TranscriptLog } from './transcript-log.js';

interface Held {
  log: TranscriptLog;
  principal: string;
}

export class HeldTranscripts {
  readonly #maxBytes: number;
  /** The one that was unused longest first. */
  readonly #held = new Map<string, Held>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  take({ id, principal }: Pick<Session, 'id' | 'principal'>): TranscriptLog | undefined {
    const held = this.#held.get(id);
    this.forget(id);
    return held?.principal === principal ? held.log : undefined;
  }

  /** Nobody else uses `log` from now on. */
  put({ id, principal }: Pick<Session, 'id' | 'principal'>, log: TranscriptLog): void {
    this.forget(id);
    this.#held.set(id, { log, principal });
    this.#bytes += log.bytes;
    for (const oldest of this.#held.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.forget(oldest);
    }
  }

  forget(id: string): void {
    this.#bytes -= this.#held.get(id)?.log.bytes ?? 0;
    this.#held.delete(id);
  }
}
