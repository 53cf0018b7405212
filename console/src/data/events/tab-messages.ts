/** Messages between the tabs of one browser. */
import type { ConsoleEvent } from '../../../../src/server/console-api/wire/events.js';
import type { StreamStatus } from './event-stream.js';

export type TabMessage =
  /** Events of the leader, as they arrived. */
  | { kind: 'events'; events: readonly ConsoleEvent[] }
  | { kind: 'status'; status: StreamStatus }
  /** A ping to the leader. */
  | { kind: 'hello' }
  | { kind: 'reconnect' }
  | { kind: 'check' };

interface TabChannel {
  /** To all other tabs. */
  post(message: TabMessage): void;
  listen(onMessage: (message: TabMessage) => void): () => void;
}

export interface TabLock {
  /**
   * Resolves once this tab has the lock and has given it back; `held` is called when it has it, and
   * keeps it until its promise resolves. Rejects where the lock is taken away by another tab, or the
   * signal fires.
   */
  request(held: () => Promise<void>, options: { steal: boolean; signal: AbortSignal }): Promise<void>;
}

export interface SharedPorts {
  channel: TabChannel;
  lock: TabLock;
  /** Whether this tab is visible. */
  visible(): boolean;
}
