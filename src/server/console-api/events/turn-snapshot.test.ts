import { describe, expect, it } from 'vitest';
import type { ActivityWire } from '../../../activity/wire.js';
import { TurnSnapshot } from './turn-snapshot.js';

const BEGAN = { session: 's', turn: 't', began_at: '', model: 'm', message: [] };
const ROOMY = { inputChars: 1000, progressChars: 1000, turnChars: 100_000 };
const BASE = { session: 's', turn: 't', agent: null, at: '' } as const;
const SUB = { ...BASE, agent: { id: 'a', label: 'look', parent: 'c' } };

const text = (said: string): ActivityWire => ({ ...BASE, type: 'text', text: said });
const began = (id: string): ActivityWire => ({
  ...BASE,
  type: 'tool_use',
  tool_use_id: id,
  name: 'Read',
  complete: false,
});
const delta = (id: string, json: string): ActivityWire => ({
  ...BASE,
  type: 'tool_input_delta',
  tool_use_id: id,
  delta: json,
});
const whole = (id: string, rest: { was?: string; input?: unknown } = {}): ActivityWire => ({
  ...{ ...BASE, type: 'tool_use', tool_use_id: id, name: 'Read', complete: true, input: {} },
  ...rest,
});
const progress = (said: string): ActivityWire => ({
  ...{ ...BASE, type: 'tool_progress', tool_use_id: 'c', name: 'Bash', text: said },
});
const result = (id: string, said: string): Extract<ActivityWire, { type: 'tool_result' }> => ({
  ...{ ...BASE, type: 'tool_result', tool_use_id: id, name: 'Read', outcome: 'done', is_error: false },
  ...{ duration_ms: 1, content: [{ type: 'text', text: said }], truncated: false, because: null },
});

function turnOf(chunks: readonly ActivityWire[], limits = ROOMY) {
  const turn = new TurnSnapshot('alice', BEGAN, limits);
  for (const chunk of chunks) turn.add(chunk);
  return turn.toWire();
}

describe('LiveTurn', () => {
  it('counts the coloured text of a result, which goes first', () => {
    const coloured = (id: string): ActivityWire => ({ ...result(id, 'short'), shown: 'x'.repeat(5_000) });
    const { chunks } = turnOf([coloured('a'), coloured('b'), coloured('c')], { ...ROOMY, turnChars: 12_000 });
    expect(chunks.map((chunk) => 'shown' in chunk)).toEqual([false, false, true]);
    expect(chunks.map((chunk) => chunk.type === 'tool_result' && chunk.truncated)).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('puts pieces together as long as nothing comes in between', () => {
    const { chunks } = turnOf([text('a'), text('b'), { ...BASE, type: 'thinking', text: 'c' }, text('d')]);
    expect(chunks.map((chunk) => 'text' in chunk && chunk.text)).toEqual(['ab', 'c', 'd']);
  });

  it('keeps the words of two agents that speak at once apart', () => {
    const { chunks } = turnOf([text('a'), { ...SUB, type: 'text', text: 'x' }, text('b')]);
    expect(chunks.map((chunk) => 'text' in chunk && chunk.text)).toEqual(['ab', 'x']);
  });

  it('does not change what it is given', () => {
    const first = text('a');
    turnOf([first, text('b')]);
    expect(first).toEqual(text('a'));
  });

  it('has the arguments of a call in one piece, and none once it is whole, in its place', () => {
    const streamed = [began('c'), delta('c', '{"a"'), delta('c', ':1}'), began('d')];
    expect(turnOf(streamed).chunks).toEqual([began('c'), delta('c', '{"a":1}'), began('d')]);
    expect(turnOf([...streamed, whole('c')]).chunks).toEqual([whole('c'), began('d')]);
  });

  it('knows a call by the id that it has now', () => {
    const { chunks } = turnOf([began('c'), delta('c', '{}'), whole('c-2', { was: 'c' }), result('c-2', 'x')]);
    expect(chunks).toEqual([whole('c-2'), result('c-2', 'x')]);
  });

  it('forgets calls that are not made', () => {
    const dropped: ActivityWire = { ...BASE, type: 'dropped', tool_use_ids: ['c'] };
    expect(turnOf([text('a'), began('c'), delta('c', '{'), dropped]).chunks).toEqual([text('a')]);
  });

  it('keeps the newest of what a call prints, and nothing of it behind its result', () => {
    const printed = ['one', 'two', 'three'].map(progress);
    expect(turnOf(printed, { ...ROOMY, progressChars: 310 }).chunks).toEqual(printed.slice(1));
    expect(turnOf([...printed, result('c', 'x')]).chunks).toEqual([result('c', 'x')]);
  });

  it('holds no more of the arguments than it shows', () => {
    const { chunks } = turnOf([began('c'), delta('c', 'x'.repeat(900)), delta('c', 'y'.repeat(900))]);
    expect(chunks[1]).toMatchObject({ delta: 'x'.repeat(900) + 'y'.repeat(100) });
  });

  it('cuts old results before it leaves anything out', () => {
    const limits = { ...ROOMY, turnChars: 20_000 };
    const long = Array.from({ length: 5 }, (_, index) => result(`c${index}`, 'x'.repeat(5000)));
    const { chunks, truncated } = turnOf(long, limits);
    expect(chunks).toHaveLength(5);
    expect(truncated).toBeUndefined();
    const sizes = chunks.map((chunk) => JSON.stringify(chunk).length);
    expect(sizes[0]).toBeLessThan(1000);
    expect(sizes.at(-1)).toBeGreaterThan(5000);
    expect(chunks[0]).toMatchObject({ truncated: true });
  });

  it('is never more than its bound, and says that something is missing', () => {
    const limits = { ...ROOMY, turnChars: 20_000 };
    const many = Array.from({ length: 2000 }, (_, index) => [
      began(`c${index}`),
      text(`text ${index}`),
    ]).flat();
    const { chunks, truncated } = turnOf(many, limits);
    expect(truncated).toBe(true);
    expect(JSON.stringify(chunks).length).toBeLessThan(20_000);
    expect(chunks.at(-1)).toMatchObject({ text: 'text 1999' });
  });
});
