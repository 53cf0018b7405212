/** The sign-in: exchanges the token of the printed address, or a typed one, for a cookie. */
import type { OtherSignInWire } from '../../../src/server/console-api/wire/sign-in.js';
import { ApiError, get, onRefused, post, remove, setPageFetch } from '../data/api.js';
import { type Identity, identity, setIdentity } from '../data/identity.js';
import { sharedValue } from '../data/shared-value.js';
import { stopPush } from '../notifications/push.js';
import { language } from '../text/language.js';
import { toast } from '../ui/toast.js';
import { fetchAsPage, forgetPageSecret } from './page-secret.js';
import { strings } from './strings.js';

export type SignInState =
  | { kind: 'checking' }
  | { kind: 'in' }
  | { kind: 'out'; why: Refusal | 'ended' }
  /** `message`: of a 5xx answer, by the gateway or a proxy before it. */
  | { kind: 'unreachable'; message?: string }
  /** Another 4xx than 401, such as too many attempts. */
  | { kind: 'refused'; message: string };

/** What a 401 means. `unwritten`: the person signed out, and the gateway has not stored that yet. */
type Refusal = 'none' | 'bad-token' | 'unwritten';

const PATH = '/api/session';
/** The gateway has ended the sign-in and retries to store that. */
const ENDED_UNWRITTEN = 'store_unavailable';

/** Delays between retries while the gateway does not answer. */
const RETRY_MS = [500, 1000, 2000, 4000, 8000] as const;

const state = sharedValue<SignInState>({ kind: 'checking' });
let tries = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

export const useSignIn = state.use;

interface Offer {
  token: string;
  /** The name of the key that the token belongs to. */
  name: string;
}

/**
 * A token in the address that belongs to another key than the present sign-in. A link may come from a
 * stranger, so the person has to confirm the change.
 */
const offer = sharedValue<Offer | undefined>(undefined);

export const useOffer = offer.use;
export const setOffer = offer.set;

/**
 * Takes the token out of the address at once, so that it stays neither on screen nor in the history.
 * The page that the rest of the fragment names stays.
 */
function takeToken(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return undefined;
  history.replaceState(null, '', location.pathname + location.search);
  return token;
}

/** Signs in with the token of the address, or checks whether the cookie is valid. */
export function startSignIn(): void {
  setPageFetch(fetchAsPage);
  onRefused((path) => {
    // The callers in this file interpret a 401 of this path themselves.
    if (state.get().kind === 'in' && path !== PATH) state.set({ kind: 'out', why: 'ended' });
  });
  // The address of a gateway that was started again, pasted into a tab that is open.
  addEventListener('hashchange', () => {
    const token = takeToken();
    if (token !== undefined) void arrive(token);
  });
  addEventListener('online', () => {
    if (state.get().kind === 'unreachable') void check();
  });
  const token = takeToken();
  void (token === undefined ? check(takeUnwritten() ? 'unwritten' : 'none') : arrive(token));
}

/** Confirms a sign-in that the events report as ended before the page shows it. */
export async function check(refusal: Refusal = 'none'): Promise<void> {
  await settle(() => get<Identity>(PATH), refusal);
}

/** The connection is back: the keys may have other names and scopes since, or another tab another sign-in. */
export async function refresh(): Promise<void> {
  if (state.get().kind !== 'in') return;
  try {
    enter(await get<Identity>(PATH));
  } catch {
    // The events say when the sign-in is over.
  }
}

export async function signIn(token: string): Promise<void> {
  showChecking();
  await settle(() => post<Identity>(PATH, { token }), 'bad-token');
}

/** Rejects with why it did not work; then nothing has changed. */
export async function replaceSignIn(token: string): Promise<void> {
  enter(await post<Identity>(PATH, { token }));
}

function showChecking(): void {
  const { kind } = state.get();
  if (kind !== 'in' && kind !== 'out') state.set({ kind: 'checking' });
}

/** With the token of an address. */
async function arrive(token: string): Promise<void> {
  showChecking();
  await settle(() => signInOrStay(token), 'bad-token');
}

/** Keeps the present sign-in: a link may come from a stranger, and its token may be one of an earlier start. */
async function signInOrStay(token: string): Promise<Identity> {
  try {
    return await post<Identity>(PATH, { token, replace: false });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (isOtherSignIn(error.body)) {
      setOffer({ token, name: error.body.offered.name });
      return error.body.signed_in;
    }
    if (error.status !== 401) throw error;
    const present = await get<Identity>(PATH);
    toast(strings[language()].signIn.staleToken(present.name), 'warn');
    return present;
  }
}

function isOtherSignIn(body: unknown): body is OtherSignInWire {
  return typeof body === 'object' && body !== null && 'offered' in body && 'signed_in' in body;
}

/** Resolves to false where the gateway could not be reached. Else all drafts are cleared and the page reloads. */
export async function signOut({ everywhere = false } = {}): Promise<boolean> {
  // Who signs out is not asked here any more; that it fails keeps nobody signed in.
  await stopPush({ everywhere }).catch(() => {});
  try {
    await remove(everywhere ? `${PATH}?everywhere=true` : PATH);
  } catch (error) {
    if (!(error instanceof ApiError)) return false;
    if (error.code === ENDED_UNWRITTEN) history.replaceState(ENDED_UNWRITTEN, '');
    else if (error.status >= 500) return false;
  }
  forgetDrafts();
  forgetPageSecret();
  location.reload();
  return true;
}

/** Left by the previous page, which signed out. */
function takeUnwritten(): boolean {
  if (history.state !== ENDED_UNWRITTEN) return false;
  history.replaceState(null, '');
  return true;
}

async function settle(ask: () => Promise<Identity>, refusal: Refusal): Promise<void> {
  clearTimeout(timer);
  const before = identity().name;
  try {
    const found = await ask();
    tries = 0;
    if (enter(found)) state.set({ kind: 'in' });
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) {
      state.set({ kind: 'out', why: refusal === 'none' && before !== '' ? 'ended' : refusal });
    } else if (error instanceof ApiError && error.status < 500) {
      state.set({ kind: 'refused', message: error.message });
    } else {
      unreachable(ask, refusal, error instanceof ApiError ? error.message : undefined);
    }
  }
}

/** False where the page shows data of another key: it reloads. */
function enter(found: Identity): boolean {
  const before = identity().name;
  if (before !== '' && before !== found.name) {
    forgetDrafts();
    location.reload();
    return false;
  }
  setIdentity(found);
  return true;
}

/** A page that is signed in stays so: its connection shows the loss and reconnects. */
function unreachable(ask: () => Promise<Identity>, refusal: Refusal, message: string | undefined): void {
  if (state.get().kind === 'in') return;
  state.set({ kind: 'unreachable', ...(message !== undefined && { message }) });
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
