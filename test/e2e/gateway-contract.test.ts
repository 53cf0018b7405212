/** What Claude Code expects of the gateway that it talks to, beside its messages. */
import { describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { startSite } from '../support/loopback-site.js';
import { inDialect } from '../support/scripted-answers.js';
import { startUpstream } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';

const KEYS = [
  { key: 'k-alice', name: 'alice' },
  { key: 'k-approver', name: 'approver', scopes: ['approve'] },
];

const answer = inDialect({ parts: [{ type: 'text', text: ['Hello.'] }] });

async function open(more: object = {}): Promise<{ gateway: TestGateway; asked: () => string[] }> {
  const upstream = await startUpstream(answer);
  const gateway = await startTestGateway({
    config: {
      server: { keys: KEYS },
      upstreams: { chat: upstream.config('openai-chat'), own: upstream.config('anthropic-messages') },
      models: { 'gpt-*': { upstream: 'chat' }, 'claude-*': { upstream: 'own' } },
      ...more,
    },
  });
  return { gateway, asked: () => upstream.requests.map(({ text }) => text) };
}

const post = (
  { url }: TestGateway,
  path: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  fetch(url + path, {
    method: 'POST',
    body,
    headers: { authorization: 'Bearer k-alice', 'content-type': 'application/json', ...headers },
  });

const SIGNALS = ['/v1/metrics', '/v1/logs', '/v1/traces'];

describe('telemetry', () => {
  it.each(SIGNALS)('at %s is taken and thrown away where nobody collects it', async (path) => {
    const { gateway } = await open();
    const inJson = await post(gateway, path, '{"resourceMetrics":[]}');
    expect([inJson.status, await inJson.text()]).toEqual([200, '{}']);
    const type = { 'content-type': 'application/x-protobuf' };
    const inProtobuf = await post(gateway, path, new Uint8Array([10, 0]), type);
    expect([inProtobuf.status, (await inProtobuf.arrayBuffer()).byteLength]).toEqual([200, 0]);
    expect(inProtobuf.headers.get('content-type')).toBe('application/x-protobuf');
  });

  it('goes to the collector with its headers, and without the credential of the client', async () => {
    const bodies: string[] = [];
    const collector = await startSite((request, response) => {
      request.on('data', (chunk: Buffer) => bodies.push(chunk.toString()));
      request.on('end', () => response.end('{}'));
    });
    const telemetry = { collector: collector.url('/otlp/'), headers: { 'x-team': 'web' } };
    const { gateway } = await open({ telemetry });
    const sent = await post(gateway, '/v1/logs', '{"resourceLogs":[1]}', { cookie: 'a=b' });
    expect(sent.status).toBe(200);
    await until(() => bodies.length === 1);
    expect(collector.seen).toEqual(['POST /otlp/v1/logs']);
    expect(bodies).toEqual(['{"resourceLogs":[1]}']);
    expect(collector.headers[0]).toMatchObject({ 'x-team': 'web', 'content-type': 'application/json' });
    expect(JSON.stringify(collector.headers)).not.toMatch(/k-alice|a=b/);
  });

  it('is answered with 200 though the collector is down', async () => {
    const { gateway } = await open({ telemetry: { collector: 'http://127.0.0.1:9' } });
    expect((await post(gateway, '/v1/traces', '{}')).status).toBe(200);
  });

  it('is taken from keys that may call models alone, and not without end', async () => {
    const { gateway } = await open();
    const stranger = await post(gateway, '/v1/metrics', '{}', { authorization: 'Bearer no' });
    expect(stranger.status).toBe(401);
    const other = await post(gateway, '/v1/metrics', '{}', { authorization: 'Bearer k-approver' });
    expect(other.status).toBe(403);
    const large = await post(gateway, '/v1/metrics', Buffer.alloc(5 * 1024 * 1024, 'x'));
    expect(large.status).toBe(413);
  });
});

describe('where it only probes', () => {
  it.each([
    '/.well-known/oauth-authorization-server',
    '/managed/settings',
    '/api/oauth/usage',
    '/api/claude_cli/bootstrap',
    '/v1/organizations/x',
  ])('GET %s is a 404 in JSON', async (path) => {
    const { gateway } = await open();
    const found = await fetch(gateway.url + path, { headers: { authorization: 'Bearer k-alice' } });
    expect([found.status, await found.json()]).toMatchObject([404, { error: expect.anything() }]);
  });

  it('a key that is not known is refused for good: it would ask again for minutes', async () => {
    const { gateway } = await open();
    const refused = await post(gateway, '/v1/messages', '{}', { authorization: 'Bearer no' });
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([401, 'false']);
  });
});

describe('a check of tool calls that the upstream has to make', () => {
  const asking = (model: string): string =>
    JSON.stringify({
      model,
      max_tokens: 10,
      safeguards: { dangerous_tool_use: {} },
      messages: [{ role: 'user', content: 'Hi' }],
    });

  it('is refused by name where no upstream can make it, so that Claude Code makes it itself', async () => {
    const { gateway, asked } = await open();
    const refused = await post(gateway, '/v1/messages', asking('gpt-5.4'));
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { type: 'invalid_request_error', message: expect.stringMatching(/^safeguards: /) } },
    ]);
    expect(asked()).toEqual([]);
  });

  it("goes on to an upstream of Claude Code's own wire", async () => {
    const { gateway, asked } = await open();
    expect((await post(gateway, '/v1/messages', asking('claude-opus-5-5'))).status).toBe(200);
    expect(asked()).toEqual([asking('claude-opus-5-5')]);
  });
});
