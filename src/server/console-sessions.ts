/**
 * Sign-ins of browsers. The secret from the address (or a key) is exchanged for a cookie that holds
 * a random id of its own, so the secret is never stored in the browser. The token can be exchanged
 * again while the process lives: a second tab or another browser profile opens with the same address.
 *
 * Sign-ins are in the store, so that a page that is open goes on after a restart, and in memory, so
 * that no request waits to be let in. Their ends slide with each use; the store learns of that later.
 */
import { randomBytes } from 'node:crypto';
import { GatewayError } from '../core/errors.js';
import type { Principal } from '../engines/engine.js';
import type { Log } from '../observability/log.js';
import type { SignIn, SignInStore } from '../store/sign-ins.js';
import { bindingOf, boundTo, type Credential, keyOf, SessionCookie } from './console-sessions-cookie.js';

export const SIGN_IN_LIMITS = {
  /** Since the last use. */
  lifetimeMs: 24 * 3600 * 1000,
  /** The store learns of a later end when it is later by so much. */
  slideMs: 3600 * 1000,
  /** Between two looks at the store: what it does not know yet, and what others have ended. */
  syncMs: 60 * 1000,
  /** The oldest sign-in goes when there are more. */
  most: 1000,
} as const;

interface ConsoleSession {
  binding: string;
  /** Unknown until its cookie comes: only that tells whose it is. */
  principal: Principal | undefined;
  expiresAt: number;
  /** The end that the store knows; undefined where it could not be told of the sign-in. */
  storedUntil: number | undefined;
}

export interface ConsoleSessionsOptions {
  port: number;
  /** Those that are good now. */
  credentials: readonly Credential[];
  store: SignInStore;
  log: Pick<Log, 'warn'>;
  /** What the store had at the start. */
  found?: readonly SignIn[];
}

/** What there is to go on with at the start. Where the store does not say, each is looked for when it comes. */
export async function loadSignIns(store: SignInStore, log: Pick<Log, 'warn'>): Promise<readonly SignIn[]> {
  try {
    return await store.list();
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    log.warn({ err: error }, 'sign-ins of earlier could not be read');
    return [];
  }
}

export class ConsoleSessions {
  readonly #options: ConsoleSessionsOptions;
  readonly #cookie: SessionCookie;
  /** By the digest of their id, in the order in which they began. */
  readonly #sessions = new Map<string, ConsoleSession>();
  /** Ended, but still in the store. */
  readonly #leaving = new Set<string>();
  readonly #listeners = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;
  #syncing: Promise<void> | undefined;

  constructor(options: ConsoleSessionsOptions) {
    this.#options = options;
    this.#cookie = new SessionCookie(options.port);
    for (const signIn of options.found ?? []) this.#adopt(signIn);
    this.#timer = setInterval(() => void this.sync(), SIGN_IN_LIMITS.syncMs).unref();
  }

  /**
   * The value of `set-cookie`, once the store has the sign-in; where it cannot have it, the sign-in is
   * good for this process. The one that the browser had before ends.
   */
  async open(credential: Credential, secure: boolean, replaced?: string, now = Date.now()): Promise<string> {
    const id = randomBytes(32).toString('base64url');
    const session: ConsoleSession = {
      binding: bindingOf(id, credential),
      principal: credential.principal,
      expiresAt: now + SIGN_IN_LIMITS.lifetimeMs,
      storedUntil: undefined,
    };
    await this.#patiently('a sign-in will end with this process', () => this.#write(keyOf(id), session));
    this.#put(keyOf(id), session);
    await this.#patiently('a sign-in that was replaced is still in the store', () => this.close(replaced));
    return this.#cookie.give(id, secure);
  }

  /** Told when one has ended before its time. */
  onEnd(listener: () => void): void {
    this.#listeners.add(listener);
  }

  find(cookieHeader: string | undefined, now = Date.now()): Principal | undefined {
    const id = this.#cookie.idIn(cookieHeader);
    if (id === undefined) return undefined;
    const key = keyOf(id);
    const session = this.#sessions.get(key);
    if (session === undefined) return undefined;
    if (session.expiresAt <= now) {
      this.#sessions.delete(key);
      return undefined;
    }
    session.principal ??= boundTo(id, session.binding, this.#options.credentials)?.principal;
    if (session.principal === undefined) {
      // Its key is gone, and so is it: it does not come back with the key.
      this.#sessions.delete(key);
      this.#leaving.add(key);
      return undefined;
    }
    session.expiresAt = now + SIGN_IN_LIMITS.lifetimeMs;
    return session.principal;
  }

  /** There is a cookie that only the store may know. */
  isStranger(cookieHeader: string | undefined): boolean {
    const id = this.#cookie.idIn(cookieHeader);
    if (id === undefined) return false;
    const key = keyOf(id);
    return !this.#sessions.has(key) && !this.#leaving.has(key);
  }

  /** From then on `find` knows a stranger that another gateway on this store let in. Rejects as the store does. */
  async recall(cookieHeader: string | undefined): Promise<void> {
    const id = this.#cookie.idIn(cookieHeader);
    if (id === undefined || !this.isStranger(cookieHeader)) return;
    const signIn = await this.#options.store.get(keyOf(id));
    if (signIn !== undefined && this.isStranger(cookieHeader)) this.#adopt(signIn);
  }

  /**
   * Over in this process at once, and for good when it resolves. Where it rejects as the store does,
   * it goes from the store as soon as that works.
   */
  async close(cookieHeader: string | undefined): Promise<void> {
    const id = this.#cookie.idIn(cookieHeader);
    if (id === undefined) return;
    await this.recall(cookieHeader);
    const key = keyOf(id);
    if (this.#sessions.delete(key)) {
      this.#leaving.add(key);
      this.#tell();
    }
    if (this.#leaving.has(key)) await this.#removeLeaving();
  }

  /** The value of `set-cookie` that makes the browser forget. */
  get takenCookie(): string {
    return this.#cookie.taken;
  }

  /** Tells the store what it does not know, and ends what is gone from it. Never rejects; a call while one runs joins it. */
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
  }

  async #sync(now: number, slideMs: number): Promise<void> {
    for (const [key, { expiresAt }] of this.#sessions) if (expiresAt <= now) this.#sessions.delete(key);
    try {
      await this.#removeLeaving();
      await this.#writeBehind(slideMs);
      await this.#endRemoved();
    } catch (error) {
      this.#options.log.warn({ err: error }, 'sign-ins could not be written; they are good for this process');
    }
  }

  async #writeBehind(slideMs: number): Promise<void> {
    const slid: { id: string; expiresAt: number; session: ConsoleSession }[] = [];
    for (const [id, session] of [...this.#sessions]) {
      const { expiresAt, storedUntil } = session;
      if (storedUntil === undefined) {
        await this.#write(id, session);
        // It has ended meanwhile, before the store knew of it.
        if (!this.#sessions.has(id)) this.#leaving.add(id);
      } else if (expiresAt - storedUntil >= slideMs) slid.push({ id, expiresAt, session });
    }
    await this.#removeLeaving();
    if (slid.length === 0) return;
    await this.#options.store.extend(slid.map(({ id, expiresAt }) => ({ id, expiresAt })));
    for (const { expiresAt, session } of slid) session.storedUntil = expiresAt;
  }

  /** Somebody signed out at another gateway. */
  async #endRemoved(): Promise<void> {
    const known = [...this.#sessions].filter(([, { storedUntil }]) => storedUntil !== undefined);
    if (known.length === 0) return;
    const stored = new Set((await this.#options.store.list()).map(({ id }) => id));
    const gone = known.filter(([key]) => !stored.has(key) && this.#sessions.delete(key));
    if (gone.length > 0) this.#tell();
  }

  async #write(id: string, session: ConsoleSession): Promise<void> {
    const { binding, expiresAt } = session;
    await this.#options.store.add({ id, binding, expiresAt });
    session.storedUntil = expiresAt;
  }

  async #removeLeaving(): Promise<void> {
    const keys = [...this.#leaving];
    if (keys.length === 0) return;
    await this.#options.store.remove(keys);
    for (const key of keys) this.#leaving.delete(key);
  }

  #adopt({ id, binding, expiresAt }: SignIn): void {
    this.#put(id, { binding, principal: undefined, expiresAt, storedUntil: expiresAt });
  }

  #put(key: string, session: ConsoleSession): void {
    this.#sessions.set(key, session);
    const oldest = this.#sessions.keys().next();
    if (this.#sessions.size <= SIGN_IN_LIMITS.most || oldest.done) return;
    this.#sessions.delete(oldest.value);
    this.#leaving.add(oldest.value);
    this.#tell();
  }

  async #patiently(problem: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      this.#options.log.warn({ err: error }, problem);
    }
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'unavailable';
}
