import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  callOf,
  calls,
  FakeRuntime,
  type FakeTool,
  hear,
  nativeEngine,
  QUIET_LOG,
  resultOf,
  routeTo,
  ScriptedRelay,
  says,
  userSays,
} from '../../../test/support/native-engine-bench.js';
import type { AgentActivity } from '../../activity/activity.js';
import type { ConversationRequest, Message, ToolDefinition } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';

let root = '';
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'toolgate-native-')));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const WEATHER: ToolDefinition = { name: 'get_weather', inputSchema: { type: 'object' } };
const TIME: ToolDefinition = { name: 'get_time', inputSchema: { type: 'object' } };

const echo: FakeTool = (input) => `echo ${JSON.stringify(input)}`;

function resultsIn(request: ConversationRequest | undefined): string[] {
  return (request?.messages ?? []).flatMap(({ content }) =>
    content.flatMap((block) =>
      block.type === 'tool_result'
        ? block.content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
        : [],
    ),
  );
}

const roles = (request: ConversationRequest | undefined): string[] =>
  (request?.messages ?? []).map(({ role }) => role);

describe('a turn', () => {
  it('passes on what the model says and ends as it ends', async () => {
    const relay = new ScriptedRelay(says('Hello.'));
    const heard = await hear(await nativeEngine(relay, new FakeRuntime(), root), callOf([userSays('hi')]));
    expect(heard.text).toBe('Hello.');
    expect(heard.stop).toBe('end_turn');
    expect(heard.answer.upstream).toBe('scripted');
    expect(heard.answer.headers['x-toolgate-attach']).toBe('new');
    expect(heard.session).toMatch(/^ses_/);
    expect(relay.calls[0]?.raw.length).toBe(0);
    expect(relay.requests[0]?.stream).toBe(true);
  });

  it('logs a bug before the first word with its cause, and answers without it', async () => {
    const relay = new ScriptedRelay();
    const bug = new TypeError('no such thing');
    relay.run = () => Promise.reject(bug);
    const logged: unknown[] = [];
    const log = { ...QUIET_LOG, error: (facts: unknown) => void logged.push(facts) };
    const engine = await nativeEngine(relay, new FakeRuntime(), root, { log });
    const failure = await engine.run(callOf([userSays('hi')]), routeTo()).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'internal',
      message: expect.not.stringContaining('no such thing'),
    });
    expect(logged).toMatchObject([{ err: bug, id: 'req_1' }]);
  });

  it('runs server tools and goes on, without showing their calls', async () => {
    const relay = new ScriptedRelay(
      [
        { type: 'text', text: 'Let me look.' },
        ...calls(['Read', { file_path: '/a' }], ['Read', { file_path: '/b' }]),
      ],
      says('Done.'),
    );
    const runtime = new FakeRuntime({ Read: echo });
    const heard = await hear(await nativeEngine(relay, runtime, root), callOf([userSays('look')]));
    expect(heard.calls).toEqual([]);
    expect(runtime.runs[0]?.calls.map(({ input }) => input)).toEqual([
      { file_path: '/a' },
      { file_path: '/b' },
    ]);
    expect(resultsIn(relay.requests[1])).toEqual(['echo {"file_path":"/a"}', 'echo {"file_path":"/b"}']);
    expect(roles(relay.requests[1])).toEqual(['user', 'assistant', 'user']);
    const texts = heard.events.filter(({ type }) => type === 'text' || type === 'break');
    expect(texts).toEqual([
      { type: 'text', text: 'Let me look.' },
      { type: 'break' },
      { type: 'text', text: 'Done.' },
    ]);
  });

  it('keeps texts of several messages apart on a wire with one text', async () => {
    const relay = new ScriptedRelay([{ type: 'text', text: 'One.' }, ...calls(['Read', {}])], says('Two.'));
    const engine = await nativeEngine(relay, new FakeRuntime({ Read: echo }), root);
    const heard = await hear(engine, callOf([userSays('x')], {}, { chat: true }));
    expect(heard.text).toBe('One.\n\nTwo.');
  });

  it('adds up what all model calls cost', async () => {
    const relay = new ScriptedRelay(calls(['Read', {}]), says('Done.'));
    const heard = await hear(
      await nativeEngine(relay, new FakeRuntime({ Read: echo }), root),
      callOf([userSays('x')]),
    );
    const usages = heard.events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []));
    expect(usages.at(-1)).toMatchObject({ inputTokens: 200, outputTokens: 20 });
  });

  it('sends signed thinking back exactly and shows it', async () => {
    const thinking: ModelEvent[] = [
      { type: 'thinking', text: 'hm' },
      { type: 'signature', signature: 'sig-1' },
    ];
    const relay = new ScriptedRelay([...thinking, ...calls(['Read', {}])], says('ok'));
    const heard = await hear(
      await nativeEngine(relay, new FakeRuntime({ Read: echo }), root),
      callOf([userSays('x')]),
    );
    expect(heard.events).toContainEqual({ type: 'signature', signature: 'sig-1' });
    expect(relay.requests[1]?.messages[1]?.content[0]).toEqual({
      type: 'thinking',
      thinking: 'hm',
      signature: 'sig-1',
    });
  });

  it('honours the tool choice for the first model call only', async () => {
    const relay = new ScriptedRelay(calls(['Read', {}]), says('ok'));
    const engine = await nativeEngine(relay, new FakeRuntime({ Read: echo }), root);
    await hear(engine, callOf([userSays('x')], { toolChoice: { type: 'tool', name: 'Read' } }));
    expect(relay.requests.map(({ toolChoice }) => toolChoice)).toEqual([
      { type: 'tool', name: 'Read' },
      undefined,
    ]);
  });

  it('rejects with the error of the first model call', async () => {
    const failure = new GatewayError('rate_limited', 'slow down', { retryAfter: 3 });
    const engine = await nativeEngine(new ScriptedRelay(failure), new FakeRuntime(), root);
    await expect(engine.run(callOf([userSays('x')]), routeTo())).rejects.toBe(failure);
  });

  it('ends with an error event where a later model call fails', async () => {
    const failure = new GatewayError('overloaded', 'busy');
    const relay = new ScriptedRelay(calls(['Read', {}]), failure);
    const heard = await hear(
      await nativeEngine(relay, new FakeRuntime({ Read: echo }), root),
      callOf([userSays('x')]),
    );
    expect(heard.events.at(-1)).toEqual({ type: 'error', error: failure });
    expect(heard.stop).toBeUndefined();
  });

  it('asks again when a stream broke before anything of it was seen, and only then', async () => {
    const broken: ModelEvent = {
      type: 'error',
      error: new GatewayError('upstream_failed', 'gone', { retryable: true }),
    };
    const unseen = new ScriptedRelay([{ type: 'tool', key: 0, id: 'c', name: 'Read' }, broken], says('ok'));
    const runtime = new FakeRuntime({ Read: echo });
    expect((await hear(await nativeEngine(unseen, runtime, root), callOf([userSays('x')]))).text).toBe('ok');
    const seen = new ScriptedRelay([{ type: 'text', text: 'Hal' }, broken], says('ok'));
    const heard = await hear(await nativeEngine(seen, runtime, root), callOf([userSays('x')]));
    expect(heard.events.at(-1)?.type).toBe('error');
    expect(seen.requests).toHaveLength(1);
    const final: ModelEvent = { type: 'error', error: new GatewayError('invalid_request', 'no') };
    const refused = new ScriptedRelay([{ type: 'tool', key: 0, id: 'c', name: 'Read' }, final], says('ok'));
    await hear(await nativeEngine(refused, runtime, root), callOf([userSays('x')]));
    expect(refused.requests).toHaveLength(1);
  });

  it('pauses after max_turns model calls, with what was done kept', async () => {
    const relay = new ScriptedRelay(calls(['Read', {}]), calls(['Read', { n: 2 }]), says('Done.'));
    const engine = await nativeEngine(relay, new FakeRuntime({ Read: echo }), root);
    const route = routeTo({ maxSteps: 2 });
    const paused = await hear(engine, callOf([userSays('x')]), route);
    expect(paused.stop).toBe('pause_turn');
    expect(relay.requests).toHaveLength(2);
    expect(paused.events).toContainEqual(expect.objectContaining({ type: 'loss', path: 'stop_reason' }));
    const on = await hear(
      engine,
      callOf([userSays('x'), userSays('go on')], {}, { session: paused.session }),
      route,
    );
    expect(on.text).toBe('Done.');
    expect(on.answer.headers['x-toolgate-attach']).toBe('continue');
    expect(resultsIn(relay.requests[2])).toEqual(['echo {}', 'echo {"n":2}']);
  });

  it('asks once more when the model says nothing to its results', async () => {
    const empty: ModelEvent[] = [{ type: 'stop', reason: 'end_turn' }];
    const relay = new ScriptedRelay(calls(['Read', {}]), empty, empty);
    const heard = await hear(
      await nativeEngine(relay, new FakeRuntime({ Read: echo }), root),
      callOf([userSays('x')]),
    );
    expect(relay.requests).toHaveLength(3);
    expect(heard.stop).toBe('end_turn');
  });

  it('stops with a refusal and does not run what was called in it', async () => {
    const refused = calls(['Bash', { command: 'rm' }]).map(
      (event): ModelEvent => (event.type === 'stop' ? { type: 'stop', reason: 'refusal' } : event),
    );
    const runtime = new FakeRuntime({ Bash: echo });
    const heard = await hear(
      await nativeEngine(new ScriptedRelay(refused), runtime, root),
      callOf([userSays('x')]),
    );
    expect(heard.stop).toBe('refusal');
    expect(runtime.runs).toEqual([]);
  });
});

describe('arguments', () => {
  it('that are no JSON are not run, and the model is told', async () => {
    const relay = new ScriptedRelay(calls(['Bash', '{"command": nope}'], ['Read', { a: 1 }]), says('ok'));
    const runtime = new FakeRuntime({ Bash: echo, Read: echo });
    await hear(await nativeEngine(relay, runtime, root), callOf([userSays('x')]));
    expect(runtime.runs[0]?.calls.map(({ name }) => name)).toEqual(['Read']);
    const [first, second] = resultsIn(relay.requests[1]);
    expect(first).toContain('not valid JSON');
    expect(first).toContain('nope');
    expect(second).toBe('echo {"a":1}');
  });

  it('that the output limit cut are not run, and the model is told', async () => {
    const cut = calls(['Read', { a: 1 }], ['Write', '{"file_path":"/a","lines":["one"']).map(
      (event): ModelEvent => (event.type === 'stop' ? { type: 'stop', reason: 'max_tokens' } : event),
    );
    const relay = new ScriptedRelay(cut, says('ok'));
    const runtime = new FakeRuntime({ Write: echo, Read: echo });
    await hear(await nativeEngine(relay, runtime, root), callOf([userSays('x')]));
    expect(runtime.runs[0]?.calls.map(({ name }) => name)).toEqual(['Read']);
    expect(resultsIn(relay.requests[1])[1]).toContain('cut off');
  });

  it('of a client tool that are no JSON go back to the model where the client has not seen them', async () => {
    const relay = new ScriptedRelay(calls(['get_weather', '{"city": nope}']), says('sorry'));
    const heard = await hear(
      await nativeEngine(relay, new FakeRuntime(), root),
      callOf([userSays('x')], { tools: [WEATHER], stream: false }),
    );
    expect(heard.calls).toEqual([]);
    expect(heard.text).toBe('sorry');
  });
});

describe('client tools', () => {
  it('are offered beside the built-ins; a built-in of the same name wins', async () => {
    const relay = new ScriptedRelay(calls(['Read', {}]), says('ok'));
    const runtime = new FakeRuntime({ Read: echo, Grep: echo });
    const own = [WEATHER, { name: 'Read', description: "the client's" }];
    const heard = await hear(
      await nativeEngine(relay, runtime, root),
      callOf([userSays('x')], { tools: own }),
    );
    expect(relay.requests[0]?.tools.map(({ name }) => name)).toEqual(['Read', 'Grep', 'get_weather']);
    expect(heard.calls).toEqual([]);
    expect(runtime.runs).toHaveLength(1);
  });

  it("of a built-in name are the client's where the operator does not offer it", async () => {
    const relay = new ScriptedRelay(calls(['Read', {}, 'call_a']));
    const runtime = new FakeRuntime({ Read: echo });
    const request = callOf([userSays('x')], { tools: [{ name: 'Read' }] });
    const heard = await hear(await nativeEngine(relay, runtime, root), request, routeTo({ tools: 'none' }));
    expect(heard.calls).toEqual(['call_a']);
    expect(runtime.runs).toEqual([]);
  });

  it('end the turn, after the server tools of the same message, and go on with all results in call order', async () => {
    const relay = new ScriptedRelay(
      [
        { type: 'text', text: 'Both.' },
        ...calls(
          ['get_weather', { city: 'Oslo' }, 'c1'],
          ['Read', { a: 1 }, 's1'],
          ['get_time', {}, 'c2'],
          ['Read', { b: 2 }, 's2'],
        ),
      ],
      says('All done.'),
    );
    const runtime = new FakeRuntime({ Read: echo });
    const engine = await nativeEngine(relay, runtime, root);
    const ask = userSays('go');
    const first = await hear(engine, callOf([ask], { tools: [WEATHER, TIME] }));
    expect(first.stop).toBe('tool_use');
    expect(first.calls).toEqual(['c1', 'c2']);
    expect(runtime.runs[0]?.calls.map(({ id }) => id)).toEqual(['s1', 's2']);
    const told: Message = {
      role: 'assistant',
      content: [
        { type: 'text', text: 'Both.' },
        { type: 'tool_use', id: 'c1', name: 'get_weather', input: { city: 'Oslo' } },
        { type: 'tool_use', id: 'c2', name: 'get_time', input: {} },
      ],
    };
    const results: Message = {
      role: 'user',
      content: [...resultOf('c2', 'noon').content, ...resultOf('c1', 'rain').content],
    };
    const second = await hear(engine, callOf([ask, told, results], { tools: [WEATHER, TIME] }));
    expect(second.text).toBe('All done.');
    expect(second.session).toBe(first.session);
    expect(second.answer.headers['x-toolgate-attach']).toBe('continue');
    expect(resultsIn(relay.requests[1])).toEqual(['rain', 'echo {"a":1}', 'noon', 'echo {"b":2}']);
    expect(roles(relay.requests[1])).toEqual(['user', 'assistant', 'user']);
  });

  it('take results one at a time: the calls still open are handed out again at once', async () => {
    const relay = new ScriptedRelay(calls(['get_weather', {}, 'c1'], ['get_time', {}, 'c2']), says('ok'));
    const engine = await nativeEngine(relay, new FakeRuntime(), root);
    const first = await hear(engine, callOf([userSays('x')], { tools: [WEATHER, TIME] }));
    const partial = await hear(engine, callOf([resultOf('c1', 'rain')], {}, { session: first.session }));
    expect(partial.stop).toBe('tool_use');
    expect(partial.calls).toEqual(['c2']);
    expect(relay.requests).toHaveLength(1);
    const done = await hear(engine, callOf([resultOf('c2', 'noon')], {}, { session: first.session }));
    expect(done.text).toBe('ok');
    expect(resultsIn(relay.requests[1])).toEqual(['rain', 'noon']);
    expect(relay.requests[1]?.tools.map(({ name }) => name)).toEqual(['get_weather', 'get_time']);
  });

  it('are handed out one by one to a client that takes one call at a time', async () => {
    const relay = new ScriptedRelay(calls(['get_weather', {}, 'c1'], ['get_time', {}, 'c2']), says('ok'));
    const engine = await nativeEngine(relay, new FakeRuntime(), root);
    const one = { tools: [WEATHER, TIME], parallelToolCalls: false };
    const first = await hear(engine, callOf([userSays('x')], one));
    expect(first.calls).toEqual(['c1']);
    const next = await hear(engine, callOf([resultOf('c1', 'rain')], one));
    expect(next.calls).toEqual(['c2']);
    expect((await hear(engine, callOf([resultOf('c2', 'noon')], one))).text).toBe('ok');
  });

  it('refuse a result without a call, and change nothing', async () => {
    const relay = new ScriptedRelay(calls(['get_weather', {}, 'c1']), says('ok'));
    const engine = await nativeEngine(relay, new FakeRuntime(), root);
    const first = await hear(engine, callOf([userSays('x')], { tools: [WEATHER] }));
    const foreign: Message = {
      role: 'user',
      content: [...resultOf('c1', 'rain').content, ...resultOf('c9', '?').content],
    };
    await expect(engine.run(callOf([foreign]), routeTo())).rejects.toMatchObject({
      code: 'unknown_tool_call',
      status: 400,
      message: expect.stringContaining('c9'),
    });
    await expect(engine.run(callOf([resultOf('c9', '?')]), routeTo())).rejects.toMatchObject({
      code: 'unknown_tool_call',
    });
    const done = await hear(engine, callOf([resultOf('c1', 'rain')], {}, { session: first.session }));
    expect(done.text).toBe('ok');
  });

  it('belong to the key that was handed the call', async () => {
    const relay = new ScriptedRelay(calls(['get_weather', {}, 'c1']), says('ok'));
    const engine = await nativeEngine(relay, new FakeRuntime(), root);
    const first = await hear(engine, callOf([userSays('x')], { tools: [WEATHER] }));
    const bob = { principal: { name: 'bob', scopes: ['call' as const], models: ['*'] } };
    await expect(engine.run(callOf([resultOf('c1', 'rain')], {}, bob), routeTo())).rejects.toMatchObject({
      code: 'unknown_tool_call',
    });
    await expect(
      engine.run(callOf([userSays('y')], {}, { ...bob, session: first.session }), routeTo()),
    ).rejects.toMatchObject({ code: 'not_found' });
  });

  it('give the recorded answer to the same results again, without a model call', async () => {
    const relay = new ScriptedRelay(calls(['get_weather', {}, 'c1']), says('Rainy.'));
    const engine = await nativeEngine(relay, new FakeRuntime(), root);
    await hear(engine, callOf([userSays('x')], { tools: [WEATHER] }));
    const told: Message = {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'c1', name: 'get_weather', input: {} }],
    };
    const request = callOf([userSays('x'), told, resultOf('c1', 'rain')]);
    const [one, two] = [await hear(engine, request), await hear(engine, request)];
    expect([one.text, two.text]).toEqual(['Rainy.', 'Rainy.']);
    expect(relay.requests).toHaveLength(2);
  });

  it('with the same id in two conversations are told apart by their history, and never guessed at', async () => {
    const relay = new ScriptedRelay(
      calls(['get_weather', { city: 'A' }, 'call_0']),
      calls(['get_weather', { city: 'B' }, 'call_0']),
      says('ok'),
    );
    const engine = await nativeEngine(relay, new FakeRuntime(), root);
    const [one, two] = [
      await hear(engine, callOf([userSays('a')], { tools: [WEATHER] })),
      await hear(engine, callOf([userSays('b')], { tools: [WEATHER] })),
    ];
    await expect(engine.run(callOf([resultOf('call_0', 'rain')]), routeTo())).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('X-Session-ID'),
    });
    const told: Message = {
      role: 'assistant',
      content: [{ type: 'tool_use', id: two.calls[0] ?? '', name: 'get_weather', input: { city: 'B' } }],
    };
    const on = await hear(engine, callOf([userSays('b'), told, resultOf('call_0', 'rain')]));
    expect(on.session).toBe(two.session);
    expect(on.session).not.toBe(one.session);
  });

  it('that failed to go on can be answered again', async () => {
    const relay = new ScriptedRelay(
      calls(['get_weather', {}, 'c1'], ['Read', {}, 's1']),
      new GatewayError('overloaded', 'busy'),
      says('ok'),
    );
    const engine = await nativeEngine(relay, new FakeRuntime({ Read: echo }), root);
    await hear(engine, callOf([userSays('x')], { tools: [WEATHER] }));
    const request = callOf([resultOf('c1', 'rain')]);
    await expect(engine.run(request, routeTo())).rejects.toMatchObject({ code: 'overloaded' });
    expect((await hear(engine, request)).text).toBe('ok');
    expect(resultsIn(relay.requests[2])).toEqual(['rain', 'echo {}']);
  });

  it('left unanswered are told so to the model when the user goes on', async () => {
    const relay = new ScriptedRelay(calls(['get_weather', {}, 'c1']), says('ok'));
    const engine = await nativeEngine(relay, new FakeRuntime(), root);
    const first = await hear(engine, callOf([userSays('x')], { tools: [WEATHER] }));
    await hear(engine, callOf([userSays('forget it')], {}, { session: first.session }));
    expect(resultsIn(relay.requests[1])[0]).toContain('went on without');
    expect(roles(relay.requests[1])).toEqual(['user', 'assistant', 'user', 'user']);
  });
});

describe('the observer', () => {
  it('is told of everything in order', async () => {
    const relay = new ScriptedRelay(calls(['Read', {}]), says('ok'));
    const seen: AgentActivity[] = [];
    const call = callOf([userSays('x')], {}, { observe: (activity) => seen.push(activity) });
    const heard = await hear(await nativeEngine(relay, new FakeRuntime({ Read: echo }), root), call);
    expect(seen.map(({ type }) => type)).toEqual([
      'model-start',
      'call-began',
      'call-input',
      'call-whole',
      'model-end',
      'tool',
      'tool',
      'model-start',
      'text',
      'model-end',
    ]);
    expect(new Set(seen.map(({ session }) => session))).toEqual(new Set([heard.session]));
  });

  it('that throws changes nothing', async () => {
    const relay = new ScriptedRelay(calls(['Read', {}]), says('ok'));
    const observe = () => {
      throw new Error('broken');
    };
    const heard = await hear(
      await nativeEngine(relay, new FakeRuntime({ Read: echo }), root),
      callOf([userSays('x')], {}, { observe }),
    );
    expect(heard.text).toBe('ok');
  });
});

describe('count_tokens', () => {
  it('counts the own prompt and tools too', async () => {
    const relay = new ScriptedRelay(says('x'));
    const engine = await nativeEngine(relay, new FakeRuntime({ Read: echo }), root);
    expect(await engine.countTokens(callOf([userSays('x')], { tools: [WEATHER] }), routeTo())).toBe(7);
    expect(relay.requests[0]?.tools.map(({ name }) => name)).toEqual(['Read', 'get_weather']);
    expect(relay.requests[0]?.system[0]?.text).toContain(root);
  });
});

describe('the folder', () => {
  it('that does not exist is named', async () => {
    const engine = await nativeEngine(new ScriptedRelay(says('x')), new FakeRuntime(), root);
    const route = routeTo({ cwd: join(root, 'missing') });
    await expect(engine.run(callOf([userSays('x')]), route)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('missing'),
    });
  });
});
