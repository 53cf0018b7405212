import { describe, expect, it } from 'vitest';
import { newCard } from '../../data/reducer/cards.js';
import type { CardState, Part } from '../../data/reducer/view.js';
import { latestTodos } from './todos.js';

const said = (key: string): Part => ({ kind: 'user', key, turn: undefined, content: [] });
const wrote = (id: string, statuses: readonly string[], state: CardState = 'success'): Part => ({
  kind: 'tool',
  key: id,
  card: {
    ...newCard(id, 'TodoWrite'),
    state,
    input: { todos: statuses.map((status, index) => ({ content: `${id} ${index}`, status })) },
  },
});
const texts = (parts: readonly Part[]): string[] => latestTodos(parts).map(({ text }) => text);

describe('the to-do list in sight', () => {
  it('is the one that was written last, and not one that failed', () => {
    const parts = [said('u'), wrote('a', ['pending']), wrote('b', ['in_progress', 'pending'])];
    expect(texts(parts)).toEqual(['b 0', 'b 1']);
    expect(texts([...parts, wrote('c', ['pending'], 'error')])).toEqual(['b 0', 'b 1']);
  });

  it('stays into the next turn while something in it is to be done', () => {
    expect(texts([said('u'), wrote('a', ['completed', 'pending']), said('v')])).toEqual(['a 0', 'a 1']);
    expect(texts([said('u'), wrote('a', ['completed']), said('v')])).toEqual([]);
    expect(texts([said('u'), wrote('a', ['completed'])])).toEqual(['a 0']);
  });
});
