/**
 * A token in the address that is of somebody else than who is signed in: changing that needs a word
 * of the person, for the link may come from anybody.
 */
import { useSyncExternalStore } from 'react';

export interface Offer {
  token: string;
  /** Whose token it is. */
  name: string;
}

let current: Offer | undefined;
const listeners = new Set<() => void>();

export function useOffer(): Offer | undefined {
  return useSyncExternalStore(subscribe, offer, offer);
}

export function offer(): Offer | undefined {
  return current;
}

export function setOffer(next: Offer | undefined): void {
  current = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
