import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deferred } from '../../../test/support/gate.js';
import { GatewayError } from '../../core/errors.js';
import type { KeyStore, NewKey } from '../../store/keys.js';
import { openStore } from '../../store/open/open-store.js';
import type { Store } from '../../store/store.js';
import { digestOf } from './credentials.js';
import { KeyRing, SECRET_PREFIX } from './key-ring.js';

const START = 1_760_000_000_000;
const ALICE = { key: 'alice-key', name: 'alice', scopes: ['call'], models: ['*'] } as const;
const secretOf = (name: string): string => `${SECRET_PREFIX}${name}`;

let now = START;
let store: Store;
const rings: KeyRing[] = [];
beforeEach(async () => {
  now = START;
  store = await openStore('sqlite::memory:', { baseDir: '/', now: () => now });
});
afterEach(async () => {
  for (const ring of rings.splice(0)) ring.close();
  await store.close();
});

async function open(keys: readonly (typeof ALICE)[] = [], of: KeyStore = store.keys): Promise<KeyRing> {
  const ring = await KeyRing.open({ keys, store: of, now: () => now });
  rings.push(ring);
  return ring;
}

const add = (name: string, more: Partial<NewKey> = {}) =>
  store.keys.add(
    {
      name,
      digest: digestOf(secretOf(name)).toString('hex'),
      start: 's',
      scopes: ['call'],
      models: ['*'],
      ...more,
    },
    'root',
  );

const isIn = (ring: KeyRing, name: string): boolean => ring.find(secretOf(name)) !== undefined;

describe('the key ring', () => {
  it('finds keys of the configuration and of the store, and no other', async () => {
    await add('ci');
    const ring = await open([ALICE]);
    expect(ring.find('alice-key')?.principal).toMatchObject({ name: 'alice' });
    expect(ring.find(secretOf('ci'))?.principal).toMatchObject({ name: 'ci', scopes: ['call'] });
    expect(ring.find(secretOf('c'))).toBeUndefined();
    // What the store has opens nothing.
    expect(ring.find(digestOf(secretOf('ci')).toString('hex'))).toBeUndefined();
  });

  it('counts by the rate of the key that holds a name, not by one that had it', async () => {
    const old = await add('ci', { rpm: 1 });
    await store.keys.revoke(old?.id ?? '', 'root');
    await add('ci', { digest: digestOf('another').toString('hex') });
    await add('alice', { rpm: 1 });
    const ring = await open([ALICE]);
    for (const name of ['ci', 'alice']) {
      const principal = ring.named(name);
      if (principal === undefined) throw new Error(`there is no key ${name}`);
      ring.countAgainstRate(principal);
      expect(() => ring.countAgainstRate(principal)).not.toThrow();
    }
  });

  it('gives a key that has the name of the operator its own rights', async () => {
    const ring = await open();
    expect(ring.named('local')?.scopes).toContain('admin');
    ring.configure([{ ...ALICE, name: 'local' }]);
    expect(ring.named('local')?.scopes).toEqual(['call']);
  });

  it('has nothing go on in the name of a key that may no longer call models', async () => {
    const ring = await open([ALICE]);
    expect(ring.caller('alice')).toBe(ring.named('alice'));
    ring.configure([{ ...ALICE, scopes: ['approve'] }]);
    expect([ring.named('alice')?.name, ring.caller('alice')]).toEqual(['alice', undefined]);
  });

  it('forgets a key at the moment it ends, without being told', async () => {
    await add('ci', { expiresAt: START + 10 });
    const ring = await open();
    now = START + 9;
    expect([isIn(ring, 'ci'), ring.named('ci')?.name]).toEqual([true, 'ci']);
    now = START + 10;
    expect([isIn(ring, 'ci'), ring.named('ci')]).toEqual([false, undefined]);
  });

  it.each([
    ['a key', {}],
    ['the overlap of a rotation', { rotated: true }],
  ])('tells of the end of %s, once', async (_what, { rotated = false }: { rotated?: boolean }) => {
    const key = await add('ci', rotated ? {} : { expiresAt: START + 10 });
    const next = { digest: 'aa', start: 's', previousUntil: START + 10 };
    if (rotated) await store.keys.rotate(key?.id ?? '', next, 'root');
    const ring = await open();
    let told = 0;
    ring.onChange(() => {
      told += 1;
    });
    for (const [at, times] of [
      [START + 9, 0],
      [START + 10, 1],
      [START + 11, 1],
    ] as const) {
      now = at;
      await ring.refresh();
      expect(told).toBe(times);
    }
  });

  it('takes the secret before a rotation until its overlap is over', async () => {
    const key = await add('ci');
    const ring = await open();
    const rotated = digestOf(secretOf('new')).toString('hex');
    await store.keys.rotate(key?.id ?? '', { digest: rotated, start: 's', previousUntil: START + 5 }, 'root');
    await ring.refresh();
    expect([isIn(ring, 'ci'), isIn(ring, 'new')]).toEqual([true, true]);
    now = START + 5;
    expect([isIn(ring, 'ci'), isIn(ring, 'new')]).toEqual([false, true]);
  });

  it('names another credential after a rotation, for a new key of the same name, and for another configured secret', async () => {
    const key = await add('ci');
    const ring = await open([ALICE]);
    const first = ring.credentialNameOf('ci');
    expect(first).toEqual(expect.any(String));
    await store.keys.rotate(key?.id ?? '', { digest: 'aa', start: 's', previousUntil: START + 5 }, 'root');
    await ring.refresh();
    const second = ring.credentialNameOf('ci');
    await store.keys.revoke(key?.id ?? '', 'root');
    await ring.refresh();
    expect(ring.credentialNameOf('ci')).toBeUndefined();
    await add('ci', { digest: 'bb' });
    await ring.refresh();
    expect(new Set([first, second, ring.credentialNameOf('ci'), undefined]).size).toBe(4);
    const configured = ring.credentialNameOf('alice');
    ring.configure([{ ...ALICE }]);
    expect(ring.credentialNameOf('alice')).toBe(configured);
    ring.configure([{ ...ALICE, key: 'other-key' }]);
    expect(ring.credentialNameOf('alice')).not.toBe(configured);
  });

  it('has what was written before a refresh was asked for, also while an earlier one runs', async () => {
    const key = await add('ci');
    const held = deferred();
    let isSlow = true;
    const slow: KeyStore = {
      ...methodsOf(store.keys),
      async revision() {
        const revision = await store.keys.revision();
        if (isSlow) await held.promise;
        return revision;
      },
    };
    isSlow = false;
    const ring = await open([], slow);
    isSlow = true;
    const early = ring.refresh();
    await store.keys.revoke(key?.id ?? '', 'root');
    const late = ring.refresh();
    held.resolve();
    await Promise.all([early, late]);
    expect(isIn(ring, 'ci')).toBe(false);
  });

  it('keeps its keys while the store is away', async () => {
    await add('ci');
    let isAway = false;
    const ring = await open([], {
      ...methodsOf(store.keys),
      revision: () =>
        isAway ? Promise.reject(new GatewayError('unavailable', 'away')) : store.keys.revision(),
    });
    isAway = true;
    await expect(ring.refresh()).rejects.toThrow('away');
    expect(isIn(ring, 'ci')).toBe(true);
  });

  it('prefers the configuration where both have a name', async () => {
    const key = await add('alice', { scopes: ['admin'] });
    const ring = await open([ALICE]);
    expect(isIn(ring, 'alice')).toBe(false);
    expect(ring.find('alice-key')?.principal.scopes).toEqual(['call']);
    expect(key && ring.stateOf(key)).toBe('replaced');
  });

  it('is open until there is a key, and never again', async () => {
    const ring = await open();
    expect([ring.isOpen, ring.hasOperator]).toEqual([true, true]);
    ring.configure([ALICE]);
    ring.configure([]);
    expect(ring.isOpen).toBe(false);
    const key = await add('ci', { scopes: ['admin'] });
    await store.keys.revoke(key?.id ?? '', 'root');
    expect((await open()).isOpen).toBe(false);
  });

  it('has an operator beside the keys only while none of them may administer', async () => {
    await add('ci');
    expect((await open()).hasOperator).toBe(true);
    await add('boss', { scopes: ['admin'] });
    expect((await open()).hasOperator).toBe(false);
    expect((await open([ALICE])).hasOperator).toBe(false);
  });
});

/** A store's methods are on its class: a copy has only what is named. */
function methodsOf(keys: KeyStore): KeyStore {
  return {
    add: (...asked) => keys.add(...asked),
    list: () => keys.list(),
    rotate: (...asked) => keys.rotate(...asked),
    revoke: (...asked) => keys.revoke(...asked),
    revision: () => keys.revision(),
  };
}
