/** What an answer costs where no file says it: what its provider lists, at the provider's own address alone. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ListPrices } from '../../src/upstreams/list-prices.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { json, startUpstream } from '../support/scripted-upstream.js';

const said = json({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1000, completion_tokens: 0, total_tokens: 1000 },
});

/** 2 cents for 1,000 tokens. */
const listOf = (address: string) =>
  new ListPrices({
    date: '2026-01-02',
    providers: {
      openai: {
        address,
        models: { 'gpt-listed': { input: 20, output: 20, cache_read: 20, cache_write: 20 } },
      },
    },
  });

const ROOT = { key: 'k-root', name: 'root', scopes: ['call', 'admin'] };

const tokenOf = ({ consoleUrl }: TestGateway) => new URL(consoleUrl).hash.replace('#token=', '');

async function ask({ url }: TestGateway, model: string, key = 'k-root'): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
  });
}

async function costs({ url }: TestGateway, token = 'k-root'): Promise<object> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${url}/api/usage?by=model`, { headers });
  expect(answer.status).toBe(200);
  const { data, list_prices_date } = JSON.parse(await answer.text());
  expect(list_prices_date).toMatch(/^\d{4}-\d\d-\d\d$/);
  return Object.fromEntries(
    data.map((row: { model: string; cost_usd: number | null; unpriced_requests: number }) => [
      row.model,
      [row.cost_usd === null ? null : Number(row.cost_usd.toFixed(6)), row.unpriced_requests],
    ]),
  );
}

it('a key in the environment is enough for a cost; a model that is not listed has none', async () => {
  const upstream = await startUpstream(() => said);
  const gateway = await startTestGateway({
    env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: upstream.baseUrl('openai-chat') },
    listPrices: listOf(upstream.url),
  });
  expect((await ask(gateway, 'gpt-listed')).status).toBe(200);
  expect((await ask(gateway, 'gpt-other')).status).toBe(200);
  expect(await costs(gateway, tokenOf(gateway))).toEqual({ 'gpt-listed': [0.02, 0], 'gpt-other': [null, 1] });
});

it('another address has no list prices, whatever its models are called', async () => {
  const upstream = await startUpstream(() => said);
  const gateway = await startTestGateway({
    env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: upstream.baseUrl('openai-chat') },
    listPrices: listOf('https://api.openai.com'),
  });
  expect((await ask(gateway, 'gpt-listed')).status).toBe(200);
  expect(await costs(gateway, tokenOf(gateway))).toEqual({ 'gpt-listed': [null, 1] });
});

it('the file wins over the list, budgets count by either, and a reload takes what has changed', async () => {
  const upstream = await startUpstream(() => said);
  const config = (models: object) => ({
    server: {
      keys: [ROOT, { key: 'k-alice', name: 'alice', budget: { usd: 0.03, per: 'month' } }],
    },
    upstreams: { up: upstream.config('openai-chat') },
    models: { 'gpt-listed': { upstream: 'up' }, ...models },
  });
  const dear = { upstream: 'up', model: 'gpt-listed', price: { input: 1000, output: 0 } };
  const unknown = { upstream: 'up', model: 'gpt-listed', price: 'none' };
  const gateway = await startTestGateway({
    config: config({ dear, unknown }),
    listPrices: listOf(upstream.url),
  });
  for (const model of ['gpt-listed', 'dear', 'unknown']) await ask(gateway, model);
  expect(await costs(gateway)).toEqual({ 'gpt-listed': [0.02, 0], dear: [1, 0], unknown: [null, 1] });

  expect((await ask(gateway, 'unknown', 'k-alice')).status).toBe(403);
  expect((await ask(gateway, 'gpt-listed', 'k-alice')).status).toBe(200);
  expect((await ask(gateway, 'gpt-listed', 'k-alice')).status).toBe(200);
  expect((await ask(gateway, 'gpt-listed', 'k-alice')).status).toBe(429);

  const { price: _, ...listed } = dear;
  await writeFile(
    join(gateway.folder, 'toolgate.yaml'),
    JSON.stringify(config({ dear: listed, unknown: dear })),
  );
  const headers = { authorization: 'Bearer k-root' };
  expect((await fetch(`${gateway.url}/api/reload`, { method: 'POST', headers })).status).toBe(200);
  for (const model of ['dear', 'unknown']) await ask(gateway, model);
  expect(await costs(gateway)).toMatchObject({ dear: [1.02, 0], unknown: [1, 1] });
});
