import { describe, expect, it } from 'vitest';
import type { AgentActivityBody } from '../../../activity/activity.js';
import type { ModelEvent } from '../../../core/events.js';
import { type CollectedMessage, MessageCollector } from '../message-collector.js';
import { MessageReporter } from './message-reporter.js';

function heard(events: readonly ModelEvent[], taken: readonly string[] = []) {
  const told: AgentActivityBody[] = [];
  const ids = new Set(taken);
  const reporter = new MessageReporter(
    (activity) => told.push(activity),
    ids,
    (name) => name.replace('mcp__x__', ''),
  );
  const collector = new MessageCollector(ids, reporter);
  collector.push(events);
  const finish = (): CollectedMessage => {
    const message = collector.finish();
    if (!('content' in message)) throw message;
    return message;
  };
  return { told, reporter, finish };
}

const STOP: ModelEvent = { type: 'stop', reason: 'tool_use' };
const tool = (key: number, id?: string, name?: string): ModelEvent => ({
  ...{ type: 'tool', key },
  ...(id === undefined ? {} : { id }),
  ...(name === undefined ? {} : { name }),
});
const input = (key: number, json: string): ModelEvent => ({ type: 'tool-input', key, json });
const end = (key: number): ModelEvent => ({ type: 'tool-end', key });

describe('MessageReporter', () => {
  it('reports text and calls as they arrive', () => {
    const { told, reporter, finish } = heard([
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'Look' },
      tool(0, 'a', 'mcp__x__Read'),
      input(0, '{"p"'),
      input(0, ':1}'),
      end(0),
      STOP,
    ]);
    const calls = finish().calls.map(({ key, block }) => ({
      ...(key === undefined ? {} : { key }),
      block: { ...block, name: 'Read' },
    }));
    reporter.settle(calls);
    expect(told).toEqual([
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'Look' },
      { type: 'call-began', id: 'a', name: 'Read' },
      { type: 'call-input', id: 'a', json: '{"p"' },
      { type: 'call-input', id: 'a', json: ':1}' },
      { type: 'call-whole', id: 'a', name: 'Read', input: { p: 1 } },
    ]);
  });

  it('waits for the name of a call, and loses nothing of what came before it', () => {
    const { told } = heard([tool(0, 'a'), input(0, '{"p"'), tool(0, undefined, 'Read'), input(0, ':1}')]);
    expect(told).toEqual([
      { type: 'call-began', id: 'a', name: 'Read' },
      { type: 'call-input', id: 'a', json: '{"p"' },
      { type: 'call-input', id: 'a', json: ':1}' },
    ]);
  });

  it('reports a call again when its id changes, and completes it only then', () => {
    const { told, reporter, finish } = heard([tool(0, undefined, 'Read'), input(0, '{}'), STOP], ['call_1']);
    const message = finish();
    for (const { block } of message.calls) block.id = 'claimed';
    reporter.settle(message.calls);
    const [began, , whole] = told;
    expect(began).toMatchObject({ type: 'call-began', id: expect.not.stringMatching(/^call_1$/) });
    const { id } = began?.type === 'call-began' ? began : { id: '' };
    expect(whole).toEqual({ type: 'call-whole', id: 'claimed', was: id, name: 'Read', input: {} });
  });

  it('gives calls of the same id ids of their own, those that the message will have', () => {
    const { told, reporter, finish } = heard(
      [tool(0, 'a', 'Read'), end(0), tool(1, 'a', 'Read'), end(1), STOP],
      ['a'],
    );
    const { calls } = finish();
    reporter.settle(calls);
    expect(told.map((each) => [each.type, 'id' in each && each.id])).toEqual([
      ['call-began', 'a-2'],
      ['call-whole', 'a-2'],
      ['call-began', 'a-3'],
      ['call-whole', 'a-3'],
    ]);
    expect(calls.map(({ block }) => block.id)).toEqual(['a-2', 'a-3']);
  });

  it('reports unfinished calls as dropped, once', () => {
    const { told, reporter } = heard([tool(0, 'a', 'Read'), tool(1, 'b', 'Read')]);
    reporter.drop();
    reporter.drop();
    expect(told.slice(2)).toEqual([{ type: 'calls-dropped', ids: ['a', 'b'] }]);
  });
});
