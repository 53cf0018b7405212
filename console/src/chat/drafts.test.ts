import { describe, expect, it } from 'vitest';
import { keepDraft, readDraft } from './drafts.js';

function memory(): Storage {
  const kept = new Map<string, string>();
  return {
    get length() {
      return kept.size;
    },
    key: (index) => [...kept.keys()][index] ?? null,
    clear: () => kept.clear(),
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  };
}

describe('drafts', () => {
  it('are kept for each conversation, and for the one that has not begun', () => {
    const store = memory();
    keepDraft('a', 'one', store);
    keepDraft(undefined, 'two', store);
    expect([readDraft('a', store), readDraft(undefined, store), readDraft('b', store)]).toEqual([
      'one',
      'two',
      '',
    ]);
    keepDraft('a', '', store);
    expect(store.length).toBe(1);
  });

  it('work without storage', () => {
    const full = {
      ...memory(),
      getItem: () => {
        throw new Error('denied');
      },
      setItem: () => {
        throw new Error('full');
      },
    };
    keepDraft('a', 'one', full);
    expect(readDraft('a', full)).toBe('');
  });
});
