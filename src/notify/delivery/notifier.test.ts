/** The outbox and its webhooks, on a real store and programs on loopback. */
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { callOf } from '../../../test/support/approval-bench.js';
import { type NotifyInput, notifyWorld } from '../../../test/support/notify-world.js';
import { type Received, startProvider } from '../../../test/support/provider-site.js';
import { until } from '../../../test/support/until.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const EVERY = [
  'approval.asked',
  'approval.decided',
  'approval.expired',
  'approval.cancelled',
  'turn.failed',
] as const;

const hookTo = (url: string, more: Partial<NotifyInput> = {}): NotifyInput => ({
  public_url: 'https://gate.example.com',
  allow_private: [new URL(url).host],
  targets: { hook: { type: 'webhook', url, secret: SECRET, events: [...EVERY] } },
  ...more,
});

/** As a program that follows Standard Webhooks checks it. */
function verified({ body, headers }: Received): {
  type: string;
  data: { approval?: Record<string, unknown> };
} {
  const read: unknown = new Webhook(SECRET).verify(body, {
    'webhook-id': String(headers['webhook-id']),
    'webhook-timestamp': String(headers['webhook-timestamp']),
    'webhook-signature': String(headers['webhook-signature']),
  });
  return read as ReturnType<typeof verified>;
}

describe('a webhook', () => {
  it('that wants no questions is nobody who could answer one', async () => {
    const site = await startProvider();
    const only = (events: readonly (typeof EVERY)[number][]): NotifyInput =>
      hookTo(site.url, {
        targets: { hook: { type: 'webhook', url: site.url, secret: SECRET, events: [...events] } },
      });
    const deaf = await notifyWorld(only(['turn.failed']));
    expect(deaf.notifier.isReachable(callOf('make'))).toBe(false);
    const asked = await notifyWorld(only(['approval.asked']));
    expect(asked.notifier.isReachable(callOf('make'))).toBe(true);
  });

  it('tells of a question and of its end, signed after Standard Webhooks', async () => {
    const site = await startProvider();
    const { ask, coordinator } = await notifyWorld(hookTo(site.url));
    const { approval } = await ask(callOf('npm test'));
    expect(verified(await site.next())).toMatchObject({
      type: 'approval.asked',
      data: {
        key: 'alice',
        approval: {
          ...{ id: approval.id, tool: 'Bash', text: 'npm test', whole: true, input: { command: 'npm test' } },
          ...{ digest: approval.digest, state: 'pending', decision: null },
          url: `https://gate.example.com/#/inbox?approval=${approval.id}`,
        },
      },
    });
    const { digest } = approval;
    await coordinator.decide(approval.id, {
      decision: 'deny',
      digest,
      by: 'bob',
      via: 'console',
      reason: 'no',
    });
    expect(verified(await site.next())).toMatchObject({
      type: 'approval.decided',
      data: { approval: { state: 'denied', decision: { by: 'bob', via: 'console', reason: 'no' } } },
    });
  });

  it('tells that a question expired or was withdrawn', async () => {
    const site = await startProvider();
    const { ask, coordinator, clock, ended } = await notifyWorld(hookTo(site.url));
    const { approval } = await ask(callOf('one'));
    await site.next();
    // Before the time is moved: a claim that lasts too long is another node's.
    await ended(approval, 'approval.asked', 'hook');
    clock.at += 1_800_001;
    await coordinator.expireDue();
    expect(JSON.parse((await site.next()).body)).toMatchObject({ type: 'approval.expired' });
    const stop = new AbortController();
    await ask(callOf('two', { signal: stop.signal }));
    await site.next();
    stop.abort();
    expect(JSON.parse((await site.next()).body)).toMatchObject({ type: 'approval.cancelled' });
  });

  it('gets what it wants alone, and turns of the keys that it is asked about', async () => {
    const site = await startProvider();
    const input = hookTo(site.url, { ask: [{ keys: ['ali*'], targets: ['hook'] }] });
    const { notifier } = await notifyWorld(input);
    notifier.onTurn({ session: 's1', principal: 'alice', failed: false });
    notifier.onTurn({ session: 's2', principal: 'bob', failed: true });
    notifier.onTurn({ session: 's3', principal: 'alice', failed: true });
    expect(verified(await site.next())).toMatchObject({ type: 'turn.failed', data: { session: 's3' } });
    expect(site.received).toHaveLength(1);
  });

  it('holds no secret of the gateway, and no input then', async () => {
    const site = await startProvider();
    const { ask } = await notifyWorld(hookTo(site.url));
    await ask(callOf('curl -H hush-hush example.com'));
    const { body } = await site.next();
    expect(body).not.toContain('hush-hush');
    expect(JSON.parse(body).data.approval).toMatchObject({ whole: false, input: null });
  });

  it('is not sent to an inner address that the operator did not name', async () => {
    const site = await startProvider();
    const { ask, ended, notifier } = await notifyWorld({ ...hookTo(site.url), allow_private: [] });
    const { approval } = await ask(callOf('npm test'));
    expect(await ended(approval, 'approval.asked', 'hook')).toMatchObject({ state: 'failed' });
    expect(await notifier.status()).toMatchObject([
      { target: 'hook', failed: 1, failing: { error: expect.stringContaining('notify.allow_private') } },
    ]);
    expect(site.received).toEqual([]);
  });

  it('that hangs or fails delays no approval and no other target', async () => {
    const hanging = await startProvider(() => undefined);
    const failing = await startProvider(() => ({ status: 500 }));
    const good = await startProvider();
    const hook = (url: string) => ({ type: 'webhook' as const, url, secret: SECRET });
    const { ask, coordinator, notifier } = await notifyWorld({
      allow_private: [hanging.host, failing.host, good.host],
      targets: { hanging: hook(hanging.url), failing: hook(failing.url), good: hook(good.url) },
    });
    const asked = await Promise.all(Array.from({ length: 8 }, (_, n) => ask(callOf(`make ${n}`))));
    for (const { approval, verdict } of asked) {
      const { id, digest } = approval;
      const answer = { decision: 'allow', digest, by: 'bob', via: 'console' } as const;
      expect(await coordinator.decide(id, answer)).toMatchObject({ outcome: 'decided' });
      expect(await verdict).toMatchObject({ allowed: true });
    }
    for (let n = 0; n < 16; n++) await good.next();
    await failing.next();
    const failed = await until(async () =>
      (await notifier.status()).find(({ failing }) => failing !== undefined),
    );
    expect(failed).toMatchObject({ target: 'failing', failing: { error: 'It answered 500.' } });
  });
});

describe('two nodes', () => {
  it('store a message once, and one of them sends it', async () => {
    const site = await startProvider();
    const { ask, node, store, ended } = await notifyWorld(hookTo(site.url));
    const other = node('node-b');
    other.start();
    const { approval } = await ask(callOf('npm test'));
    await ended(approval, 'approval.asked', 'hook');
    await other.close();
    expect(await store.outbox.about(approval.id)).toHaveLength(1);
    expect(site.received).toHaveLength(1);
  });
});

describe('after a crash', () => {
  it('what was stored and not taken is sent again under the same id', async () => {
    let replies = 0;
    const site = await startProvider(() => (replies++ === 0 ? undefined : {}));
    const world = await notifyWorld(hookTo(site.url));
    const { approval } = await world.ask(callOf('npm test'));
    const first = await site.next();
    // As a process that was killed leaves it: claimed, and nobody there.
    const { store } = world;
    expect(await store.outbox.claimants()).toEqual(['node-a']);
    await store.outbox.release('node-a');
    await store.outbox.claim({ owner: 'gone-1', leaseMs: 3_600_000, limit: 1, except: [] });
    world.node('node-b').start();
    const second = await site.next();
    expect(second.headers['webhook-id']).toBe(first.headers['webhook-id']);
    expect(second.body).toBe(first.body);
    expect(await world.ended(approval, 'approval.asked', 'hook')).toMatchObject({ state: 'sent' });
  });

  it('a question and an end that nobody put into the outbox are found', async () => {
    const site = await startProvider();
    const { ask, coordinator, notifier, node, store } = await notifyWorld(hookTo(site.url));
    await notifier.close();
    const { approval } = await ask(callOf('npm test'));
    const second = node('node-b');
    second.start();
    expect(JSON.parse((await site.next()).body)).toMatchObject({ type: 'approval.asked' });
    await until(async () => (await store.outbox.about(approval.id))[0]?.state === 'sent');
    await second.close();
    const { id, digest } = approval;
    await coordinator.decide(id, { decision: 'allow', digest, by: 'bob', via: 'console' });
    node('node-c').start();
    expect(JSON.parse((await site.next()).body)).toMatchObject({ type: 'approval.decided' });
  });
});

describe('with nobody connected', () => {
  it('a question is asked where somebody outside is asked in time, and refused where not', async () => {
    const site = await startProvider();
    const late = { targets: ['hook'], keys: ['bob'], after_min: 31 };
    const input = hookTo(site.url, { ask: [{ keys: ['alice'], targets: ['hook'] }, late] });
    const { ask, gate } = await notifyWorld(input, { unattended: 'deny' });
    await ask(callOf('npm test'));
    await site.next();
    expect(await gate.check(callOf('npm test', { principal: 'bob' }))).toMatchObject({ allowed: false });
  });
});
