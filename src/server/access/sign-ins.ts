/**
 * Sign-ins of browsers. The secret from the address (or a key) is exchanged for a cookie and a secret
 * of the page, which are random and only good together, so the secret is never stored in the browser. The token can be exchanged
 * again while the process lives: a second tab or another browser profile opens with the same address.
 *
 * Sign-ins are in the store, so that a page that is open goes on after a restart, and in memory, so
 * that no request waits to be let in. Their ends slide with each use; the store learns of that later.
 */
import { GatewayError } from '../../core/errors.js';
import type { Principal } from '../../engines/engine.js';
import type { Log } from '../../observability/log.js';
import type { SignIn, SignInStore } from '../../store/sign-ins.js';
import {
  bindingOf,
  boundTo,
  type Credential,
  keyOf,
  type Presented,
  SignInCookie,
} from './sign-in-cookie.js';

export const SIGN_IN_LIMITS = {
  /** Since the last use. */
  lifetimeMs: 24 * 3600 * 1000,
  /** Since it began, however much it is used. */
  longestMs: 30 * 24 * 3600 * 1000,
  /** The store learns of a later end when it is later by so much. */
  slideMs: 3600 * 1000,
  /** Between two looks at the store: what it does not know yet, and what others have ended. */
  syncMs: 60 * 1000,
  /** Of one key; of more, the one unused for longest goes. */
  perKey: 100,
  /** Unknown cookies that are remembered until the next look at the store. */
  unknown: 1000,
} as const;

interface HeldSignIn {
  /** Of the key; that of earlier until its cookie comes. */
  name: string;
  binding: string;
  /** Unknown until its cookie comes: only that identifies the key. */
  credential: Credential | undefined;
  beganAt: number;
  expiresAt: number;
  /** The end that the store knows; undefined where the sign-in could not be stored. */
  storedUntil: number | undefined;
}

export interface SignInsOptions {
  port: number;
  /** Those that are good now. */
  credentials(): readonly Credential[];
  isGood(credential: Credential): boolean;
  store: SignInStore;
  log: Pick<Log, 'warn'>;
  /** What the store had at the start. */
  found?: readonly SignIn[];
}

export interface NewSignIn {
  /** The value of the header. */
  setCookie: string;
  /** What the page has to send with the cookie. */
  page: string;
}

/** The stored sign-ins at the start. Where the store is down, each is looked up when its cookie comes. */
export async function loadSignIns(store: SignInStore, log: Pick<Log, 'warn'>): Promise<readonly SignIn[]> {
  try {
    return await store.list();
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    log.warn({ err: error }, 'stored sign-ins could not be read');
    return [];
  }
}

export class SignIns {
  readonly #options: SignInsOptions;
  readonly #cookie: SignInCookie;
  /** By the digest of their id, the one unused for longest first. */
  readonly #held = new Map<string, HeldSignIn>();
  /** Ended, but perhaps still in the store. No more than the store keeps. */
  readonly #leaving = new Set<string>();
  /** Who has ended all of theirs, and when: none that began before is good. */
  readonly #everywhere = new Map<string, number>();
  /** Some of those may still be in the store. */
  #sweeping = false;
  /** Looked for, and not there. */
  readonly #unknown = new Set<string>();
  readonly #listeners = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;
  #syncing: Promise<void> | undefined;

  constructor(options: SignInsOptions) {
    this.#options = options;
    this.#cookie = new SignInCookie(options.port);
    for (const signIn of options.found ?? []) this.#adopt(signIn);
    this.#timer = setInterval(() => void this.sync(), SIGN_IN_LIMITS.syncMs).unref();
  }

  /**
   * Resolves once the store has the sign-in; where it cannot have it, the sign-in is good for this
   * process. The one that the browser presents ends; the secret of its page stays.
   */
  async open(
    credential: Credential,
    secure: boolean,
    presented?: Presented,
    now = Date.now(),
  ): Promise<NewSignIn> {
    const { id, value, page } = this.#cookie.make(presented);
    const { name } = credential.principal;
    const signIn: HeldSignIn = {
      name,
      binding: bindingOf(id, credential),
      credential,
      // After all that ended everywhere, also where the clock was set back.
      beganAt: Math.max(now, (this.#everywhere.get(name) ?? 0) + 1),
      expiresAt: now + SIGN_IN_LIMITS.lifetimeMs,
      storedUntil: undefined,
    };
    await this.#patiently('a sign-in will end with this process', () => this.#write(keyOf(id), signIn));
    this.#put(keyOf(id), signIn);
    const before = this.#cookie.idIn(presented);
    if (before !== undefined) this.#end([keyOf(before)]);
    // Also what had to make room: the store must not fill up with it.
    await this.#patiently('a sign-in that was replaced is still in the store', () => this.#removeLeaving());
    return { setCookie: this.#cookie.give(value, secure), page };
  }

  /** Calls `listener` when one has ended before its time. */
  onEnd(listener: () => void): void {
    this.#listeners.add(listener);
  }

  find(presented: Presented, now = Date.now()): Principal | undefined {
    const id = this.#cookie.idIn(presented);
    if (id === undefined) return undefined;
    const key = keyOf(id);
    const signIn = this.#held.get(key);
    if (signIn === undefined) return undefined;
    this.#held.delete(key);
    if (signIn.expiresAt <= now) return undefined;
    if (signIn.credential === undefined || !this.#options.isGood(signIn.credential)) {
      signIn.credential = boundTo(id, signIn.binding, this.#options.credentials());
      signIn.name = signIn.credential?.principal.name ?? signIn.name;
    }
    if (signIn.credential === undefined || this.#isOver(signIn)) {
      // Its key is gone, and so is it: it does not come back with the key.
      this.#leave(key);
      return undefined;
    }
    signIn.expiresAt = Math.min(now + SIGN_IN_LIMITS.lifetimeMs, signIn.beganAt + SIGN_IN_LIMITS.longestMs);
    this.#held.set(key, signIn);
    return signIn.credential.principal;
  }

  /** There is a cookie that only the store may know. */
  isStranger(presented: Presented): boolean {
    const id = this.#cookie.idIn(presented);
    if (id === undefined) return false;
    const key = keyOf(id);
    return !this.#knows(key) && !this.#unknown.has(key);
  }

  /** From then on `find` knows a stranger that another gateway on this store let in. Rejects as the store does. */
  async recall(presented: Presented): Promise<void> {
    const id = this.#cookie.idIn(presented);
    if (id === undefined || !this.isStranger(presented)) return;
    const key = keyOf(id);
    const signIn = await this.#options.store.get(key);
    if (signIn === undefined) addBounded(this.#unknown, key, SIGN_IN_LIMITS.unknown);
    else if (!this.#knows(key)) this.#adopt(signIn);
  }

  /**
   * Over in this process at once, and for good when it resolves. Where it rejects as the store does,
   * it goes from the store as soon as that works.
   */
  async close(presented: Presented): Promise<void> {
    const id = this.#cookie.idIn(presented);
    if (id === undefined) return;
    const key = keyOf(id);
    if (!this.#knows(key)) {
      // Anybody can send a cookie: it neither displaces what others have ended, nor costs a write.
      if (this.#leaving.size < this.#options.store.most) this.#leave(key);
      if ((await this.#options.store.get(key)) === undefined) {
        this.#leaving.delete(key);
        return;
      }
    }
    this.#end([key]);
    await this.#removeLeaving();
  }

  /** All of theirs, also those that only the store knows. As `close` otherwise. */
  async closeAll({ name }: Principal, now = Date.now()): Promise<void> {
    this.#everywhere.set(name, now);
    this.#sweeping = true;
    this.#end([...this.#held].filter(([, signIn]) => this.#isOver(signIn)).map(([key]) => key));
    await this.#removeLeaving();
  }

  /** Gone from the store: a sign-out at another gateway. */
  ended(keys: readonly string[]): void {
    const known = keys.filter((key) => this.#held.delete(key));
    for (const key of keys) addBounded(this.#unknown, key, SIGN_IN_LIMITS.unknown);
    if (known.length > 0) this.#emitEnd();
  }

  /** The value of `set-cookie` that makes the browser forget. */
  get takenCookie(): string {
    return this.#cookie.taken;
  }

  /** Writes what the store does not know, and ends what is gone from it. Never rejects; a call while one runs joins it. */
  sync(now = Date.now(), slideMs: number = SIGN_IN_LIMITS.slideMs): Promise<void> {
    this.#syncing ??= this.#sync(now, slideMs).finally(() => {
      this.#syncing = undefined;
    });
    return this.#syncing;
  }

  /** Nothing of what the process knows is lost; before the store closes. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#syncing;
    await this.sync(Date.now(), 1);
    const [left, everywhere] = [this.#leaving.size, this.#sweeping];
    if (left === 0 && !everywhere) return;
    const problem = 'sign-ins that were ended are still in the store: good again after a restart';
    this.#options.log.warn({ left, everywhere }, problem);
  }

  async #sync(now: number, slideMs: number): Promise<void> {
    for (const [key, { expiresAt }] of this.#held) if (expiresAt <= now) this.#held.delete(key);
    this.#unknown.clear();
    let problem = 'sign-ins that were ended could not be removed; this process refuses them';
    try {
      await this.#removeLeaving();
      problem = 'sign-ins could not be written; they are good for this process';
      await this.#writeBehind(now, slideMs);
      problem = 'sign-ins could not be read; what others have ended is not known';
      await this.#endRemoved();
    } catch (error) {
      this.#options.log.warn({ err: error }, problem);
    }
  }

  async #writeBehind(now: number, slideMs: number): Promise<void> {
    const slid: { id: string; expiresAt: number; signIn: HeldSignIn }[] = [];
    for (const [id, signIn] of [...this.#held]) {
      const { expiresAt, storedUntil } = signIn;
      if (storedUntil === undefined) {
        await this.#write(id, signIn);
        // It has ended meanwhile, before the store knew of it.
        if (!this.#held.has(id)) this.#leave(id);
        continue;
      }
      const slide = expiresAt - storedUntil;
      if (slide >= slideMs || (slide > 0 && storedUntil - now <= slideMs))
        slid.push({ id, expiresAt, signIn });
    }
    await this.#removeLeaving();
    if (slid.length === 0) return;
    await this.#options.store.extend(slid.map(({ id, expiresAt }) => ({ id, expiresAt })));
    for (const { expiresAt, signIn } of slid) signIn.storedUntil = expiresAt;
  }

  /** A sign-out at another gateway. Sign-ins that are expired only in the store are renewed there first. */
  async #endRemoved(): Promise<void> {
    const known = [...this.#held].filter(([, { storedUntil }]) => storedUntil !== undefined);
    if (known.length === 0) return;
    const stored = new Set((await this.#options.store.list()).map(({ id }) => id));
    const gone = known.filter(([key]) => !stored.has(key) && this.#held.delete(key));
    if (gone.length > 0) this.#emitEnd();
  }

  async #write(id: string, signIn: HeldSignIn): Promise<void> {
    const { name, binding, beganAt, expiresAt } = signIn;
    await this.#options.store.add({ id, name, binding, beganAt, expiresAt });
    signIn.storedUntil = expiresAt;
  }

  async #removeLeaving(): Promise<void> {
    const { store } = this.#options;
    const sweeping = this.#sweeping;
    this.#sweeping = false;
    try {
      const keys = new Set(this.#leaving);
      const stored = sweeping ? await store.list() : [];
      for (const signIn of stored) if (this.#isOver(signIn)) keys.add(signIn.id);
      if (keys.size > 0) await store.remove([...keys]);
      for (const key of keys) this.#leaving.delete(key);
    } catch (error) {
      this.#sweeping ||= sweeping;
      throw error;
    }
  }

  #adopt({ id, expiresAt, ...rest }: SignIn): void {
    this.#put(id, { ...rest, credential: undefined, expiresAt, storedUntil: expiresAt });
  }

  /** A new sign-in evicts one of its own key, never one of another key. */
  #put(key: string, signIn: HeldSignIn): void {
    this.#held.set(key, signIn);
    const own = [...this.#held].filter(([, { name }]) => name === signIn.name);
    if (own.length <= SIGN_IN_LIMITS.perKey && this.#held.size <= this.#options.store.most) return;
    const [first] = own.length > 1 ? own : this.#held;
    if (first !== undefined) this.#end([first[0]]);
  }

  /** Ended with all others of its key. A sign-in whose key was renamed cannot be matched, so it ends too. */
  #isOver({ name, beganAt }: Pick<SignIn, 'name' | 'beganAt'>): boolean {
    if (this.#everywhere.size === 0) return false;
    const isKnown = this.#options.credentials().some(({ principal }) => principal.name === name);
    const ends = isKnown ? [this.#everywhere.get(name) ?? 0] : [...this.#everywhere.values()];
    return ends.some((end) => beganAt <= end);
  }

  #knows(key: string): boolean {
    return this.#held.has(key) || this.#leaving.has(key);
  }

  #end(keys: readonly string[]): void {
    const known = keys.filter((key) => this.#held.delete(key));
    for (const key of keys) this.#leave(key);
    if (known.length > 0) this.#emitEnd();
  }

  #leave(key: string): void {
    addBounded(this.#leaving, key, this.#options.store.most);
  }

  async #patiently(problem: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      this.#options.log.warn({ err: error }, problem);
    }
  }

  #emitEnd(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** The first goes when there are more. */
function addBounded(set: Set<string>, value: string, most: number): void {
  set.add(value);
  const [first] = set;
  if (set.size > most && first !== undefined) set.delete(first);
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'unavailable';
}
