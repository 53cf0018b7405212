/** Clients that bring more tools than fit: the relay searches for the model, and the client sees none of it. */
import { describe, expect, it } from 'vitest';
import { manyTools } from '../../../test/support/many-tools.js';
import { callOf, calls, says, userSays } from '../../../test/support/native-engine-bench.js';
import type { ConversationRequest, DialectName, Message } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import { shownTools } from '../../core/tool-references.js';
import type { ModelRoute, ModelRule } from '../../routing/model-router.js';
import type { Upstream, UpstreamAnswer, UpstreamRequest } from '../../upstreams/upstream.js';
import type { ModelRequest } from '../engine.js';
import { Relay } from './relay.js';

const MANY = manyTools(100);
const ISSUE = 'mcp__github__create_issue';
const BRANCH = 'mcp__jira__list_branch';

type Reply = readonly ModelEvent[] | GatewayError;

class ScriptedUpstream implements Upstream {
  readonly name = 'scripted';
  readonly dialect: DialectName = 'openai-chat';
  readonly requests: ConversationRequest[] = [];
  cancelled = 0;
  /** What an answer says beside its events. */
  facts: Pick<UpstreamAnswer, 'upstream' | 'promptTokens'> = {};
  readonly #replies: Reply[];

  constructor(...replies: Reply[]) {
    this.#replies = replies;
  }

  async countTokens({ request }: UpstreamRequest) {
    return shownTools(request).length;
  }

  async call({ request }: UpstreamRequest) {
    this.requests.push(structuredClone(request));
    const reply = this.#replies.shift() ?? says('No more.');
    if (reply instanceof GatewayError) throw reply;
    return { ...this.facts, losses: [], batches: this.#play(reply) };
  }

  async forward() {
    return { losses: [], batches: this.#play(says('As it came.')) };
  }

  async *#play(events: readonly ModelEvent[]) {
    let whole = false;
    try {
      for (const event of events) yield [event];
      whole = true;
    } finally {
      if (!whole) this.cancelled += 1;
    }
  }
}

function bench(...replies: Reply[]) {
  const upstream = new ScriptedUpstream(...replies);
  return { upstream, relay: new Relay({ upstreams: new Map([['scripted', upstream]]) }) };
}

const route = (rule: Partial<ModelRule> = {}): ModelRoute => ({
  pattern: '*',
  model: 'm',
  rule: { engine: 'relay', upstreams: ['scripted'], ...rule },
});

const asks = (
  messages: Message[],
  more: Partial<ConversationRequest> = {},
  rest: Partial<ModelRequest> = {},
) => callOf(messages, { tools: MANY, ...more }, rest);

async function hear(relay: Relay, call: ModelRequest, rule: Partial<ModelRule> = {}) {
  const { body } = await relay.run(call, route(rule));
  if (body.kind !== 'events') throw new Error('bytes');
  const events: ModelEvent[] = [];
  for await (const batch of body.batches) events.push(...batch);
  return events;
}

const shown = (request: ConversationRequest | undefined) =>
  request === undefined ? [] : shownTools(request).map(({ name }) => name);
/** By the definitions alone, as upstreams read them that keep tools back themselves. */
const notKept = (request: ConversationRequest | undefined) =>
  request?.tools.flatMap(({ name, deferred }) => (deferred === true ? [] : [name]));
const called = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === 'tool' && event.name !== undefined ? [event.name] : []));
const stopOf = (events: readonly ModelEvent[]) => events.filter(({ type }) => type === 'stop');

const finds = (query: string, id = 's1') => calls(['tool_search', { query, max_results: 1 }, id]);
const answered = (id: string, name: string): Message[] => [
  { role: 'assistant', content: [{ type: 'tool_use', id, name, input: {} }] },
  {
    role: 'user',
    content: [
      { type: 'tool_result', toolUseId: id, content: [{ type: 'text', text: 'ok' }], isError: false },
    ],
  },
];

describe('a client with 100 tools', () => {
  it('gets the call of a tool that the gateway found, and nothing of the search', async () => {
    const { relay, upstream } = bench(finds('create github issue'), calls([ISSUE, {}, 'i1']));
    const events = await hear(relay, asks([userSays('go')]));
    expect(called(events)).toEqual([ISSUE]);
    expect(stopOf(events)).toEqual([{ type: 'stop', reason: 'tool_use' }]);
    expect(JSON.stringify(events)).not.toContain('tool_search');
    expect(upstream.requests.map(shown)).toEqual([['tool_search'], ['tool_search', ISSUE]]);
    expect(upstream.requests[1]?.messages.at(-1)?.content[0]).toMatchObject({
      type: 'tool_result',
      toolUseId: 's1',
    });
  });

  it('is told the usage of all model calls together', async () => {
    const { relay } = bench(finds('create github issue'), says('Fine.'));
    const events = await hear(relay, asks([userSays('go')]));
    expect(events.findLast(({ type }) => type === 'usage')).toMatchObject({
      usage: { inputTokens: 200, outputTokens: 20 },
    });
  });

  it('is told the usage of a model call that broke off', async () => {
    const failed: ModelEvent = { type: 'error', error: new GatewayError('upstream_failed', 'gone') };
    const lastUsage = (events: readonly ModelEvent[]) =>
      events.findLast(({ type }) => type === 'usage') as { usage: object } | undefined;
    const uncounted = bench(finds('create github issue'), [{ type: 'text', text: 'Fi' }, failed]);
    uncounted.upstream.facts = { promptTokens: 70 };
    expect(lastUsage(await hear(uncounted.relay, asks([userSays('go')])))?.usage).toMatchObject({
      inputTokens: 170,
      outputTokens: 10,
    });
    const started: ModelEvent = { type: 'start', usage: { inputTokens: 30, cacheReadTokens: 5 } };
    const counted = bench(finds('create github issue'), [
      started,
      { type: 'usage', usage: { outputTokens: 4 } },
      failed,
    ]);
    const events = await hear(counted.relay, asks([userSays('go')]));
    expect(lastUsage(events)?.usage).toMatchObject({
      inputTokens: 130,
      outputTokens: 14,
      cacheReadTokens: 5,
    });
    expect(events.filter(({ type }) => type === 'start')).toEqual([]);
  });

  it('is told which of several targets answered', async () => {
    const { relay, upstream } = bench(says('Fine.'));
    upstream.facts = { upstream: 'pool/second' };
    expect(await relay.run(asks([userSays('go')]), route())).toMatchObject({ upstream: 'pool/second' });
  });

  it('has what was found in its next request, behind what was there before', async () => {
    const { relay, upstream } = bench(
      finds('create github issue'),
      calls([ISSUE, {}, 'i1']),
      finds('list jira branch', 's2'),
      calls([BRANCH, {}, 'b1']),
      says('Done.'),
    );
    const question = userSays('go');
    await hear(relay, asks([question]));
    await hear(relay, asks([question, ...answered('i1', ISSUE)]));
    await hear(relay, asks([question, ...answered('i1', ISSUE), ...answered('b1', BRANCH)]));
    const lists = upstream.requests.map((request) =>
      shownTools(request).map((tool) => JSON.stringify({ ...tool, deferred: undefined })),
    );
    for (const [index, list] of lists.entries()) {
      const before = lists[index - 1] ?? [];
      expect(list.slice(0, before.length)).toEqual(before);
    }
    expect(shown(upstream.requests.at(-1))).toEqual(['tool_search', ISSUE, BRANCH]);
  });

  it('keeps what was found and not called, after an answer in words', async () => {
    const { relay, upstream } = bench(finds('create github issue'), says('Shall I create it?'), says('Ok.'));
    const question = userSays('go');
    await hear(relay, asks([question]));
    const said: Message = { role: 'assistant', content: [{ type: 'text', text: ' Shall I create it?\n' }] };
    await hear(relay, asks([question, said, userSays('yes')]));
    expect(shown(upstream.requests.at(-1))).toEqual(['tool_search', ISSUE]);
  });

  it('shares none of it with another key, another user or another conversation', async () => {
    const said: Message = { role: 'assistant', content: [{ type: 'text', text: 'Ok?' }] };
    const others: [Message[], Partial<ConversationRequest>, Partial<ModelRequest>][] = [
      [
        [userSays('go'), said, userSays('yes')],
        {},
        { principal: { name: 'mallory', scopes: ['call'], models: ['*'] } },
      ],
      [[userSays('go'), said, userSays('yes')], { userId: 'u2' }, {}],
      [[userSays('something else'), said, userSays('yes')], {}, {}],
    ];
    const { relay, upstream } = bench(finds('create github issue'), says('Ok?'));
    await hear(relay, asks([userSays('go')]));
    for (const [messages, request, rest] of others) {
      await hear(relay, asks(messages, request, rest));
      expect(shown(upstream.requests.at(-1))).toEqual(['tool_search']);
    }
  });

  it('keeps tools loaded that its history has called, also for a gateway that knows nothing of it', async () => {
    const { relay, upstream } = bench(says('Done.'));
    await hear(relay, asks([userSays('go'), ...answered('b1', BRANCH), ...answered('i1', ISSUE)]));
    expect(shown(upstream.requests[0])).toEqual(['tool_search', BRANCH, ISSUE]);
    expect(notKept(upstream.requests[0])).toEqual(['tool_search', BRANCH, ISSUE]);
  });

  it('has the tool that it insists on', async () => {
    const { relay, upstream } = bench(calls([ISSUE, {}, 'i1']));
    await hear(relay, asks([userSays('go')], { toolChoice: { type: 'tool', name: ISSUE } }));
    expect(shown(upstream.requests[0])).toEqual(['tool_search', ISSUE]);
    expect(notKept(upstream.requests[0])).toEqual(['tool_search', ISSUE]);
  });

  it('gets its own call at once where the model searches beside it', async () => {
    const both = calls(
      ['tool_search', { query: 'list jira branch', max_results: 1 }, 's1'],
      [ISSUE, {}, 'i1'],
    );
    const { relay, upstream } = bench(both, says('Done.'));
    expect(called(await hear(relay, asks([userSays('go')])))).toEqual([ISSUE]);
    await hear(relay, asks([userSays('go'), ...answered('i1', ISSUE)]));
    expect(shown(upstream.requests.at(-1)).sort()).toEqual([ISSUE, BRANCH, 'tool_search'].sort());
  });

  it('gets an end where the model does nothing but search', async () => {
    const endless = Array.from({ length: 20 }, (_, index) => finds('get', `s${index}`));
    const { relay, upstream } = bench(...endless);
    const events = await hear(relay, asks([userSays('go')]));
    expect(stopOf(events)).toEqual([{ type: 'stop', reason: 'end_turn' }]);
    expect(upstream.requests).toHaveLength(6);
    expect(shown(upstream.requests[4])).toContain('tool_search');
    const last = upstream.requests[5];
    expect(shown(last)).toHaveLength(1);
    expect(shown(last)).not.toContain('tool_search');
    expect(last?.tools.some(({ deferred }) => deferred)).toBe(false);
  });

  it('gets an end where the model searches for what does not exist, with a last request that has tools', async () => {
    const endless = Array.from({ length: 20 }, (_, index) => finds('zzzz', `s${index}`));
    const { relay, upstream } = bench(...endless);
    await hear(relay, asks([userSays('go')]));
    expect(upstream.requests[5]).toMatchObject({ toolChoice: { type: 'none' } });
    expect(shown(upstream.requests[5])).toEqual(['tool_search']);
  });

  it('gets its answer where the upstream ends a message with calls as one without', async () => {
    const plainEnd = finds('create github issue').map(
      (event): ModelEvent => (event.type === 'stop' ? { type: 'stop', reason: 'end_turn' } : event),
    );
    const { relay } = bench(plainEnd, calls([ISSUE, {}, 'i1']));
    const events = await hear(relay, asks([userSays('go')]));
    expect(called(events)).toEqual([ISSUE]);
  });

  it('gets the end of a message that was cut off or paused, and the model is not asked again', async () => {
    for (const reason of ['max_tokens', 'context_window_exceeded', 'refusal', 'pause_turn'] as const) {
      const cut = finds('create github issue').map(
        (event): ModelEvent => (event.type === 'stop' ? { type: 'stop', reason } : event),
      );
      const { relay, upstream } = bench(cut);
      expect(stopOf(await hear(relay, asks([userSays('go')])))).toEqual([{ type: 'stop', reason }]);
      expect(upstream.requests).toHaveLength(1);
    }
  });

  it('has a search that is not JSON answered with what is wrong with it', async () => {
    const { relay, upstream } = bench(calls(['tool_search', '{"query": "iss', 's1']), says('Fine.'));
    await hear(relay, asks([userSays('go')]));
    expect(upstream.requests[1]?.messages.at(-1)?.content).toMatchObject([
      { toolUseId: 's1', isError: true, content: [{ text: expect.stringContaining('not') }] },
    ]);
    expect(JSON.stringify(upstream.requests[1]?.messages.at(-1))).not.toContain('query is missing');
  });

  it('gets the error of a later model call in its stream', async () => {
    const { relay } = bench(finds('get'), new GatewayError('rate_limited', 'slow down'));
    const events = await hear(relay, asks([userSays('go')]));
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'rate_limited' } });
  });

  it('stops the model call that runs when it leaves', async () => {
    const { relay, upstream } = bench(finds('get'), says('a'));
    const { body } = await relay.run(asks([userSays('go')]), route());
    if (body.kind !== 'events') throw new Error('bytes');
    for await (const batch of body.batches) if (batch.some(({ type }) => type === 'text')) break;
    expect(upstream.cancelled).toBe(1);
  });

  it('is left alone where it has a search of its own, or the model says off', async () => {
    const { relay, upstream } = bench();
    await hear(relay, asks([userSays('go')], { tools: [{ name: 'ToolSearch' }, ...MANY] }));
    await hear(relay, asks([userSays('go')]), { toolSearch: 'off' });
    expect(upstream.requests.map(({ tools }) => tools.length)).toEqual([101, 100]);
  });

  it('has its bytes forwarded as they are on its own wire, unless the model says on', async () => {
    const { relay, upstream } = bench(says('Searched.'));
    const sameWire = asks([userSays('go')], {}, { chat: true, raw: Buffer.from('{"model":"m"}') } as object);
    const text = (events: readonly ModelEvent[]) =>
      events.flatMap((event) => ('text' in event ? [event.text] : []));
    expect(text(await hear(relay, sameWire))).toEqual(['As it came.']);
    expect(text(await hear(relay, sameWire, { toolSearch: 'on' }))).toEqual(['Searched.']);
    expect(shown(upstream.requests[0])).toEqual(['tool_search']);
  });

  it("has its provider's search done by the gateway where the upstream has none", async () => {
    const wish = { extensions: { 'anthropic-messages': { defer_loading: true } } };
    const tools = [{ name: 'Bash' }, { ...wish, name: 'send_mail' }, { ...wish, name: 'read_mail' }];
    const kind = 'tool_search_tool_regex_20251119';
    const search = {
      dialect: 'anthropic-messages',
      kind,
      name: 'tool_search_tool_regex',
      value: {},
    } as const;
    const { relay, upstream } = bench(finds('send'), calls(['send_mail', {}, 'm1']));
    const events = await hear(relay, asks([userSays('go')], { tools, providerTools: [search] }));
    expect(called(events)).toEqual(['send_mail']);
    expect(upstream.requests.map(shown)).toEqual([
      ['Bash', 'tool_search'],
      ['Bash', 'tool_search', 'send_mail'],
    ]);
    expect(upstream.requests[0]?.providerTools).toEqual([]);
  });

  it('counts the tokens of what is sent', async () => {
    const { relay } = bench();
    expect(await relay.countTokens(asks([userSays('go')]), route())).toBe(1);
    expect(await relay.countTokens(asks([userSays('go')]), route({ toolSearch: 'off' }))).toBe(100);
  });

  it('plans nothing for bytes that are forwarded as they are', async () => {
    const { relay } = bench();
    let looked = 0;
    const tool = {
      name: 'mcp__github__search',
      get inputSchema() {
        looked += 1;
        return {};
      },
    };
    const call = { chat: true, raw: Buffer.from('{"model":"m"}') };
    await hear(relay, asks([userSays('go')], { tools: [tool] }, call));
    expect(looked).toBe(0);
  });
});
