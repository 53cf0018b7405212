/** The questions of AskUserQuestion, as far as they can be read. */
import { fieldOf, textField } from './tool-output.js';

interface AskedQuestion {
  /** Exactly as the model wrote it: answers are found by it. */
  question: string;
  header: string;
  multiple: boolean;
  options: { label: string; description: string; preview: string }[];
}

export function questionsOf(input: unknown): AskedQuestion[] {
  const questions = fieldOf(input, 'questions');
  if (!Array.isArray(questions)) return [];
  return questions.flatMap((each: unknown): AskedQuestion[] => {
    const question = textField(each, 'question');
    if (question === undefined) return [];
    const options = fieldOf(each, 'options');
    return [
      {
        question,
        header: textField(each, 'header') ?? '',
        multiple: fieldOf(each, 'multiSelect') === true,
        options: (Array.isArray(options) ? options : []).flatMap((option: unknown) => {
          const label = textField(option, 'label');
          if (label === undefined) return [];
          return [
            {
              label,
              description: textField(option, 'description') ?? '',
              preview: textField(option, 'preview') ?? '',
            },
          ];
        }),
      },
    ];
  });
}

/** What a person chose: labels of choices, and words of their own. */
export interface GivenAnswer {
  labels: readonly string[];
  own: string;
}

/**
 * The input that carries the answers. Several are one text with commas between them: the only form
 * that both kinds of agent take.
 */
export function answeredInput(input: unknown, given: ReadonlyMap<string, GivenAnswer>): object {
  const answers = Object.fromEntries(
    questionsOf(input).flatMap(({ question }) => {
      const answer = given.get(question);
      const parts = [...(answer?.labels ?? []), ...(answer?.own.trim() ? [answer.own.trim()] : [])];
      return parts.length === 0 ? [] : [[question, parts.join(', ')]];
    }),
  );
  return { ...(typeof input === 'object' && input !== null ? input : {}), answers };
}
