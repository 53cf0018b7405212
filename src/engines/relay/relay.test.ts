import { describe, expect, it, vi } from 'vitest';
import type { ConversationRequest, DialectName } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import type { Dialect } from '../../dialects/shared/dialect.js';
import type { ModelRoute, ModelRule } from '../../routing/model-router.js';
import type { Upstream, UpstreamRequest } from '../../upstreams/upstream.js';
import type { ModelRequest } from '../engine.js';
import { fitRequest, Relay, retryDelay } from './relay.js';

const request: ConversationRequest = {
  model: 'asked',
  system: [],
  messages: [],
  tools: [],
  providerTools: [],
  stopSequences: [],
  stream: true,
  extensions: {},
};

const dialect = { name: 'openai-chat' } as unknown as Dialect;

function callWith(signal = new AbortController().signal): ModelRequest {
  return {
    id: 'req_1',
    clientDialect: dialect,
    request,
    raw: Buffer.from('{"model":"asked","messages":[]}'),
    headers: {},
    principal: { name: 'local', scopes: ['call'], models: ['*'] },
    signal,
  };
}

async function* answer(): AsyncGenerator<ModelEvent[]> {
  yield [{ type: 'stop', reason: 'end_turn' }];
}

class FakeUpstream implements Upstream {
  dialect: DialectName | undefined;
  readonly calls: UpstreamRequest[] = [];
  readonly name: string;
  readonly #outcomes: (GatewayError | 'ok')[];

  constructor(name: string, ...outcomes: (GatewayError | 'ok')[]) {
    this.name = name;
    this.#outcomes = outcomes;
  }

  async countTokens() {
    return 7;
  }

  async call(call: UpstreamRequest) {
    this.calls.push(call);
    const outcome = this.#outcomes.length > 1 ? this.#outcomes.shift() : this.#outcomes[0];
    if (outcome instanceof GatewayError) throw outcome;
    return { losses: [], batches: answer() };
  }
}

const route = (...upstreams: string[]): ModelRoute => ({
  pattern: '*',
  rule: { engine: 'relay', upstreams },
  model: 'theirs',
});

function relayOf(upstreams: Upstream[], retryBudgetMs = 10_000) {
  const failures: string[] = [];
  const relay = new Relay({
    upstreams: new Map(upstreams.map((each) => [each.name, each])),
    onFailure: (name, error) => failures.push(`${name} ${error.status}`),
    retryBudgetMs,
  });
  return { relay, failures };
}

const down = new GatewayError('upstream_failed', 'refused', { retryable: true });
const busy = new GatewayError('rate_limited', 'slow down', { retryable: true, retryAfter: 30 });
const soon = new GatewayError('overloaded', 'busy', { retryable: true, retryAfter: 0 });
const page = new GatewayError('upstream_failed', 'This is a page.');
const wrong = new GatewayError('invalid_request', 'no such field');
const noKey = new GatewayError('unauthenticated', 'bad key');

describe('other upstreams from now on', () => {
  it('are asked by the rules they came with; what runs by a rule of before keeps its own', async () => {
    const [old, fresh] = [new FakeUpstream('up', 'ok'), new FakeUpstream('up', 'ok')];
    const { relay } = relayOf([old]);
    const [before, after] = [route('up'), route('up')];
    relay.use(new Map([['up', fresh]]), [after.rule]);
    await relay.run(callWith(), before);
    await relay.run(callWith(), { ...after, rule: { ...after.rule, cwd: '/elsewhere' } });
    expect([old.calls.length, fresh.calls.length]).toEqual([1, 1]);
  });
});

describe('Relay', () => {
  it('counts tokens as the first upstream does', async () => {
    const { relay } = relayOf([new FakeUpstream('one', 'ok')]);
    expect(await relay.countTokens(callWith(), route('one'))).toBe(7);
  });

  it('gives the upstream its own model name and the headers', async () => {
    const one = new FakeUpstream('one', 'ok');
    const { relay } = relayOf([one]);
    const result = await relay.run(callWith(), route('one'));
    expect(result).toMatchObject({ upstream: 'one', body: { kind: 'events' } });
    expect(one.calls[0]).toMatchObject({ model: 'theirs', request });
  });

  it.each([
    ['a dead upstream', down],
    ['a limited one', busy],
    ['a wrong key', noKey],
  ])('goes on to the next of the list after %s', async (_name, error) => {
    const { relay, failures } = relayOf([new FakeUpstream('one', error), new FakeUpstream('two', 'ok')]);
    expect((await relay.run(callWith(), route('one', 'two'))).upstream).toBe('two');
    expect(failures).toEqual([`one ${error.status}`]);
  });

  it('leaves an upstream that failed alone for a moment, whatever the clock of the machine is set to', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    try {
      const one = new FakeUpstream('one', down, 'ok');
      const { relay } = relayOf([one, new FakeUpstream('two', 'ok')]);
      const asked = async () => (await relay.run(callWith(), route('one', 'two'))).upstream;
      expect([await asked(), await asked()]).toEqual(['two', 'two']);
      vi.setSystemTime(Date.now() - 3_600_000);
      vi.advanceTimersByTime(3000);
      expect(await asked()).toBe('one');
    } finally {
      vi.useRealTimers();
    }
  });

  it('does not ask others about a request that is wrong', async () => {
    const two = new FakeUpstream('two', 'ok');
    const { relay } = relayOf([new FakeUpstream('one', wrong), two]);
    await expect(relay.run(callWith(), route('one', 'two'))).rejects.toBe(wrong);
    expect(two.calls).toHaveLength(0);
  });

  it('asks the one that failed last of all until it has cooled down', async () => {
    const one = new FakeUpstream('one', down, 'ok');
    const { relay } = relayOf([one, new FakeUpstream('two', 'ok')]);
    await relay.run(callWith(), route('one', 'two'));
    expect((await relay.run(callWith(), route('one', 'two'))).upstream).toBe('two');
    expect(one.calls).toHaveLength(1);
  });

  it.each([
    ['does not know a model', new GatewayError('not_found', 'no such model')],
    ['does not give a model to this account', new GatewayError('forbidden', 'not for you')],
  ])('asks an upstream first as before after it %s', async (_name, error) => {
    const one = new FakeUpstream('one', error, 'ok');
    const { relay } = relayOf([one, new FakeUpstream('two', 'ok')]);
    expect((await relay.run(callWith(), route('one', 'two'))).upstream).toBe('two');
    expect((await relay.run(callWith(), route('one', 'two'))).upstream).toBe('one');
  });

  it('tries again when asked to come back soon', async () => {
    const one = new FakeUpstream('one', soon, 'ok');
    const { relay } = relayOf([one]);
    expect((await relay.run(callWith(), route('one'))).upstream).toBe('one');
    expect(one.calls).toHaveLength(2);
  });

  it('tries each upstream of the list twice at most', async () => {
    const [one, two] = [new FakeUpstream('one', soon), new FakeUpstream('two', soon)];
    const { relay } = relayOf([one, two]);
    await expect(relay.run(callWith(), route('one', 'two'))).rejects.toBe(soon);
    expect([one.calls.length, two.calls.length]).toEqual([2, 2]);
  });

  it('asks the next, but not the same again, for what is no answer', async () => {
    const [one, two] = [new FakeUpstream('one', page), new FakeUpstream('two', page)];
    const { relay } = relayOf([one, two]);
    await expect(relay.run(callWith(), route('one', 'two'))).rejects.toBe(page);
    expect([one.calls.length, two.calls.length]).toEqual([1, 1]);
  });

  it.each([
    ['gave no answer', page],
    ['asks for more time than that', busy],
    ['does not know the key', noKey],
  ])('tries only those of the list again that may answer then: not one that %s', async (_name, error) => {
    const [one, two] = [new FakeUpstream('one', error), new FakeUpstream('two', soon)];
    const { relay } = relayOf([one, two]);
    await expect(relay.run(callWith(), route('one', 'two'))).rejects.toBe(soon);
    expect([one.calls.length, two.calls.length]).toEqual([1, 2]);
  });

  it('does not repeat every request of an outage: a fifth of them, and ten', async () => {
    const one = new FakeUpstream('one', soon);
    const { relay } = relayOf([one]);
    for (let i = 0; i < 100; i++) {
      await expect(relay.run(callWith(), route('one'))).rejects.toBe(soon);
    }
    expect(one.calls.length).toBeGreaterThan(100 + 10);
    expect(one.calls.length).toBeLessThanOrEqual(100 + 10 + 100 / 5);
  });

  it('does not wait longer than the budget: the last error keeps its status and retry-after', async () => {
    const one = new FakeUpstream('one', busy);
    const { relay } = relayOf([one]);
    await expect(relay.run(callWith(), route('one'))).rejects.toMatchObject({ status: 429, retryAfter: 30 });
    expect(one.calls).toHaveLength(1);
  });

  it('stops waiting when the client goes', async () => {
    const controller = new AbortController();
    const patient = new GatewayError('overloaded', 'busy', { retryable: true, retryAfter: 9 });
    const one = new FakeUpstream('one', patient);
    const { relay } = relayOf([one]);
    const running = relay.run(callWith(controller.signal), route('one'));
    const gone = expect(running).rejects.toMatchObject({ code: 'client_closed' });
    await new Promise(setImmediate);
    controller.abort();
    await gone;
    expect(one.calls).toHaveLength(1);
  });

  it('forwards bytes where both sides speak the same, with only the model replaced', async () => {
    const bodies: string[] = [];
    const same: Upstream = {
      name: 'same',
      dialect: 'openai-chat',
      countTokens: async () => 0,
      call: async () => {
        throw new Error('translated');
      },
      forwards: () => true,
      forward: async ({ body, stream }) => {
        bodies.push(`${stream} ${Buffer.from(body)}`);
        return {
          status: 200,
          contentType: 'text/event-stream',
          chunks: (async function* () {})(),
          usage: () => undefined,
        };
      },
    };
    const { relay } = relayOf([same]);
    expect(await relay.run(callWith(), route('same'))).toMatchObject({
      body: { kind: 'bytes', status: 200 },
    });
    expect(bodies).toEqual(['true {"model":"theirs","messages":[]}']);
  });

  it.each([
    ['*', '{"model":"x","model":"theirs"}', 1],
    ['theirs', '{"model":"x","model":"theirs"}', 0],
    ['theirs', '{"model":"theirs","MODEL":"x"}', 0],
    ['theirs', '{"model":"theirs"}', 1],
  ])('a key for %s may forward %s: %d', async (allowed, raw, forwards) => {
    let forwarded = 0;
    const one = Object.assign(new FakeUpstream('same', 'ok'), {
      dialect: 'openai-chat' as const,
      forward: async () => {
        forwarded += 1;
        return { losses: [], batches: answer() };
      },
    });
    const { relay } = relayOf([one as unknown as Upstream]);
    await relay.run(
      {
        ...callWith(),
        request: { ...request, model: 'theirs' },
        raw: Buffer.from(raw),
        principal: { name: 'k', scopes: ['call'], models: [allowed] },
      },
      route('same'),
    );
    expect(forwarded).toBe(forwards);
  });

  it('waits before the second try as long as the upstream asks for, else for a moment', () => {
    expect([retryDelay(soon), retryDelay(busy)]).toEqual([0, 30_000]);
    expect([retryDelay(down, () => 0), retryDelay(down, () => 1)]).toEqual([200, 400]);
  });

  it('translates even its own dialect when the upstream wants something changed', async () => {
    const same = Object.assign(new FakeUpstream('same', 'ok'), {
      dialect: 'openai-chat' as const,
      forwards: () => false,
    });
    const { relay } = relayOf([same as unknown as Upstream]);
    expect(await relay.run(callWith(), route('same'))).toMatchObject({ body: { kind: 'events' } });
  });
});

describe('a conversation that an upstream keeps', () => {
  const continued = (): ModelRequest => {
    const call = callWith();
    return {
      ...call,
      request: {
        ...call.request,
        continues: { dialect: 'openai-responses', id: 'resp_1', param: 'previous_response_id' },
      },
    };
  };

  it('goes on with upstreams of that dialect only', async () => {
    const [other, keeper] = [new FakeUpstream('other', 'ok'), new FakeUpstream('keeper', 'ok')];
    keeper.dialect = 'openai-responses';
    const { relay } = relayOf([other, keeper]);
    expect((await relay.run(continued(), route('other', 'keeper'))).upstream).toBe('keeper');
    expect(other.calls).toEqual([]);
  });

  it('is unknown where there is none', async () => {
    const other = new FakeUpstream('other', 'ok');
    const { relay } = relayOf([other]);
    await expect(relay.run(continued(), route('other'))).rejects.toMatchObject({
      code: 'not_found',
      detail: 'previous_response_not_found',
      param: 'previous_response_id',
    });
    expect(other.calls).toEqual([]);
  });
});

describe('fitRequest', () => {
  const request: ConversationRequest = {
    model: 'm',
    system: [],
    messages: [],
    tools: [],
    providerTools: [],
    stopSequences: [],
    stream: false,
    maxTokens: 100,
    effort: 'max',
    extensions: {},
  };
  const rule: ModelRule = { engine: 'relay', upstreams: ['u'] };

  it('is the request itself where nothing has to change', () => {
    const fitted = fitRequest(request, rule, {});
    expect(fitted.request).toBe(request);
    expect(fitted).toMatchObject({ changed: false, losses: [] });
  });

  it('cuts the length and the effort to what is configured, and says so', () => {
    const fitted = fitRequest(request, { ...rule, maxOutputTokens: 50, efforts: ['low', 'high'] }, {});
    expect(fitted.request).toMatchObject({ maxTokens: 50, effort: 'high' });
    expect(fitted.losses.map(({ path }) => path)).toEqual(['max_tokens', 'effort']);
    expect(fitted.changed).toBe(true);
  });

  it.each(['x-claude-code-session-id', 'session-id', 'x-session-id'])(
    'takes the cache key from %s',
    (name) => {
      const fitted = fitRequest(request, rule, { [name]: 'abc' });
      expect(fitted.request.cacheKey).toBe('abc');
      expect(fitted.changed).toBe(false);
    },
  );

  it('keeps the key that the client gave', () => {
    const given = { ...request, cacheKey: 'own' };
    expect(fitRequest(given, rule, { 'session-id': 'abc' }).request).toBe(given);
  });
});
