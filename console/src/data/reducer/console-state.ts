/** The state of the page, apart from React: the events of the gateway, reduced. */
import type { TokenCounts } from '../../../../src/activity/wire.js';
import type { ApprovalWire } from '../../../../src/server/console-api/wire/approvals.js';
import type { SessionWire } from '../../../../src/server/console-api/wire/sessions.js';
import type { Part } from './view.js';

export interface ConsoleState {
  connection: 'connecting' | 'live' | 'lost' | 'signed-out';
  /** The gateway's clock minus this browser's. */
  skewMs: number;
  /** Those that wait, and those that were decided while this page was open. */
  approvals: ReadonlyMap<string, ApprovalWire>;
  /** By session: turns that run, and the last that ended while this page was open. */
  turns: ReadonlyMap<string, TurnView>;
  /** Sessions that changed while this page was open, as they are now; null for those that are gone. */
  sessions: ReadonlyMap<string, SessionWire | null>;
  /** Grow with every change of what they name, so that lists know when to fetch again. */
  changes: { sessions: number; rules: number; mcp: number; requests: number };
  /** Grows when events may have been missed: what was put together from them is fetched again. */
  missed: number;
  /** The last event that is in all of this; null before the first snapshot. */
  lastId: string | null;
}

export interface TurnView {
  session: string;
  turn: string;
  model: string;
  beganAt: number;
  /** What was said first, then what is done. */
  parts: readonly Part[];
  usage: TokenCounts;
  /** How often the main agent's model was asked: what was done before is in the transcript. */
  steps: number;
  /** Its beginning is not here: it was too long for a snapshot. The transcript has it. */
  truncated: boolean;
  ended:
    | {
        end: 'complete' | 'parked' | 'stopped' | 'broken' | 'failed';
        error: string | undefined;
        stopReason: string | undefined;
      }
    | undefined;
}

export const INITIAL_STATE: ConsoleState = {
  connection: 'connecting',
  skewMs: 0,
  approvals: new Map(),
  turns: new Map(),
  sessions: new Map(),
  changes: { sessions: 0, rules: 0, mcp: 0, requests: 0 },
  missed: 0,
  lastId: null,
};

/** One for each page; tests have several. */
export class StateStore {
  #state: ConsoleState;
  readonly #listeners = new Set<() => void>();

  constructor(state: ConsoleState = INITIAL_STATE) {
    this.#state = state;
  }

  readonly get = (): ConsoleState => this.#state;

  readonly set = (next: ConsoleState): void => {
    if (next === this.#state) return;
    this.#state = next;
    for (const listener of [...this.#listeners]) listener();
  };

  readonly update = (change: (state: ConsoleState) => ConsoleState): void => this.set(change(this.#state));

  readonly subscribe = (listener: () => void): (() => void) => {
    // A function of its own: the same listener may subscribe twice.
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  };
}
