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
} from '../../../../test/support/native-engine-bench.js';
import type { AgentActivity } from '../../../activity/activity.js';
import { GatewayError } from '../../../core/errors.js';
import type { AgentReport, AgentTask } from '../../../tools/runtime/context.js';
import { LIMITS } from '../limits.js';

const root = tmpdir();

/** Starts an agent, as the tool of that name does. */
function taskTool(task: Partial<AgentTask> = {}): {
  tool: FakeTool;
  reports: AgentReport[];
  steps: string[];
} {
  const reports: AgentReport[] = [];
  const steps: string[] = [];
  const tool: FakeTool = async (_input, { runAgent }) => {
    if (runAgent === undefined) throw new Error('No agents here');
    const agent = runAgent({ toolUseId: 'toolu_1', description: 'look around', prompt: 'Find it', ...task });
    for (;;) {
      const step = await agent.next();
      if (step.done === true) {
        reports.push(step.value);
        return step.value.text;
      }
      steps.push(step.value.content);
    }
  };
  return { tool, reports, steps };
}

const echo: FakeTool = () => 'read';

describe('a sub-agent', () => {
  it('works on a transcript of its own and reports', async () => {
    const { tool, reports, steps } = taskTool();
    const relay = new ScriptedRelay(
      calls(['Task', {}]),
      calls(['Read', {}]),
      says('Found it.'),
      says('All good.'),
    );
    const runtime = new FakeRuntime({ Task: tool, Read: echo });
    const heard = await hear(await nativeEngine(relay, runtime, root), callOf([userSays('go')]));
    expect(heard.text).toBe('All good.');
    expect(relay.requests[1]?.messages).toHaveLength(1);
    expect(relay.requests[1]?.messages[0]?.content[0]).toMatchObject({ text: 'Find it' });
    expect(relay.requests[1]?.system[0]?.text).toContain('work for another agent');
    expect(reports).toEqual([expect.objectContaining({ text: 'Found it.', turns: 2, toolCalls: 1 })]);
    expect(reports[0]).not.toHaveProperty('cutShort');
    expect(steps).toEqual(['Use Read']);
    expect(relay.requests[3]?.messages.at(-1)?.content[0]).toMatchObject({
      content: [{ type: 'text', text: 'Found it.' }],
    });
  });

  it.each([
    ['one that the configuration names', 'fast', 'fast'],
    ['one that a glob routes', 'claude-haiku', 'claude-haiku'],
    ["its parent's where only the rule for everything else takes the name", 'haiku', 'coder'],
    ["its parent's where nobody answers to the name", 'unknown', 'coder'],
  ])('is driven by %s', async (_what, wished, model) => {
    const routes: Record<string, string> = { fast: 'fast', 'claude-haiku': 'claude-*', haiku: '*' };
    const { tool } = taskTool({ model: wished });
    const relay = new ScriptedRelay(calls(['Task', {}]), says('x'), says('y'));
    const engine = await nativeEngine(relay, new FakeRuntime({ Task: tool }), root, {
      routeOf: (name) => {
        const pattern = routes[name];
        return pattern === undefined ? undefined : { ...routeTo(), pattern };
      },
    });
    await hear(engine, callOf([userSays('go')], { model: 'coder' }));
    expect(relay.requests[1]?.model).toBe(model);
  });

  it("has its parent's tools, fewer where the task says so, and never one that starts agents", async () => {
    const { tool } = taskTool({ tools: ['Read', 'Task', 'Bash'] });
    const relay = new ScriptedRelay(calls(['Task', {}]), says('x'), says('y'));
    const runtime = new FakeRuntime({ Task: tool, Read: echo, Write: echo });
    await hear(
      await nativeEngine(relay, runtime, root),
      callOf([userSays('go')], { tools: [{ name: 'get_weather' }] }),
    );
    expect(relay.requests[0]?.tools.map(({ name }) => name)).toEqual([
      'Task',
      'Read',
      'Write',
      'get_weather',
    ]);
    expect(relay.requests[1]?.tools.map(({ name }) => name)).toEqual(['Read']);
  });

  it('has a tool session of its own that names it, closed at its end', async () => {
    const { tool } = taskTool();
    const relay = new ScriptedRelay(calls(['Task', {}]), calls(['Read', {}]), says('x'), says('y'));
    const runtime = new FakeRuntime({ Task: tool, Read: echo });
    await hear(await nativeEngine(relay, runtime, root), callOf([userSays('go')]));
    const [above, below] = runtime.sessions;
    expect(below?.id).toBe(above?.id);
    expect(below?.agent?.label).toBe('look around');
    expect(runtime.closed).toEqual([below?.agent?.id]);
    expect(runtime.runs[1]?.toolState).toBe(below);
  });

  it('costs its parent what it costs', async () => {
    const { tool } = taskTool();
    const relay = new ScriptedRelay(calls(['Task', {}]), says('x'), says('y'));
    const heard = await hear(
      await nativeEngine(relay, new FakeRuntime({ Task: tool }), root),
      callOf([userSays('go')]),
    );
    const usages = heard.events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []));
    expect(usages.at(-1)).toMatchObject({ inputTokens: 300, outputTokens: 30 });
  });

  it('is cut short at its own limit of turns', async () => {
    const { tool, reports } = taskTool();
    const relay = new ScriptedRelay(calls(['Task', {}]), calls(['Read', {}]));
    const runtime = new FakeRuntime({ Task: tool, Read: echo });
    await hear(await nativeEngine(relay, runtime, root), callOf([userSays('go')]), {
      pattern: 'coder',
      model: 'm',
      rule: { engine: 'native', upstreams: ['u'], maxSteps: 1 },
    });
    expect(reports[0]).toMatchObject({ cutShort: 'max_turns', turns: LIMITS.subAgent.maxSteps });
  });

  it('whose model fails says so, and its parent goes on', async () => {
    const { tool, reports } = taskTool();
    const relay = new ScriptedRelay(
      calls(['Task', {}]),
      new GatewayError('overloaded', 'too busy'),
      says('y'),
    );
    const heard = await hear(
      await nativeEngine(relay, new FakeRuntime({ Task: tool }), root),
      callOf([userSays('go')]),
    );
    expect(reports[0]?.cutShort).toBe('too busy');
    expect(heard.text).toBe('y');
  });

  it('is told of to the observer by its name, and its words are not in the answer', async () => {
    const { tool } = taskTool();
    const relay = new ScriptedRelay(calls(['Task', {}]), says('Secretly.'), says('y'));
    const seen: AgentActivity[] = [];
    const call = callOf([userSays('go')], {}, { observe: (activity) => seen.push(activity) });
    const heard = await hear(await nativeEngine(relay, new FakeRuntime({ Task: tool }), root), call);
    expect(heard.text).toBe('y');
    const own = seen.filter(({ agent }) => agent?.label === 'look around');
    expect(own.map(({ type }) => type)).toEqual([
      'agent-start',
      'model-start',
      'text',
      'model-end',
      'agent-end',
    ]);
  });

  it('ends with its parent', async () => {
    const gone = new AbortController();
    const { tool, reports } = taskTool();
    const relay = new ScriptedRelay(calls(['Task', {}]), async function* ({ signal }) {
      gone.abort();
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve(), { once: true });
      });
      yield [{ type: 'error', error: new GatewayError('client_closed', 'gone') }];
    });
    const runtime = new FakeRuntime({ Task: tool });
    await hear(
      await nativeEngine(relay, runtime, root),
      callOf([userSays('go')], {}, { signal: gone.signal }),
    );
    expect(reports[0]?.cutShort).toBe('aborted');
    expect(runtime.closed).toHaveLength(1);
  });
});
