/** An upstream is connected at an address that the gateway must not ask, or that leads on to one. */
import { expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { answer, json, startUpstream } from '../../support/scripted-upstream.js';

const ROOT = 'root-key';
const SECRET = 'sk-very-secret-4242424242';

const open = (): Promise<TestGateway> =>
  startTestGateway({
    config: {
      server: {
        keys: [
          { key: ROOT, name: 'root', scopes: ['call', 'approve', 'admin'] },
          { key: 'tenant-key', name: 'tenant', scopes: ['call', 'approve'] },
        ],
      },
      models: { demo: { upstream: 'demo' } },
    },
  });

async function post(
  { url }: TestGateway,
  path: string,
  baseUrl: string,
  { key = ROOT, ...more }: { key?: string; name?: string; models?: string[] } = {},
) {
  const reply = await fetch(`${url}/api/upstreams${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ dialect: 'openai-chat', base_url: baseUrl, api_key: SECRET, ...more }),
  });
  return { status: reply.status, text: await reply.text() };
}

const connect = (gateway: TestGateway, baseUrl: string, key = ROOT) =>
  post(gateway, '', baseUrl, { key, name: 'mine', models: ['m1'] });

it.each([
  'http://169.254.169.254/v1',
  'http://2852039166/v1',
  'http://0xa9fea9fe/v1',
  'http://0251.0376.0251.0376/v1',
  'http://169.254.43518/v1',
  'http://[::ffff:169.254.169.254]/v1',
  'http://[::ffff:a9fe:a9fe]/v1',
  'http://[fe80::1]/v1',
  'http://[fd00:ec2::254]/v1',
  'http://168.63.129.16/v1',
  'http://100.100.100.200/v1',
  'http://[::ffff:100.100.100.200]/v1',
  'http://[fd20:ce::254]/v1',
  'file:///etc/passwd',
  'http://user:password@127.0.0.1:1/v1',
])('%s is asked neither by a test nor by a request', async (address) => {
  const gateway = await open();
  const connected = await connect(gateway, address);
  expect([connected.status, connected.text]).toEqual([400, expect.stringContaining('base_url')]);
  const tested = await post(gateway, '/test', address);
  expect(tested.text).not.toContain('"ok":true');
});

it('a redirect of the upstream is not followed, and takes its key nowhere', async () => {
  const inner = await startUpstream(() => json({ object: 'list', data: [{ id: 'of-the-inner-server' }] }));
  const outer = await startUpstream(() =>
    answer('', { status: 307, headers: { location: `${inner.url}/models` } }),
  );
  const gateway = await open();
  const { text } = await post(gateway, '/test', outer.url);
  expect(text).toContain('"ok":false');
  expect(text).not.toContain('of-the-inner-server');
  expect(inner.requests).toEqual([]);
});

it('a key without admin learns nothing of what listens where', async () => {
  const inner = await startUpstream(() => json({ object: 'list', data: [] }));
  const gateway = await open();
  expect(await post(gateway, '/test', inner.url, { key: 'tenant-key' })).toMatchObject({ status: 403 });
  expect(await connect(gateway, inner.url, 'tenant-key')).toMatchObject({ status: 403 });
  expect(inner.requests).toEqual([]);
});
