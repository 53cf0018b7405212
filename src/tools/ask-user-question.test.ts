import { afterEach, describe, expect, it } from 'vitest';
import { createTestContext, runTool, type TestContext } from '../../test/support/tool-context.js';
import { askUserQuestionTool } from './ask-user-question.js';

let context: TestContext | undefined;
afterEach(async () => context?.close());

const question = (text: string) => ({
  question: text,
  header: 'Choice',
  options: [
    { label: 'A', description: 'the first' },
    { label: 'B', description: 'the second' },
  ],
  multiSelect: false,
});

async function ask(input: Record<string, unknown>): Promise<string> {
  context = await createTestContext();
  return (await runTool(askUserQuestionTool, input, context)).text;
}

describe('AskUserQuestion', () => {
  it('gives the answers that a person put into the input', async () => {
    const text = await ask({
      questions: [question('Which one?'), question('And why?'), question('constructor')],
      answers: { 'Which one?': 'B', 'And why?': ['A', 'own words'] },
      annotations: { 'Which one?': { notes: 'but carefully' } },
    });
    expect(text).toBe(
      'The user answered:\n- Which one?\n  B\n  Note: but carefully\n- And why?\n  A, own words\n' +
        '- constructor\n  (not answered)',
    );
  });

  it('is honest when nobody chose', async () => {
    expect(await ask({ questions: [question('Which one?')] })).toContain(
      'went on without choosing an answer',
    );
    expect(await ask({ questions: [question('Which one?')], answers: {} })).toContain('without choosing');
  });

  it('is always asked, and shows the questions', async () => {
    context = await createTestContext();
    expect(askUserQuestionTool.question).toBe(true);
    const input = { questions: [question('Which one?')] };
    const shown = await askUserQuestionTool.describe(input, context);
    expect(shown).toMatchObject({ kind: 'question', questions: [{ question: 'Which one?' }] });
    expect(shown.detail).toBeUndefined();
  });

  it('does not offer the answers to the model, and shows those that it gives all the same', async () => {
    context = await createTestContext();
    expect(JSON.stringify(askUserQuestionTool.inputJSONSchema)).not.toContain('answers');
    const forged = { questions: [question('Which one?')], answers: { 'Which one?': 'B' } };
    const shown = await askUserQuestionTool.describe(forged, context);
    expect(shown.detail).toContain('Answers in the input:\n- Which one?\n  B');
  });

  it.each([
    ['the same question twice', { questions: [question('Q?'), question('Q?')] }],
    [
      'the same choice twice',
      { questions: [{ ...question('Q?'), options: [{ label: 'A' }, { label: 'A' }] }] },
    ],
    ['an answer to another question', { questions: [question('Q?')], answers: { Other: 'A' } }],
    ['no questions', { questions: [] }],
    ['five questions', { questions: ['1', '2', '3', '4', '5'].map(question) }],
    ['a single choice', { questions: [{ ...question('Q?'), options: [{ label: 'A' }] }] }],
  ])('refuses %s', async (_name, input) => {
    await expect(ask(input)).rejects.toThrow();
  });
});
