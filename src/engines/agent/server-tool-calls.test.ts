import { describe, expect, it } from 'vitest';
import { FakeRuntime } from '../../../test/support/native-engine-bench.js';
import type { ToolUseBlock } from '../../core/conversation.js';
import type { ToolRunEvent } from '../../tools/runtime/runtime.js';
import { ServerToolCalls } from './server-tool-calls.js';
import { openToolbox } from './toolbox.js';

class OddRuntime extends FakeRuntime {
  readonly #events: () => AsyncGenerator<ToolRunEvent, void, void>;

  constructor(events: () => AsyncGenerator<ToolRunEvent, void, void>) {
    super({ Read: () => '' });
    this.#events = events;
  }

  override run(): AsyncGenerator<ToolRunEvent, void, void> {
    return this.#events();
  }
}

const block: ToolUseBlock = { type: 'tool_use', id: 'a', name: 'Read', input: { path: '/a' } };

async function run(runtime: FakeRuntime) {
  const bugs: unknown[] = [];
  const calls = new ServerToolCalls({
    runtime,
    toolbox: await openToolbox(runtime, { selection: 'all', requested: [] }, []),
    toolState: await runtime.openToolState({
      id: 's',
      principal: 'p',
      workspace: { root: '/', home: '/' },
    }),
    options: { commands: [], model: 'm', forkNumber: 0, logName: 's' },
    signal: new AbortController().signal,
    notify: () => {},
    onBug: (error) => bugs.push(error),
  });
  return { results: await calls.run([{ block }], 'msg'), bugs };
}

describe('server tool calls', () => {
  it('tell the model which input ran where a person changed it', async () => {
    const runtime = new OddRuntime(async function* () {
      yield {
        type: 'tool-result',
        id: 'a',
        name: 'Read',
        content: [{ type: 'text', text: 'read' }],
        isError: false,
        input: { path: '/b' },
        durationMs: 1,
        outcome: 'done',
      };
    });
    const { results } = await run(runtime);
    expect(results.get('a')?.content).toEqual([
      { type: 'text', text: expect.stringContaining('{"path":"/b"}') },
      { type: 'text', text: 'read' },
    ]);
  });

  it('get a result each, also where the runtime gives none or throws', async () => {
    const silent = await run(new OddRuntime(async function* () {}));
    expect(silent.results.get('a')?.isError).toBe(true);
    const bug = new Error('bug');
    const broken = await run(new OddRuntime(() => failing(bug)));
    expect(broken.results.get('a')?.isError).toBe(true);
    expect(broken.bugs).toEqual([bug]);
  });
});

async function* failing(error: Error): AsyncGenerator<ToolRunEvent, void, void> {
  yield* [];
  throw error;
}
