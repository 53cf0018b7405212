/** Messages outside, through whole gateways: their routes, and a kill between stored and sent. */
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../support/cleanup.js';
import { startGatewayProcess } from '../support/gateway.js';
import { startProvider } from '../support/provider-site.js';
import { api, connect, KEYS, pending, startVirtual, textOf } from './mcp-virtual-harness.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

describe('notify', () => {
  it('asks a person elsewhere while nobody is connected, and their answer lets the call run', async () => {
    const ntfy = await startProvider(() => ({ body: { id: 'n1' } }));
    const gateway = await startVirtual({
      permissions: { mode: 'ask' },
      more: {
        notify: {
          public_url: 'https://gate.example.com',
          allow_private: [ntfy.host],
          people: { carol: {} },
          targets: { phone: { type: 'ntfy', base_url: ntfy.url, topic: 'topic-1', person: 'carol' } },
        },
      },
    });
    const { client } = await connect(gateway);
    const result = client.callTool({
      name: 'Bash',
      arguments: { command: 'echo from-the-phone > out.txt; cat out.txt' },
    });
    const { actions } = JSON.parse((await ntfy.next()).body);
    const press = (body: string, target = 'phone') =>
      fetch(`${gateway.url}/api/notify/${target}/answer`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
    const allow = actions.find(({ label }: { label: string }) => label === 'Allow').body;
    expect((await press(allow.replace('allow', 'deny'))).status).toBe(403);
    expect((await press(allow, 'nowhere')).status).toBe(404);
    expect((await press('x'.repeat(70_000))).status).toBe(413);
    expect((await press(allow)).status).toBe(200);
    expect(textOf(await result)).toContain('from-the-phone');
    const { json } = await api(gateway, '/api/approvals?state=all');
    expect(json['data']).toMatchObject([{ state: 'allowed', decision: { by: 'carol', via: 'ntfy' } }]);
  });

  it('shows targets to an administrator alone, without their secrets, and sends a test', async () => {
    const hook = await startProvider();
    const gateway = await startVirtual({
      more: {
        notify: {
          allow_private: [hook.host],
          targets: { hook: { type: 'webhook', url: `${hook.url}/in?token=s3cret-value`, secret: SECRET } },
        },
      },
    });
    expect((await api(gateway, '/api/notify', { key: 'key-of-bob' })).status).toBe(403);
    expect((await api(gateway, '/api/notify/hook/test', { key: 'key-of-bob', body: {} })).status).toBe(403);
    expect((await fetch(`${gateway.url}/api/notify`)).status).toBe(401);
    expect((await api(gateway, '/api/notify/hook/test', { body: {} })).status).toBe(202);
    expect(JSON.parse((await hook.next()).body)).toMatchObject({ type: 'test', data: { key: 'alice' } });
    const { json } = await api(gateway, '/api/notify');
    expect(json['data']).toMatchObject([{ name: 'hook', type: 'webhook', failing: null }]);
    expect(JSON.stringify(json)).not.toMatch(/whsec|s3cret|127\.0\.0\.1/);
    expect((await api(gateway, '/api/notify/hook/answer', { body: {} })).status).toBe(403);
  });

  it('subscribes a browser for its own key, shows no private key, and takes no answer without a proof', async () => {
    const service = await startProvider(() => ({ status: 201 }));
    const gateway = await startVirtual({ more: { notify: { allow_private: [service.host] } } });
    const keys = {
      p256dh: Buffer.alloc(65, 4).toString('base64url'),
      auth: Buffer.alloc(16).toString('base64url'),
    };
    const subscribe = (body: object, key?: string) =>
      api(gateway, '/api/push', { body, ...(key && { key }) });
    const { status, json } = await subscribe({ endpoint: service.url, keys });
    expect(status).toBe(201);
    expect((await subscribe({ endpoint: service.url, keys }, 'key-of-bob')).status).toBe(403);
    expect((await subscribe({ endpoint: 'http://10.0.0.1/', keys })).status).toBe(400);
    expect((await subscribe({ endpoint: service.url, keys: { ...keys, auth: 'x' } })).status).toBe(400);
    expect((await api(gateway, '/api/push')).json).toEqual({
      public_key: expect.stringMatching(/^[\w-]{87}$/),
      data: [{ id: json['id'], endpoint: service.url, created_at: expect.any(String) }],
    });
    expect((await api(gateway, '/api/push', { key: 'key-of-eve' })).json).toMatchObject({ data: [] });
    const path = `/api/push/${String(json['id'])}`;
    expect((await api(gateway, path, { method: 'DELETE', key: 'key-of-eve' })).status).toBe(404);
    expect((await api(gateway, path, { method: 'DELETE' })).status).toBe(204);
    await subscribe({ endpoint: service.url, keys });
    expect((await api(gateway, '/api/session?everywhere=1', { method: 'DELETE' })).status).toBe(204);
    expect((await api(gateway, '/api/push')).json).toMatchObject({ data: [] });
    const forged = { delivery: 'msg_x', choice: 'allow', proof: 'x'.repeat(43) };
    expect((await api(gateway, '/api/push/answer', { body: forged })).status).toBe(403);
  });

  it('sends what was stored and not taken when the gateway was killed, under the same id', async () => {
    let replies = 0;
    const hook = await startProvider(() => (replies++ === 0 ? undefined : {}));
    const work = await tempFolder('work');
    const { path: folder } = await tempFolder('toolgate');
    const config = {
      server: { keys: KEYS },
      models: { here: { engine: 'native', upstream: 'demo', cwd: work.path } },
      permissions: { mode: 'ask' },
      sandbox: 'off',
      notify: {
        allow_private: [hook.host],
        targets: { hook: { type: 'webhook', url: hook.url, secret: SECRET } },
      },
    };
    const killed = await startGatewayProcess({ config, folder });
    const { client } = await connect(killed);
    const lost = client.callTool({ name: 'Bash', arguments: { command: 'touch x' } }).catch(() => {});
    const first = await hook.next();
    await killed.kill();
    await client.close();
    await lost;
    const again = await startGatewayProcess({ folder });
    const second = await hook.next();
    expect(second.headers['webhook-id']).toBe(first.headers['webhook-id']);
    expect(second.body).toBe(first.body);
    expect(JSON.parse(second.body).data.approval.id).toBe((await pending(again))['id']);
    await again.close();
  });
});
