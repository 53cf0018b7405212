/** The gateway's own telemetry, as a strict collector gets it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../support/cleanup.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { closeSitesAfterEach } from '../support/loopback-site.js';
import { startNewest } from '../support/mcp-servers.js';
import { type CollectedSpan, OtlpCollector } from '../support/otlp-collector.js';
import { inDialect } from '../support/scripted-answers.js';
import { json, type Script, type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { call, callsAnswer, textAnswer } from '../support/wire.js';
import { sendStateless, stateless } from './mcp-virtual-harness.js';

closeSitesAfterEach();

const KEY = 'key-of-alice-123';
const SECRET = 'upstream-secret-456';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = `00-${TRACE}-b7ad6b7169203331-01`;
const SERVER = 2;
const CLIENT = 3;

interface Opened {
  gateway: TestGateway;
  collector: OtlpCollector;
  upstream: ScriptedUpstream;
}

async function open(script: Script, rest: object = {}, telemetry: object = {}): Promise<Opened> {
  const collector = await OtlpCollector.start();
  const upstream = await startUpstream(script);
  const gateway = await startTestGateway({
    config: {
      server: { keys: [{ key: KEY, name: 'alice', team: 'web', scopes: ['call', 'approve', 'admin'] }] },
      upstreams: { scripted: { ...upstream.config('openai-chat'), api_key: SECRET } },
      models: { m: { upstream: 'scripted' } },
      telemetry: { collector: collector.site.url('/otlp'), ...telemetry },
      sandbox: 'off',
      ...rest,
    },
  });
  return { gateway, collector, upstream };
}

async function ask(
  { url }: TestGateway,
  { model = 'm', text = 'hello', stream = true, headers = {} as Record<string, string> } = {},
): Promise<Response> {
  return fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': KEY, ...headers },
    body: JSON.stringify({ model, max_tokens: 100, stream, messages: [{ role: 'user', content: text }] }),
  });
}

const api = async ({ url }: TestGateway, path: string, body?: object): Promise<unknown> => {
  const response = await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  return response.json();
};

/** What is left is sent when the gateway stops. */
async function collected({ gateway, collector }: Opened): Promise<OtlpCollector> {
  await gateway.close();
  expect(collector.problems).toEqual([]);
  return collector;
}

describe('a relayed request', () => {
  it('is one trace from the client to the upstream, with the words of the conventions and without content', async () => {
    const opened = await open([inDialect(textAnswer('words-of-the-model'))]);
    const headers = { traceparent: PARENT, tracestate: 'congo=1' };
    const answer = await ask(opened.gateway, { text: 'words-of-the-user', headers });
    expect(await answer.text()).toContain('words-of-the-model');
    const collector = await collected(opened);
    const request = collector.span('POST /v1/messages');
    const chat = collector.span('chat m');
    expect(collector.spans).toHaveLength(2);
    expect(request).toMatchObject({
      traceId: TRACE,
      parent: 'b7ad6b7169203331',
      kind: SERVER,
      failed: false,
    });
    expect(request.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/v1/messages',
      'http.response.status_code': 200,
      'gen_ai.request.model': 'm',
      'toolgate.key': 'alice',
      'toolgate.team': 'web',
      'toolgate.upstream': 'scripted',
    });
    expect(chat).toMatchObject({ traceId: TRACE, parent: request.spanId, kind: CLIENT, failed: false });
    expect(chat.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'm',
      'gen_ai.request.stream': true,
      'gen_ai.usage.input_tokens': expect.any(Number),
      'gen_ai.usage.output_tokens': expect.any(Number),
      'gen_ai.response.finish_reasons': ['stop'],
      'server.address': '127.0.0.1',
    });
    expect(chat.events).toContain('gen_ai.first_token');
    expect(opened.upstream.requests[0]?.headers).toMatchObject({
      traceparent: `00-${TRACE}-${chat.spanId}-01`,
      tracestate: 'congo=1',
    });
    expect(collector.resources[0]).toMatchObject({ 'service.name': 'toolgate' });
    for (const hidden of ['words-of-the-user', 'words-of-the-model', KEY, SECRET]) {
      expect(collector.text).not.toContain(hidden);
    }
    const names = collector.metrics.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'gen_ai.client.operation.duration',
        'gen_ai.client.token.usage',
        'toolgate_requests_total',
        'toolgate_request_duration_seconds',
        'toolgate_sessions',
      ]),
    );
  });

  it('passes bytes on and has the figures in its span all the same', async () => {
    const opened = await open([inDialect(textAnswer('hi'))]);
    const { url } = opened.gateway;
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
      body: JSON.stringify({
        model: 'm',
        stream: true,
        messages: [{ role: 'user', content: 'hi' }],
        stream_options: { include_usage: true },
      }),
    });
    await answer.text();
    const chat = (await collected(opened)).span('chat m');
    expect(chat.attributes['gen_ai.usage.output_tokens']).toEqual(expect.any(Number));
    expect(chat.failed).toBe(false);
  });

  it('has a span for each try, and why there was another', async () => {
    const busy = json({ error: { message: 'busy' } }, { status: 503 });
    const opened = await open([busy, inDialect(textAnswer('hi'))]);
    await (await ask(opened.gateway)).text();
    const [first, second] = (await collected(opened)).spans.filter(({ name }) => name === 'chat m');
    expect(first).toMatchObject({ failed: true, attributes: { 'http.response.status_code': 503 } });
    expect(second?.failed).toBe(false);
    expect(second?.attributes).toMatchObject({
      'http.request.resend_count': 1,
      'toolgate.retry.reason': first?.attributes['error.type'],
    });
  });

  it('begins a trace of its own where a client sends something else than one', async () => {
    const opened = await open(inDialect(textAnswer('hi')));
    for (const traceparent of [
      `ff-${TRACE}-b7ad6b7169203331-01`,
      'x'.repeat(4000),
      `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    ]) {
      await (
        await ask(opened.gateway, { headers: { traceparent, tracestate: `a=${'x'.repeat(600)}` } })
      ).text();
    }
    const requests = (await collected(opened)).spans.filter(({ kind }) => kind === SERVER);
    expect(requests).toHaveLength(3);
    for (const { traceId, parent, tracestate } of requests) {
      expect([parent, tracestate]).toEqual([undefined, undefined]);
      expect(traceId).not.toBe(TRACE);
    }
  });

  it('is not exported where the client says that its trace is not', async () => {
    const opened = await open([inDialect(textAnswer('hi'))]);
    await (await ask(opened.gateway, { headers: { traceparent: PARENT.replace(/01$/, '00') } })).text();
    expect(opened.upstream.requests[0]?.headers['traceparent']).toMatch(/-00$/);
    expect((await collected(opened)).spans).toEqual([]);
  });

  it('of a stranger begins no trace', async () => {
    const opened = await open([]);
    expect(
      (await ask(opened.gateway, { headers: { 'x-api-key': 'wrong', traceparent: PARENT } })).status,
    ).toBe(401);
    expect((await collected(opened)).spans).toEqual([]);
  });

  it('has what was said in its spans only where the operator asks for it, without secrets', async () => {
    const opened = await open([inDialect(textAnswer(`the model says ${SECRET}`))], {}, { content: true });
    await (await ask(opened.gateway, { text: `words-of-the-user ${KEY}` })).text();
    const collector = await collected(opened);
    const { attributes } = collector.span('chat m');
    expect(attributes['gen_ai.input.messages']).toContain('words-of-the-user');
    expect(attributes['gen_ai.output.messages']).toContain('the model says');
    expect(collector.text).not.toContain(SECRET);
    expect(collector.text).not.toContain(KEY);
  });
});

describe('a turn of an agent', () => {
  it('has spans for the turn, its tools, the wait for a person, its sub-agent and MCP servers', async () => {
    const { path: root } = await tempFolder('toolgate-traced');
    await writeFile(join(root, 'a.txt'), 'content-of-a-file\n');
    const newest = await startNewest('only');
    const task = { description: 'look closer', prompt: 'Look.', subagent_type: 'general-purpose' };
    const steps = [
      callsAnswer(call('Read', { file_path: join(root, 'a.txt') }, 'c-read')),
      callsAnswer(call('Write', { file_path: join(root, 'b.txt'), content: 'b' }, 'c-write')),
      callsAnswer(call('mcp__newest__trace', {}, 'c-trace')),
      callsAnswer(call('Task', task, 'c-task')),
      textAnswer('The sub-agent is done.'),
      textAnswer('All done.'),
    ];
    const opened = await open(
      steps.map((step) => inDialect(step)),
      {
        models: { coder: { engine: 'native', upstream: 'scripted', model: 'm', cwd: root } },
        mcp_servers: { newest: { type: 'http', url: newest.url } },
        permissions: { mode: 'ask', allow: ['mcp__newest__*', 'Task'], unattended: 'wait' },
      },
    );
    const { gateway, upstream } = opened;
    await until(async () => JSON.stringify(await api(gateway, '/api/mcp')).includes('"connected"'));
    const answer = ask(gateway, { model: 'coder', headers: { traceparent: PARENT } });
    const asked = await until(async () => {
      const listed = (await api(gateway, '/api/approvals')) as { data?: object[]; approvals?: object[] };
      return (listed.data ?? listed.approvals ?? [])[0] as { id: string; digest: string } | undefined;
    });
    await api(gateway, `/api/approvals/${asked.id}`, { decision: 'allow', digest: asked.digest });
    expect(await (await answer).text()).toContain('All done.');
    const collector = await collected(opened);
    const under = (parent: CollectedSpan, name: string): CollectedSpan => {
      const span = collector.span(name);
      expect([span.traceId, span.parent], name).toEqual([TRACE, parent.spanId]);
      return span;
    };
    const turn = under(collector.span('POST /v1/messages'), 'invoke_agent coder');
    expect(turn.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'coder',
      'gen_ai.conversation.id': expect.any(String),
      'toolgate.turn.end': 'complete',
    });
    expect(under(turn, 'execute_tool Read').attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'Read',
      'toolgate.tool.outcome': 'done',
    });
    under(under(turn, 'execute_tool Write'), 'approval');
    const mcp = under(turn, 'execute_tool mcp__newest__trace');
    expect(mcp.attributes['mcp.method.name']).toBe('tools/call');
    expect(upstream.requests[3]?.text).toContain(`00-${TRACE}-${mcp.spanId}-01`);
    const agent = under(under(turn, 'execute_tool Task'), 'invoke_agent sub-agent');
    const chats = collector.spans.filter(({ name }) => name === 'chat m');
    expect(chats.map(({ parent }) => parent).sort()).toEqual(
      [...Array(5).fill(turn.spanId), agent.spanId].sort(),
    );
    expect(collector.text).not.toContain('content-of-a-file');
  });
});

describe('a message of MCP', () => {
  it('continues the trace that its client names in `_meta`, down to the servers that it asks', async () => {
    const newest = await startNewest('only');
    const opened = await open(inDialect(textAnswer('unused')), {
      mcp_servers: { newest: { type: 'http', url: newest.url } },
      permissions: { mode: 'allow' },
    });
    const { gateway } = opened;
    await until(async () => JSON.stringify(await api(gateway, '/api/mcp')).includes('"connected"'));
    const traced = async (traceparent: unknown): Promise<string> => {
      const message = stateless('tools/call', { name: 'mcp__newest__trace' }, { meta: { traceparent } });
      return (await sendStateless(gateway, message, { key: KEY, path: '/mcp/gateway' })).text();
    };
    const told = await traced(PARENT);
    for (const wrong of ['00-nonsense', 7, null]) expect(await traced(wrong)).toContain('"result"');
    const collector = await collected(opened);
    const message = collector.span('tools/call mcp__newest__trace');
    const requests = collector.spans.filter(({ name }) => name === 'POST /mcp/gateway');
    expect(requests).toHaveLength(4);
    expect(message).toMatchObject({ traceId: TRACE, parent: 'b7ad6b7169203331', kind: SERVER });
    expect(message.attributes).toMatchObject({ 'mcp.method.name': 'tools/call', 'toolgate.key': 'alice' });
    expect(message.links).toHaveLength(1);
    expect(requests.map(({ spanId }) => spanId)).toContain(message.links[0]?.spanId);
    for (const { traceId } of requests) expect(traceId).not.toBe(TRACE);
    expect(told).toContain(`00-${TRACE}-${message.spanId}-01`);
  });
});

it('a collector that is away delays no answer and no stop', async () => {
  const opened = await open(inDialect(textAnswer('hi')));
  opened.collector.statuses.push(...Array(50).fill(503));
  expect(await (await ask(opened.gateway)).text()).toContain('hi');
  const { gateway, collector } = opened;
  await gateway.close();
  expect(collector.spans).toEqual([]);
  expect(collector.site.seen).toContain('POST /otlp/v1/traces');
});

it('goes nowhere, and is not even loaded, without a collector', async () => {
  const upstream = await startUpstream([inDialect(textAnswer('hi'))]);
  const gateway = await startTestGateway({
    config: {
      upstreams: { scripted: upstream.config('openai-chat') },
      models: { m: { upstream: 'scripted' } },
    },
  });
  await (await ask(gateway, { headers: { traceparent: PARENT } })).text();
  expect(upstream.requests[0]?.headers['traceparent']).toBeUndefined();
});
