/** What a dashboard and the guide ask for is on the page of a real gateway, and a key sees its own team alone. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startTestGateway } from '../support/gateway.js';
import { ROOT } from '../support/source-tree.js';

const page = async (url: string, key: string): Promise<string> =>
  (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${key}` } })).text();

it('has every metric that the dashboard and the guide name, and the guide has all of the page', async () => {
  const keys = [
    { key: 'key-of-the-admin', name: 'admin', team: 'ops', scopes: ['call', 'admin'] },
    { key: 'key-of-alice-1', name: 'alice', team: 'web' },
    { key: 'key-of-bob-1', name: 'bob', team: 'data' },
  ];
  const { url } = await startTestGateway({
    config: { server: { keys }, models: { '*': { upstream: 'demo' } } },
  });
  for (const key of ['key-of-alice-1', 'key-of-bob-1']) {
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hi' }] }),
    });
    expect(answer.status).toBe(200);
    await answer.text();
  }

  const text = await page(url, 'key-of-the-admin');
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  const offered = new Set(
    types.flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
  const dashboard = readFileSync(join(ROOT, 'deploy/grafana/toolgate.json'), 'utf8');
  const asked = new Set(dashboard.match(/\b(?:toolgate|process|nodejs)_[a-z0-9_]+/g));
  expect(asked.size).toBeGreaterThan(25);
  expect([...asked].filter((name) => !offered.has(name))).toEqual([]);
  const own = types.map(([, name = '']) => name).filter((name) => name.startsWith('toolgate_'));
  const guide = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
  const named = new Set(guide.match(/\btoolgate_[a-z_]+/g));
  expect(own.filter((name) => !named.has(name))).toEqual([]);
  expect([...named].filter((name) => name !== 'toolgate_state' && !own.includes(name))).toEqual([]);

  expect(text).toContain('toolgate_team_requests_total{team="web",status="200"} 1');
  expect(text).toContain('toolgate_team_requests_total{team="data",status="200"} 1');
  expect(text).toContain('toolgate_store_up 1');
  const seen = await page(url, 'key-of-alice-1');
  expect(seen).toContain('toolgate_team_requests_total{team="web",status="200"} 1');
  expect(seen).not.toContain('team="data"');
});
