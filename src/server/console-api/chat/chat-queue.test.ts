import { describe, expect, it } from 'vitest';
import { closeAfterTest } from '../../../../test/support/cleanup.js';
import { until } from '../../../../test/support/until.js';
import { openStore } from '../../../store/open/open-store.js';
import type { Session } from '../../../store/sessions.js';
import { ChatQueue } from './chat-queue.js';

const ALICE = { name: 'alice', scopes: ['call'], models: ['*'] } as const;
const [LOST, ALIVE] = ['host/1/1/a/ff', 'host/2/2/b/ff'];

const message = (session: string, content: string) => ({
  ...{ version: 1, session, model: 'agent', mode: 'queue', content, at: 0 },
});

describe('messages that wait at another node', () => {
  it('are said here, before what comes later, where that node is lost, and are left alone where it lives', async () => {
    const store = await openStore('sqlite::memory:', { baseDir: '/' });
    closeAfterTest(() => store.close());
    const session: Session = {
      ...{ id: 's1', principal: 'alice', engine: 'native', model: 'agent', state: 'live', title: '' },
      ...{ createdAt: 0, updatedAt: 0, expiresAt: Number.MAX_SAFE_INTEGER, metadata: {} },
    };
    for (const [id, owner, of, content] of [
      ['say_1', LOST, 's1', 'left behind'],
      ['say_2', LOST, 's2', 'of another session'],
      ['say_3', ALIVE, 's1', 'of a node that lives'],
    ] as const) {
      await store.runs.create({ id, principal: 'alice', owner, request: message(of, content) });
    }
    const said: unknown[] = [];
    const queue = new ChatQueue({
      sessions: {
        get: async () => session,
        standing: () => undefined,
        steer: () => false,
        unsteer: () => true,
        subscribe: () => () => {},
      },
      store,
      log: { ...console, fatal: () => {} },
      start: async ({ content }) => {
        said.push(content);
        return { session: 's1', turn: 't1', how: 'continue' };
      },
      principalOf: () => ALICE,
      peers: { instance: 'host/3/3/c', isLost: async (owner) => owner === LOST },
    });
    closeAfterTest(() => queue.close());
    const outcome = await queue.say(session, { content: 'new', mode: 'queue' }, ALICE);
    expect(outcome.kind).toBe('queued');
    await until(() => said.length === 1);
    expect(said).toEqual(['left behind']);
    const left = (await store.runs.running()).map(({ id, owner }) => [id, owner]);
    expect(left).toContainEqual(['say_2', LOST]);
    expect(left).toContainEqual(['say_3', ALIVE]);
  });
});
