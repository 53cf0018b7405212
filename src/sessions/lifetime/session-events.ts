import type { SessionsLog } from '../session-parts.js';
import type { SessionEvent } from '../sessions.js';

type Listener = (event: SessionEvent) => void;

/** Tells everybody who listens; one that throws takes nothing from the others. */
export class SessionEvents {
  readonly #listeners = new Set<{ listener: Listener }>();
  readonly #log: SessionsLog;

  constructor(log: SessionsLog) {
    this.#log = log;
  }

  subscribe(listener: Listener): () => void {
    const entry = { listener };
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  emit(event: SessionEvent): void {
    for (const { listener } of [...this.#listeners]) {
      try {
        listener(event);
      } catch (error) {
        this.#log.warn({ err: error, event: event.type }, 'a listener of sessions failed');
      }
    }
  }
}
