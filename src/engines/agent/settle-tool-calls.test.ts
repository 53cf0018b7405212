import { describe, expect, it } from 'vitest';
import type { ToolResultBlock, ToolUseBlock } from '../../core/conversation.js';
import type { CollectedToolCall } from './message-collector.js';
import { RunOnceLog } from './run-once-log.js';
import { inOrder, settleToolCalls } from './settle-tool-calls.js';

const call = (id: string, name = 'Edit'): ToolUseBlock => ({ type: 'tool_use', id, name, input: {} });
const result = (id: string, text = 'done'): ToolResultBlock => ({
  type: 'tool_result',
  toolUseId: id,
  content: [{ type: 'text', text }],
  isError: false,
});

describe('tool calls of a broken turn', () => {
  it('keep their results, run where they never began, and are not run again where they had', async () => {
    const calls = [call('a'), call('b'), call('c'), call('d', 'get_weather'), call('e'), call('f')];
    const ran: CollectedToolCall[] = [];
    const finished: ToolResultBlock[] = [];
    const { open, results, whole } = await settleToolCalls({
      outstanding: { calls, results: new Map([['a', result('a', 'before')]]), started: new Set(['b']) },
      turn: { finish: async (each) => void finished.push(each) },
      isClients: ({ name }) => name === 'get_weather',
      problems: new Map([['e', 'cut off']]),
      run: async (each) => {
        ran.push(...each);
        return new Map(each.map(({ block: { id } }) => [id, result(id, 'now')]));
      },
    });
    expect(ran).toEqual([{ block: calls[2] }, { block: calls[4], problem: 'cut off' }, { block: calls[5] }]);
    expect(open).toEqual([calls[3]]);
    expect(whole).toBe(true);
    expect(finished.map(({ toolUseId }) => toolUseId)).toEqual(['b']);
    expect(JSON.stringify(results.get('b'))).toContain('may have run');
    expect(inOrder(calls, results).map(({ toolUseId }) => toolUseId)).toEqual(['a', 'b', 'c', 'e', 'f']);
  });

  it('stay unsettled where running them was stopped', async () => {
    const settled = await settleToolCalls({
      outstanding: { calls: [call('a')], results: new Map(), started: new Set() },
      turn: { finish: async () => {} },
      isClients: () => false,
      problems: new Map(),
      run: async () => new Map(),
    });
    expect(settled.whole).toBe(false);
  });
});

describe('a run-once log', () => {
  function setUp(starts: (call: ToolUseBlock) => boolean = () => true) {
    const journal: string[] = [];
    const runOnce = new RunOnceLog({
      start: async (each) => {
        journal.push(`start ${each.id}`);
        return starts(each);
      },
      finish: async ({ toolUseId }) => void journal.push(`finish ${toolUseId}`),
    });
    runOnce.note([call('a'), call('b')]);
    return { runOnce, journal };
  }

  it('writes a call down once, also where several ask for it, and its result', async () => {
    const { runOnce, journal } = setUp();
    expect(await Promise.all([runOnce.begin('a'), runOnce.begin('a')])).toEqual([undefined, undefined]);
    await runOnce.finish(result('a'));
    expect(journal).toEqual(['start a', 'finish a']);
  });

  it('writes nothing of a call that was never begun', async () => {
    const { runOnce, journal } = setUp();
    await runOnce.finish(result('b'));
    expect(journal).toEqual([]);
  });

  it('says what the model is told of a call that had begun before, and leaves its result alone', async () => {
    const { runOnce, journal } = setUp(() => false);
    expect(await runOnce.begin('a')).toContain('may have run');
    await runOnce.finish(result('a'));
    expect(journal).toEqual(['start a']);
  });
});
