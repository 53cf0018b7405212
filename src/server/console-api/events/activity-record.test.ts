import { describe, expect, it } from 'vitest';
import type { AgentActivityBody, TurnSink } from '../../../activity/activity.js';
import { EventHub } from './hub.js';

const APPROVALS = { list: async () => ({ items: [] }), subscribe: () => () => {} };
const LOG = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {}, fatal: () => {} };
const USAGE = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 };
const DESCRIBE = { title: 'Run make', kind: 'command', paths: [], command: 'make' } as const;

function begin() {
  // Nobody reads: most of what happens is not encoded then.
  const hub = new EventHub({ approvals: APPROVALS, log: LOG, now: () => 0 });
  const sink: TurnSink = hub.begin({ id: 't1', session: 's1', principal: 'alice', model: 'm', message: [] });
  const agent = { id: 'a1', label: 'look', parent: 'c1' };
  const say = (body: AgentActivityBody) => sink.observe({ ...body, session: 's1' });
  const sayIn = (body: AgentActivityBody) => sink.observe({ ...body, session: 's1', agent });
  return { sink, say, sayIn };
}

const started: AgentActivityBody = {
  type: 'tool',
  event: { type: 'tool-start', id: 'c1', name: 'Bash', describe: DESCRIBE },
};
const finished: AgentActivityBody = {
  type: 'tool',
  event: {
    ...{ type: 'tool-result', id: 'c1', name: 'Bash', content: [{ type: 'text', text: 'made' }] },
    ...{ isError: false, durationMs: 7, outcome: 'done' },
  },
};
const types = (sink: TurnSink, ...outcome: Parameters<TurnSink['takeRecord']>) =>
  sink.takeRecord(...outcome)?.chunks.map(({ type }) => type);

describe('the record of what people were shown', () => {
  it('has nothing of a turn that only speaks: the transcript says it', () => {
    const { sink, say } = begin();
    say({ type: 'model-start', step: 1, model: 'm' });
    say({ type: 'text', text: 'hello' });
    say({ type: 'model-end', step: 1, usage: USAGE, stopReason: 'end_turn' });
    expect(sink.takeRecord({ end: 'complete', stopReason: 'end_turn' })).toBeUndefined();
  });

  it('has each piece once, without the results that the transcript has', () => {
    const { sink, say } = begin();
    say({ type: 'text', text: 'Let me.' });
    say(started);
    expect(types(sink)).toEqual(['tool_start']);
    say(finished);
    const record = sink.takeRecord({ end: 'complete', stopReason: 'end_turn' });
    expect(record?.chunks).toEqual([
      expect.objectContaining({ type: 'tool_result', duration_ms: 7, content: [] }),
    ]);
    expect(record?.ended).toEqual({ end: 'complete', stop_reason: 'end_turn', error: null });
    expect(sink.takeRecord()).toBeUndefined();
  });

  it('has all that a sub-agent says and does, also where nobody reads', () => {
    const { sink, sayIn } = begin();
    sayIn({ type: 'agent-start', description: 'look' });
    for (const text of ['I ', 'see ', 'it.']) sayIn({ type: 'text', text });
    expect(types(sink)).toEqual(['agent_start']);
    sayIn(finished);
    const chunks = sink.takeRecord()?.chunks ?? [];
    expect(chunks.map((chunk) => (chunk.type === 'text' ? chunk.text : chunk.type))).toEqual([
      'I see it.',
      'tool_result',
    ]);
    expect(chunks[1]).toMatchObject({ content: [{ type: 'text', text: 'made' }] });
  });

  it('has everything of a turn that was stopped, once', () => {
    const { sink, say } = begin();
    say({ type: 'text', text: 'Let me.' });
    say(started);
    sink.takeRecord();
    say({ type: 'tool', event: { type: 'tool-progress', id: 'c1', name: 'Bash', content: 'so far' } });
    sink.end({ end: 'stopped' });
    const record = sink.takeRecord();
    expect(record).toMatchObject({ whole: true, ended: { end: 'stopped' } });
    expect(record?.chunks.map(({ type }) => type)).toEqual(['text', 'tool_start', 'tool_progress']);
    expect(sink.takeRecord()).toBeUndefined();
  });

  it('has no end of calls that end with the gateway: they go on after its start', () => {
    const { sink, say } = begin();
    say(started);
    if (finished.type !== 'tool' || finished.event.type !== 'tool-result') throw new Error('no result');
    say({ ...finished, event: { ...finished.event, outcome: 'aborted', isError: true } });
    sink.end({ end: 'broken' });
    expect(types(sink)).toEqual(['tool_start']);
  });

  it('keeps nothing of what a command prints for hours', () => {
    const { sink, say } = begin();
    for (let line = 0; line < 5_000; line += 1)
      say({
        type: 'tool',
        event: { type: 'tool-progress', id: 'c1', name: 'Bash', content: 'x'.repeat(100) },
      });
    expect(sink.takeRecord()).toBeUndefined();
    sink.end({ end: 'stopped' });
    expect(JSON.stringify(sink.takeRecord()).length).toBeLessThan(64 * 1024);
  });
});
