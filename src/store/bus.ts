/**
 * The bus: what every process on the same store hears of, whichever of them did it. A change says that
 * something happened and to what; what is true now is in the store.
 */
import type { Rule } from './rules.js';

export type Change =
  | { kind: 'approval'; id: string }
  | {
      kind: 'session';
      what: 'created' | 'changed' | 'deleted' | 'expired';
      id: string;
      principal: string;
    }
  | { kind: 'rule'; what: 'added' | 'revoked'; rule: Rule }
  | { kind: 'key' }
  /** One was connected or removed. */
  | { kind: 'upstream' }
  /** An MCP server was added or removed. */
  | { kind: 'mcp' }
  /** It has ended. */
  | { kind: 'sign-in'; id: string }
  /** Somebody asked a gateway to load its configuration again: the others do the same. */
  | Reload;

interface Reload {
  kind: 'reload';
  by: string;
  /** The process that was asked. */
  origin: string;
}

export interface Bus {
  /** Whether wake-ups arrive: a probe came back a moment ago. Until then changes are looked for more often. */
  readonly proven: boolean;
  /**
   * `listener` is called with what is written after this resolves, by this process as well, in order. It
   * may hear of something twice, never of what was not written, and it does not throw. Rejects as the store does.
   */
  subscribe(listener: (changes: readonly Change[]) => void): Promise<() => void>;
  /** For what no table holds. Rejects as the store does. */
  publish(change: Reload): Promise<void>;
}

/** For a store that this process alone uses: there is nobody else to hear of. */
export class LocalBus implements Bus {
  readonly proven = true;
  readonly #listeners = new Set<(changes: readonly Change[]) => void>();

  async subscribe(listener: (changes: readonly Change[]) => void): Promise<() => void> {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async publish(change: Reload): Promise<void> {
    for (const listener of this.#listeners) listener([change]);
  }
}
