import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import {
  callOf,
  calls,
  FakeRuntime,
  type FakeTool,
  hear,
  nativeEngine,
  routeTo,
  ScriptedRelay,
  says,
  userSays,
} from '../../../test/support/native-engine-bench.js';
import { GatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import type { Answer } from '../engine.js';

const root = tmpdir();

/** Waits until it is stopped, and says when it began. */
function waitingTool(): { tool: FakeTool; begun: Promise<void> } {
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const tool: FakeTool = (_input, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
      begin();
    });
  return { tool, begun };
}

function reading(answer: Answer) {
  if (answer.body.kind !== 'events') throw new Error('An agent answered with bytes');
  return answer.body.batches[Symbol.asyncIterator]();
}

describe('a client that leaves', () => {
  it('ends the running tools, and no model call follows', async () => {
    const { tool, begun } = waitingTool();
    const relay = new ScriptedRelay(calls(['Wait', {}]), says('never'));
    const engine = await nativeEngine(relay, new FakeRuntime({ Wait: tool }), root);
    const gone = new AbortController();
    const answer = await engine.run(callOf([userSays('x')], {}, { signal: gone.signal }), routeTo());
    const rest = (async () => {
      const events: ModelEvent[] = [];
      if (answer.body.kind === 'events') for await (const batch of answer.body.batches) events.push(...batch);
      return events;
    })();
    await begun;
    gone.abort();
    const events = await rest;
    expect(events.some(({ type }) => type === 'stop' || type === 'error')).toBe(false);
    expect(relay.requests).toHaveLength(1);
  });

  it('by closing its reader alone ends the tools as well, also in the middle of a read', async () => {
    const { tool, begun } = waitingTool();
    const relay = new ScriptedRelay(calls(['Wait', {}]), says('never'));
    const engine = await nativeEngine(relay, new FakeRuntime({ Wait: tool }), root);
    const reader = reading(await engine.run(callOf([userSays('x')]), routeTo()));
    await reader.next();
    const pending = reader.next();
    await begun;
    await reader.return?.();
    await pending;
    expect(await reader.next()).toEqual({ done: true, value: undefined });
    expect(relay.requests).toHaveLength(1);
  });

  it('before its first read leaves the session free for the same request', async () => {
    const relay = new ScriptedRelay(says('one'), says('two'));
    const engine = await nativeEngine(relay, new FakeRuntime(), root);
    const answer = await engine.run(callOf([userSays('x')]), routeTo());
    await reading(answer).return?.();
    const session = answer.headers['x-session-id'];
    expect((await hear(engine, callOf([userSays('x')], {}, { session }))).text).toBe('two');
  });

  it('aborts the upstream of the model call that runs', async () => {
    const relay = new ScriptedRelay(async function* ({ signal }) {
      yield [{ type: 'text', text: 'Once' }];
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      yield [{ type: 'error', error: new GatewayError('client_closed', 'gone') }];
    });
    const engine = await nativeEngine(relay, new FakeRuntime(), root);
    const reader = reading(await engine.run(callOf([userSays('x')]), routeTo()));
    expect((await reader.next()).value).toEqual([{ type: 'text', text: 'Once' }]);
    await reader.return?.();
    expect(relay.calls[0]?.signal.aborted).toBe(true);
  });
});

describe('the work of a broken turn', () => {
  it('is continued by the same request, and not done twice', async () => {
    const relay = new ScriptedRelay(calls(['Edit', {}]), new GatewayError('overloaded', 'busy'), says('ok'));
    const runtime = new FakeRuntime({ Edit: () => 'edited' });
    const engine = await nativeEngine(relay, runtime, root);
    const broken = await hear(engine, callOf([userSays('x')]));
    const again = await hear(engine, callOf([userSays('x')], {}, { session: broken.session }));
    expect(again.text).toBe('ok');
    expect(runtime.runs).toHaveLength(1);
    expect(relay.requests[2]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  });

  it('is known to the model when the user says something else', async () => {
    const relay = new ScriptedRelay(
      [{ type: 'text', text: 'Editing.' }, ...calls(['Edit', {}])],
      new GatewayError('overloaded', 'busy'),
      says('ok'),
    );
    const engine = await nativeEngine(relay, new FakeRuntime({ Edit: () => 'edited' }), root);
    const broken = await hear(engine, callOf([userSays('x')]));
    const half = { role: 'assistant' as const, content: [{ type: 'text' as const, text: 'Editing.' }] };
    const { session } = broken;
    await hear(engine, callOf([userSays('x'), half, userSays('and then?')], {}, { session }));
    expect(relay.requests[2]?.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'user',
    ]);
  });
});

describe('a session', () => {
  it('answers one request at a time', async () => {
    const { tool, begun } = waitingTool();
    const relay = new ScriptedRelay(says('hello'), calls(['Wait', {}]), says('x'));
    const engine = await nativeEngine(relay, new FakeRuntime({ Wait: tool }), root);
    const { session } = await hear(engine, callOf([userSays('a')]));
    const reader = reading(await engine.run(callOf([userSays('b')], {}, { session }), routeTo()));
    await reader.next();
    const pending = reader.next();
    await begun;
    await expect(engine.run(callOf([userSays('c')], {}, { session }), routeTo())).rejects.toMatchObject({
      code: 'conflict',
    });
    await reader.return?.();
    await pending;
  });
});

describe('a silent turn', () => {
  it('sends pings while tools run', async () => {
    let release = (_text: string): void => {};
    const relay = new ScriptedRelay(calls(['Slow', {}]), says('ok'));
    const runtime = new FakeRuntime({
      Slow: () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    });
    const engine = await nativeEngine(relay, runtime, root, { pingMs: 5 });
    const reader = reading(await engine.run(callOf([userSays('x')]), routeTo()));
    let pings = 0;
    let text = '';
    for (let step = await reader.next(); step.done !== true; step = await reader.next()) {
      for (const event of step.value) {
        if (event.type === 'text') text += event.text;
        if (event.type !== 'ping') continue;
        pings += 1;
        if (pings === 3) release('done');
      }
    }
    expect(text).toBe('ok');
  });
});
