/** Upstreams at run time: who may connect them, that they answer at once, and that their keys are nowhere in the clear. */
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type {
  LocalServersWire,
  UpstreamListWire,
  UpstreamTestWire,
  UpstreamWire,
} from '../../src/server/console-api/wire/upstreams.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { DEAD_URL, json, startUpstream } from '../support/scripted-upstream.js';

const ROOT = 'root-key';
const SECRET = 'sk-very-secret-4242424242';

const answer = json({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm1',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi from m1' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const models = json({ object: 'list', data: [{ id: 'm1' }, { id: 'm2' }] });
const refused = json({ error: { message: `Incorrect API key provided: ${SECRET}` } }, { status: 401 });

/** Lists models and answers, for callers with the key alone. */
const provider = () =>
  startUpstream(({ path, headers }) => {
    if (headers['authorization'] !== `Bearer ${SECRET}`) return refused;
    return path.endsWith('/models') ? models : answer;
  });

const open = (folder?: string, upstreams: object = {}): Promise<TestGateway> =>
  startTestGateway({
    ...(folder === undefined ? {} : { folder }),
    env: { MY_ROOT_KEY: ROOT },
    config: {
      server: {
        keys: [
          { key: ROOT, name: 'root', scopes: ['call', 'approve', 'admin'] },
          { key: 'tenant-key', name: 'tenant', scopes: ['call', 'approve'] },
        ],
      },
      upstreams,
      models: { demo: { upstream: 'demo' } },
    },
  });

async function send<T = { error: { message: string } }>(
  { url }: Pick<TestGateway, 'url'>,
  method: string,
  path: string,
  { key = ROOT, body }: { key?: string; body?: object } = {},
): Promise<{ status: number; body: T; text: string }> {
  const reply = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  return { status: reply.status, text, body: path.endsWith('/export') ? undefined : JSON.parse(text) };
}

const ask = (gateway: TestGateway, model = 'm1', key = 'tenant-key') =>
  send<{ choices: { message: { content: string } }[] }>(gateway, 'POST', '/v1/chat/completions', {
    key,
    body: { model, messages: [{ role: 'user', content: 'Hi' }] },
  });

const settings = (baseUrl: string) => ({ dialect: 'openai-chat', base_url: baseUrl, api_key: SECRET });
const connection = (baseUrl: string) => ({ name: 'mine', ...settings(baseUrl), models: ['m1'] });

/** Every byte that the gateway has left in its folder. */
async function leftIn(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), 'latin1')));
  return texts.join('\n');
}

it('a connected upstream answers at once and after a restart, and is gone when it is removed', async () => {
  const upstream = await provider();
  const gateway = await open();
  expect((await ask(gateway)).status).toBe(404);
  const made = await send<UpstreamWire>(gateway, 'POST', '/api/upstreams', {
    body: connection(upstream.url),
  });
  expect([made.status, made.body]).toMatchObject([
    201,
    { name: 'mine', source: 'store', state: 'active', key: 'stored', created_by: 'root' },
  ]);
  expect((await ask(gateway)).body.choices[0]?.message.content).toBe('Hi from m1');
  await gateway.close();

  const again = await open(gateway.folder);
  expect((await ask(again)).body.choices[0]?.message.content).toBe('Hi from m1');
  expect((await send(again, 'DELETE', '/api/upstreams/mine')).status).toBe(200);
  expect((await ask(again)).status).toBe(404);
  expect((await send(again, 'DELETE', '/api/upstreams/mine')).status).toBe(404);
});

it('the key is in no answer, no export and no file, and the file that opens it is the owner’s alone', async () => {
  const upstream = await provider();
  const gateway = await open();
  const said = [
    await send(gateway, 'POST', '/api/upstreams/test', { body: settings(upstream.url) }),
    await send(gateway, 'POST', '/api/upstreams', { body: connection(upstream.url) }),
    await send(gateway, 'GET', '/api/upstreams'),
    await send(gateway, 'GET', '/api/upstreams/export'),
    await send(gateway, 'GET', '/api/status'),
    await ask(gateway),
    await send(gateway, 'GET', '/api/traces'),
  ].map(({ text }) => text);
  expect(said.join('\n')).not.toContain(SECRET);
  expect(said[3]).toContain(`"api_key":"\${MINE_API_KEY}"`);
  await gateway.close();
  const left = await leftIn(gateway.folder);
  expect(left).toContain('v1.');
  expect(left).not.toContain(SECRET);
  const entries = await readdir(gateway.folder, { recursive: true, withFileTypes: true });
  const keyFile = entries.find(({ name }) => name === 'secret.key');
  const { mode } = await stat(join(keyFile?.parentPath ?? '', 'secret.key'));
  expect(mode & 0o777).toBe(0o600);

  // Without the file nobody can open it: the rest of the gateway starts, and the list says why.
  await writeFile(join(keyFile?.parentPath ?? '', 'secret.key'), 'another key, from another machine');
  const again = await open(gateway.folder);
  const { body } = await send<UpstreamListWire>(again, 'GET', '/api/upstreams');
  expect(body.data.find(({ name }) => name === 'mine')).toMatchObject({
    state: 'unusable',
    problem: expect.stringContaining('cannot be decrypted'),
  });
  expect((await ask(again)).status).toBe(404);
});

it('only administrators may list, test, connect, remove and export upstreams', async () => {
  const gateway = await open();
  const attempts = [
    ['GET', '/api/upstreams'],
    ['POST', '/api/upstreams'],
    ['POST', '/api/upstreams/test'],
    ['GET', '/api/upstreams/export'],
    ['GET', '/api/upstreams/local'],
    ['DELETE', '/api/upstreams/mine'],
  ] as const;
  for (const [method, path] of attempts) {
    const body = method === 'POST' ? { body: connection(DEAD_URL) } : {};
    const { status } = await fetch(gateway.url + path, {
      method,
      headers: { authorization: 'Bearer tenant-key', 'content-type': 'application/json' },
      ...(method === 'POST' && { body: JSON.stringify(body) }),
    });
    expect([method, path, status]).toEqual([method, path, 403]);
  }
});

it.each([
  ['a wrong key', 'sk-wrong-key-000000', '', /refuses the key \(401\)/],
  ['a wrong path', SECRET, '/v2/nothing', /gave no list of models|refuses/],
])('a test says plainly that it is %s', async (_what, api_key, path, problem) => {
  const upstream = await startUpstream(({ path: asked, headers }) => {
    if (headers['authorization'] !== `Bearer ${SECRET}`) return refused;
    return asked.endsWith('/nothing/models') ? json({ error: 'no' }, { status: 404 }) : models;
  });
  const gateway = await open();
  const body = { ...settings(upstream.url + path), api_key };
  const tested = await send<UpstreamTestWire>(gateway, 'POST', '/api/upstreams/test', { body });
  expect(tested.body).toMatchObject({ ok: false, models: null, problem: expect.stringMatching(problem) });
  expect(tested.text).not.toContain(api_key);
});

it('a test lists the models, and says when nothing listens or the address may never be reached', async () => {
  const upstream = await provider();
  const gateway = await open();
  const test = async (baseUrl: string) =>
    (await send<UpstreamTestWire>(gateway, 'POST', '/api/upstreams/test', { body: settings(baseUrl) })).body;
  expect(await test(upstream.url)).toEqual({ ok: true, problem: null, models: ['m1', 'm2'] });
  expect((await test(DEAD_URL)).problem).toContain('nothing listens there');
  expect((await test('http://169.254.169.254/v1')).problem).toContain(
    'cloud machines serve their credentials',
  );
});

it.each([
  ['a name of the configuration', { name: 'filed' }, /name: the configuration has an upstream "filed"/],
  ['a metadata address', { base_url: 'http://169.254.169.254/v1' }, /base_url: .*link-local/],
  ['a password in the address', { base_url: 'http://u:p@127.0.0.1:1' }, /base_url: .*without a user name/],
  [
    'a variable that is not set',
    { api_key: null, api_key_env: 'NO_SUCH_KEY' },
    /api_key_env: .*has no NO_SUCH_KEY/,
  ],
  [
    'a variable with a key of the gateway',
    { api_key: null, api_key_env: 'MY_ROOT_KEY' },
    /api_key_env: .*MY_ROOT_KEY is a secret of the gateway itself/,
  ],
  [
    'a variable of the gateway',
    { api_key: null, api_key_env: 'TOOLGATE_SECRET_KEY' },
    /api_key_env: .*secret of the gateway itself/,
  ],
  ['a key and a variable', { api_key_env: 'HOME' }, /give one of them/],
  ['no model', { models: [] }, /models/],
  ['a glob as a model', { models: ['*'] }, /models\.0/],
  ['an agent model that is not offered', { agent_model: 'm9' }, /agent_model/],
])('%s is refused, and nothing is stored', async (_what, change, problem) => {
  const gateway = await open(undefined, { filed: { dialect: 'openai-chat', base_url: DEAD_URL } });
  const body = { ...connection(DEAD_URL), ...change };
  const made = await send(gateway, 'POST', '/api/upstreams', { body });
  expect([made.status, made.body.error.message]).toEqual([400, expect.stringMatching(problem)]);
  const { body: list } = await send<UpstreamListWire>(gateway, 'GET', '/api/upstreams');
  expect(list.data.filter(({ source }) => source === 'store')).toEqual([]);
});

it('a name is there once, and the file wins over what was connected', async () => {
  const gateway = await open();
  const body = connection(DEAD_URL);
  expect((await send(gateway, 'POST', '/api/upstreams', { body })).status).toBe(201);
  const twice = await send(gateway, 'POST', '/api/upstreams', { body });
  expect([twice.status, twice.body.error.message]).toEqual([400, expect.stringContaining('already')]);
  await gateway.close();
  const again = await open(gateway.folder, {
    mine: { dialect: 'openai-chat', base_url: 'http://127.0.0.1:2' },
  });
  const { body: list } = await send<UpstreamListWire>(again, 'GET', '/api/upstreams');
  expect(list.data.filter(({ name }) => name === 'mine')).toMatchObject([
    { source: 'configuration', base_url: 'http://127.0.0.1:2', state: 'active' },
    { source: 'store', state: 'replaced' },
  ]);
});

it('lists the providers that it knows, and whose key the environment has, without the key', async () => {
  const gateway = await startTestGateway({ env: { GOOGLE_API_KEY: SECRET } });
  const token = new URL(gateway.consoleUrl).hash.replace('#token=', '');
  const { body, text } = await send<UpstreamListWire>(gateway, 'GET', '/api/upstreams', { key: token });
  const known = (name: string) => body.providers.find((provider) => provider.name === name);
  expect(known('gemini')).toMatchObject({ key_variable: 'GOOGLE_API_KEY', key_is_set: true });
  expect(known('anthropic')).toMatchObject({
    ...{ title: 'Anthropic', dialect: 'anthropic-messages', base_url: 'https://api.anthropic.com' },
    ...{ key_variable: 'ANTHROPIC_API_KEY', key_is_set: false },
  });
  expect(known('anthropic')?.suggested.every((model) => model.startsWith('claude-'))).toBe(true);
  expect(text).not.toContain(SECRET);
});

it('finds the model servers of this machine, and passes over whatever else is at their ports', async () => {
  const [ollama, website] = await Promise.all([startUpstream(() => models), startUpstream(() => refused)]);
  const gateway = await startTestGateway({
    localServers: [
      { name: 'ollama', title: 'Ollama', baseUrl: `${ollama.url}/v1`, patienceMs: 30_000 },
      { name: 'vllm', title: 'vLLM', baseUrl: `${website.url}/v1` },
      { name: 'lmstudio', title: 'LM Studio', baseUrl: DEAD_URL },
    ],
  });
  const key = new URL(gateway.consoleUrl).hash.replace('#token=', '');
  const path = `/api/upstreams/local?base_url=${encodeURIComponent(website.url)}`;
  const { body } = await send<LocalServersWire>(gateway, 'GET', path, { key });
  expect(body.data).toEqual([
    {
      ...{ name: 'ollama', title: 'Ollama', dialect: 'openai-chat', base_url: `${ollama.url}/v1` },
      models: ['m1', 'm2'],
    },
  ]);
  expect(website.requests.map(({ path: asked }) => asked)).toEqual(['/v1/models']);
});
