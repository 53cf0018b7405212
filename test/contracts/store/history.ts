import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/store/store.js';
import { type Bench, ownSession, START, TTL } from './place.js';

export function historyContract(bench: () => Bench): void {
  describe('history index', () => {
    it('finds the longest prefix a session knows', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1');
      await step({ index: chain('a', 'b', 'c') });
      expect(await store.index.longestPrefix('alice', ['a', 'b', 'x'])).toEqual({
        hash: 'b',
        session: 's1',
        position: 2,
        head: false,
      });
      expect(await store.index.longestPrefix('alice', ['a', 'b', 'c', 'd'])).toMatchObject({
        hash: 'c',
        head: true,
      });
      expect(await store.index.longestPrefix('alice', ['x', 'y'])).toBeUndefined();
      expect(await store.index.longestPrefix('alice', [])).toBeUndefined();
    });

    it('never shows a session to another principal', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1');
      await step({ index: chain('a') });
      expect(await store.index.longestPrefix('bob', ['a'])).toBeUndefined();
    });

    it('prefers a session that ends there, then the latest used', async () => {
      const store = await bench().open();
      const old = await ownSession(store, 'old');
      const ended = await ownSession(store, 'ended');
      const longer = await ownSession(store, 'longer');
      await old.step({ index: chain('a', 'b') });
      bench().now += 1;
      await ended.step({ index: chain('a', 'b') });
      bench().now += 1;
      await longer.step({ index: chain('a', 'b', 'c') });
      expect(await store.index.longestPrefix('alice', ['a', 'b'])).toMatchObject({
        session: 'ended',
        head: true,
      });
      expect(await store.index.longestPrefix('alice', ['a'])).toMatchObject({
        session: 'longer',
        head: false,
      });
    });

    it('finds every session that knows a hash, in the same order, and none of another principal', async () => {
      const store = await bench().open();
      const names = ['old', 'ended', 'longer'];
      for (const name of names) {
        bench().now += 1;
        const { step } = await ownSession(store, name);
        await step({ index: name === 'ended' ? chain('a') : chain('a', name) });
      }
      const other = await ownSession(store, 'other', { principal: 'bob' });
      await other.step({ index: chain('a') });
      const found = async (limit: number) =>
        (await store.index.find('alice', 'a', { limit, prompt: '' })).map(({ session, head }) => [
          session,
          head,
        ]);
      expect(await found(10)).toEqual([
        ['ended', true],
        ['longer', false],
        ['old', false],
      ]);
      expect(await found(1)).toEqual([['ended', true]]);
      expect(await store.index.find('alice', 'x', { limit: 10, prompt: '' })).toEqual([]);
    });

    it('finds first what was said under the same system prompt, however many others there are', async () => {
      const store = await bench().open();
      const prompts = ['p1', undefined, 'p2', ...Array.from({ length: 20 }, (_, index) => `other-${index}`)];
      for (const [index, prompt] of prompts.entries()) {
        bench().now += 1;
        const { step } = await ownSession(store, `s${index}`);
        // The oldest ends there; the others go on.
        const metadata = prompt === undefined ? {} : { prompt };
        await step({ metadata, index: index === 0 ? chain('a') : chain('a', `b${index}`) });
      }
      const first = async (prompt: string, limit: number) =>
        (await store.index.find('alice', 'a', { limit, prompt })).map(({ session }) => session);
      expect(await first('p2', 2)).toEqual(['s2', 's0']);
      expect(await first('', 2)).toEqual(['s1', 's0']);
      expect(await first('unknown', 3)).toEqual(['s0', 's22', 's21']);
      expect(await first('p1', 1)).toEqual(['s0']);
    });

    it('forgets with the session', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1', { expiresAt: START + TTL });
      await step({ index: chain('a') });
      bench().now = START + TTL;
      expect(await store.index.longestPrefix('alice', ['a'])).toBeUndefined();
    });

    it('takes an entry again without harm', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1');
      await step({ index: chain('a', 'b') });
      expect(await step({ index: chain('a', 'b', 'c') })).toEqual({ ok: true });
      expect(await store.index.longestPrefix('alice', ['a', 'b', 'c'])).toMatchObject({
        position: 3,
        head: true,
      });
    });

    it('finds a match at every depth of a long history', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1');
      await step({ index: [{ hash: 'known', position: 1 }] });
      const depths = Array.from({ length: 150 }, (_, depth) => depth);
      for (const depth of depths) {
        const echoed = depths.map((at) => (at === depth ? 'known' : `other-${at}`));
        expect([depth, (await store.index.longestPrefix('alice', echoed))?.session]).toEqual([depth, 's1']);
      }
    });

    it('agrees with a naive model on any set of histories', async () => {
      const store = await bench().open();
      let round = 0;
      await fc.assert(
        fc.asyncProperty(scenario, async ({ sessions, queries }) => {
          round += 1;
          const model = await build(bench(), store, `r${round}-`, sessions);
          for (const { principal, words } of queries) {
            const wanted = naive(model, principal, hashes(words));
            const found = await store.index.longestPrefix(
              principal,
              hashes(words).map((hash) => `r${round}-${hash}`),
            );
            expect(found).toEqual(wanted && { ...wanted, hash: `r${round}-${wanted.hash}` });
          }
        }),
        { numRuns: 60 },
      );
    });
  });
}

function chain(...names: string[]) {
  return names.map((hash, index) => ({ hash, position: index + 1 }));
}

/** A stand-in for the hash chain: a link stands for all words up to it. */
function hashes(words: readonly string[]): string[] {
  return words.map((_, index) => words.slice(0, index + 1).join('/'));
}

const principal = fc.constantFrom('alice', 'bob');
// Two words make long shared prefixes likely; 70 reaches beyond one probe of an implementation.
const words = fc.oneof(
  fc.array(fc.constantFrom('x', 'y'), { maxLength: 6 }),
  fc.array(fc.constantFrom('x'), { minLength: 25, maxLength: 70 }),
);
const scenario = fc.record({
  sessions: fc.array(fc.record({ principal, words }), { maxLength: 6 }),
  queries: fc.array(fc.record({ principal, words }), { minLength: 1, maxLength: 4 }),
});

interface Known {
  id: string;
  principal: string;
  chain: string[];
}

async function build(
  bench: Bench,
  store: Store,
  prefix: string,
  sessions: { principal: string; words: string[] }[],
) {
  const known: Known[] = [];
  for (const [index, session] of sessions.entries()) {
    const id = `${prefix}${index}`;
    bench.now += 1;
    const links = hashes(session.words);
    const { step } = await ownSession(store, id, { principal: session.principal });
    await step({ index: links.map((hash, at) => ({ hash: `${prefix}${hash}`, position: at + 1 })) });
    known.push({ id, principal: session.principal, chain: links });
  }
  return known;
}

function naive(known: readonly Known[], asked: string, links: readonly string[]) {
  for (let length = links.length; length > 0; length--) {
    const hash = links[length - 1];
    if (hash === undefined) continue;
    const matches = known.filter((session) => session.principal === asked && session.chain.includes(hash));
    const best = matches.findLast((session) => session.chain.at(-1) === hash) ?? matches.at(-1);
    if (best !== undefined) {
      return { hash, session: best.id, position: length, head: best.chain.length === length };
    }
  }
  return undefined;
}
