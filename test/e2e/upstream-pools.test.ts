/** Several keys of one upstream: who answers, what a limit or an outage of one does, and to whom. */
import { expect, it } from 'vitest';
import { loadConfigText } from '../../src/config/load.js';
import type { GatewayError } from '../../src/core/errors.js';
import { createDispatcher } from '../../src/gateway/create-dispatcher.js';
import type { TargetMove } from '../../src/upstreams/upstream-pool.js';
import { closeAfterTest } from '../support/cleanup.js';
import { startTestGateway } from '../support/gateway.js';
import { inDialect } from '../support/scripted-answers.js';
import {
  DEAD_URL,
  gate,
  json,
  type RecordedRequest,
  type Reply,
  type ScriptFunction,
  startUpstream,
} from '../support/scripted-upstream.js';

const KEYS = [
  { key: 'k-alice', name: 'alice', scopes: ['call', 'admin'] },
  { key: 'k-bob', name: 'bob' },
];
const said = inDialect({ parts: [{ type: 'text', text: 'Hello.' }] });
const refused = (status: number, headers: Record<string, string> = {}): Reply =>
  json({ error: { message: 'No.', type: 'rate_limit_error' } }, { status, headers });

interface Asks {
  key?: string;
  session?: string;
  model?: string;
  messages?: object[];
  path?: string;
  body?: object;
}

/** `script` by the name of the target, which its credential ends with; each answers where it says nothing. */
async function open(
  script: Record<string, ScriptFunction>,
  { targets = [{}, {}] as object[], more = {}, dialect = 'openai-chat' as const } = {},
) {
  let now = 1_000_000;
  const targetOf = ({ headers }: RecordedRequest) => headers['authorization']?.split('-').at(-1) ?? '';
  let isScripted = true;
  const upstream = await startUpstream((request, index) =>
    ((isScripted ? script[targetOf(request)] : undefined) ?? said)(request, index),
  );
  const config = {
    server: { keys: KEYS },
    upstreams: {
      pool: {
        ...{ dialect, base_url: upstream.baseUrl(dialect) },
        targets: targets.map((target, index) => ({ api_key: `secret-of-${index + 1}`, ...target })),
        ...more,
      },
    },
    models: { '*': { upstream: 'pool' } },
  };
  const moves: TargetMove[] = [];
  const failures: string[] = [];
  const loaded = await loadConfigText(JSON.stringify(config), { baseDir: '/nonexistent', env: {} });
  const dispatcher = createDispatcher({
    config: loaded.config,
    retryBudgetMs: 0,
    now: () => now,
    onMove: (move) => moves.push(move),
    onUpstreamFailure: (name: string, { status }: GatewayError) => failures.push(`${name} ${status}`),
  });
  closeAfterTest(() => dispatcher.close());
  const gateway = await startTestGateway({ config, dispatcher });
  const ask = async ({ key = 'alice', session, model = 'm', messages, path, body }: Asks = {}) => {
    const response = await fetch(gateway.url + (path ?? '/v1/chat/completions'), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer k-${key}`,
        ...(session === undefined ? {} : { 'session-id': session }),
      },
      body: JSON.stringify(body ?? { model, messages: messages ?? [{ role: 'user', content: 'Hi' }] }),
    });
    const { status, headers } = response;
    const text = await response.text();
    return {
      status,
      text,
      target: headers.get('x-toolgate-upstream'),
      wait: headers.get('retry-after'),
      trace: headers.get('x-toolgate-trace'),
    };
  };
  let first = 0;
  const targetsAsked = () => upstream.requests.slice(first).map(targetOf).join('');
  /** The name of a conversation that belongs to the target, which nothing has happened to yet. */
  const at = async (target: string, key = 'alice', from = 0): Promise<string> => {
    isScripted = false;
    let session = '';
    for (let i = from; session === ''; i++) {
      if ((await ask({ key, session: `s${i}` })).target === target) session = `s${i}`;
    }
    isScripted = true;
    first = upstream.requests.length;
    return session;
  };
  return {
    ...{ gateway, upstream, ask, at, moves, failures, targetsAsked, dispatcher, config },
    pass: (seconds: number) => {
      now += seconds * 1000;
    },
  };
}

it('requests of no conversation go to targets by weight, and never by chance', async () => {
  const embedding = () => json({ object: 'list', data: [], usage: { prompt_tokens: 1, total_tokens: 1 } });
  const { ask, targetsAsked } = await open(
    { 1: embedding, 2: embedding },
    { targets: [{ weight: 3 }, { name: 'spare' }] },
  );
  for (let i = 0; i < 8; i++) await ask({ path: '/v1/embeddings', body: { model: 'm', input: 'x' } });
  expect(targetsAsked()).toBe('11211121');
});

it('gateways that have the same targets send a conversation to the same one, also after a restart', async () => {
  const one = await open({}, { targets: [{}, {}, {}] });
  const { config } = one;
  const others = [];
  for (let i = 0; i < 2; i++) {
    const { config: loaded } = await loadConfigText(JSON.stringify(config), {
      baseDir: '/nonexistent',
      env: {},
    });
    const dispatcher = createDispatcher({ config: loaded });
    closeAfterTest(() => dispatcher.close());
    others.push(await startTestGateway({ config, dispatcher }));
  }
  const targetAt = async (url: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer k-alice', ...headers },
      body: JSON.stringify({ model: 'm', ...body }),
    });
    await response.text();
    return response.headers.get('x-toolgate-upstream');
  };
  const urls = [one.gateway.url, ...others.map(({ url }) => url)];
  for (let i = 0; i < 12; i++) {
    const first = { role: 'user', content: `Question ${i}` };
    const later = [first, { role: 'assistant', content: 'Hello.' }, { role: 'user', content: 'Go on' }];
    const named = await Promise.all(
      urls.map((url) => targetAt(url, { messages: [first] }, { 'session-id': `c${i}` })),
    );
    // Each turn comes to another gateway.
    const turns = [[first], later, [...later, { role: 'assistant', content: 'Hello.' }, first]];
    const unnamed = await Promise.all(turns.map((messages, at) => targetAt(urls[at] ?? '', { messages })));
    for (const targets of [named, unnamed]) expect(new Set(targets).size, String(targets)).toBe(1);
  }
});

it('a target that is down moves its own conversations, which come back to it', async () => {
  let isDown = false;
  const { ask, at, moves, pass } = await open(
    { 1: (request, index) => (isDown ? refused(503) : said(request, index)) },
    { targets: [{}, {}, {}] },
  );
  const [own, second, third] = [await at('pool/1'), await at('pool/2'), await at('pool/3')];
  moves.length = 0;
  isDown = true;
  const away = (await ask({ session: own })).target;
  expect(['pool/2', 'pool/3']).toContain(away);
  expect((await ask({ session: own })).target).toBe(away);
  expect((await ask({ session: second })).target).toBe('pool/2');
  expect((await ask({ session: third })).target).toBe('pool/3');
  isDown = false;
  pass(2);
  expect((await ask({ session: own })).target).toBe('pool/1');
  expect(moves).toEqual([
    { from: 'pool/1', to: away, reason: 'moved from pool/1, which failed: 503' },
    { from: away, to: 'pool/1', reason: `back from ${away} to the home of the conversation` },
  ]);
});

it('a conversation stays with its target: by its session, its cache key and its history, whatever the form', async () => {
  const { ask } = await open({}, { targets: [{}, {}, {}] });
  const home = (await ask({ session: 's' })).target;
  await ask();
  for (let i = 0; i < 4; i++) expect((await ask({ session: 's' })).target).toBe(home);
  const keyed = () =>
    ask({ body: { model: 'm', prompt_cache_key: 'c', messages: [{ role: 'user', content: 'x' }] } });
  expect((await keyed()).target).toBe((await keyed()).target);
  const first = { role: 'user', content: 'A question of its own' };
  const own = (await ask({ messages: [first] })).target;
  const history = [first, { role: 'assistant', content: 'Hello.' }, { role: 'user', content: 'Go on' }];
  expect((await ask({ messages: history })).target).toBe(own);
  // The same conversation, as another dialect writes it.
  const messages = [{ role: 'user', content: [{ type: 'text', text: first.content }] }, ...history.slice(1)];
  const other = await ask({ path: '/v1/messages', body: { model: 'm', max_tokens: 9, messages } });
  expect(other.target).toBe(own);
});

it('a target that is limited rests for every key as long as it says, and its conversations move meanwhile', async () => {
  let limited = false;
  const script = () => (limited ? refused(429, { 'retry-after': '30' }) : undefined);
  const { ask, at, moves, pass, targetsAsked, failures } = await open({
    1: (request, index) => script() ?? said(request, index),
  });
  const of = { bob: await at('pool/1', 'bob'), alice: await at('pool/1') };
  limited = true;
  expect(await ask({ session: of.alice })).toMatchObject({ status: 200, target: 'pool/2' });
  expect(moves).toEqual([{ from: 'pool/1', to: 'pool/2', reason: 'moved from pool/1, which failed: 429' }]);
  expect(failures).toEqual(['pool/1 429']);
  limited = false;
  for (const key of ['alice', 'bob'] as const) {
    expect((await ask({ key, session: of[key] })).target).toBe('pool/2');
  }
  expect(targetsAsked()).toBe('1222');
  pass(30);
  for (const key of ['alice', 'bob'] as const) {
    expect((await ask({ key, session: of[key] })).target).toBe('pool/1');
  }
});

it('a limit of one model is none of another', async () => {
  const { ask, at } = await open({
    1: (request, index) =>
      request.json['model'] === 'large' ? refused(429, { 'retry-after': '30' }) : said(request, index),
  });
  const session = await at('pool/1');
  expect((await ask({ model: 'large', session })).target).toBe('pool/2');
  expect((await ask({ model: 'small', session })).target).toBe('pool/1');
});

it.each([
  ['a 429 without a word about a limit, as for a request that is too large', refused(429)],
  ['a failure that its request may have caused', refused(500)],
])('%s keeps the target for other keys', async (_name, reply) => {
  const { ask, at } = await open({
    1: (request, index) => (isFrom(request, 'bad') ? reply : said(request, index)),
  });
  const of = { bob: await at('pool/1', 'bob'), alice: await at('pool/1') };
  const bad = [{ role: 'user', content: 'bad' }];
  const moved = { status: 200, target: 'pool/2' };
  expect(await ask({ key: 'bob', session: of.bob, messages: bad })).toMatchObject(moved);
  expect((await ask({ key: 'bob', session: of.bob })).target).toBe('pool/2');
  expect((await ask({ session: of.alice })).target).toBe('pool/1');
});

const isFrom = ({ text }: RecordedRequest, said: string): boolean => text.includes(`"${said}"`);

it.each([400, 413, 422])(
  'a request that is wrong (%i) is answered at once and moves nothing',
  async (status) => {
    const wrong = () => json({ error: { message: 'No.', type: 'invalid_request_error' } }, { status });
    const { ask, targetsAsked, moves } = await open({ 1: wrong, 2: wrong });
    expect((await ask({ session: 's' })).status).toBe(status);
    expect((await ask({ session: 's' })).status).toBe(status);
    expect([targetsAsked().length, moves]).toEqual([2, []]);
  },
);

it('a model that one target does not have is asked of another, and the first stays where it was', async () => {
  const { ask, at, targetsAsked } = await open({
    1: (request, index) => (request.json['model'] === 'new' ? refused(404) : said(request, index)),
  });
  const session = await at('pool/1');
  expect((await ask({ model: 'new', session })).target).toBe('pool/2');
  expect((await ask({ session })).target).toBe('pool/1');
  expect(targetsAsked()).toBe('121');
});

it('after an outage one request at a time finds out whether a target is well again', async () => {
  const held = gate();
  const replies: ScriptFunction[] = [
    () => refused(503),
    async (request, index) => {
      await held.pass();
      return said(request, index);
    },
  ];
  const { ask, at, pass, targetsAsked } = await open({
    1: (request, index) => (replies.shift() ?? said)(request, index),
  });
  const session = await at('pool/1');
  expect((await ask({ session })).target).toBe('pool/2');
  pass(2);
  const probing = ask({ session });
  await held.reached;
  for (let i = 0; i < 3; i++) expect((await ask({ session })).target).toBe('pool/2');
  held.open();
  expect((await probing).target).toBe('pool/1');
  expect(targetsAsked()).toBe('121222');
  expect((await ask({ session })).target).toBe('pool/1');
});

it('a target that cannot be reached costs the next key nothing', async () => {
  const { ask, failures } = await open({}, { targets: [{ base_url: `${DEAD_URL}/v1` }, {}] });
  for (let i = 0; i < 40; i++) {
    const key = i % 2 === 0 ? 'alice' : 'bob';
    expect(await ask({ key, session: `s${i}` })).toMatchObject({ status: 200, target: 'pool/2' });
  }
  expect(failures).toEqual(['pool/1 502']);
});

it('with every target limited nobody is asked, and the client hears when to come back', async () => {
  const wait = { 1: '40', 2: '20' };
  const { ask, at, targetsAsked, pass } = await open({
    1: () => refused(429, { 'retry-after': wait[1] }),
    2: () => refused(429, { 'retry-after': wait[2] }),
  });
  const session = await at('pool/1');
  expect((await ask({ session })).status).toBe(429);
  const second = await ask({
    key: 'bob',
    path: '/v1/messages',
    body: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
  });
  expect(second).toMatchObject({ status: 429, wait: '20' });
  expect(JSON.parse(second.text)).toMatchObject({
    type: 'error',
    error: {
      type: 'rate_limit_error',
      message: 'No target of the upstream pool can be asked now; the next can in 20 s. Its last error: No.',
    },
  });
  expect(targetsAsked()).toBe('12');
  pass(20);
  expect((await ask({ session })).status).toBe(429);
  expect(targetsAsked()).toBe('122');
});

it('an outage is not multiplied by the number of targets', async () => {
  const down = () => refused(503);
  const targets = Array.from({ length: 6 }, () => ({}));
  const { ask, targetsAsked } = await open(Object.fromEntries(targets.map((_, index) => [index + 1, down])), {
    targets,
  });
  expect((await ask()).status).toBe(503);
  expect(targetsAsked()).toHaveLength(2);
});

it('requests that are passed on as they came move from a limited target too', async () => {
  const embedding = json({ object: 'list', data: [], usage: { prompt_tokens: 1, total_tokens: 1 } });
  const { ask, targetsAsked } = await open({
    1: () => refused(429, { 'retry-after': '30' }),
    2: () => embedding,
  });
  const embed = () => ask({ path: '/v1/embeddings', body: { model: 'm', input: 'x' } });
  expect(await embed()).toMatchObject({ status: 200, target: 'pool/2' });
  expect(await embed()).toMatchObject({ status: 200, target: 'pool/2' });
  expect(targetsAsked()).toBe('122');
});

it('the last target’s own words are the answer where none does better', async () => {
  const { ask } = await open({ 1: () => refused(503), 2: () => json({ busy: true }, { status: 503 }) });
  const answer = await ask({ path: '/v1/embeddings', body: { model: 'm', input: 'x' } });
  expect([answer.status, answer.text]).toEqual([503, '{"busy":true}']);
});

it('a changed configuration keeps what is known of the targets that stay', async () => {
  const { ask, at, dispatcher, config, targetsAsked } = await open({
    1: () => refused(429, { 'retry-after': '60' }),
  });
  const session = await at('pool/1');
  const kept = await at('pool/2');
  await ask({ session });
  const [one, two] = config.upstreams.pool.targets;
  const reconfigure = async (targets: object[]) => {
    const next = { ...config, upstreams: { pool: { ...config.upstreams.pool, targets } } };
    const loaded = await loadConfigText(JSON.stringify(next), { baseDir: '/nonexistent', env: {} });
    dispatcher.reconfigure({ config: loaded.config });
  };
  await reconfigure([
    { ...two, name: 'kept' },
    { ...one, name: 'limited' },
  ]);
  expect((await ask({ session: kept })).target).toBe('pool/kept');
  expect((await ask({ session })).target).toBe('pool/kept');
  expect(targetsAsked()).toBe('1222');
});

it('the trace says which target answered and why, and no credential is in it', async () => {
  const { ask, at, gateway } = await open({ 1: () => refused(429, { 'retry-after': '60' }) });
  const session = await at('pool/1');
  const read = async (trace: string | null) =>
    (
      await fetch(`${gateway.url}/api/traces/${trace}`, { headers: { authorization: 'Bearer k-alice' } })
    ).text();
  const { trace: failed } = await ask({ session });
  const { trace: next } = await ask({ session });
  await expect.poll(() => read(failed)).toContain('moved from pool/1');
  const text = await read(failed);
  expect(JSON.parse(text).payload.attempts).toMatchObject([
    { upstream: 'pool/1', reason: 'the home of the conversation', status: 429 },
    { upstream: 'pool/2', reason: 'moved from pool/1, which failed: 429', status: 200 },
  ]);
  await expect.poll(() => read(next)).toContain('moved from pool/1, which is asked again in 60 s');
  expect(text).not.toContain('secret-of');
});

it('the steps of an agent stay with one target', async () => {
  const upstream = await startUpstream(said);
  const gateway = await startTestGateway({
    config: {
      upstreams: {
        pool: {
          ...{ dialect: 'openai-chat', base_url: upstream.baseUrl('openai-chat') },
          targets: [{ api_key: 'secret-of-1' }, { api_key: 'secret-of-2' }],
        },
      },
      models: { coder: { engine: 'native', upstream: 'pool', model: 'm', tools: 'none' } },
    },
  });
  const say = async (messages: object[]) => {
    const body = JSON.stringify({ model: 'coder', messages });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body });
    expect(response.status).toBe(200);
    await response.text();
    return response.headers.get('x-toolgate-upstream');
  };
  const turns = [{ role: 'user', content: 'Hi' }];
  const home = await say(turns);
  const answer = { role: 'assistant', content: 'Hello.' };
  for (let i = 0; i < 3; i++) {
    turns.push(answer, { role: 'user', content: `More ${i}` });
    expect(await say(turns)).toBe(home);
  }
});
