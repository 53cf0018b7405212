import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/store/store.js';
import { allPages, type Bench, ownSession, START, TTL } from './place.js';

type Said = [role: string, ...content: object[]];

const text = (words: string) => ({ type: 'text', text: words });

/** Each has an entry of its own, as sessions write them. */
const entriesOf = (said: readonly Said[]) =>
  said.map(([role, ...content], index) => ({
    uuid: `u${index}`,
    message: { kind: 'message', message: { role, content } },
  }));

async function talk(store: Store, id: string, said: readonly Said[], more: object = {}) {
  const owned = await ownSession(store, id, { title: `title of ${id}`, ...more });
  await owned.step({ append: [{ entries: entriesOf(said) }] });
  return owned;
}

const finder = (store: Store) => async (search: string, principal?: string) => {
  const query = { limit: 10, search, ...(principal === undefined ? {} : { principal }) };
  return (await store.sessions.list(query)).items.map(({ id }) => id);
};

export function searchContract(bench: () => Bench): void {
  describe('search', () => {
    it('finds what was said and what tools were asked to do, and nothing else', async () => {
      const store = await bench().open();
      const call = {
        type: 'tool_use',
        id: 'toolu_1',
        name: 'Bash',
        input: { run: ['make', { of: 'walnut' }] },
      };
      const result = { type: 'tool_result', toolUseId: 'toolu_1', isError: false, content: [text('hazel')] };
      await talk(store, 's1', [
        ['user', text('paint the Fence'), { type: 'document', title: 'plan.pdf', source: { data: 'oak' } }],
        ['assistant', { type: 'thinking', thinking: 'beech' }, text('With birch tar.'), call],
        ['user', result],
        ['system', text('maple')],
      ]);
      const found = finder(store);
      for (const word of ['fence', 'plan.pdf', 'birch', 'bash', 'walnut', 'title', 'coder', 's1']) {
        expect(await found(word), word).toEqual(['s1']);
      }
      for (const word of ['oak', 'beech', 'hazel', 'maple', 'toolu_1', 'assistant', 'content', 'run']) {
        expect(await found(word), word).toEqual([]);
      }
    });

    it('finds words of any language, whatever their case and accents', async () => {
      const store = await bench().open();
      await talk(store, 's1', [['user', text('明天的天气预报怎么样？ Ärger im CAFÉ, ΟΔΟΣ, Straße, ＡＢＣ')]]);
      const found = finder(store);
      for (const word of [
        '天气',
        '气',
        '天气预报',
        'arger',
        'ärger',
        'café',
        'CAFE',
        'οδος',
        'STRASSE',
        'abc',
      ]) {
        expect(await found(word), word).toEqual(['s1']);
      }
      expect(await found('天预')).toEqual([]);
    });

    it('wants each word somewhere in it, in any order', async () => {
      const store = await bench().open();
      await talk(store, 's1', [
        ['user', text('paint the fence')],
        ['assistant', text('Which colour?')],
      ]);
      const found = finder(store);
      expect(await found('colour  fence title')).toEqual(['s1']);
      expect(await found('colour gate')).toEqual([]);
      expect(await found('   ')).toEqual(['s1']);
    });

    it('takes every character for itself', async () => {
      const store = await bench().open();
      await talk(store, 's1', [['user', text('a "quoted" 100% sure_thing NOT c++ (near) x\\y *')]]);
      const found = finder(store);
      for (const word of ['"quoted"', '100%', 'sure_thing', 'NOT', 'c++', '(near)', 'x\\y', '*', '%', '_']) {
        expect(await found(word), word).toEqual(['s1']);
      }
      for (const word of [
        '"quo"',
        '1%',
        'sure%',
        'a OR b',
        'c--',
        'near*',
        "'; --",
        '\0',
        '\ud800',
        '^',
        'NEAR(',
      ]) {
        expect(await found(word), word).toEqual([]);
      }
      expect(await found(`fence ${'x'.repeat(5000)} ${'y '.repeat(5000)}`)).toEqual([]);
    });

    it('keeps to the sessions of a principal', async () => {
      const store = await bench().open();
      await talk(store, 's1', [['user', text('the fence')]]);
      await talk(store, 's2', [['user', text('the fence')]], { principal: 'bob' });
      expect(await finder(store)('fence', 'alice')).toEqual(['s1']);
      expect(await finder(store)('fence', 'eve')).toEqual([]);
    });

    it('shows the newest place, with the word in it', async () => {
      const store = await bench().open();
      const long = `${'before '.repeat(30)}\n\nthe  Café\u0301s 😀\tfence${' after'.repeat(60)}`;
      await talk(store, 's1', [
        ['user', text('cafes')],
        ['assistant', text(long)],
      ]);
      const matchOf = async (search: string) => {
        const [match] = (await store.sessions.list({ limit: 1, search })).items.map((each) => each.match);
        return match;
      };
      const match = await matchOf('cafes');
      expect(match?.text.slice(match.from, match.to)).toBe('Café\u0301s');
      expect(match?.text).toMatch(/^…(before )+the Café\u0301s 😀 fence( after)+…$/);
      expect(match?.text.length).toBeLessThan(200);
      // What the title has is seen there.
      expect(await matchOf('title')).toBeUndefined();
      expect((await matchOf('title fence'))?.text).toContain('fence');
      expect((await matchOf('cafes after'))?.text).toContain('before');
    });

    it('shows and finds no secret', async () => {
      const secret = 'sk-123456';
      const store = await bench().open({ redact: (given) => given.replaceAll(secret, '***') });
      await talk(store, 's1', [['user', text(`the key ${secret} opens it`)]]);
      const { items } = await store.sessions.list({ limit: 1, search: 'opens' });
      expect(items[0]?.match?.text).toBe('the key *** opens it');
      expect(await finder(store)(secret)).toEqual([]);
    });

    it('cuts no secret in half', async () => {
      const secret = 'sk-123456';
      const store = await bench().open({ redact: (given) => given.replaceAll(secret, '***') });
      const long = `${'x'.repeat(65_536 - 8)} ${secret} tail`;
      const input = { text: `${'y'.repeat(4096 - 8)} ${secret} tail` };
      await talk(store, 's1', [
        ['user', text(long)],
        ['assistant', { type: 'tool_use', id: 'c1', name: 'Write', input }],
      ]);
      expect(await finder(store)('sk-123')).toEqual([]);
      const { items } = await store.sessions.list({ limit: 1, search: 'write' });
      expect(items[0]?.match?.text).not.toContain('sk-');
    });

    it('finds nothing of what has expired', async () => {
      const store = await bench().open();
      await talk(store, 's1', [['user', text('fence')]]);
      await talk(store, 's2', [['user', text('fence')]], { expiresAt: START + TTL });
      expect(await finder(store)('fence')).toEqual(['s2', 's1']);
      bench().now = START + 2 * TTL;
      expect(await finder(store)('fence')).toEqual(['s1']);
      expect(await finder(store)('title')).toEqual(['s1']);
    });

    it('ends when its signal says so', async () => {
      const store = await bench().open();
      await talk(store, 's1', [['user', text('fence')]]);
      const left = new AbortController();
      const page = store.sessions.list({ limit: 1, search: 'fence', signal: left.signal });
      left.abort(new Error('left'));
      await expect(page).rejects.toThrow('left');
    });

    it('finds the newest place in a session of any length', async () => {
      const store = await bench().open();
      const long = 'x'.repeat(60_000);
      const said = Array.from(
        { length: 80 },
        (_, n): Said => ['user', text(`${long} ${n % 7 ? '' : 'fence'} n${n}.`)],
      );
      await talk(store, 's1', [['user', text('paint')], ...said]);
      const matchOf = async (search: string) => {
        const { items } = await store.sessions.list({ limit: 1, search });
        return items[0]?.match?.text.replace(/^.*x/, '');
      };
      expect(await matchOf('fence')).toBe(' fence n77.');
      expect(await matchOf('fence n7.')).toBe(' fence n7.');
      expect(await matchOf('paint')).toBe('paint');
      expect(await matchOf('paint n3.')).toBe('paint');
      expect(await matchOf('paint gate')).toBeUndefined();
    });

    it('goes on behind a page, also where nothing was found on it', async () => {
      const store = await bench().open({ limits: { search: { maxBytes: 0 } } });
      for (let n = 0; n < 7; n++)
        await talk(store, `s${n}`, [['user', text(n % 3 === 0 ? 'fence' : 'gate')]]);
      const pages: number[] = [];
      const all = await allPages(async (cursor) => {
        const page = await store.sessions.list({ limit: 2, search: 'fence', ...(cursor && { cursor }) });
        pages.push(page.items.length);
        return page;
      });
      expect(all.map(({ id }) => id)).toEqual(['s6', 's3', 's0']);
      expect(pages).toEqual([1, 0, 0, 1, 0, 0, 1]);
    });

    it('fills its pages, and the last one has none behind it', async () => {
      const store = await bench().open();
      for (let n = 0; n < 7; n++)
        await talk(store, `s${n}`, [['user', text(n % 2 === 1 || n === 0 ? 'gate' : 'fence')]]);
      const first = await store.sessions.list({ limit: 2, search: 'fence' });
      expect(first.items.map(({ id }) => id)).toEqual(['s6', 's4']);
      const second = await store.sessions.list({ limit: 2, search: 'fence', cursor: first.next ?? '' });
      expect(second.items.map(({ id }) => id)).toEqual(['s2']);
      expect(second.next).toBeUndefined();
      // What is behind a full page has nothing of it.
      expect((await store.sessions.list({ limit: 3, search: 'fence' })).next).toBeUndefined();
    });

    it('finds nothing of what a step that was refused would have said, and nothing twice', async () => {
      const store = await bench().open();
      const { step } = await talk(store, 's1', [['user', text('fence')]]);
      const never = entriesOf([['user', text('gate')]]).map((entry) => ({ ...entry, uuid: 'other' }));
      expect(await step({ append: [{ entries: never }], use: ['nothing'] })).toMatchObject({ ok: false });
      expect(await step({ append: [{ entries: entriesOf([['user', text('fence')]]) }] })).toEqual({
        ok: true,
      });
      expect(await finder(store)('gate')).toEqual([]);
      expect(await finder(store)('fence')).toEqual(['s1']);
    });

    it('finds nothing of a session that was deleted, and all of one of the same id', async () => {
      const store = await bench().open();
      await talk(store, 's1', [['user', text('fence')]]);
      await store.sessions.delete('s1', 'alice');
      expect(await finder(store)('fence')).toEqual([]);
      await talk(store, 's1', [['user', text('gate')]]);
      expect(await finder(store)('fence')).toEqual([]);
      expect(await finder(store)('gate')).toEqual(['s1']);
    });
  });
}
