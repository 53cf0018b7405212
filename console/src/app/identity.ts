/** Who is signed in, and what they may do. */
import { useSyncExternalStore } from 'react';
import type { IdentityWire } from '../../../src/server/wire/session.js';

export type Scope = 'call' | 'approve' | 'admin';

export type Identity = IdentityWire;

export interface IdentityView extends Identity {
  can(scope: Scope): boolean;
}

const NOBODY: IdentityView = { name: '', scopes: [], models: [], can: () => false };

let current: IdentityView = NOBODY;
const listeners = new Set<() => void>();

export function setIdentity(next: Identity | undefined): void {
  current = next === undefined ? NOBODY : { ...next, can: (scope) => next.scopes.includes(scope) };
  for (const listener of listeners) listener();
}

export function identity(): IdentityView {
  return current;
}

/** Inside of a page somebody is signed in. */
export function useIdentity(): IdentityView {
  return useSyncExternalStore(subscribe, identity, identity);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
