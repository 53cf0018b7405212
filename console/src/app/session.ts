/** Being signed in: the token of the printed address, or one typed in, becomes a cookie. */
import { useSyncExternalStore } from 'react';
import { ApiError, get, onRefused, post, remove, Unreachable } from '../data/api.js';
import { type Identity, identity, setIdentity } from './identity.js';

export type SessionState =
  | { kind: 'checking' }
  | { kind: 'in' }
  | { kind: 'out'; why: 'none' | 'bad-token' | 'ended' }
  | { kind: 'unreachable' }
  /** The gateway answered, but with neither yes nor no: too many tries, draining. */
  | { kind: 'refused'; message: string };

/** How long until a gateway that does not answer is asked again. */
const RETRY_MS = [500, 1000, 2000, 4000, 8000] as const;

let state: SessionState = { kind: 'checking' };
let tries = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

export function useSession(): SessionState {
  return useSyncExternalStore(subscribe, sessionState, sessionState);
}

export function sessionState(): SessionState {
  return state;
}

/**
 * Takes the token out of the address at once, so that it stays neither on screen nor in the history.
 * The page that the rest of the fragment names stays.
 */
export function takeToken(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return undefined;
  history.replaceState(null, '', location.pathname + location.search);
  return token;
}

/** Signs in with what the address brings, or finds out whether somebody is signed in. */
export function startSession(): void {
  onRefused(() => {
    if (state.kind === 'in') set({ kind: 'out', why: 'ended' });
  });
  // The address of a gateway that was started again, pasted into a tab that is open.
  addEventListener('hashchange', () => {
    const token = takeToken();
    if (token !== undefined) void signIn(token);
  });
  addEventListener('online', () => {
    if (state.kind === 'unreachable') void check();
  });
  const token = takeToken();
  void (token === undefined ? check() : signIn(token));
}

/** The events say that nobody is signed in: asked once more, then believed. */
export async function check(): Promise<void> {
  await settle(() => get<Identity>('/api/session'), 'none');
}

export async function signIn(token: string): Promise<void> {
  if (state.kind !== 'in' && state.kind !== 'out') set({ kind: 'checking' });
  await settle(() => post<Identity>('/api/session', { token }), 'bad-token');
}

/** Resolves to false where the gateway could not be told. Everything that was shown is forgotten. */
export async function signOut(): Promise<boolean> {
  try {
    await remove('/api/session');
  } catch (error) {
    if (error instanceof Unreachable) return false;
  }
  forgetDrafts();
  location.reload();
  return true;
}

async function settle(ask: () => Promise<Identity>, refusal: 'none' | 'bad-token'): Promise<void> {
  clearTimeout(timer);
  const before = identity().name;
  try {
    const found = await ask();
    tries = 0;
    if (before !== '' && before !== found.name) {
      // What is shown is of somebody else.
      forgetDrafts();
      location.reload();
      return;
    }
    setIdentity(found);
    set({ kind: 'in' });
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) {
      set({ kind: 'out', why: refusal === 'none' && before !== '' ? 'ended' : refusal });
    } else if (error instanceof ApiError) {
      set({ kind: 'refused', message: error.message });
    } else {
      unreachable(ask, refusal);
    }
  }
}

/** Who was signed in stays so: the connection says that it is lost, and comes back by itself. */
function unreachable(ask: () => Promise<Identity>, refusal: 'none' | 'bad-token'): void {
  if (state.kind === 'in') return;
  set({ kind: 'unreachable' });
  const delay = RETRY_MS[Math.min(tries, RETRY_MS.length - 1)];
  tries += 1;
  timer = setTimeout(() => void settle(ask, refusal), delay);
}

function forgetDrafts(): void {
  try {
    sessionStorage.clear();
  } catch {
    // Then nothing was kept either.
  }
}

function set(next: SessionState): void {
  state = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
