/** Turns that are joined, broken off, stopped and gone on with, in one process. */
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { deferred } from '../../../test/support/gate.js';
import {
  callOf,
  calls,
  FakeRuntime,
  type FakeTool,
  hear,
  memorySessions,
  nativeEngine,
  resultOf,
  routeTo,
  ScriptedRelay,
  says,
  userSays,
} from '../../../test/support/native-engine-bench.js';
import type { ConversationRequest, Message } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { ToolRunEvent } from '../../tools/runtime/runtime.js';
import type { Answer } from '../engine.js';

const root = tmpdir();
const WEATHER = { name: 'get_weather', inputSchema: { type: 'object' } };

function resultsIn(request: ConversationRequest | undefined): string[] {
  return (request?.messages ?? []).flatMap(({ content }) =>
    content.flatMap((block) =>
      block.type === 'tool_result'
        ? block.content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
        : [],
    ),
  );
}

async function read(answer: Answer): Promise<string> {
  if (answer.body.kind !== 'events') throw new Error('bytes');
  let text = '';
  for await (const batch of answer.body.batches) {
    for (const event of batch) if (event.type === 'text') text += event.text;
  }
  return text;
}

/** Waits until it is stopped, and says when it began. */
function waitingTool() {
  const begun = deferred<void>();
  const tool: FakeTool = (_input, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('cut off: may have done part')), {
        once: true,
      });
      begun.resolve();
    });
  return { tool, begun: begun.promise };
}

/** As the official SDKs say it of a request that they send again. */
const REPEAT = { headers: { 'x-stainless-retry-count': '1' } };

describe('the same request sent again', () => {
  for (const [whom, repeat] of [
    ['its client', REPEAT],
    ['the node that forwards it', { again: true }],
  ] as const) {
    it(`marked as a repeat by ${whom} joins the turn that runs: one model call, one answer for both, the same session`, async () => {
      const go = deferred<string>();
      const relay = new ScriptedRelay(calls(['Slow', {}]), says('Done.'));
      const runtime = new FakeRuntime({ Slow: () => go.promise });
      const engine = await nativeEngine(relay, runtime, root);
      const one = await engine.run(callOf([userSays('x')]), routeTo());
      const first = read(one);
      const two = await engine.run(callOf([userSays('x')], {}, repeat), routeTo());
      const second = read(two);
      go.resolve('ok');
      expect(await Promise.all([first, second])).toEqual(['Done.', 'Done.']);
      expect(two.headers['x-session-id']).toBe(one.headers['x-session-id']);
      expect(runtime.ran).toHaveLength(1);
      expect(relay.requests).toHaveLength(2);
    });
  }

  it('continues the turn when the first client leaves', async () => {
    const go = deferred<string>();
    const relay = new ScriptedRelay(calls(['Slow', {}]), says('Done.'));
    const runtime = new FakeRuntime({ Slow: () => go.promise });
    const engine = await nativeEngine(relay, runtime, root);
    const gone = new AbortController();
    const one = await engine.run(callOf([userSays('x')], {}, { signal: gone.signal }), routeTo());
    const first = read(one);
    const two = read(await engine.run(callOf([userSays('x')], {}, REPEAT), routeTo()));
    gone.abort();
    await first;
    go.resolve('ok');
    expect(await two).toBe('Done.');
  });

  it('after the client left runs calls that never began, and tells the model of interrupted ones', async () => {
    const { tool, begun } = waitingTool();
    const relay = new ScriptedRelay(
      [{ type: 'text', text: 'Working. ' }, ...calls(['Wait', {}, 'w'], ['Edit', {}, 'e'])],
      says('Done.'),
    );
    const runtime = new FakeRuntime({ Wait: tool, Edit: () => 'edited' });
    const engine = await nativeEngine(relay, runtime, root);
    const gone = new AbortController();
    const first = read(await engine.run(callOf([userSays('x')], {}, { signal: gone.signal }), routeTo()));
    await begun;
    gone.abort();
    // At once: the turn is still being stopped.
    const again = await hear(engine, callOf([userSays('x')]));
    await first;
    expect(again.text).toBe('Working. Done.');
    expect(runtime.ran).toEqual(['w', 'e']);
    expect(resultsIn(relay.requests[1])).toEqual(['cut off: may have done part', 'edited']);
  });

  it('waits while its session is being stopped, and is then a new request', async () => {
    const { tool, begun } = waitingTool();
    const relay = new ScriptedRelay(says('Hello.'), calls(['Wait', {}, 'w']), says('Else.'));
    const engine = await nativeEngine(relay, new FakeRuntime({ Wait: tool }), root);
    const { session } = await hear(engine, callOf([userSays('a')]));
    const gone = new AbortController();
    const first = read(
      await engine.run(callOf([userSays('b')], {}, { session, signal: gone.signal }), routeTo()),
    );
    await begun;
    gone.abort();
    expect((await hear(engine, callOf([userSays('c')], {}, { session }))).text).toBe('Else.');
    await first;
  });

  it('replays what a failed turn said, and asks the model for the rest', async () => {
    const relay = new ScriptedRelay(
      [{ type: 'text', text: 'Editing.' }, ...calls(['Edit', {}, 'e'])],
      new GatewayError('overloaded', 'busy'),
      says('Done.'),
    );
    const runtime = new FakeRuntime({ Edit: () => 'edited' });
    const engine = await nativeEngine(relay, runtime, root);
    const broken = await hear(engine, callOf([userSays('x')], {}, { chat: true }));
    expect(broken.events.at(-1)?.type).toBe('error');
    const again = await hear(engine, callOf([userSays('x')], {}, { chat: true }));
    expect(again.text).toBe('Editing.\n\nDone.');
    expect(again.session).toBe(broken.session);
    expect(again.answer.headers['x-toolgate-attach']).toBe('new');
    expect(runtime.ran).toEqual(['e']);
  });

  it('can be sent as soon as the client has heard of the failure', async () => {
    const relay = new ScriptedRelay(
      calls(['Edit', {}, 'e']),
      new GatewayError('overloaded', 'busy'),
      says('Done.'),
    );
    const engine = await nativeEngine(relay, new FakeRuntime({ Edit: () => 'edited' }), root);
    const answer = await engine.run(callOf([userSays('x')]), routeTo());
    if (answer.body.kind !== 'events') throw new Error('bytes');
    let again: string | undefined;
    for await (const batch of answer.body.batches) {
      if (batch.some(({ type }) => type === 'error')) {
        again = (await hear(engine, callOf([userSays('x')]))).text;
      }
    }
    expect(again).toBe('Done.');
  });

  it('counts the model calls of before the break', async () => {
    const relay = new ScriptedRelay(
      calls(['Read', {}]),
      new GatewayError('overloaded', 'busy'),
      calls(['Read', { n: 2 }]),
      says('Never.'),
    );
    const engine = await nativeEngine(relay, new FakeRuntime({ Read: () => 'read' }), root);
    const route = routeTo({ maxSteps: 2 });
    await hear(engine, callOf([userSays('x')]), route);
    expect((await hear(engine, callOf([userSays('x')]), route)).stop).toBe('pause_turn');
    expect(relay.requests).toHaveLength(3);
  });

  it('starts over where the model failed before it said anything', async () => {
    const relay = new ScriptedRelay(new GatewayError('overloaded', 'busy'), says('ok'));
    const { sessions, store } = await memorySessions();
    const engine = await nativeEngine(relay, new FakeRuntime(), root, { sessions });
    await expect(engine.run(callOf([userSays('x')]), routeTo())).rejects.toMatchObject({
      code: 'overloaded',
    });
    expect((await store.sessions.list({ limit: 9 })).items).toEqual([]);
    expect((await hear(engine, callOf([userSays('x')]))).text).toBe('ok');
  });
});

describe('a gateway that stops while a person is asked', () => {
  class ClosingRuntime extends FakeRuntime {
    override async *run(): AsyncGenerator<ToolRunEvent, void, void> {
      yield {
        type: 'tool-result',
        id: 'e',
        name: 'Edit',
        content: [{ type: 'text', text: 'The gateway stops.' }],
        isError: true,
        durationMs: 0,
        outcome: 'denied',
        because: { kind: 'closing' },
      };
    }
  }

  it('does not tell the model that it was denied: the same request asks again', async () => {
    const { sessions } = await memorySessions();
    const before = new ScriptedRelay(calls(['Edit', {}, 'e']), says('Never.'));
    const stopping = await nativeEngine(before, new ClosingRuntime({ Edit: () => '' }), root, { sessions });
    const { events } = await hear(stopping, callOf([userSays('x')]));
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'unavailable', retryable: true } });
    const after = new ScriptedRelay(says('Done.'));
    const runtime = new FakeRuntime({ Edit: () => 'edited' });
    const engine = await nativeEngine(after, runtime, root, { sessions });
    expect((await hear(engine, callOf([userSays('x')]))).text).toBe('Done.');
    expect(runtime.ran).toEqual(['e']);
    expect(resultsIn(after.requests[0])).toEqual(['edited']);
  });
});

describe('a session that is deleted under its turn', () => {
  it('ends the turn, and the client is told why', async () => {
    const { tool, begun } = waitingTool();
    const { sessions } = await memorySessions();
    const relay = new ScriptedRelay(calls(['Wait', {}]), says('Never.'));
    const runtime = new FakeRuntime({ Wait: tool });
    const engine = await nativeEngine(relay, runtime, root, { sessions });
    const answer = await engine.run(callOf([userSays('x')]), routeTo());
    if (answer.body.kind !== 'events') throw new Error('bytes');
    const events: object[] = [];
    const reading = (async () => {
      if (answer.body.kind === 'events') for await (const batch of answer.body.batches) events.push(...batch);
    })();
    await begun;
    await sessions.delete(answer.headers['x-session-id'] ?? '', 'admin');
    await reading;
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'conflict' } });
    expect(relay.requests).toHaveLength(1);
    await expect.poll(() => runtime.closed).toHaveLength(1);
  });
});

describe('the state of tools', () => {
  const moving: FakeTool = (input, { session }) => {
    session.cwd = `${root}/${String(Object(input).to)}`;
    return 'moved';
  };
  const where: FakeTool = (_input, { session }) => session.cwd;

  it('survives a restart, and a fork has it as of the fork point', async () => {
    const { sessions } = await memorySessions();
    const tools = { Move: moving, Where: where };
    const first = new ScriptedRelay(
      calls(['Move', { to: 'a' }]),
      says('One.'),
      calls(['Move', { to: 'b' }]),
      says('Two.'),
    );
    const before = await nativeEngine(first, new FakeRuntime(tools), root, { sessions });
    const one = userSays('one');
    const said = (text: string): Message => ({ role: 'assistant', content: [{ type: 'text', text }] });
    await hear(before, callOf([one]));
    await hear(before, callOf([one, said('One.'), userSays('two')]));
    await before.close();
    const second = new ScriptedRelay(calls(['Where', {}]), says('x'));
    const after = await nativeEngine(second, new FakeRuntime(tools), root, { sessions });
    await hear(after, callOf([one, said('One.'), userSays('two'), said('Two.'), userSays('where?')]));
    expect(resultsIn(second.requests[1]).at(-1)).toBe(`${root}/b`);
    const third = new ScriptedRelay(calls(['Where', {}]), says('x'));
    const forked = await nativeEngine(third, new FakeRuntime(tools), root, { sessions });
    const fork = await hear(forked, callOf([one, said('One.'), userSays('where else?')]));
    expect(fork.answer.headers['x-toolgate-attach']).toBe('fork');
    expect(resultsIn(third.requests[1]).at(-1)).toBe(`${root}/a`);
  });

  it('is empty after an import', async () => {
    const relay = new ScriptedRelay(calls(['Where', {}]), says('x'));
    const engine = await nativeEngine(relay, new FakeRuntime({ Where: where }), root);
    const history: Message[] = [
      userSays('a'),
      { role: 'assistant', content: [{ type: 'tool_use', id: 'z', name: 'Move', input: { to: 'q' } }] },
      resultOf('z', 'moved'),
    ];
    const heard = await hear(engine, callOf(history));
    expect(heard.answer.headers['x-toolgate-attach']).toBe('import');
    expect(resultsIn(relay.requests[1])).toEqual(['moved', root]);
  });
});

describe('a client that drops the text beside calls', () => {
  it('continues its session, and the work of the server is kept', async () => {
    const relay = new ScriptedRelay(
      [{ type: 'text', text: 'Both.' }, ...calls(['Read', {}, 'r'], ['get_weather', {}, 'c'])],
      says('Done.'),
    );
    const engine = await nativeEngine(relay, new FakeRuntime({ Read: () => 'read' }), root);
    const first = await hear(engine, callOf([userSays('x')], { tools: [WEATHER] }));
    const echoed: Message = {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'c', name: 'get_weather', input: {} }],
    };
    const on = await hear(engine, callOf([userSays('x'), echoed, resultOf('c', 'rain')]));
    expect(on.session).toBe(first.session);
    expect(resultsIn(relay.requests[1])).toEqual(['read', 'rain']);
  });
});

describe('tool_choice', () => {
  const both = { Read: () => 'read' };

  it('for any tool holds until one of the client is called', async () => {
    const relay = new ScriptedRelay(calls(['Read', {}]), calls(['get_weather', {}, 'c']));
    const engine = await nativeEngine(relay, new FakeRuntime(both), root);
    const heard = await hear(
      engine,
      callOf([userSays('x')], { tools: [WEATHER], toolChoice: { type: 'any' } }),
    );
    expect(heard.calls).toEqual(['c']);
    expect(relay.requests.map(({ toolChoice }) => toolChoice)).toEqual([{ type: 'any' }, { type: 'any' }]);
  });

  it('for any tool is the first message alone where the client has none of its own', async () => {
    const relay = new ScriptedRelay(calls(['Read', {}]), says('ok'));
    const engine = await nativeEngine(relay, new FakeRuntime(both), root);
    expect((await hear(engine, callOf([userSays('x')], { toolChoice: { type: 'any' } }))).text).toBe('ok');
    expect(relay.requests.map(({ toolChoice }) => toolChoice)).toEqual([{ type: 'any' }, undefined]);
  });

  it('for none keeps a model that calls all the same from it', async () => {
    const relay = new ScriptedRelay(calls(['Edit', {}], ['get_weather', {}]), says('ok'));
    const runtime = new FakeRuntime({ Edit: () => 'edited' });
    const engine = await nativeEngine(relay, runtime, root);
    const heard = await hear(
      engine,
      callOf([userSays('x')], { tools: [WEATHER], toolChoice: { type: 'none' } }),
    );
    expect([heard.text, heard.calls, runtime.ran]).toEqual(['ok', [], []]);
    expect(resultsIn(relay.requests[1])[0]).toContain('without tools');
  });

  it('for a tool that there is not is a 400 that names it, and leaves no session', async () => {
    const { sessions, store } = await memorySessions();
    const relay = new ScriptedRelay(says('never'));
    const engine = await nativeEngine(relay, new FakeRuntime(both), root, { sessions });
    const call = callOf([userSays('x')], { tools: [WEATHER], toolChoice: { type: 'tool', name: 'nope' } });
    await expect(engine.run(call, routeTo())).rejects.toMatchObject({
      status: 400,
      param: 'tool_choice',
      message: expect.stringContaining('nope'),
    });
    expect(relay.requests).toEqual([]);
    expect((await store.sessions.list({ limit: 9 })).items).toEqual([]);
  });
});

describe('calls whose arguments were cut', () => {
  it('are not run when the turn is resumed either', async () => {
    const { sessions } = await memorySessions();
    const blocked = deferred<string>();
    const before = new ScriptedRelay(calls(['Hang', {}, 'h'], ['Edit', '{"file": nope}', 'e']), says('x'));
    const first = await nativeEngine(
      before,
      new FakeRuntime({ Hang: () => blocked.promise, Edit: () => 'no' }),
      root,
      {
        sessions,
      },
    );
    const gone = new AbortController();
    const reading = read(await first.run(callOf([userSays('x')], {}, { signal: gone.signal }), routeTo()));
    await new Promise(setImmediate);
    gone.abort();
    blocked.resolve('late');
    await reading;
    const after = new ScriptedRelay(says('Done.'));
    const runtime = new FakeRuntime({ Hang: () => 'again', Edit: () => 'edited' });
    const engine = await nativeEngine(after, runtime, root, { sessions });
    await hear(engine, callOf([userSays('x')]));
    expect(runtime.ran).not.toContain('e');
    expect(resultsIn(after.requests[0])[1]).toContain('not valid JSON');
  });
});
