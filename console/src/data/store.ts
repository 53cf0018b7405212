/**
 * What this page knows. The gateway is the only one that decides anything: the page is a projection
 * of its events, and shows nothing as done that the gateway has not said.
 */
import { useSyncExternalStore } from 'react';
import type { ApprovalWire } from '../../../src/server/wire/approvals.js';
import type { TokenCounts } from '../../../src/server/wire/shared.js';
import type { Part } from './view.js';

export interface ConsoleState {
  connection: 'connecting' | 'live' | 'lost' | 'signed-out';
  /** The gateway's clock minus this browser's. */
  skewMs: number;
  /** Those that wait, and those that were decided while this page was open. */
  approvals: ReadonlyMap<string, ApprovalWire>;
  /** By session: turns that run, and the last that ended while this page was open. */
  turns: ReadonlyMap<string, TurnView>;
  /** Grow with every change of what they name, so that lists know when to fetch again. */
  changes: { sessions: number; rules: number; mcp: number; requests: number };
}

export interface TurnView {
  session: string;
  turn: string;
  model: string;
  beganAt: number;
  /** What was said first, then what is done. */
  parts: readonly Part[];
  usage: TokenCounts;
  ended:
    | {
        end: 'complete' | 'parked' | 'stopped' | 'broken' | 'failed';
        error: string | undefined;
        stopReason: string | undefined;
      }
    | undefined;
}

const INITIAL: ConsoleState = {
  connection: 'connecting',
  skewMs: 0,
  approvals: new Map(),
  turns: new Map(),
  changes: { sessions: 0, rules: 0, mcp: 0, requests: 0 },
};

let state = INITIAL;
const listeners = new Set<() => void>();

export function getState(): ConsoleState {
  return state;
}

export function setState(next: ConsoleState): void {
  if (next === state) return;
  state = next;
  for (const listener of listeners) listener();
}

/** `select` must give the same value for the same state. */
export function useConsole<T>(select: (state: ConsoleState) => T): T {
  return useSyncExternalStore(subscribe, () => select(state));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
