/**
 * Questions to the user with choices. The answers are what the person adds to the input when they
 * let the call through: `answers`, by the text of the question.
 */
import * as z from 'zod';
import { toJsonSchema } from './runtime/parse-input.js';
import type { Tool, Validation } from './runtime/tool.js';

const LIMITS = { questions: 4, options: 4, question: 2000, header: 60, label: 200, text: 10_000 };

const short = (max: number) => z.string().trim().min(1).max(max);

const option = z.object({
  label: short(LIMITS.label).describe('The choice, in one to five words.'),
  description: z.string().max(LIMITS.text).default('').describe('What choosing it means.'),
  preview: z.string().max(LIMITS.text).optional().describe('Something to look at while choosing.'),
});

const question = z.object({
  question: short(LIMITS.question).describe('The whole question.'),
  header: short(LIMITS.header).describe('A label of a word or two, at most 12 characters.'),
  options: z
    .array(option)
    .min(2)
    .max(LIMITS.options)
    .describe('Two to four choices. The user can always answer in their own words, so no "Other".'),
  multiSelect: z.boolean().default(false).describe('Whether several choices may be taken together.'),
});

const asked = {
  questions: z.array(question).min(1).max(LIMITS.questions).describe('One to four questions.'),
};

/** What the model is offered: the answers are not its to give. */
const offered = z.object(asked);

const answer = z.union([z.string().max(LIMITS.text), z.array(z.string().max(LIMITS.text)).max(20)]);

const inputSchema = z.object({
  ...asked,
  answers: z.record(z.string(), answer).optional(),
  annotations: z
    .record(
      z.string(),
      z.object({ preview: z.string().max(LIMITS.text), notes: z.string().max(LIMITS.text) }).partial(),
    )
    .optional(),
});

type AskUserQuestionInput = z.output<typeof inputSchema>;

export const askUserQuestionTool: Tool<AskUserQuestionInput> = {
  name: 'AskUserQuestion',
  userFacingName: () => 'Question',
  description: 'Asks the user one to four questions with choices, and waits for the answers.',
  inputSchema,
  inputJSONSchema: toJsonSchema(offered),
  isReadOnly: () => true,
  isConcurrencySafe: () => false,
  needsPermissions: () => true,
  question: true,
  personFields: ['answers', 'annotations'],
  prompt:
    'Ask with AskUserQuestion when the user alone can decide: which of several designs, what an unclear request ' +
    'means, what may be given up. Put the choice that you recommend first and say so in its label. Do not ask ' +
    'what you can find out yourself, and do not ask for permission with it.',
  validateInput: (input) => validate(input),
  async *call(input) {
    const { questions, answers = {}, annotations = {} } = input;
    yield {
      type: 'result',
      resultForAssistant: answerText(input),
      data: { questions, answers, annotations },
    };
  },
  describe: (input) => ({
    title: input.questions.length === 1 ? 'Answer a question' : `Answer ${input.questions.length} questions`,
    kind: 'question',
    paths: [],
    questions: input.questions,
    // The person who is asked must see answers that are not theirs before they let them through.
    ...(hasAnswers(input) ? { detail: `Answers in the input:\n${answerLines(input).join('\n')}` } : {}),
  }),
  describeRejected: (input) => ({
    title: 'Question not answered',
    kind: 'question',
    paths: [],
    questions: input.questions,
  }),
};

function validate({ questions, answers = {} }: AskUserQuestionInput): Validation {
  const texts = questions.map((each) => each.question);
  if (new Set(texts).size !== texts.length) {
    return { ok: false, message: 'Two of the questions are the same. Ask each of them once.' };
  }
  for (const { question: text, options } of questions) {
    if (new Set(options.map(({ label }) => label)).size !== options.length) {
      return { ok: false, message: `Two choices of "${text}" have the same label. Give each its own.` };
    }
  }
  const stray = Object.keys(answers).find((text) => !texts.includes(text));
  if (stray === undefined) return { ok: true };
  return {
    ok: false,
    message: `There is an answer to "${stray}", which is not among the questions. Use the exact text of a question as its key.`,
  };
}

function hasAnswers({ answers }: AskUserQuestionInput): boolean {
  return answers !== undefined && Object.keys(answers).length > 0;
}

function answerText(input: AskUserQuestionInput): string {
  if (!hasAnswers(input)) {
    return (
      'The user saw the questions and went on without choosing an answer. Go on with your best judgement, ' +
      'and say what you assumed.'
    );
  }
  return `The user answered:\n${answerLines(input).join('\n')}`;
}

function answerLines({ questions, answers = {}, annotations = {} }: AskUserQuestionInput): string[] {
  return questions.flatMap(({ question: text }) => {
    // A question may read "constructor".
    const given = Object.hasOwn(answers, text) ? answers[text] : undefined;
    const chosen = Array.isArray(given) ? given.join(', ') : given;
    const notes = Object.hasOwn(annotations, text) ? annotations[text]?.notes : undefined;
    return [
      `- ${text}\n  ${chosen === undefined || chosen === '' ? '(not answered)' : chosen}`,
      ...(notes === undefined || notes === '' ? [] : [`  Note: ${notes}`]),
    ];
  });
}
