/** The arguments of a call as far as they have come. */
import { Allow, parse } from 'partial-json';
import type { ToolCard } from '../../data/reducer/view.js';

export interface StreamedInput {
  /** Undefined where nothing can be read yet. */
  value: unknown;
  /** More of it may come. */
  partial: boolean;
  /** The text itself, where it is no JSON so far or too long to read again with each piece. */
  text: string | undefined;
}

/** Reading all of it again with every piece takes as long as it is: beyond this its end is shown. */
const LONGEST_PARSED = 300_000;
const TAIL = 20_000;

export function streamedInput({ input, inputText }: Pick<ToolCard, 'input' | 'inputText'>): StreamedInput {
  if (inputText === '' || input !== undefined) return { value: input, partial: false, text: undefined };
  if (inputText.length > LONGEST_PARSED) {
    return { value: undefined, partial: true, text: `… ${inputText.slice(-TAIL)}` };
  }
  try {
    const value: unknown = parse(inputText, Allow.ALL);
    return { value, partial: true, text: undefined };
  } catch {
    return { value: undefined, partial: true, text: inputText };
  }
}
