/** Emits the expiry of sessions that this process used. The store deletes their rows when it is pruned. */
import { LIMITS } from '../limits.js';
import type { SessionParts } from '../session-parts.js';

export class ExpiryWatch {
  readonly #parts: SessionParts;
  readonly #isRunning: (session: string) => boolean;
  /** All have the same time to live, so the least recently used one is first. */
  readonly #sessions = new Map<string, { principal: string; expiresAt: number }>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(parts: SessionParts, isRunning: (session: string) => boolean) {
    this.#parts = parts;
    this.#isRunning = isRunning;
  }

  touch(session: string, principal: string): void {
    const { now, ttlMs } = this.#parts;
    this.#add(session, principal, now() + ttlMs);
  }

  /** True when this process had used it. */
  forget(session: string): boolean {
    return this.#sessions.delete(session);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#sessions.clear();
  }

  #add(session: string, principal: string, expiresAt: number): void {
    this.#sessions.delete(session);
    this.#sessions.set(session, { principal, expiresAt });
    this.#schedule();
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#closed) return;
    const [first] = this.#sessions.values();
    if (first === undefined) return;
    const delay = Math.min(LIMITS.timerMs, Math.max(1, first.expiresAt - this.#parts.now()));
    this.#timer = setTimeout(() => void this.#look(), delay).unref();
  }

  async #look(): Promise<void> {
    const { store, now, log, emit } = this.#parts;
    try {
      for (const [id, { principal, expiresAt }] of [...this.#sessions]) {
        if (expiresAt > now()) break;
        if (this.#isRunning(id)) {
          this.touch(id, principal);
          continue;
        }
        const session = await store.sessions.get(id);
        if (this.#sessions.get(id)?.expiresAt !== expiresAt) continue;
        this.#sessions.delete(id);
        // Another process may have used it meanwhile.
        if (session !== undefined && session.state !== 'expired') this.#add(id, principal, session.expiresAt);
        else emit({ type: 'ended', session: id, principal, why: 'expired' });
      }
    } catch (error) {
      log.warn({ err: error }, 'expired sessions could not be read');
    } finally {
      this.#timer = undefined;
      this.#schedule();
    }
  }
}
