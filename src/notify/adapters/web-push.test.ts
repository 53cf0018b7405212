/** Web Push against a push service on loopback, which checks the sender and decrypts as a browser does. */
import {
  createDecipheriv,
  createECDH,
  createHmac,
  createPublicKey,
  hkdfSync,
  randomBytes,
  verify,
} from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callOf } from '../../../test/support/approval-bench.js';
import {
  CREDENTIALS,
  type NotifyInput,
  type NotifyWorld,
  notifyWorld,
  SCOPES,
} from '../../../test/support/notify-world.js';
import { type Received, startProvider } from '../../../test/support/provider-site.js';
import { until } from '../../../test/support/until.js';
import type { PushPayload } from './web-push.js';

/** A browser's side of a subscription (RFC 8291). */
class TestBrowser {
  readonly #ecdh = createECDH('prime256v1');
  readonly #auth = randomBytes(16);
  readonly #public = this.#ecdh.generateKeys();

  subscription(endpoint: string) {
    return {
      endpoint,
      keys: { p256dh: this.#public.toString('base64url'), auth: this.#auth.toString('base64url') },
    };
  }

  decrypt({ bytes, headers }: Received): PushPayload {
    expect(headers['content-encoding']).toBe('aes128gcm');
    const salt = bytes.subarray(0, 16);
    const length = bytes.readUInt8(20);
    const sender = bytes.subarray(21, 21 + length);
    const sealed = bytes.subarray(21 + length);
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), this.#public, sender]);
    const secret = hkdf(this.#ecdh.computeSecret(sender), this.#auth, info, 32);
    const key = hkdf(secret, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
    const nonce = hkdf(secret, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
    const decipher = createDecipheriv('aes-128-gcm', key, nonce);
    decipher.setAuthTag(sealed.subarray(-16));
    const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
    const end = plain.lastIndexOf(2);
    return JSON.parse(plain.subarray(0, end).toString('utf8'));
  }
}

function hkdf(secret: Buffer, salt: Buffer, info: Buffer, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, info, length));
}

/** RFC 8292: the token is signed by the key that the browser subscribed with, for this push service. */
function checkSender({ headers }: Received, publicKey: string, origin: string): void {
  const [, token = '', key = ''] = /^vapid t=([^,]+), ?k=(\S+)$/.exec(headers.authorization ?? '') ?? [];
  expect(key).toBe(publicKey);
  const [head = '', claims = '', signature = ''] = token.split('.');
  const point = Buffer.from(key, 'base64url');
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  };
  const isSigned = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  expect(isSigned).toBe(true);
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
    aud: origin,
    sub: 'https://gate.example.com',
  });
  expect(headers['ttl']).toMatch(/^\d+$/);
}

async function pushWorld(reply = () => ({ status: 201 }), more: Partial<NotifyInput> = {}) {
  const site = await startProvider(reply);
  const world = await notifyWorld({
    ...{ public_url: 'https://gate.example.com', allow_private: [site.host], ...more },
  });
  const browserOf = async (principal: string) => {
    const browser = new TestBrowser();
    const id = await world.notifier.subscribe(principal, browser.subscription(`${site.url}/${principal}`));
    return { browser, id };
  };
  return { ...world, site, browserOf };
}

const press = (
  notifier: NotifyWorld['notifier'],
  { delivery, actions }: PushPayload,
  choice: string,
  more = {},
) => {
  const action = actions.find((each) => each.choice === choice);
  if (action === undefined) throw new Error(`no ${choice}`);
  return notifier.answerPush({ delivery, choice: action.choice, proof: action.proof, ...more });
};

describe('Web Push', () => {
  it('is asked when `ask` says so: not of other tools, and after its minutes', async () => {
    const hour = { tools: ['Bash'], targets: ['browsers'], after_min: 60 };
    const { ask, browserOf, store, notifier } = await pushWorld(undefined, {
      ask: [hour, { tools: ['Edit'], targets: ['browsers'], after_min: 5 }],
    });
    const { id } = await browserOf('alice');
    const { approval } = await ask(callOf('npm test'));
    await until(async () => (await store.outbox.about(approval.id)).length > 0);
    const [asked] = await store.outbox.about(approval.id);
    expect(asked).toMatchObject({ target: `push:${id}`, state: 'waiting' });
    expect((asked?.dueAt ?? 0) - approval.createdAt).toBe(60 * 60_000);
    // The question is over before anyone would be asked.
    expect(notifier.isReachable({ principal: 'alice', tool: 'Bash' })).toBe(false);
    expect(notifier.isReachable({ principal: 'alice', tool: 'Edit' })).toBe(true);
    expect(notifier.isReachable({ principal: 'alice', tool: 'Write' })).toBe(false);
  });

  it('asks a browser of the key, encrypted for it and signed, and a press decides in the name of the key', async () => {
    const { ask, site, browserOf, notifier } = await pushWorld();
    const { browser } = await browserOf('alice');
    const { approval, verdict } = await ask(callOf('npm test'));
    const received = await site.next();
    checkSender(received, await notifier.push.publicKey(), site.url);
    const shown = browser.decrypt(received);
    expect(shown).toMatchObject({
      tag: approval.id,
      body: 'npm test\nNo rule is about "npm test".\nalice · /work/app',
      to: `#/inbox?approval=${approval.id}`,
    });
    expect(shown.actions.map(({ label }) => label)).toEqual(['Allow', 'Deny']);
    await expect(press(notifier, shown, 'allow', { proof: 'x'.repeat(43) })).rejects.toMatchObject({
      code: 'forbidden',
    });
    await expect(press(notifier, shown, 'deny', { choice: 'allow' })).rejects.toMatchObject({
      code: 'forbidden',
    });
    expect(await press(notifier, shown, 'allow')).toMatchObject({ accepted: true });
    expect(await verdict).toMatchObject({ allowed: true, because: { by: 'alice', via: 'push' } });
    expect(await press(notifier, shown, 'deny')).toMatchObject({ accepted: false });
    // The notification is changed to what became of it.
    expect(browser.decrypt(await site.next())).toMatchObject({ tag: approval.id, silent: true, actions: [] });
  });

  it('asks nobody about another key but an administrator, and nobody without the scope', async () => {
    const { ask, site, browserOf, store } = await pushWorld();
    for (const name of ['alice', 'bob', 'eve', 'root']) await browserOf(name);
    const { approval } = await ask(callOf('npm test', { principal: 'bob' }));
    const paths = [(await site.next()).path, (await site.next()).path].sort();
    expect(paths).toEqual(['/bob', '/root']);
    expect(await store.outbox.about(approval.id)).toHaveLength(2);
  });

  it('has no Allow on what a notification does not show whole', async () => {
    const { ask, site, browserOf } = await pushWorld();
    const { browser } = await browserOf('alice');
    await ask(callOf(`echo ${'x'.repeat(150)}`));
    expect(browser.decrypt(await site.next()).actions.map(({ choice }) => choice)).toEqual(['deny']);
  });

  it('shows the folder, and has no Allow where that does not fit, nor takes one', async () => {
    const { ask, site, browserOf, notifier, store } = await pushWorld();
    const { browser } = await browserOf('alice');
    const cwd = `/work/${'deep/'.repeat(20)}app`;
    const { approval } = await ask(callOf('npm test', { location: { root: cwd, cwd } }));
    const shown = browser.decrypt(await site.next());
    expect(shown.body).toContain(cwd);
    expect(shown.actions.map(({ choice }) => choice)).toEqual(['deny']);
    const sign = createHmac('sha256', await store.secrets.ensure('notify', ''));
    const proof = sign.update(`push:${shown.delivery}:allow`).digest('base64url');
    expect(await press(notifier, shown, 'deny', { choice: 'allow', proof })).toMatchObject({
      accepted: false,
    });
    expect((await store.approvals.get(approval.id))?.state).toBe('pending');
  });

  it('takes no answer of a browser whose key is gone or that was removed', async () => {
    const { ask, site, browserOf, notifier, store } = await pushWorld();
    const { browser, id } = await browserOf('bob');
    const { approval } = await ask(callOf('npm test', { principal: 'bob' }));
    const shown = browser.decrypt(await site.next());
    const scopes = SCOPES['bob'] ?? [];
    SCOPES['bob'] = ['call'];
    expect(await press(notifier, shown, 'allow')).toMatchObject({ accepted: false });
    SCOPES['bob'] = scopes;
    expect(await notifier.push.remove(id, 'alice')).toBe(false);
    expect(await notifier.push.remove(id, 'bob')).toBe(true);
    expect(await press(notifier, shown, 'allow')).toMatchObject({ accepted: false });
    expect((await store.approvals.get(approval.id))?.state).toBe('pending');
  });

  it('neither asks nor hears a browser whose key has another secret since, until it subscribes again', async () => {
    const { ask, site, browserOf, notifier, store } = await pushWorld();
    const { browser, id } = await browserOf('bob');
    const { approval } = await ask(callOf('npm test', { principal: 'bob' }));
    const shown = browser.decrypt(await site.next());
    CREDENTIALS['bob'] = 'second of bob';
    onTestFinished(() => void delete CREDENTIALS['bob']);
    expect(await press(notifier, shown, 'allow')).toMatchObject({ accepted: false });
    expect((await store.approvals.get(approval.id))?.state).toBe('pending');
    expect(await notifier.push.targetsFor('bob')).toEqual([]);
    expect(await notifier.push.find(`push:${id}`, 'bob')).toBeUndefined();
    expect(await notifier.push.list('bob')).toEqual([]);
    expect(notifier.isReachable(callOf('make', { principal: 'bob' }))).toBe(false);
    expect((await browserOf('bob')).id).toBe(id);
    expect(await notifier.push.targetsFor('bob')).toEqual([`push:${id}`]);
    await notifier.push.removeAll('bob');
    expect(await store.push.list()).toEqual([]);
  });

  it('forgets a browser that has unsubscribed, and reaches no inner address that a browser names', async () => {
    const { ask, site, browserOf, notifier, store, ended } = await pushWorld(() => ({ status: 410 }));
    await browserOf('alice');
    await ask(callOf('npm test'));
    await site.next();
    await until(async () => (await store.push.list()).length === 0);
    const browser = new TestBrowser();
    await expect(
      notifier.subscribe('alice', browser.subscription('http://10.0.0.1/x')),
    ).rejects.toMatchObject({
      code: 'invalid_request',
    });
    const inner = await notifier.subscribe('alice', browser.subscription('https://127.0.0.1/x'));
    const { approval } = await ask(callOf('make'));
    expect(await ended(approval, 'approval.asked', `push:${inner}`)).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('loopback'),
    });
  });

  it('counts as somebody who can answer while no page is open', async () => {
    const site = await startProvider(() => ({ status: 201 }));
    const { notifier, gate, ask } = await notifyWorld({ allow_private: [site.host] }, { unattended: 'deny' });
    expect(await gate.check(callOf('npm test'))).toMatchObject({ allowed: false, outcome: 'unattended' });
    await notifier.subscribe('alice', new TestBrowser().subscription(site.url));
    await ask(callOf('npm test'));
    await site.next();
    expect(await gate.check(callOf('npm test', { principal: 'bob' }))).toMatchObject({
      outcome: 'unattended',
    });
  });
});
