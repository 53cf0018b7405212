/**
 * Sign-ins of browsers. The secret from the address (or a key) is exchanged for a cookie that holds
 * a random id of its own, so the secret is never stored in the browser, and a cookie that leaks ends
 * with the process. The token can be exchanged again while the process lives: a second tab or
 * another browser profile opens with the same address.
 */
import { randomBytes } from 'node:crypto';
import type { Principal } from '../engines/engine.js';
import { digestOf } from './credentials.js';

const LIFETIME_MS = 24 * 3600 * 1000;
/** The oldest sign-in goes when there are more. */
const MAX_SESSIONS = 1000;

interface ConsoleSession {
  principal: Principal;
  expiresAt: number;
}

export class ConsoleSessions {
  /** By digest: a lookup by the id itself would compare it byte by byte. */
  readonly #sessions = new Map<string, ConsoleSession>();
  readonly #cookie: string;
  readonly #listeners = new Set<() => void>();

  /** Browsers keep cookies by host, not by port: the name keeps two gateways on one machine apart. */
  constructor(port: number) {
    this.#cookie = `toolgate_${port}`;
  }

  /** The value of `set-cookie`. `secure` where the browser came over TLS. */
  open(principal: Principal, secure: boolean, now = Date.now()): string {
    const id = randomBytes(32).toString('base64url');
    const oldest = this.#sessions.keys().next();
    if (this.#sessions.size >= MAX_SESSIONS && !oldest.done) {
      this.#sessions.delete(oldest.value);
      this.#tell();
    }
    this.#sessions.set(keyOf(id), { principal, expiresAt: now + LIFETIME_MS });
    return `${this.#cookie}=${id}; Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
  }

  /** Told when one has ended before its time. */
  onEnd(listener: () => void): void {
    this.#listeners.add(listener);
  }

  find(cookieHeader: string | undefined, now = Date.now()): Principal | undefined {
    const id = this.#idIn(cookieHeader);
    if (id === undefined) return undefined;
    const key = keyOf(id);
    const session = this.#sessions.get(key);
    if (session === undefined) return undefined;
    if (session.expiresAt <= now) {
      this.#sessions.delete(key);
      return undefined;
    }
    session.expiresAt = now + LIFETIME_MS;
    return session.principal;
  }

  /** The value of `set-cookie` that makes the browser forget. */
  close(cookieHeader: string | undefined): string {
    const id = this.#idIn(cookieHeader);
    if (id !== undefined && this.#sessions.delete(keyOf(id))) this.#tell();
    return `${this.#cookie}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`;
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  #idIn(cookieHeader: string | undefined): string | undefined {
    if (cookieHeader === undefined) return undefined;
    for (const pair of cookieHeader.split(';')) {
      const at = pair.indexOf('=');
      if (at > 0 && pair.slice(0, at).trim() === this.#cookie) return pair.slice(at + 1).trim();
    }
    return undefined;
  }
}

function keyOf(id: string): string {
  return digestOf(id).toString('base64');
}
