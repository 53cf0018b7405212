import { describe, expect, it } from 'vitest';
import type { ActivityWire } from '../../../activity/wire.js';
import type { TurnSnapshotWire } from '../wire/events.js';
import { boundTurns, TurnSnapshot } from './turn-snapshot.js';

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

const started = (id: string, command = 'ls'): ActivityWire => ({
  ...{ ...BASE, type: 'tool_start', tool_use_id: id, name: 'Bash', kind: 'command', title: id },
  ...{ command, diff: null, because: null },
});
const shownTurn = (turn: string, chunks: ActivityWire[], said = 'go'): TurnSnapshotWire => ({
  ...{ session: 's', turn, began_at: '', model: 'm', message: [{ type: 'text', text: said }], chunks },
});
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe('boundTurns', () => {
  it('leaves turns within the bound alone', () => {
    const turns = [shownTurn('a', [text('x'.repeat(4000))]), shownTurn('b', [text('y')])];
    expect(boundTurns(turns, 10_000)).toEqual(turns);
    expect(boundTurns([], 0)).toEqual([]);
  });

  it('cuts the largest turns down to their newest parts, and marks the cut', () => {
    const many = Array.from({ length: 200 }, (_, index) => started(`c${index}`));
    const [small, large, other] = [
      shownTurn('a', many.slice(0, 5)),
      shownTurn('b', many),
      shownTurn('c', many),
    ];
    const bounded = boundTurns([large, small, other], 20_000);
    expect(bounded[1]).toEqual(small);
    for (const each of [bounded[0], bounded[2]]) {
      const chunks = each?.chunks ?? [];
      expect(each?.truncated).toBe(true);
      expect(chunks.length).toBeGreaterThan(30);
      expect(chunks).toEqual(many.slice(-chunks.length));
    }
    expect(bytesOf(bounded)).toBeLessThanOrEqual(20_000);
    expect(bytesOf(bounded)).toBeGreaterThan(19_000);
  });

  it.each([
    ['letters', 'abcdefgh'],
    ['signs of several bytes', '中文'],
    ['pairs', '😀'],
    ['signs that JSON escapes', '\u0000\u0001'],
  ])('keeps the end of the text that is being written, of %s', (_what, sign) => {
    const [turn] = boundTurns([shownTurn('a', [started('c'), text(`${sign.repeat(20_000)}end`)])], 8_000);
    const [chunk, ...others] = turn?.chunks ?? [];
    expect(others).toEqual([]);
    const said = chunk?.type === 'text' ? chunk.text : '';
    expect(said.endsWith(`${sign}end`)).toBe(true);
    expect(Buffer.from(said).toString()).toBe(said);
    expect(bytesOf(turn)).toBeLessThanOrEqual(8_000);
    expect(bytesOf(turn)).toBeGreaterThan(7_000);
    expect(turn?.truncated).toBe(true);
  });

  it('never keeps only the end of a finished text', () => {
    const [turn] = boundTurns([shownTurn('a', [text('x'.repeat(20_000)), started('c')])], 8_000);
    expect(turn?.chunks).toEqual([started('c')]);
  });

  it('shortens what is long before it leaves it out', () => {
    const [turn] = boundTurns([shownTurn('a', [started('c', 'x'.repeat(20_000)), text('y')])], 8_000);
    expect(turn?.chunks).toEqual([started('c', 'x'.repeat(500)), text('y')]);
  });

  it('shortens the input of a turn, and leaves room for what is new', () => {
    const turn = shownTurn('a', [text('new')], 'word '.repeat(20_000));
    const [bounded] = boundTurns([turn], 8_000);
    const [said] = bounded?.message ?? [];
    expect(said).toMatchObject({ text: expect.stringMatching(/^word word .*\[…\]$/) });
    expect(bounded?.chunks).toEqual([text('new')]);
    expect(bytesOf(bounded)).toBeLessThanOrEqual(8_000);
    expect(turn.message[0]).toMatchObject({ text: 'word '.repeat(20_000) });
  });
});
