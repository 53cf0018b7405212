/** Keys at run time: who may make them, what they may do, and that a revoked one is out at once. */
import { expect, it } from 'vitest';
import type { KeyWire, NewKeyWire } from '../../src/server/console-api/wire/keys.js';
import { EventReader } from '../support/event-reader.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { openResponsesSocket } from '../support/responses-socket.js';
import { gate, json, sse, startUpstream } from '../support/scripted-upstream.js';
import { sendStateless, stateless } from './mcp-virtual-harness.js';

const ROOT = 'root-key';

const hello = json({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

const chunk = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

async function open(config: object = {}, folder?: string): Promise<TestGateway> {
  return startTestGateway({
    ...(folder === undefined ? {} : { folder }),
    config: {
      server: {
        keys: [
          { key: ROOT, name: 'root', scopes: ['call', 'approve', 'admin'] },
          { key: 'caller-key', name: 'caller' },
          { key: 'tenant-key', name: 'tenant', scopes: ['call', 'approve'] },
        ],
      },
      models: { '*': { upstream: 'demo' } },
      ...config,
    },
  });
}

interface Reply<T> {
  status: number;
  body: T;
}

async function send<T = { error: { message: string } }>(
  { url }: Pick<TestGateway, 'url'>,
  method: string,
  path: string,
  { key = ROOT, body }: { key?: string; body?: object } = {},
): Promise<Reply<T>> {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: JSON.parse(await answer.text()) };
}

async function create(gateway: Pick<TestGateway, 'url'>, body: object, key = ROOT): Promise<NewKeyWire> {
  const made = await send<NewKeyWire>(gateway, 'POST', '/api/keys', { key, body });
  expect(made.status).toBe(201);
  return made.body;
}

const ask = ({ url }: Pick<TestGateway, 'url'>, key: string | undefined, model = 'demo'): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
  });

const statusOf = async (...asked: Parameters<typeof ask>): Promise<number> => {
  const answer = await ask(...asked);
  await answer.text();
  return answer.status;
};

it('a key made at run time calls what it may and nothing else, and its secret is shown once', async () => {
  const gateway = await open();
  const made = await create(gateway, { name: 'ci', team: 'web', user: 'ann', models: ['gpt-*'] });
  expect(made.secret).toMatch(/^sk-tg-[A-Za-z0-9]{43}$/);
  expect(made).toMatchObject({ state: 'active', scopes: ['call'], created_by: 'root', team: 'web' });
  expect(await statusOf(gateway, made.secret, 'gpt-5')).toBe(200);
  expect(await statusOf(gateway, made.secret, 'demo')).toBe(403);
  const { body } = await send<{ data: KeyWire[] }>(gateway, 'GET', '/api/keys');
  expect(body.data.map(({ name, source, start }) => [name, source, start])).toEqual([
    ['root', 'configuration', null],
    ['caller', 'configuration', null],
    ['tenant', 'configuration', null],
    ['ci', 'store', made.secret.slice(0, 11)],
  ]);
  expect(JSON.stringify(body)).not.toContain(made.secret.slice(12));
  expect(JSON.stringify(body)).not.toContain(ROOT);
});

it.each(['caller-key', 'tenant-key'])('%s, without admin, sees and changes no key', async (key) => {
  const gateway = await open();
  const { id } = await create(gateway, { name: 'ci' });
  const tries = [
    ['GET', '/api/keys'],
    ['POST', '/api/keys', { name: 'mine', scopes: ['admin'] }],
    ['DELETE', `/api/keys/${id}`],
    ['POST', `/api/keys/${id}/rotate`, {}],
  ] as const;
  for (const [method, path, body] of tries) {
    const refused = await send(gateway, method, path, { key, ...(body && { body }) });
    expect([method, path, refused.status]).toEqual([method, path, 403]);
    expect(JSON.stringify(refused.body)).not.toContain('"ci"');
  }
  expect((await fetch(`${gateway.url}/api/keys`)).status).toBe(401);
});

it.each([
  ['a name that another key has', { name: 'ci' }, 'name: there is a key "ci" already'],
  ['a name in the file', { name: 'root' }, 'name: the key "root" stands in the configuration file'],
  ['the name of callers without a key', { name: 'local' }, 'name: "local" is who callers without a key are'],
  ['a name that is none', { name: 'a b' }, 'name: expected a name of letters, digits'],
  ['no name', {}, 'name: missing; expected'],
  ['an unknown scope', { name: 'x', scopes: ['amdin'] }, 'Did you mean `admin`?'],
  ['an unknown field', { name: 'x', scope: ['call'] }, 'scope: unknown field; did you mean scopes?'],
  ['a glob of another kind', { name: 'x', models: ['gpt-[45]'] }, 'models.0: expected the name of a model'],
  [
    'an end in the past',
    { name: 'x', expires_at: '2020-01-01T00:00:00Z' },
    'expires_at: expected a time to come',
  ],
  ['an end that is no time', { name: 'x', expires_at: 'soon' }, 'expires_at: expected a time as'],
  ['a rate of nothing', { name: 'x', rpm: 0 }, 'rpm: expected a number above 0'],
  [
    'a budget without a period',
    { name: 'x', budget: { usd: 1 } },
    'budget.per: missing; expected one of day',
  ],
  ['a relative folder', { name: 'x', workspaces: ['work'] }, 'workspaces: expected whole paths'],
])('%s is refused with what is wrong', async (_what, body, problem) => {
  const gateway = await open();
  await create(gateway, { name: 'ci' });
  const refused = await send(gateway, 'POST', '/api/keys', { body });
  expect(refused.status).toBe(400);
  expect(refused.body.error.message).toContain(problem);
});

it('a key of the file is changed in the file alone', async () => {
  const gateway = await open();
  for (const [method, path] of [
    ['DELETE', '/api/keys/caller'],
    ['POST', '/api/keys/caller/rotate'],
  ] as const) {
    const refused = await send(gateway, method, path);
    expect(refused.status).toBe(409);
    expect(refused.body.error.message).toContain('stands in the configuration file, under server.keys');
  }
  expect(await statusOf(gateway, 'caller-key')).toBe(200);
});

it('a revoked key is refused at once, also after a restart, and the audit log says who revoked it', async () => {
  const gateway = await open();
  const made = await create(gateway, { name: 'ci', scopes: ['call', 'admin'] });
  const kept = await create(gateway, { name: 'other' });
  expect(await statusOf(gateway, made.secret)).toBe(200);
  const revoked = await send<KeyWire>(gateway, 'DELETE', `/api/keys/${made.id}`);
  expect([revoked.status, revoked.body.state]).toEqual([200, 'revoked']);
  expect(await statusOf(gateway, made.secret)).toBe(401);
  expect((await send(gateway, 'GET', '/api/keys', { key: made.secret })).status).toBe(401);
  expect((await send(gateway, 'DELETE', `/api/keys/${made.id}`)).status).toBe(404);
  await gateway.close();
  const again = await open({}, gateway.folder);
  expect([await statusOf(again, made.secret), await statusOf(again, kept.secret)]).toEqual([401, 200]);
});

it('a revoked key loses its event stream and its idle WebSocket; the answer that runs is finished', async () => {
  const held = gate();
  const upstream = await startUpstream([
    sse([chunk({ content: 'begun ' }), held, chunk({ content: 'and whole' }), chunk({}, 'stop')]),
  ]);
  const gateway = await open({
    upstreams: { up: upstream.config('openai-chat') },
    models: { m: { upstream: 'up' }, demo: { upstream: 'demo' } },
  });
  const { id, secret } = await create(gateway, { name: 'ci', scopes: ['call', 'approve'] });
  const bystander = await EventReader.open(gateway.url, { key: 'tenant-key' });
  const events = await EventReader.open(gateway.url, { key: secret });
  const socket = await openResponsesSocket(gateway.url, { authorization: `Bearer ${secret}` });
  const running = fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
  });
  await held.reached;
  expect((await send(gateway, 'DELETE', `/api/keys/${id}`)).status).toBe(200);
  await events.ended;
  expect((await socket.closed).code).toBe(1012);
  held.open();
  expect(await (await running).text()).toContain('and whole');
  expect(await statusOf(gateway, secret)).toBe(401);
  expect(bystander.over).toBe(false);
});

it('a revoked key loses the streams on which its MCP clients listen, of both eras', async () => {
  const gateway = await open();
  const { id, secret } = await create(gateway, { name: 'ci', scopes: ['call'] });
  const listen = stateless('subscriptions/listen', { notifications: { toolsListChanged: true } });
  const [newer, older, bystander] = await Promise.all([
    sendStateless(gateway, listen, { key: secret, path: '/mcp/gateway' }),
    fetch(`${gateway.url}/mcp/gateway`, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${secret}` },
    }),
    sendStateless(gateway, listen, { key: 'tenant-key', path: '/mcp/gateway' }),
  ]);
  expect([newer.status, older.status, bystander.status]).toEqual([200, 200, 200]);
  expect((await send(gateway, 'DELETE', `/api/keys/${id}`)).status).toBe(200);
  await Promise.all([newer.text(), older.text()]);
  const reader = bystander.body?.getReader();
  const ended = (async () => {
    for (;;) if ((await reader?.read())?.done !== false) return 'ended';
  })();
  expect(await Promise.race([ended, send(gateway, 'GET', '/api/keys')])).toMatchObject({ status: 200 });
  await reader?.cancel();
});

it('a browser that signed in with a key is signed out when the key is revoked or rotated', async () => {
  const gateway = await open();
  const one = await create(gateway, { name: 'one', scopes: ['admin'] });
  const two = await create(gateway, { name: 'two', scopes: ['admin'] });
  const signIn = async (token: string): Promise<() => Promise<number>> => {
    const answer = await fetch(`${gateway.url}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    });
    const { page }: { page: string } = JSON.parse(await answer.text());
    const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
    const headers = { cookie, 'x-toolgate-page': page };
    return async () => (await fetch(`${gateway.url}/api/session`, { headers })).status;
  };
  const pages = [await signIn(one.secret), await signIn(two.secret)];
  expect(await Promise.all(pages.map((page) => page()))).toEqual([200, 200]);
  await send(gateway, 'DELETE', `/api/keys/${one.id}`);
  await send(gateway, 'POST', `/api/keys/${two.id}/rotate`);
  expect(await Promise.all(pages.map((page) => page()))).toEqual([401, 401]);
});

it('a rotated key has a new secret; the old one is taken for as long as was said and no longer', async () => {
  const gateway = await open();
  const first = await create(gateway, { name: 'ci' });
  const second = await send<NewKeyWire>(gateway, 'POST', `/api/keys/${first.id}/rotate`, {
    body: { overlap_s: 600 },
  });
  expect(second.status).toBe(200);
  expect(second.body).toMatchObject({ name: 'ci', id: first.id, previous_until: expect.any(String) });
  expect([await statusOf(gateway, first.secret), await statusOf(gateway, second.body.secret)]).toEqual([
    200, 200,
  ]);
  const third = await send<NewKeyWire>(gateway, 'POST', '/api/keys/ci/rotate');
  const all = [first.secret, second.body.secret, third.body.secret];
  expect(await Promise.all(all.map((secret) => statusOf(gateway, secret)))).toEqual([401, 401, 200]);
  const wrong = await send(gateway, 'POST', '/api/keys/ci/rotate', { body: { overlap_s: -1 } });
  expect(wrong.status).toBe(400);
});

it('limits of a key made at run time hold, and go on counting when it is rotated', async () => {
  const upstream = await startUpstream(() => hello);
  const gateway = await open({
    upstreams: { up: upstream.config('openai-chat') },
    models: { m: { upstream: 'up' } },
  });
  const slow = await create(gateway, { name: 'slow', rpm: 2 });
  const few = await create(gateway, { name: 'few', tpm: 3 });
  expect(await statusOf(gateway, slow.secret, 'm')).toBe(200);
  const { body } = await send<NewKeyWire>(gateway, 'POST', `/api/keys/${slow.id}/rotate`);
  expect([await statusOf(gateway, body.secret, 'm'), await statusOf(gateway, body.secret, 'm')]).toEqual([
    200, 429,
  ]);
  expect([await statusOf(gateway, few.secret, 'm'), await statusOf(gateway, few.secret, 'm')]).toEqual([
    200, 200,
  ]);
  expect(await statusOf(gateway, few.secret, 'm')).toBe(429);
});

it('an agent works for a key only in its folders', async () => {
  const gateway = await open({
    models: {
      here: { engine: 'native', upstream: 'demo', cwd: '.' },
      there: { engine: 'native', upstream: 'demo', cwd: '/' },
    },
  });
  const { secret } = await create(gateway, { name: 'ci', workspaces: [gateway.folder] });
  expect(await statusOf(gateway, secret, 'here')).toBe(200);
  const refused = await ask(gateway, secret, 'there');
  expect([refused.status, await refused.text()]).toEqual([
    403,
    expect.stringContaining('The key ci may not work in /'),
  ]);
});

it('the first key of a gateway without keys closes it, and the answer says so; the console token goes on', async () => {
  const gateway = await startTestGateway({ config: { models: { '*': { upstream: 'demo' } } } });
  const token = new URL(gateway.consoleUrl).hash.replace('#token=', '');
  expect(await statusOf(gateway, undefined)).toBe(200);
  const made = await create(gateway, { name: 'first' }, token);
  expect(made.notes.join(' ')).toContain('from now on every request needs one');
  expect([await statusOf(gateway, undefined), await statusOf(gateway, made.secret)]).toEqual([401, 200]);
  expect((await send(gateway, 'GET', '/api/keys', { key: token })).status).toBe(200);
  const last = await send<{ notes: string[] }>(gateway, 'DELETE', '/api/keys/first', { key: token });
  expect(last.body.notes.join(' ')).toContain('callers without one stay refused');
  expect(await statusOf(gateway, undefined)).toBe(401);
  await gateway.close();
  const again = await startTestGateway({ folder: gateway.folder });
  expect(await statusOf(again, undefined)).toBe(401);
  expect(again.consoleUrl).toContain('#token=');
});

it('a key made by another process on the store works with its first use', async () => {
  const one = await open();
  const two = await open({}, one.folder);
  const { secret, id } = await create(one, { name: 'ci' });
  expect(await statusOf(two, secret)).toBe(200);
  await send(one, 'DELETE', `/api/keys/${id}`);
  await expect.poll(() => statusOf(two, secret)).toBe(401);
});
