/** Every provider, against a server on loopback that checks what it is sent, and with answers as it signs them. */
import { createCipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { callOf } from '../../../test/support/approval-bench.js';
import { type NotifyInput, type NotifyWorld, notifyWorld } from '../../../test/support/notify-world.js';
import { type ProviderReply, type Received, startProvider } from '../../../test/support/provider-site.js';
import { until } from '../../../test/support/until.js';
import type { Callback, Reply } from './adapter.js';

type Targets = NonNullable<NotifyInput['targets']>;
type Answer = 'allow' | 'deny';

interface Provider {
  /** The configuration of a target, whose provider is at `url`. */
  target(url: string): Targets[string];
  /** What the provider answers; throws for what it would refuse. */
  serve(received: Received): ProviderReply;
  /** What was sent: the text, and what each button would send. */
  read(received: Received): { text: string; buttons: Partial<Record<Answer, unknown>>; links: string[] };
  /** A press of a button, by somebody, as the provider sends it at that time. */
  press(button: unknown, options: { user: string; now: number }): Callback;
  /** The same, forged by somebody who does not know the secret. */
  forge(callback: Callback): Callback;
  /** Whether the provider showed that it was taken. */
  taken(reply: Reply): boolean;
  /** The path of a change, and whether a replay after a day is refused by its time. */
  edit?: RegExp;
  dated: boolean;
  users: { alice: string; mallory: string };
}

const parse = <T>(schema: z.ZodType<T>, text: string): T => schema.parse(JSON.parse(text));

const ntfyBody = z.strictObject({
  ...{ topic: z.literal('tg-topic'), title: z.string(), message: z.string().max(4096) },
  ...{ priority: z.int().min(1).max(5), tags: z.array(z.string()) },
  click: z.url().optional(),
  actions: z
    .array(
      z.discriminatedUnion('action', [
        z.strictObject({ action: z.literal('view'), label: z.string(), url: z.url() }),
        z.strictObject({
          ...{ action: z.literal('http'), label: z.enum(['Allow', 'Deny']), url: z.url() },
          ...{ method: z.literal('POST'), clear: z.literal(true), body: z.string() },
          headers: z.strictObject({ 'content-type': z.string() }),
        }),
      ]),
    )
    .max(3),
});

const slackText = z.strictObject({
  type: z.literal('plain_text'),
  text: z.string(),
  emoji: z.literal(false),
});
const slackBody = z.strictObject({
  ...{ channel: z.literal('C1'), text: z.string(), ts: z.literal('17.01').optional() },
  ...{ mrkdwn: z.literal(false), unfurl_links: z.literal(false), unfurl_media: z.literal(false) },
  blocks: z.array(
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('header'), text: slackText }),
      z.strictObject({
        type: z.literal('rich_text'),
        elements: z.tuple([
          z.strictObject({
            type: z.literal('rich_text_preformatted'),
            elements: z.tuple([z.strictObject({ type: z.literal('text'), text: z.string().max(3000) })]),
          }),
        ]),
      }),
      z.strictObject({ type: z.literal('context'), elements: z.array(slackText).min(1).max(10) }),
      z.strictObject({
        type: z.literal('actions'),
        elements: z.array(
          z.strictObject({
            ...{ type: z.literal('button'), action_id: z.enum(['allow', 'deny', 'open']), text: slackText },
            ...{ value: z.string().max(2000).optional(), style: z.enum(['primary', 'danger']).optional() },
            url: z.url().optional(),
          }),
        ),
      }),
    ]),
  ),
});

const telegramBody = z.strictObject({
  ...{ chat_id: z.literal('-100'), message_id: z.literal(42).optional(), text: z.string().max(4096) },
  entities: z.array(
    z.strictObject({ type: z.enum(['bold', 'pre']), offset: z.int(), length: z.int().positive() }),
  ),
  link_preview_options: z.strictObject({ is_disabled: z.literal(true) }),
  reply_markup: z.strictObject({
    inline_keyboard: z.array(
      z.array(
        z.union([
          z.strictObject({ text: z.string(), url: z.url() }),
          z.strictObject({ text: z.enum(['Allow', 'Deny']), callback_data: z.string().min(1).max(64) }),
        ]),
      ),
    ),
  }),
});

const feishuText = z.strictObject({ tag: z.literal('plain_text'), content: z.string() });
const feishuCard = z.strictObject({
  config: z.strictObject({ update_multi: z.literal(true), wide_screen_mode: z.boolean() }),
  header: z.strictObject({ title: feishuText }),
  elements: z.array(
    z.discriminatedUnion('tag', [
      z.strictObject({ tag: z.literal('div'), text: feishuText }),
      z.strictObject({ tag: z.literal('note'), elements: z.array(feishuText) }),
      z.strictObject({
        tag: z.literal('action'),
        actions: z.array(
          z.strictObject({
            ...{ tag: z.literal('button'), text: feishuText, type: z.enum(['primary', 'danger']).optional() },
            value: z.strictObject({ delivery: z.string(), choice: z.enum(['allow', 'deny']) }).optional(),
            url: z.url().optional(),
          }),
        ),
      }),
    ]),
  ),
});
const feishuBody = z.strictObject({
  ...{ receive_id: z.literal('oc_1').optional(), msg_type: z.literal('interactive').optional() },
  ...{ uuid: z.string().max(50).optional(), content: z.string() },
});

const FEISHU_KEY = 'feishu-encrypt-key';

function encrypt(body: object): string {
  const iv = randomBytes(16);
  const cipher = createCipheriv('aes-256-cbc', createHash('sha256').update(FEISHU_KEY).digest(), iv);
  const bytes = Buffer.concat([iv, cipher.update(JSON.stringify(body)), cipher.final()]);
  return JSON.stringify({ encrypt: bytes.toString('base64') });
}

function feishuCallback(body: object, now: number): Callback {
  const text = encrypt(body);
  const [time, nonce] = [String(Math.floor(now / 1000)), 'n0nce'];
  const signature = createHash('sha256').update(`${time}${nonce}${FEISHU_KEY}${text}`).digest('hex');
  const headers = {
    'x-lark-request-timestamp': time,
    'x-lark-request-nonce': nonce,
    'x-lark-signature': signature,
  };
  return { headers, body: text };
}

const PROVIDERS: Readonly<Record<string, Provider>> = {
  ntfy: {
    target: (url) => ({
      type: 'ntfy',
      base_url: url,
      topic: 'tg-topic',
      token: 'tk_secret',
      person: 'alice',
    }),
    serve({ method, path, headers, body }) {
      expect([method, path, headers.authorization]).toEqual(['POST', '/', 'Bearer tk_secret']);
      parse(ntfyBody, body);
      return { body: { id: 'ntfy1' } };
    },
    read({ body }) {
      const { message, actions } = parse(ntfyBody, body);
      const buttons: Partial<Record<Answer, unknown>> = {};
      const links: string[] = [];
      for (const action of actions) {
        if (action.action === 'view') links.push(action.url);
        else {
          expect(action.url).toBe('https://gate.example.com/api/notify/people/answer');
          buttons[action.label === 'Allow' ? 'allow' : 'deny'] = action.body;
        }
      }
      return { text: message, buttons, links };
    },
    press: (button) => ({ headers: {}, body: String(button) }),
    forge: ({ headers, body }) => ({
      headers,
      body: JSON.stringify({
        ...z.object({}).loose().parse(JSON.parse(body)),
        choice: 'allow',
        proof: 'x'.repeat(43),
      }),
    }),
    taken: ({ status }) => status === 200,
    dated: false,
    // The topic is one person's: there is nobody else to be.
    users: { alice: 'alice', mallory: '' },
  },
  slack: {
    target: (url) => ({
      ...{
        type: 'slack',
        base_url: `${url}/api`,
        token: 'xoxb-1',
        signing_secret: 'slack-signing',
        channel: 'C1',
      },
    }),
    serve({ method, path, headers, body }) {
      expect([method, headers.authorization]).toEqual(['POST', 'Bearer xoxb-1']);
      expect(path).toMatch(/^\/api\/chat\.(postMessage|update)$/);
      parse(slackBody, body);
      return { body: { ok: true, channel: 'C1', ts: '17.01' } };
    },
    read({ body }) {
      const buttons: Partial<Record<Answer, unknown>> = {};
      const links: string[] = [];
      let text = '';
      for (const block of parse(slackBody, body).blocks) {
        if (block.type === 'rich_text') text = block.elements[0].elements[0].text;
        if (block.type !== 'actions') continue;
        for (const { action_id, value, url } of block.elements) {
          if (action_id === 'open') links.push(url ?? '');
          else buttons[action_id] = { action_id, value };
        }
      }
      return { text, buttons, links };
    },
    press(button, { user, now }) {
      const payload = {
        type: 'block_actions',
        user: { id: user },
        actions: [button],
        container: { channel_id: 'C1' },
      };
      const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
      const time = String(Math.floor(now / 1000));
      const signature = `v0=${createHmac('sha256', 'slack-signing').update(`v0:${time}:${body}`).digest('hex')}`;
      return { headers: { 'x-slack-request-timestamp': time, 'x-slack-signature': signature }, body };
    },
    forge: ({ headers, body }) => ({ headers, body: `${body}&x=1` }),
    taken: ({ status }) => status === 200,
    edit: /^\/api\/chat\.update$/,
    dated: true,
    users: { alice: 'U1', mallory: 'U9' },
  },
  telegram: {
    target: (url) => ({
      ...{
        type: 'telegram',
        base_url: url,
        token: '12:abc',
        secret_token: 'telegram-secret-token',
        chat: -100,
      },
    }),
    serve({ method, path, body }) {
      expect(method).toBe('POST');
      expect(path).toMatch(/^\/bot12:abc\/(sendMessage|editMessageText)$/);
      const { text, entities } = parse(telegramBody, body);
      for (const { offset, length } of entities) expect(offset + length).toBeLessThanOrEqual(text.length);
      return { body: { ok: true, result: { message_id: 42, chat: { id: -100 } } } };
    },
    read({ body }) {
      const { text, entities, reply_markup } = parse(telegramBody, body);
      const pre = entities.find(({ type }) => type === 'pre');
      const buttons: Partial<Record<Answer, unknown>> = {};
      const links: string[] = [];
      for (const each of reply_markup.inline_keyboard.flat()) {
        if ('url' in each) links.push(each.url);
        else buttons[each.text === 'Allow' ? 'allow' : 'deny'] = each.callback_data;
      }
      return { text: pre ? text.slice(pre.offset, pre.offset + pre.length) : '', buttons, links };
    },
    press: (data, { user }) => ({
      headers: { 'x-telegram-bot-api-secret-token': 'telegram-secret-token' },
      body: JSON.stringify({
        update_id: 1,
        callback_query: { id: '77', from: { id: Number(user), is_bot: false }, data },
      }),
    }),
    forge: ({ body }) => ({ headers: { 'x-telegram-bot-api-secret-token': 'another-secret-token!' }, body }),
    taken: ({ body }) => 'show_alert' in body && body.show_alert === false,
    edit: /editMessageText$/,
    dated: false,
    users: { alice: '1001', mallory: '9009' },
  },
  feishu: {
    target: (url) => ({
      ...{ type: 'feishu', base_url: url, app_id: 'cli_1', app_secret: 'app-secret', chat: 'oc_1' },
      ...{ encrypt_key: FEISHU_KEY, verification_token: 'verify-token' },
    }),
    serve({ method, path, headers, body }) {
      if (path === '/open-apis/auth/v3/tenant_access_token/internal') {
        expect(JSON.parse(body)).toEqual({ app_id: 'cli_1', app_secret: 'app-secret' });
        return { body: { code: 0, msg: 'ok', tenant_access_token: 't-1', expire: 7200 } };
      }
      expect(headers.authorization).toBe('Bearer t-1');
      const expected =
        method === 'PATCH'
          ? '/open-apis/im/v1/messages/om_1'
          : '/open-apis/im/v1/messages?receive_id_type=chat_id';
      expect(path).toBe(expected);
      parse(feishuCard, parse(feishuBody, body).content);
      return { body: { code: 0, msg: 'success', data: { message_id: 'om_1' } } };
    },
    read({ body }) {
      const { elements } = parse(feishuCard, parse(feishuBody, body).content);
      const buttons: Partial<Record<Answer, unknown>> = {};
      const links: string[] = [];
      const texts: string[] = [];
      for (const element of elements) {
        if (element.tag === 'div') texts.push(element.text.content);
        if (element.tag !== 'action') continue;
        for (const { value, url } of element.actions) {
          if (value !== undefined) buttons[value.choice] = value;
          if (url !== undefined) links.push(url);
        }
      }
      return { text: texts[0] ?? '', buttons, links };
    },
    press: (value, { user, now }) =>
      feishuCallback(
        {
          schema: '2.0',
          header: {
            event_id: 'e1',
            event_type: 'card.action.trigger',
            token: 'verify-token',
            app_id: 'cli_1',
          },
          event: {
            operator: { open_id: user },
            action: { value, tag: 'button' },
            context: { open_message_id: 'om_1', open_chat_id: 'oc_1' },
          },
        },
        now,
      ),
    forge: ({ headers, body }) => ({ headers: { ...headers, 'x-lark-request-nonce': 'other' }, body }),
    taken: ({ body }) => JSON.stringify(body).includes('"success"'),
    edit: /^\/open-apis\/im\/v1\/messages\/om_1$/,
    dated: true,
    users: { alice: 'ou_1', mallory: 'ou_9' },
  },
};

interface ProviderWorld extends NotifyWorld {
  provider: Provider;
  /** The next request that carries a message. */
  message(): Promise<Received>;
}

async function worldOf(name: string, more: Partial<NotifyInput> = {}): Promise<ProviderWorld> {
  const provider = PROVIDERS[name];
  if (provider === undefined) throw new Error(`no ${name}`);
  const problems: unknown[] = [];
  const site = await startProvider((received) => {
    try {
      return provider.serve(received);
    } catch (error) {
      problems.push(error);
      return { status: 400, body: {} };
    }
  });
  const { alice } = provider.users;
  const world = await notifyWorld({
    public_url: 'https://gate.example.com',
    allow_private: [site.host],
    people: { alice: { slack: alice, telegram: alice, feishu: alice } },
    targets: { people: provider.target(site.url) },
    ...more,
  });
  return {
    ...{ ...world, provider },
    async message() {
      for (;;) {
        const received = await site.next();
        expect(problems).toEqual([]);
        if (!received.path.includes('tenant_access_token')) return received;
      }
    },
  };
}

const names = Object.keys(PROVIDERS);

describe.each(names)('%s', (name) => {
  it('asks with the whole call, and a press of a known person decides it, in their name', async () => {
    const { ask, message, provider, press, clock, store, ended } = await worldOf(name);
    const command = 'echo *bold* <!channel> _x_ `y` & 😀 [a](b)';
    const { approval, verdict } = await ask(callOf(command));
    const sent = provider.read(await message());
    expect(sent.text).toContain(command);
    expect(sent.links).toEqual([`https://gate.example.com/#/inbox?approval=${approval.id}`]);
    await ended(approval, 'approval.asked', 'people');
    const callback = provider.press(sent.buttons.allow, { user: provider.users.alice, now: clock.at });
    expect(provider.taken(await press('people', callback))).toBe(true);
    expect(await verdict).toMatchObject({
      allowed: true,
      because: { kind: 'person', by: 'alice', via: name },
    });
    const { items } = await store.audit.list({ limit: 10 });
    expect(items.find(({ event }) => event === 'approval.allowed')).toMatchObject({ by: 'alice' });
    // A replay changes nothing and is not written down again.
    await press('people', callback);
    const lines = (await store.audit.list({ limit: 20 })).items;
    expect(lines.filter(({ event }) => event === 'approval.allowed')).toHaveLength(1);
    expect((await store.approvals.get(approval.id))?.state).toBe('allowed');
  });

  it('refuses what is forged or is for another target, and knows nobody who is not in the file', async () => {
    const { ask, message, provider, press, clock, store, ended } = await worldOf(name);
    const { approval } = await ask(callOf('npm test'));
    const sent = provider.read(await message());
    await ended(approval, 'approval.asked', 'people');
    const { alice, mallory } = provider.users;
    const good = provider.press(sent.buttons.allow, { user: alice, now: clock.at });
    await expect(press('people', provider.forge(good))).rejects.toMatchObject({ code: 'forbidden' });
    if (name !== 'ntfy') {
      await expect(press('people', { ...good, headers: {} })).rejects.toMatchObject({ code: 'forbidden' });
    }
    await expect(press('nowhere', good)).rejects.toMatchObject({ code: 'not_found' });
    if (mallory !== '') {
      const stranger = provider.press(sent.buttons.allow, { user: mallory, now: clock.at });
      expect(provider.taken(await press('people', stranger))).toBe(false);
      expect((await store.approvals.get(approval.id))?.state).toBe('pending');
    }
    if (provider.dated) {
      const old = provider.press(sent.buttons.allow, { user: alice, now: clock.at - 301_000 });
      await expect(press('people', old)).rejects.toMatchObject({ code: 'forbidden' });
    }
  });

  it('has no Allow on what is cut, hides a character or must not be one press, and a forced one decides nothing', async () => {
    const { ask, message, provider, press, clock, store, ended } = await worldOf(name);
    const lines = `true${'\n:'.repeat(40)}`;
    for (const command of [`echo ${'x'.repeat(5000)}`, 'echo \u202e evil', 'echo hush-hush', lines]) {
      const { approval } = await ask(callOf(command));
      const sent = provider.read(await message());
      expect(Object.keys(sent.buttons)).toEqual(['deny']);
      expect(sent.links).toHaveLength(1);
      await ended(approval, 'approval.asked', 'people');
      const forced = JSON.parse(JSON.stringify({ button: sent.buttons.deny }).replaceAll('deny', 'allow'));
      const callback = provider.press(forced.button, { user: provider.users.alice, now: clock.at });
      const reply = await press('people', callback).then(provider.taken, () => false);
      expect(reply).toBe(false);
      expect((await store.approvals.get(approval.id))?.state).toBe('pending');
    }
  });

  it('tells who was asked when somebody else was first, and is told so itself', async () => {
    const { ask, message, provider, press, clock, coordinator, ended } = await worldOf(name);
    const { approval } = await ask(callOf('npm test'));
    const sent = provider.read(await message());
    await ended(approval, 'approval.asked', 'people');
    const { id, digest } = approval;
    await coordinator.decide(id, { decision: 'deny', digest, by: 'bob', via: 'console' });
    const late = provider.press(sent.buttons.allow, { user: provider.users.alice, now: clock.at });
    const reply = await press('people', late);
    expect(provider.taken(reply)).toBe(false);
    const closing = await ended(approval, 'approval.decided', 'people');
    if (provider.edit === undefined) expect(closing.state).toBe('dropped');
    else {
      const edit = await message();
      expect(edit.path).toMatch(provider.edit);
      expect(edit.body).toContain('By bob (console).');
      expect(provider.read(edit).buttons).toEqual({});
    }
  });

  it('is not asked about another key, or by a person who may not answer for it', async () => {
    const { alice } = PROVIDERS[name]?.users ?? { alice: '' };
    const people = { alice: { slack: alice, telegram: alice, feishu: alice, keys: ['alice'] } };
    const { ask, message, provider, press, clock, store, ended } = await worldOf(name, {
      people,
      ask: [{ keys: ['bob', 'alice'], targets: ['people'] }],
    });
    const secret = await ask(callOf('secret', { principal: 'eve' }));
    const { approval } = await ask(callOf('npm test', { principal: 'bob' }));
    const sent = provider.read(await message());
    expect(sent.text).toContain('npm test');
    await ended(approval, 'approval.asked', 'people');
    expect(await store.outbox.about(secret.approval.id)).toEqual([]);
    const callback = provider.press(sent.buttons.allow, { user: alice, now: clock.at });
    expect(provider.taken(await press('people', callback))).toBe(false);
    expect((await store.approvals.get(approval.id))?.state).toBe('pending');
  });

  it('is given a test message without buttons', async () => {
    const { notifier, message, provider } = await worldOf(name);
    await notifier.test('people', 'root');
    expect(provider.read(await message()).buttons).toEqual({});
  });
});

describe('a provider', () => {
  it('is shown as failing with its own words where it refuses', async () => {
    const site = await startProvider(() => ({ body: { ok: false, error: 'channel_not_found' } }));
    const { ask, notifier } = await notifyWorld({
      allow_private: [site.host],
      targets: { s: { type: 'slack', base_url: site.url, token: 't', signing_secret: 's', channel: 'C' } },
    });
    await ask(callOf('npm test'));
    await site.next();
    const error = await until(async () => (await notifier.status())[0]?.failing?.error);
    expect(error).toBe('It answered 200: channel_not_found.');
  });

  it('is asked later where the rules say so, and not at all about what was decided before', async () => {
    const site = await startProvider(() => ({ body: { ok: true, channel: 'C', ts: '1' } }));
    const { ask, coordinator, store, clock, notifier } = await notifyWorld({
      allow_private: [site.host],
      targets: { s: { type: 'slack', base_url: site.url, token: 't', signing_secret: 's', channel: 'C' } },
      ask: [{ targets: ['s'], after_min: 5 }],
    });
    const [first, second] = [await ask(callOf('one')), await ask(callOf('two'))];
    const { id, digest } = first.approval;
    await coordinator.decide(id, { decision: 'allow', digest, by: 'bob', via: 'console' });
    await until(async () => (await store.outbox.about(id))[0]?.state === 'dropped');
    clock.at += 5 * 60_000;
    await notifier.test('s', 'root');
    const bodies = [await site.next(), await site.next()].map(({ body }) => body).join();
    expect(bodies).toContain('"two"');
    expect(bodies).not.toContain('"one"');
    expect((await store.outbox.about(second.approval.id))[0]?.dueAt).toBe(
      second.approval.createdAt + 5 * 60_000,
    );
  });

  it('of Feishu proves its address once, by the token and the key', async () => {
    const { press } = await worldOf('feishu');
    const ask = (token: string) =>
      press('people', { body: encrypt({ type: 'url_verification', challenge: 'c-1', token }) });
    expect(await ask('verify-token')).toEqual({ status: 200, body: { challenge: 'c-1' } });
    await expect(ask('other')).rejects.toMatchObject({ code: 'forbidden' });
    await expect(press('people', { body: '{"encrypt":"AAAA"}' })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });
});
