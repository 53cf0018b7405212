/** Idle connections by origin. The last one used is the first one taken: the others may age out. */
import type { ConnectionUser, UpstreamConnection } from './connection.js';

export class ConnectionPool {
  readonly #idle = new Map<string, IdleConnection[]>();
  /** Kept with the connection: its timer is set again each time instead of made anew. */
  readonly #entries = new WeakMap<UpstreamConnection, IdleConnection>();
  readonly #maxIdle: number;

  constructor(maxIdlePerKey: number) {
    this.#maxIdle = maxIdlePerKey;
  }

  take(key: string): UpstreamConnection | undefined {
    const list = this.#idle.get(key);
    for (let entry = list?.pop(); entry !== undefined; entry = list?.pop()) {
      entry.leave();
      if (entry.connection.usable) return entry.connection;
      entry.connection.destroy();
    }
    return undefined;
  }

  put(connection: UpstreamConnection, forMs: number): void {
    const list = this.#listOf(connection.key);
    if (forMs <= 0 || list.length >= this.#maxIdle) {
      connection.destroy();
      return;
    }
    let entry = this.#entries.get(connection);
    if (entry === undefined || entry.forMs !== forMs) {
      entry = new IdleConnection(connection, forMs, list);
      this.#entries.set(connection, entry);
    }
    entry.enter();
  }

  /** Stays when it is empty: there are few origins. */
  #listOf(key: string): IdleConnection[] {
    let list = this.#idle.get(key);
    if (list === undefined) {
      list = [];
      this.#idle.set(key, list);
    }
    return list;
  }
}

/** Whatever happens on an idle connection ends it: the bytes are unsolicited. */
class IdleConnection implements ConnectionUser {
  readonly connection: UpstreamConnection;
  readonly forMs: number;
  readonly #list: IdleConnection[];
  #timer: NodeJS.Timeout | undefined;

  constructor(connection: UpstreamConnection, forMs: number, list: IdleConnection[]) {
    this.connection = connection;
    this.forMs = forMs;
    this.#list = list;
  }

  enter(): void {
    this.#list.push(this);
    this.connection.user = this;
    this.connection.setIdle(true);
    if (this.#timer === undefined) {
      this.#timer = setTimeout(() => this.#expire(), this.forMs);
      this.#timer.unref();
    } else {
      this.#timer.refresh();
    }
  }

  leave(): void {
    this.connection.user = undefined;
    this.connection.setIdle(false);
  }

  onRead(): void {
    this.#end();
  }

  onClosed(): void {
    this.#end();
  }

  /** The timer is not stopped while the connection works: then it has nothing to end. */
  #expire(): void {
    if (this.#list.includes(this)) this.#end();
  }

  #end(): void {
    const at = this.#list.indexOf(this);
    if (at !== -1) this.#list.splice(at, 1);
    clearTimeout(this.#timer);
    this.leave();
    this.connection.destroy();
  }
}
