/** What clients ask of their provider, run by the gateway where the upstream does not have it. */
import type {
  MessageCreateParamsNonStreaming,
  WebSearchTool20250305,
} from '@anthropic-ai/sdk/resources/messages/messages.js';
import { describe, expect, it } from 'vitest';
import { startTestGateway } from '../support/gateway.js';
import { closeSitesAfterEach, startSite } from '../support/loopback-site.js';
import { inDialect } from '../support/scripted-answers.js';
import { startUpstream } from '../support/scripted-upstream.js';
import { anthropicClient, openaiClient } from '../support/sdk.js';
import { call, callsAnswer, type Scripted, textAnswer } from '../support/wire.js';

closeSitesAfterEach();

const RESULTS = [
  { url: 'https://one.test/a', title: 'One', content: 'It is blue.' },
  { url: 'https://two.test/b', title: 'Two', content: 'It is green.' },
];

async function open(script: readonly Scripted[], permissions: object = { allow: ['WebSearch', 'WebFetch'] }) {
  const site = await startSite((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ results: RESULTS })),
  );
  const upstream = await startUpstream(script.map((each) => inDialect(each)));
  const { url } = await startTestGateway({
    config: {
      upstreams: { theirs: upstream.config('openai-chat') },
      models: {
        m: { upstream: 'theirs', server_tools: ['web_search', 'web_fetch'] },
        plain: { upstream: 'theirs' },
      },
      tools: { web_search: { provider: 'searxng', base_url: site.url('') } },
      permissions,
    },
  });
  return { site, upstream, anthropic: anthropicClient(url), openai: openaiClient(url) };
}

const SEARCH = { type: 'web_search_20250305', name: 'web_search' } as const;
const searches = (query: string, id = 'c1') => callsAnswer(call('web_search', { query }, id));
const ask = (limits: Partial<WebSearchTool20250305> = {}): MessageCreateParamsNonStreaming => ({
  model: 'm',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Which colour?' }],
  tools: [{ ...SEARCH, ...limits }],
});

describe('web search on a chat upstream', () => {
  it('comes back to a Messages client as the blocks of its wire, with its usage', async () => {
    const { anthropic, upstream, site } = await open([searches('colour of it'), textAnswer('Blue.')]);
    const message = await anthropic.messages.stream(ask()).finalMessage();
    expect(message).toMatchObject({
      stop_reason: 'end_turn',
      content: [
        { type: 'server_tool_use', name: 'web_search', input: { query: 'colour of it' } },
        {
          type: 'web_search_tool_result',
          content: [
            { type: 'web_search_result', title: 'One', url: 'https://one.test/a' },
            { type: 'web_search_result', title: 'Two' },
          ],
        },
        { type: 'text', text: 'Blue.' },
      ],
      usage: { server_tool_use: { web_search_requests: 1 } },
    });
    const [use, found] = message.content;
    expect(found).toMatchObject({ tool_use_id: use?.type === 'server_tool_use' ? use.id : '' });
    expect(site.seen).toHaveLength(1);
    expect(upstream.requests[0]?.json).toMatchObject({ tools: [{ function: { name: 'web_search' } }] });
    expect(upstream.requests[1]?.text).toContain('It is blue.');
  });

  it('is known to the model in the next turn', async () => {
    const { anthropic, upstream } = await open([
      searches('colour'),
      textAnswer('Blue.'),
      textAnswer('Sure.'),
    ]);
    const { content } = await anthropic.messages.create(ask());
    const { messages } = ask();
    messages.push({ role: 'assistant', content }, { role: 'user', content: 'Sure?' });
    await anthropic.messages.create({ ...ask(), messages });
    expect(upstream.requests[2]?.text).toContain('It is green.');
  });

  it('comes back to a Responses client as an item', async () => {
    const { openai } = await open([searches('colour'), textAnswer('Blue.')]);
    const response = await openai.responses.create({
      model: 'm',
      input: 'Which colour?',
      tools: [{ type: 'web_search', filters: { allowed_domains: ['two.test'] } }],
    });
    expect(response.output).toMatchObject([
      {
        type: 'web_search_call',
        status: 'completed',
        action: { type: 'search', query: 'colour', sources: [{ url: 'https://two.test/b' }] },
      },
      { type: 'message' },
    ]);
    expect(response.output_text).toBe('Blue.');
  });

  it('keeps to the uses and the domains that the client allows', async () => {
    const { anthropic, site, upstream } = await open([
      searches('one', 'c1'),
      searches('two', 'c2'),
      textAnswer('Enough.'),
    ]);
    const { content, usage } = await anthropic.messages.create(
      ask({ max_uses: 1, blocked_domains: ['one.test'] }),
    );
    expect(content).toMatchObject([
      { type: 'server_tool_use' },
      { type: 'web_search_tool_result', content: [{ title: 'Two' }] },
      { type: 'server_tool_use' },
      { content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' } },
      { type: 'text' },
    ]);
    expect(usage.server_tool_use).toMatchObject({ web_search_requests: 1 });
    expect(site.seen).toHaveLength(1);
    expect(upstream.requests[1]?.text).not.toContain('one.test');
  });

  it('is refused where the rules do not let it, and the model is told', async () => {
    const { anthropic, site, upstream } = await open([searches('colour'), textAnswer('No idea.')], {
      deny: ['WebSearch'],
    });
    const { content } = await anthropic.messages.create(ask());
    expect(content[1]).toMatchObject({ content: { error_code: 'unavailable' } });
    expect(site.seen).toEqual([]);
    expect(upstream.requests[1]?.text).toContain('WebSearch');
  });

  it('is left out with a loss for a model that does not offer it', async () => {
    const { anthropic, upstream } = await open([textAnswer('No.')]);
    const { response } = await anthropic.messages.create({ ...ask(), model: 'plain' }).withResponse();
    expect(response.headers.get('x-toolgate-losses')).toContain('web_search');
    expect(upstream.requests[0]?.text).not.toContain('web_search');
  });
});

describe('web fetch on a chat upstream', () => {
  it('reaches nothing inside the network, whatever the model asks for', async () => {
    const inner = await startSite((_request, response) => response.end('secret'));
    const { anthropic } = await open([
      callsAnswer(call('web_fetch', { url: inner.url('/') }, 'c1')),
      textAnswer('It cannot be reached.'),
    ]);
    const { content, usage } = await anthropic.beta.messages.create({
      model: 'm',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Read it.' }],
      tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }],
    });
    expect(content).toMatchObject([
      { type: 'server_tool_use', name: 'web_fetch' },
      {
        type: 'web_fetch_tool_result',
        content: { type: 'web_fetch_tool_result_error', error_code: 'unavailable' },
      },
      { type: 'text' },
    ]);
    expect(usage.server_tool_use).toMatchObject({ web_fetch_requests: 1 });
    expect(inner.seen).toEqual([]);
  });

  it('brings a page that the operator allows, with its address, and the model reads it', async () => {
    const page = await startSite((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end('The gate is green.'),
    );
    const upstream = await startUpstream(
      [callsAnswer(call('web_fetch', { url: page.url('/gate') }, 'c1')), textAnswer('Green.')].map((each) =>
        inDialect(each),
      ),
    );
    const { url } = await startTestGateway({
      config: {
        upstreams: { theirs: upstream.config('openai-chat') },
        models: { m: { upstream: 'theirs', server_tools: ['web_fetch'] } },
        tools: { web_fetch: { allow_private: [page.host] } },
        permissions: { allow: ['WebFetch'] },
      },
    });
    const { content, usage } = await anthropicClient(url)
      .beta.messages.stream({
        model: 'm',
        max_tokens: 100,
        messages: [{ role: 'user', content: 'Which colour is the gate?' }],
        tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }],
      })
      .finalMessage();
    expect(content).toMatchObject([
      { type: 'server_tool_use', name: 'web_fetch', input: { url: page.url('/gate') } },
      {
        type: 'web_fetch_tool_result',
        content: { type: 'web_fetch_result', url: page.url('/gate') },
      },
      { type: 'text', text: 'Green.' },
    ]);
    expect(JSON.stringify(content)).toContain('The gate is green.');
    expect(upstream.requests[1]?.text).toContain('The gate is green.');
    expect(page.seen).toEqual(['GET /gate']);
    expect(usage.server_tool_use).toMatchObject({ web_fetch_requests: 1 });
  });
});
