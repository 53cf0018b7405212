/**
 * What this page knows. The gateway is the only one that decides anything: the page is a projection
 * of its events, and shows nothing as done that the gateway has not said.
 */
import { useSyncExternalStore } from 'react';
import { type ConsoleState, StateStore } from './reducer/console-state.js';

export type { ConsoleState, TurnView } from './reducer/console-state.js';

export const store = new StateStore();

/** `select` must give the same value for the same state. */
export function useConsole<T>(select: (state: ConsoleState) => T): T {
  return useSyncExternalStore(store.subscribe, () => select(store.get()));
}
