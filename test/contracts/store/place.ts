/** What the suite needs of an implementation, and what its parts share. */
import { afterEach, beforeEach, expect } from 'vitest';
import { type Lease, sessionLease } from '../../../src/store/leases.js';
import type { Checkpoint, CheckpointOutcome, NewSession } from '../../../src/store/sessions.js';
import type { Store, StoreOptions } from '../../../src/store/store.js';

export type ContractOptions = Omit<StoreOptions, 'baseDir'>;

/** An empty place of its own for each test. */
export interface Place {
  /** Opened again, the same data is there; at the same time where the place is shared. */
  open(options: ContractOptions): Promise<Store>;
  dispose(): Promise<void>;
}

export const START = 1_760_000_000_000;
export const TTL = 60_000;

export class Bench {
  now = START;
  readonly errors: unknown[] = [];
  readonly #place: Place;
  readonly #open: Store[] = [];

  constructor(place: Place) {
    this.#place = place;
  }

  async open(options: ContractOptions = {}): Promise<Store> {
    const onError = (error: unknown) => this.errors.push(error);
    const store = await this.#place.open({ now: () => this.now, onError, ...options });
    this.#open.push(store);
    return store;
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#open.map((store) => store.close()));
    await this.#place.dispose();
    expect(this.errors).toEqual([]);
  }
}

/** Call in a `describe`: the bench of the test that runs. */
export function useBench(makePlace: () => Promise<Place>): () => Bench {
  let bench: Bench | undefined;
  beforeEach(async () => {
    bench = new Bench(await makePlace());
  });
  afterEach(async () => {
    await bench?.dispose();
    bench = undefined;
  });
  return () => {
    if (bench === undefined) throw new Error('Only inside a test.');
    return bench;
  };
}

export async function acquire(store: Store, name: string, owner = 'node-a'): Promise<Lease> {
  const grant = await store.leases.acquire(name, owner, TTL);
  if (!grant.granted) throw new Error(`${name} is held by ${grant.owner}`);
  return grant.lease;
}

export interface OwnedSession {
  id: string;
  lease: Lease;
  step(change: Checkpoint): Promise<CheckpointOutcome>;
}

/** A session with its lease, and a way to take steps. */
export async function ownSession(
  store: Store,
  id: string,
  session: Partial<NewSession> = {},
): Promise<OwnedSession> {
  await newSession(store, id, session);
  const lease = await acquire(store, sessionLease(id));
  return { id, lease, step: (change) => store.sessions.checkpoint(id, lease, change) };
}

export async function newSession(store: Store, id: string, session: Partial<NewSession> = {}): Promise<void> {
  const created = await store.sessions.create({
    id,
    principal: 'alice',
    model: 'coder',
    engine: 'native',
    state: 'live',
    expiresAt: START + 10 * TTL,
    ...session,
  });
  expect(created).toBe(true);
}

/** `allOf(pages)`: every item, page by page, checking that none repeats a cursor. */
export async function allPages<T>(
  page: (cursor: string | undefined) => Promise<{ items: T[]; next?: string }>,
): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const step = await page(cursor);
    items.push(...step.items);
    expect(step.next === undefined || step.next !== cursor).toBe(true);
    cursor = step.next;
  } while (cursor !== undefined);
  return items;
}
