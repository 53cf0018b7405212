/**
 * The one connection of a node that listens. A connection may break silently, and behind a pooler in
 * transaction mode LISTEN is accepted and no notification ever arrives. So the node notifies itself, and
 * relies on the connection only while its probes come back.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import { deferred } from '../../core/deferred.js';
import { onAbort } from '../../core/stopping.js';
import { CHANNEL, type Notifier } from './notifier.js';

export interface ListenerLimits {
  /** Between two probes while they come back, and while they do not. */
  beatMs: number;
  unprovenBeatMs: number;
  /** How long a probe may take. */
  probeMs: number;
  reconnectMs: { first: number; most: number };
}

interface ListenerOptions {
  /** A connection that is not open yet. The listener ends it. */
  create(): Client;
  notifier: Pick<Notifier, 'origin' | 'notify'>;
  limits: ListenerLimits;
  /** Another node has written something, or may have while this one did not listen. */
  onWake(): void;
  onProven(proven: boolean): void;
}

const PROBE = 'probe';

export class Listener {
  readonly #options: ListenerOptions;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #expected: { nonce: string; arrived: () => void } | undefined;
  #probes = 0;
  #proven = false;
  /** The connection that listens now. */
  #client: Client | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  get proven(): boolean {
    return this.#proven;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { first, most } = this.#options.limits.reconnectMs;
    let pauseMs = first;
    while (!this.#stop.signal.aborted) {
      // The pool uses the same server, and logs why the connection broke.
      const listened = await this.#listen().catch(() => false);
      this.#prove(false);
      pauseMs = listened ? first : Math.min(pauseMs * 2, most);
      // Nodes that lost the same server do not come back at the same moment.
      await this.#pause(pauseMs * (0.5 + Math.random() / 2));
    }
  }

  /** Resolves when the connection is lost, or on `close`: whether it had listened. */
  async #listen(): Promise<boolean> {
    const { create, limits, onWake } = this.#options;
    const client = create();
    const lost = deferred<false>();
    client.on('error', () => lost.resolve(false)).on('end', () => lost.resolve(false));
    client.on('notification', ({ payload = '' }) => this.#heard(payload));
    const release = onAbort(this.#stop.signal, () => {
      lost.resolve(false);
      void client.end().catch(() => {});
    });
    let listened = false;
    const beat = async (): Promise<boolean> => {
      const proven = await this.#probe(client, lost.promise);
      if (this.#client !== client) return false;
      listened = true;
      this.#prove(proven);
      await this.#pause(proven ? limits.beatMs : limits.unprovenBeatMs);
      return true;
    };
    try {
      this.#client = client;
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      // Notifications from before are not delivered.
      onWake();
      while (!this.#stop.signal.aborted && (await Promise.race([lost.promise, beat()])));
    } finally {
      this.#client = undefined;
      release();
      await client.end().catch(() => {});
    }
    return listened;
  }

  /** Rejects where the connection does not answer. */
  async #probe(client: Client, lost: Promise<false>): Promise<boolean> {
    const { notifier, limits } = this.#options;
    const { rows } = await client.query<{ channel: string }>('SELECT pg_listening_channels() AS channel');
    // Another connection of a pooler answers, or this one was reset.
    if (!rows.some(({ channel }) => channel === CHANNEL)) await client.query(`LISTEN ${CHANNEL}`);
    const nonce = String(++this.#probes);
    const back = deferred<boolean>();
    this.#expected = { nonce, arrived: () => back.resolve(true) };
    const late = setTimeout(() => back.resolve(false), limits.probeMs);
    try {
      await notifier.notify(PROBE, nonce).catch(() => back.resolve(false));
      return await Promise.race([lost, back.promise]);
    } finally {
      clearTimeout(late);
    }
  }

  #heard(payload: string): void {
    const [origin, word, nonce] = payload.split(' ');
    if (origin !== this.#options.notifier.origin) {
      if (word !== PROBE) this.#options.onWake();
    } else if (word === PROBE && nonce === this.#expected?.nonce) this.#expected?.arrived();
  }

  #prove(proven: boolean): void {
    if (proven === this.#proven) return;
    this.#proven = proven;
    this.#options.onProven(proven);
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stop.signal, ref: false }).catch(() => {});
  }
}
