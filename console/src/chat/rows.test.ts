import { describe, expect, it } from 'vitest';
import { newCard } from '../data/reducer/cards.js';
import type { Part, TextPart, ToolCard, ToolPart, UserPart } from '../data/reducer/view.js';
import { RowMaker } from './rows.js';

const user = (key: string, turn?: number): UserPart => ({
  kind: 'user',
  key,
  turn,
  content: [{ type: 'text', text: key }],
});
const text = (key: string, content: string, streaming = false): TextPart => ({
  kind: 'text',
  key,
  text: content,
  streaming,
});
const tool = (id: string, name: string, more: Partial<ToolCard> = {}): ToolPart => ({
  kind: 'tool',
  key: id,
  card: { ...newCard(id, name), state: 'success', ...more },
});
const note = (key: string): Part => ({ kind: 'note', key, note: { type: 'stopped' } });
const keys = (maker: RowMaker, parts: readonly Part[], running = false): string[] =>
  maker.rows(parts, running).map(({ key }) => key);

describe('rows of a conversation', () => {
  it('end each turn with the actions on its answer', () => {
    const parts = [user('u0', 0), text('a', 'one'), text('b', 'two'), user('u1', 1), text('c', 'three')];
    const rows = new RowMaker().rows(parts, false);
    expect(rows.map(({ kind }) => kind)).toEqual([
      'user',
      'text',
      'text',
      'actions',
      'user',
      'text',
      'actions',
    ]);
    expect(rows[3]).toMatchObject({ turn: 0, answer: [{ text: 'one' }, { text: 'two' }] });
  });

  it('have no actions while the turn runs, and where nothing was answered', () => {
    const maker = new RowMaker();
    expect(keys(maker, [user('u0', 0), text('a', 'one')], true)).toEqual(['u0', 'a']);
    expect(keys(maker, [user('u0', 0), note('n')])).toEqual(['u0', 'n']);
  });

  it('cut a long answer between blocks', () => {
    const long = Array.from({ length: 100 }, (_, index) => `Paragraph ${index} ${'word '.repeat(60)}`);
    const rows = new RowMaker().rows([user('u', 0), text('a', long.join('\n\n'))], false);
    const texts = rows.filter(({ kind }) => kind === 'text');
    expect(texts.length).toBeGreaterThan(4);
    const blocks = texts.flatMap((row) => (row.kind === 'text' ? row.blocks : []));
    expect(blocks).toHaveLength(100);
    expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
  });

  it('stay the same objects where nothing changed', () => {
    const maker = new RowMaker();
    const fixed = [user('u0', 0), text('a', 'one'), user('u1', 1)];
    const before = maker.rows([...fixed, text('b', 'x\n\ny', true)], true);
    const after = maker.rows([...fixed, text('b', 'x\n\nyz', true)], true);
    expect(after.map((row, index) => row === before[index])).toEqual([true, true, true, true, false]);
  });

  it('keep the rows of a long answer but for the last while it streams', () => {
    const maker = new RowMaker();
    const long = `${'word '.repeat(1_000)}\n\n`.repeat(6);
    const before = maker.rows([text('a', `${long}en`, true)], true);
    const after = maker.rows([text('a', `${long}end`, true)], true);
    expect(before.length).toBeGreaterThan(3);
    expect(after.slice(0, -1).every((row, index) => row === before[index])).toBe(true);
    expect(after.at(-1)).not.toBe(before.at(-1));
  });

  it('keep their parts when earlier ones are loaded in front', () => {
    const maker = new RowMaker();
    const later = [user('u1', 1), text('b', 'two')];
    const before = maker.rows(later, false);
    const after = maker.rows([user('u0', 0), text('a', 'one'), ...later], false);
    expect(after.slice(-3)).toEqual([...before]);
    expect(after.at(-2)).toBe(before[1]);
  });

  it('know whether a note is the last row', () => {
    const maker = new RowMaker();
    const parts = [user('u0', 0), note('n')];
    expect(maker.rows(parts, false).at(-1)).toMatchObject({ last: true });
    const more = maker.rows([...parts, user('u1', 1)], false);
    expect(more[1]).toMatchObject({ kind: 'note', last: false });
  });

  it('fold three reads or more that follow each other into one', () => {
    const reads = [tool('r1', 'Read'), tool('r2', 'Grep'), tool('r3', 'LS')];
    expect(keys(new RowMaker(), [user('u', 0), ...reads.slice(1)])).toEqual(['u', 'r2', 'r3']);
    const rows = new RowMaker().rows([user('u', 0), ...reads, tool('w', 'Write')], true);
    expect(rows.map(({ kind }) => kind)).toEqual(['user', 'reads', 'tool']);
    expect(rows[1]).toMatchObject({ cards: [{ id: 'r1' }, { id: 'r2' }, { id: 'r3' }] });
  });

  it.each([
    ['failed', { state: 'error' }],
    ['was denied', { state: 'denied' }],
    ['runs', { state: 'running' }],
    ['waits for a person', { state: 'waiting' }],
    ['was asked about', { approval: 'a1' }],
    ['wrote', { name: 'Edit' }],
    ['is of an unknown tool', { name: 'mcp__files__read', kind: 'read' }],
  ] as const)('never fold away a call that %s', (_, more) => {
    const parts = [tool('r1', 'Read'), tool('r2', 'Read'), tool('x', 'Read', more), tool('r3', 'Read')];
    expect(keys(new RowMaker(), parts)).toEqual(['r1', 'r2', 'x', 'r3']);
  });

  it('keep a fold under the key of the card that was there first', () => {
    const maker = new RowMaker();
    const shown = [tool('r3', 'Read'), tool('r4', 'Read')];
    expect(keys(maker, shown)).toEqual(['r3', 'r4']);
    const earlier = [tool('r1', 'Read'), tool('r2', 'Read')];
    expect(keys(maker, [...earlier, ...shown])).toEqual(['r3']);
    const before = maker.rows([...earlier, ...shown, text('a', 'one', true)], true);
    const after = maker.rows([...earlier, ...shown, text('a', 'one two', true)], true);
    expect(after[0]).toBe(before[0]);
  });
});
