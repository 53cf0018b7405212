/**
 * Overdue results of client tools. Each session that this process parked has a timer; for a session
 * that another process parked, the next request checks the time.
 */
import { errorResult, NO_RESULT } from '../history/repair-history.js';
import { LIMITS } from '../limits.js';
import type { LeaseKeeper, Mutex } from '../persistence/lease-keeper.js';
import { LeasedSession } from '../persistence/leased-session.js';
import { openIn } from '../persistence/pending-tool-calls.js';
import type { LoadedSession, SessionReader } from '../persistence/session-reader.js';
import type { SessionParts } from '../session-parts.js';

interface ToolTimeoutsOptions {
  parts: SessionParts;
  reader: SessionReader;
  keeper: LeaseKeeper;
  mutex: Mutex;
  isRunning(session: string): boolean;
}

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
    const batch = await reader.pending(loaded);
    const open = batch === undefined ? [] : openIn(batch);
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
      await new LeasedSession(parts, session, record, log, grant.lease).hibernate();
      parts.emit({ type: 'hibernated', session: id, principal: session.principal });
    } finally {
      await keeper.release(grant.lease);
    }
  }
}
