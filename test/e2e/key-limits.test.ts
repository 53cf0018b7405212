/** What a key may use: tokens a minute, answers at once, money. One key's limits are nothing to another. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { atNoon } from '../support/noon.js';
import { gate, json, type Script, sse, startUpstream } from '../support/scripted-upstream.js';

const answerWith = (tokens: number) =>
  json({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens },
  });

atNoon();

interface World {
  gateway: TestGateway;
  ask(
    key: string,
    more?: { path?: string; stream?: boolean; model?: string; signal?: AbortSignal },
  ): Promise<Response>;
}

async function open(limits: object, script: Script, folder?: string): Promise<World> {
  const upstream = await startUpstream(script);
  const gateway = await startTestGateway({
    ...(folder === undefined ? {} : { folder }),
    config: {
      server: {
        keys: [
          { key: 'k-alice', name: 'alice', team: 'web', ...limits },
          { key: 'k-bob', name: 'bob' },
        ],
      },
      upstreams: { up: upstream.config('openai-chat') },
      // A dollar a token.
      models: {
        priced: { upstream: 'up', price: { input: 1_000_000, output: 1_000_000 } },
        unpriced: { upstream: 'up' },
      },
    },
  });
  return {
    gateway,
    ask: (key, { path = '/v1/messages', stream = false, model = 'priced', signal } = {}) =>
      fetch(gateway.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer k-${key}` },
        body: JSON.stringify({ model, stream, max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] }),
        ...(signal === undefined ? {} : { signal }),
      }),
  };
}

it('a key with all its answers open gets a 429 until one of them has ended', async () => {
  const held = gate();
  const { ask } = await open({ max_streams: 1 }, [sse([held]), answerWith(1), answerWith(1)]);
  const leaving = new AbortController();
  const first = ask('alice', { stream: true, signal: leaving.signal }).catch(() => undefined);
  await held.reached;
  const refused = await ask('alice');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  expect(await refused.json()).toMatchObject({
    error: { type: 'rate_limit_error', message: expect.stringContaining('has 1 answers open at once') },
  });
  expect((await ask('bob')).status).toBe(200);
  leaving.abort();
  await first;
  await expect.poll(async () => (await ask('alice')).status).toBe(200);
});

it('a key that has used its tokens a minute gets a 429 that says when to come back', async () => {
  const { ask } = await open({ tpm: 1000 }, () => answerWith(600));
  expect([(await ask('alice')).status, (await ask('alice')).status]).toEqual([200, 200]);
  const refused = await ask('alice');
  expect(refused.status).toBe(429);
  const wait = Number(refused.headers.get('retry-after'));
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(60);
  expect((await ask('bob')).status).toBe(200);
});

it('a spent budget is a 429 that clients do not repeat, in the shape of each dialect, also after a restart', async () => {
  const limits = { budget: { usd: 100, per: 'month' } };
  const { ask, gateway } = await open(limits, () => answerWith(60));
  const first = await ask('alice');
  expect(first.headers.get('x-toolgate-budget')).toMatch(
    /^0\.0000 of 100 USD a month; resets \d{4}-\d\d-01T00:00:00Z$/,
  );
  expect(first.headers.get('anthropic-ratelimit-unified-status')).toBe('allowed');
  expect((await ask('alice')).status).toBe(200);
  const check = async (world: World): Promise<void> => {
    const refused = await world.ask('alice');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(refused.headers.get('anthropic-ratelimit-unified-status')).toBe('rejected');
    expect(Number(refused.headers.get('anthropic-ratelimit-unified-reset')) * 1000).toBeGreaterThan(
      Date.now(),
    );
    expect(await refused.json()).toMatchObject({
      error: {
        type: 'billing_error',
        message: expect.stringContaining('has spent its budget of 100 USD a month'),
      },
    });
    const chat = await world.ask('alice', { path: '/v1/chat/completions' });
    expect([chat.status, await chat.json()]).toMatchObject([429, { error: { code: 'insufficient_quota' } }]);
    expect((await world.ask('bob')).status).toBe(200);
  };
  await check({ ask, gateway });
  await gateway.close();
  await check(await open(limits, () => answerWith(60), gateway.folder));
});

it('warns with the answer when most of a budget is spent', async () => {
  const { ask } = await open({ budget: { usd: 100, per: 'day' } }, () => answerWith(85));
  await ask('alice');
  const second = await ask('alice');
  expect([second.status, second.headers.get('anthropic-ratelimit-unified-status')]).toEqual([
    200,
    'allowed_warning',
  ]);
  // What Claude Code reads to show its user how much of it is used.
  const shown = [...second.headers].filter(([name]) =>
    name.startsWith('anthropic-ratelimit-unified-overage'),
  );
  expect(Object.fromEntries(shown)).toEqual({
    'anthropic-ratelimit-unified-overage-status': 'allowed_warning',
    'anthropic-ratelimit-unified-overage-utilization': '0.85',
    'anthropic-ratelimit-unified-overage-surpassed-threshold': '0.75',
    'anthropic-ratelimit-unified-overage-reset': second.headers.get('anthropic-ratelimit-unified-reset'),
  });
  expect(second.headers.get('anthropic-ratelimit-unified-representative-claim')).toBe('overage');
});

it('a body above what its key may send is a 413 that says what to do, also packed; others send more', async () => {
  const { gateway } = await open({ body_limit_mb: 0.01 }, () => answerWith(1));
  const body = JSON.stringify({
    model: 'unpriced',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'x'.repeat(20_000) }],
  });
  const send = (key: string, path: string, given: string | Uint8Array, more = {}) =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer k-${key}`, ...more },
      body: given,
    });
  const message =
    'The body is larger than 0.01 MiB. Send less, or ask for a larger body_limit_mb of the key "alice".';
  const anthropic = await send('alice', '/v1/messages', body);
  expect(anthropic.status).toBe(413);
  expect(await anthropic.json()).toMatchObject({ error: { type: 'request_too_large', message } });
  const packed = await send('alice', '/v1/chat/completions', gzipSync(body), { 'content-encoding': 'gzip' });
  expect(packed.status).toBe(413);
  expect(await packed.json()).toMatchObject({ error: { message } });
  expect((await send('bob', '/v1/chat/completions', body)).status).toBe(200);
});

it('a model without a price is not free for a key with a budget', async () => {
  const denied = await open({ budget: { usd: 1, per: 'week' } }, () => answerWith(1));
  const refused = await denied.ask('alice', { model: 'unpriced' });
  expect([refused.status, await refused.json()]).toMatchObject([
    403,
    { error: { message: expect.stringContaining('on_unknown: allow') } },
  ]);
  expect(refused.headers.get('x-toolgate-budget')).toBe('unknown; denied');
  expect((await denied.ask('bob', { model: 'unpriced' })).status).toBe(200);
  const allowed = await open({ budget: { usd: 1, per: 'week', on_unknown: 'allow' } }, () => answerWith(1));
  const answer = await allowed.ask('alice', { model: 'unpriced' });
  expect([answer.status, answer.headers.get('x-toolgate-budget')]).toEqual([200, 'unknown; allowed']);
  const priced = await allowed.ask('alice');
  expect(priced.headers.get('x-toolgate-budget')).toMatch(/^at least 0\.0000 of 1 USD a week;/);
});

it('what nobody has a price for costs null, and what was refused costs nothing', async () => {
  const { ask, gateway } = await open({ tpm: 3 }, () => answerWith(3));
  expect((await ask('alice', { model: 'unpriced' })).status).toBe(200);
  expect((await ask('alice')).status).toBe(429);
  const headers = { authorization: 'Bearer k-alice' };
  const usage = await fetch(`${gateway.url}/api/usage?by=model`, { headers });
  expect(await usage.json()).toMatchObject({
    data: [
      { model: 'priced', cost_usd: 0, unpriced_requests: 0 },
      { model: 'unpriced', cost_usd: null, unpriced_requests: 1 },
    ],
    total: { cost_usd: 0, requests: 2, unpriced_requests: 1 },
  });
});

it('the keys of a team share its budget, those of the file and those made since; a reload takes another', async () => {
  const upstream = await startUpstream(() => answerWith(60));
  const config = (usd: number) => ({
    server: {
      drain_s: 0,
      keys: [
        { key: 'k-root', name: 'root', scopes: ['call', 'admin'] },
        { key: 'k-alice', name: 'alice', team: 'web' },
      ],
    },
    teams: { web: { budget: { usd, per: 'month' } } },
    upstreams: { up: upstream.config('openai-chat') },
    models: { priced: { upstream: 'up', price: { input: 1_000_000, output: 1_000_000 } } },
  });
  const gateway = await startTestGateway({ config: config(100) });
  const call = (key: string, path: string, body: object): Promise<Response> =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });
  const ask = (key: string, path = '/v1/messages') =>
    call(key, path, { model: 'priced', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] });
  const made = async (name: string, team: string): Promise<string> => {
    const answer = await call('k-root', '/api/keys', { name, team });
    expect(answer.status).toBe(201);
    return JSON.parse(await answer.text()).secret;
  };
  const [bob, carol] = [await made('bob', 'web'), await made('carol', 'nobody-configured-it')];

  const first = await ask('k-alice');
  expect(first.headers.get('x-toolgate-team-budget')).toMatch(/^0\.0000 of 100 USD a month; resets /);
  expect((await ask(bob)).status).toBe(200);
  for (const key of ['k-alice', bob]) {
    const refused = await ask(key);
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([429, 'false']);
    expect(refused.headers.get('anthropic-ratelimit-unified-status')).toBe('rejected');
    expect(await refused.json()).toMatchObject({
      error: {
        type: 'billing_error',
        message: expect.stringContaining('The team "web" has spent its budget of 100 USD a month'),
      },
    });
  }
  const chat = await ask(bob, '/v1/chat/completions');
  expect([chat.status, await chat.json()]).toMatchObject([429, { error: { code: 'insufficient_quota' } }]);
  for (const key of [carol, 'k-root']) expect((await ask(key)).status).toBe(200);

  await writeFile(join(gateway.folder, 'toolgate.yaml'), JSON.stringify(config(1000)));
  const reloaded = await call('k-root', '/api/reload', {});
  expect(JSON.parse(await reloaded.text())).toMatchObject({ changed: ['teams'], restart: [] });
  const again = await ask(bob);
  expect([again.status, again.headers.get('x-toolgate-team-budget')]).toEqual([
    200,
    expect.stringMatching(/^120\.0000 of 1000 USD a month/),
  ]);
});
