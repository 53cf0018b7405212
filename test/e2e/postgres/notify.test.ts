/** Two nodes on one PostgreSQL database send each message once between them. */
import { expect, it } from 'vitest';
import { notify } from '../../../src/config/notify-schema.js';
import { Notifier } from '../../../src/notify/delivery/notifier.js';
import { openStore } from '../../../src/store/open/open-store.js';
import { approval } from '../../contracts/store/approvals.js';
import { closeAfterTest } from '../../support/cleanup.js';
import { startPostgres } from '../../support/postgres.js';
import { startProvider } from '../../support/provider-site.js';
import { until } from '../../support/until.js';

const QUESTIONS = 40;

it('two nodes send each message once', async () => {
  const server = await startPostgres();
  closeAfterTest(() => server.close());
  const url = server.url(await server.create());
  const site = await startProvider();
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const config = notify.parse({
    allow_private: [site.host],
    targets: { hook: { type: 'webhook', url: site.url, secret } },
  });
  const nodes = await Promise.all(
    ['a', 'b'].map(async (owner) => {
      const store = await openStore(url, { baseDir: '/' });
      closeAfterTest(() => store.close());
      const approvals = { decide: () => Promise.reject(new Error('nobody decides here')) };
      const notifier = new Notifier({
        ...{ config: () => config, store, approvals, owner, timeoutMs: 60_000, isGone: () => false },
        scopesOf: () => undefined,
        credentialOf: () => undefined,
        redact: (text) => text,
        log: { warn: (facts) => expect(facts).toEqual({}) },
      });
      closeAfterTest(() => notifier.close());
      notifier.start();
      return { store, notifier };
    }),
  );
  const [a] = nodes;
  if (a === undefined) throw new Error('no node');
  for (let n = 0; n < QUESTIONS; n++) {
    const asked = approval(`a${n}`, { expiresAt: Date.now() + 600_000 });
    const { approval: stored } = await a.store.approvals.create(asked);
    // Both hear of it, as after a change that is seen on every node.
    for (const { notifier } of nodes) notifier.onApproval({ type: 'requested', approval: stored });
  }
  await until(async () => {
    const [figures] = await a.store.outbox.targets();
    return figures?.waiting === 0 && figures.lastSentAt !== undefined && site.received.length >= QUESTIONS;
  });
  const ids = site.received.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(QUESTIONS);
  expect(ids).toHaveLength(QUESTIONS);
});
