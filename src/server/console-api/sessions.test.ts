import { expect, it } from 'vitest';
import { START, TTL } from '../../../test/contracts/store/place.js';
import { openStore } from '../../store/open/open-store.js';
import type { SessionQuery } from '../../store/sessions.js';
import { listByStatus } from './sessions.js';

/** Ten idle sessions; one look into the store looks through one of them. */
async function openList() {
  const limits = { search: { maxBytes: 0 } };
  const store = await openStore('sqlite::memory:', { baseDir: '/', now: () => START, limits });
  for (let n = 0; n < 10; n++) {
    const id = `s${n}`;
    const state = 'live';
    const rest = { principal: 'alice', model: 'coder', engine: 'native', expiresAt: START + TTL };
    await store.sessions.create({ id, state, ...rest });
    const grant = await store.leases.acquire(`session:${id}`, 'node-a', TTL);
    if (!grant.granted) throw new Error('The lease is held.');
    const message = {
      kind: 'message',
      message: { role: 'user', content: [{ type: 'text', text: 'fence' }] },
    };
    await store.sessions.checkpoint(id, grant.lease, { append: [{ entries: [{ uuid: 'u', message }] }] });
  }
  const asked: SessionQuery[] = [];
  const sessions = {
    list: (query: SessionQuery) => {
      asked.push(query);
      return store.sessions.list(query);
    },
    get: (id: string) => store.sessions.get(id),
    running: async () => [],
    standing: () => undefined,
  };
  return { asked, store, context: { sessions, store } };
}

it('a search of sessions reads the store once, however little it finds', async () => {
  const { asked, store, context } = await openList();
  const { signal } = new AbortController();
  const page = await listByStatus(context, { limit: 5, search: 'fence', signal }, 'idle');
  expect(page.items.map(({ id }) => id)).toEqual(['s9']);
  expect(page.next).toBeDefined();
  expect(asked).toMatchObject([{ search: 'fence', signal }]);
  await store.close();
});
