import { describe, expect, it } from 'vitest';
import { FakeRuntime } from '../../../test/support/native-engine-bench.js';
import type { SessionEvent } from '../../sessions/sessions.js';
import type { Job } from '../../tools/runtime/context.js';
import { HeldToolStates } from './held-tool-states.js';

const workspace = { root: '/w', home: '/home/u' };

function setUp(max?: number) {
  const runtime = new FakeRuntime();
  let tell = (_event: SessionEvent): void => {};
  const problems: unknown[] = [];
  const tools = new HeldToolStates({
    runtime,
    sessions: {
      subscribe(listener) {
        tell = listener;
        return () => {
          tell = () => {};
        };
      },
    },
    ...(max === undefined ? {} : { max }),
    onProblem: (error) => problems.push(error),
  });
  const hold = (id: string, rest: { restore?: Record<string, unknown>; before?: number } = {}) =>
    tools.hold({
      id,
      principal: 'alice',
      user: undefined,
      workspace,
      restore: rest.restore,
      before: rest.before ?? 0,
    });
  const use = async (id: string) => {
    const held = await hold(id);
    held.release(0);
    return held.toolState;
  };
  return { runtime, tools, hold, use, tell: (event: SessionEvent) => tell(event), problems };
}

const ended = (session: string): SessionEvent => ({
  type: 'ended',
  session,
  principal: 'alice',
  why: 'deleted',
});
const hibernated = (session: string): SessionEvent => ({ type: 'hibernated', session, principal: 'alice' });

const job: Job = {
  id: 'bash_1',
  command: 'sleep 1',
  startedAt: 0,
  state: () => ({ status: 'running' }),
  readNew: async () => ({ text: '', omitted: 0 }),
  logPath: '/dev/null',
  stop: async () => {},
  ended: new Promise(() => {}),
};

const settled = () => new Promise(setImmediate);

describe('the tool state of a conversation', () => {
  it('stays open from one turn to the next', async () => {
    const { runtime, use } = setUp();
    expect(await use('a')).toBe(await use('a'));
    expect(runtime.sessions).toHaveLength(1);
  });

  it('begins with what the conversation saved', async () => {
    const { hold } = setUp();
    const { toolState: session } = await hold('a', { restore: { cwd: '/w/sub' } });
    expect(session.cwd).toBe('/w/sub');
  });

  it('is reloaded where another process has saved one, and only then', async () => {
    const { hold } = setUp();
    const first = await hold('a');
    first.toolState.cwd = '/w/mine';
    first.release(4);
    const second = await hold('a', { before: 4, restore: { cwd: '/w/old' } });
    expect(second.toolState.cwd).toBe('/w/mine');
    second.toolState.files.set('/x', { size: 1, mtimeMs: 1, sha256: '', readAt: 1 });
    second.release(6);
    const third = await hold('a', { before: 9, restore: { cwd: '/w/theirs' } });
    expect(third.toolState.cwd).toBe('/w/theirs');
    expect(third.toolState.files.get('/x')).toBeUndefined();
  });

  it('is closed with its conversation, but never during a turn', async () => {
    const { runtime, use, hold, tell } = setUp();
    await use('a');
    tell(ended('a'));
    await settled();
    expect(runtime.closed).toEqual(['a']);
    const held = await hold('b');
    tell(ended('b'));
    await settled();
    expect(runtime.closed).toEqual(['a']);
    held.release(0);
    await settled();
    expect(runtime.closed).toEqual(['a', 'b']);
  });

  it('is closed on hibernation, unless a job would be lost', async () => {
    const { runtime, use, tell } = setUp();
    await use('a');
    (await use('b')).jobs.add(job);
    tell(hibernated('a'));
    tell(hibernated('b'));
    await settled();
    expect(runtime.closed).toEqual(['a']);
    tell(ended('b'));
    await settled();
    expect(runtime.closed).toEqual(['a', 'b']);
  });

  it('is closed beyond the budget, the longest unused first and those with jobs last', async () => {
    const { runtime, use, hold, tools } = setUp(2);
    const running = await hold('running');
    (await use('job')).jobs.add(job);
    await use('a');
    await use('b');
    await use('c');
    await settled();
    expect(runtime.closed).toEqual(['a', 'b']);
    expect(tools.size).toBe(3);
    running.release(0);
    await settled();
    expect(runtime.closed).toEqual(['a', 'b', 'running']);
  });

  it('leaves nothing behind where it cannot be opened', async () => {
    const { runtime, hold, tools } = setUp();
    const open = runtime.openToolState.bind(runtime);
    runtime.openToolState = () => Promise.reject(new Error('no'));
    await expect(hold('a')).rejects.toThrow('no');
    expect(tools.size).toBe(0);
    runtime.openToolState = open;
    await hold('a');
  });

  it('is closed for every conversation at the end', async () => {
    const { runtime, use, tools } = setUp();
    await use('a');
    await use('b');
    await tools.close();
    expect(runtime.closed).toEqual(['a', 'b']);
    expect(tools.size).toBe(0);
  });
});
