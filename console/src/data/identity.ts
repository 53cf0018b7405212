/** Who is signed in, and what they may do. */
import type { IdentityWire } from '../../../src/server/console-api/wire/sign-in.js';
import { sharedValue } from './shared-value.js';

type Scope = 'call' | 'approve' | 'admin';

export type Identity = IdentityWire;

interface IdentityView extends Identity {
  can(scope: Scope): boolean;
}

const current = sharedValue<IdentityView>({ name: '', scopes: [], models: [], can: () => false });

export function setIdentity(next: Identity): void {
  current.set({ ...next, can: (scope) => next.scopes.includes(scope) });
}

export const identity = current.get;

/** Pages are shown only while signed in, so there is always an identity. */
export const useIdentity = current.use;
