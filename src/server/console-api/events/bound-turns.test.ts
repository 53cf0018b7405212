import { describe, expect, it } from 'vitest';
import type { ActivityWire } from '../../../activity/wire.js';
import type { TurnSnapshotWire } from '../wire/events.js';
import { boundTurns } from './bound-turns.js';

const BASE = { session: 's', turn: 't', agent: null, at: '' } as const;
const text = (said: string): ActivityWire => ({ ...BASE, type: 'text', text: said });
const started = (id: string, command = 'ls'): ActivityWire => ({
  ...{ ...BASE, type: 'tool_start', tool_use_id: id, name: 'Bash', kind: 'command', title: id },
  ...{ command, diff: null, because: null },
});
const turnOf = (turn: string, chunks: ActivityWire[], said = 'go'): TurnSnapshotWire => ({
  ...{ session: 's', turn, began_at: '', model: 'm', message: [{ type: 'text', text: said }], chunks },
});
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe('boundTurns', () => {
  it('leaves turns within the bound alone', () => {
    const turns = [turnOf('a', [text('x'.repeat(4000))]), turnOf('b', [text('y')])];
    expect(boundTurns(turns, 10_000)).toEqual(turns);
    expect(boundTurns([], 0)).toEqual([]);
  });

  it('cuts the largest turns down to their newest parts, and marks the cut', () => {
    const many = Array.from({ length: 200 }, (_, index) => started(`c${index}`));
    const [small, large, other] = [turnOf('a', many.slice(0, 5)), turnOf('b', many), turnOf('c', many)];
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
    const [turn] = boundTurns([turnOf('a', [started('c'), text(`${sign.repeat(20_000)}end`)])], 8_000);
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
    const [turn] = boundTurns([turnOf('a', [text('x'.repeat(20_000)), started('c')])], 8_000);
    expect(turn?.chunks).toEqual([started('c')]);
  });

  it('shortens what is long before it leaves it out', () => {
    const [turn] = boundTurns([turnOf('a', [started('c', 'x'.repeat(20_000)), text('y')])], 8_000);
    expect(turn?.chunks).toEqual([started('c', 'x'.repeat(500)), text('y')]);
  });

  it('shortens the input of a turn, and leaves room for what is new', () => {
    const turn = turnOf('a', [text('new')], 'word '.repeat(20_000));
    const [bounded] = boundTurns([turn], 8_000);
    const [said] = bounded?.message ?? [];
    expect(said).toMatchObject({ text: expect.stringMatching(/^word word .*\[…\]$/) });
    expect(bounded?.chunks).toEqual([text('new')]);
    expect(bytesOf(bounded)).toBeLessThanOrEqual(8_000);
    expect(turn.message[0]).toMatchObject({ text: 'word '.repeat(20_000) });
  });
});
