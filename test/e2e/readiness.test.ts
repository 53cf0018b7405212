/** What probes and metrics say of the store: written, gone, damaged; how many sessions, and how many were ended early. */
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { inDialect } from '../support/scripted-answers.js';
import { json, startUpstream } from '../support/scripted-upstream.js';
import { callAnswer, openaiError, textAnswer } from '../support/wire.js';

const CONFIG = {
  models: { coder: { engine: 'native', upstream: 'demo', cwd: '.' }, demo: { upstream: 'demo' } },
  store: 'sqlite:./store.db',
};

const statusOf = async ({ url }: TestGateway, path: string): Promise<number> => {
  const answer = await fetch(url + path);
  await answer.text();
  return answer.status;
};

const ask = ({ url }: TestGateway, content: string, more: object = {}): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'coder', messages: [{ role: 'user', content }], ...more }),
  });

const metric = async ({ url }: TestGateway, name: string): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.split(' ').at(-1));
};

it('a store that vanished is not ready, and is again when it is back', async () => {
  const gateway = await startTestGateway({ config: CONFIG });
  const [file, aside] = ['store.db', 'aside.db'].map((name) => join(gateway.folder, name)) as [
    string,
    string,
  ];
  expect(await statusOf(gateway, '/readyz')).toBe(200);
  await rename(file, aside);
  await expect.poll(() => statusOf(gateway, '/readyz')).toBe(503);
  expect(await statusOf(gateway, '/healthz')).toBe(200);
  await rename(aside, file);
  await expect.poll(() => statusOf(gateway, '/readyz')).toBe(200);
  await rm(file);
  const other = await open(file, 'w');
  await other.close();
  await expect.poll(() => statusOf(gateway, '/readyz')).toBe(503);
});

it('a damaged store is not ready', async () => {
  const gateway = await startTestGateway({ config: CONFIG });
  expect(await statusOf(gateway, '/readyz')).toBe(200);
  const file = await open(join(gateway.folder, 'store.db'), 'r+');
  await file.write('not a database', 0);
  await file.close();
  await expect.poll(() => statusOf(gateway, '/readyz')).toBe(503);
});

it('sessions beyond retention.sessions end before their time, and that is counted; those that wait stay', async () => {
  const upstream = await startUpstream((request, index) =>
    inDialect(
      JSON.stringify(request.json).includes('CALL') ? callAnswer('lookup', {}) : textAnswer(['Done.']),
    )(request, index),
  );
  const config = {
    ...CONFIG,
    upstreams: { up: upstream.config('openai-chat') },
    models: { coder: { engine: 'native', upstream: 'up', cwd: '.' } },
  };
  const first = await startTestGateway({ config });
  const tools = [{ type: 'function', function: { name: 'lookup', parameters: { type: 'object' } } }];
  expect(await (await ask(first, 'CALL it', { tools })).text()).toContain('tool_calls');
  for (const content of ['one', 'two', 'three']) await (await ask(first, content)).text();
  expect(await metric(first, 'toolgate_sessions{state="parked"}')).toBe(1);
  expect(await metric(first, 'toolgate_sessions{state="live"}')).toBe(3);
  await first.close();
  const second = await startTestGateway({
    folder: first.folder,
    config: { ...config, retention: { sessions: 1 } },
  });
  await expect.poll(() => metric(second, 'toolgate_pruned_rows_total{area="evicted"}')).toBe(2);
  expect(await metric(second, 'toolgate_approvals_waiting')).toBe(0);
});

it('repeats of tries at an upstream are counted', async () => {
  const upstream = await startUpstream(() => json(openaiError('busy'), { status: 503 }));
  const gateway = await startTestGateway({
    config: { upstreams: { up: upstream.config('openai-chat') }, models: { m: { upstream: 'up' } } },
  });
  expect((await ask(gateway, 'hi', { model: 'm' })).status).toBeGreaterThanOrEqual(500);
  expect(await metric(gateway, 'toolgate_upstream_retries_total{upstream="up"}')).toBe(1);
});
