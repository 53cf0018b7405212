/** What ends by time: sessions that are unused, and tool calls whose results are overdue. */
import { errorResult, NO_RESULT } from '../history/repair-history.js';
import type { LeaseKeeper, Mutex } from '../persistence/lease-keeper.js';
import { LeasedSession } from '../persistence/leased-session.js';
import { openIn } from '../persistence/pending-tool-calls.js';
import type { LoadedSession, SessionReader } from '../persistence/session-reader.js';
import { LIMITS, type SessionParts } from '../session-parts.js';

/** Emits the expiry of sessions that this process used. The store deletes their rows when it is pruned. */
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

interface ToolTimeoutsOptions {
  parts: SessionParts;
  reader: SessionReader;
  keeper: LeaseKeeper;
  mutex: Mutex;
  isRunning(session: string): boolean;
}

/**
 * Overdue results of client tools. Each session that this process parked has a timer; for a session
 * that another process parked, the next request checks the time.
 */
export class ToolTimeouts {
  readonly #options: ToolTimeoutsOptions;
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(options: ToolTimeoutsOptions) {
    this.#options = options;
  }

  watch(session: string, until: number): void {
    this.forget(session);
    const { now } = this.#options.parts;
    const delay = Math.min(LIMITS.timerMs, Math.max(0, until - now()));
    const timer = setTimeout(() => void this.#fire(session), delay).unref();
    this.#timers.set(session, timer);
  }

  forget(session: string): void {
    clearTimeout(this.#timers.get(session));
    this.#timers.delete(session);
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  /** With `onToolTimeout: fail` records error results for overdue calls. True when it did. */
  async settle(loaded: LoadedSession): Promise<boolean> {
    const { parts, reader } = this.#options;
    const { pending, turn } = loaded.record;
    if (parts.onToolTimeout !== 'fail' || pending === undefined || turn !== undefined) return false;
    if (parts.now() < pending.until) return false;
    const toolCalls = await reader.pending(loaded);
    const open = toolCalls === undefined ? [] : openIn(toolCalls);
    if (open.length === 0) return false;
    const results = open.map(({ id }) => {
      const { content, isError } = errorResult(id, NO_RESULT.late);
      return { id, content, isError };
    });
    await parts.store.toolCalls.record(loaded.session.id, results, parts.node);
    return true;
  }

  async #fire(session: string): Promise<void> {
    this.#timers.delete(session);
    const { parts, mutex } = this.#options;
    try {
      await mutex.run(session, () => this.#late(session));
    } catch (error) {
      parts.log.warn({ err: error, session }, 'a session could not hibernate after its tool timeout');
    }
  }

  async #late(id: string): Promise<void> {
    const { parts, reader, keeper, isRunning } = this.#options;
    const loaded = await reader.load(id);
    const pending = loaded?.record.pending;
    if (loaded === undefined || pending === undefined || isRunning(id)) return;
    if (parts.now() < pending.until) return this.watch(id, pending.until);
    await this.settle(loaded);
    const grant = await keeper.acquire(id);
    // The lease's owner uses the session.
    if (!grant.granted) return;
    try {
      const { session, record, log } = loaded;
      const { lease } = grant;
      await new LeasedSession({ parts, keeper, session, record, log, lease }).hibernate();
      parts.emit({ type: 'hibernated', session: id, principal: session.principal });
    } finally {
      await keeper.release(grant.lease);
    }
  }
}
