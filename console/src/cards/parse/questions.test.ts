import { describe, expect, it } from 'vitest';
import { answeredInput, questionsOf } from './questions.js';

const INPUT = {
  questions: [
    {
      question: 'Which one?',
      header: 'One',
      options: [{ label: 'A', description: 'first' }, { label: 'B' }],
    },
    { question: 'Which ones?', multiSelect: true, options: [{ label: 'C' }, { label: 'D' }] },
  ],
};

describe('questionsOf', () => {
  it('reads questions, and what has come of them', () => {
    expect(
      questionsOf(INPUT).map(({ question, multiple, options }) => [question, multiple, options.length]),
    ).toEqual([
      ['Which one?', false, 2],
      ['Which ones?', true, 2],
    ]);
    expect(questionsOf({ questions: [{ header: 'x' }, { question: 'Q', options: 'no' }] })).toEqual([
      { question: 'Q', header: '', multiple: false, options: [] },
    ]);
    expect(questionsOf(null)).toEqual([]);
  });
});

describe('answeredInput', () => {
  it('adds the answers by the exact question, choices and own words together', () => {
    const given = new Map([
      ['Which one?', { labels: ['B'], own: '' }],
      ['Which ones?', { labels: ['C', 'D'], own: ' and E ' }],
    ]);
    expect(answeredInput(INPUT, given)).toEqual({
      ...INPUT,
      answers: { 'Which one?': 'B', 'Which ones?': 'C, D, and E' },
    });
  });

  it('leaves out what was not answered', () => {
    expect(answeredInput(INPUT, new Map([['Which one?', { labels: [], own: '  ' }]]))).toEqual({
      ...INPUT,
      answers: {},
    });
  });
});
