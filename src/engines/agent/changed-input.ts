/** The model must not believe that what it wrote is what was done. */
import type { TextBlock } from '../../core/conversation.js';
import { LIMITS } from './limits.js';

export function changedInput(input: unknown): TextBlock {
  const shown = JSON.stringify(input).slice(0, LIMITS.changedInputChars);
  return {
    type: 'text',
    text: `A person changed the input of this call before it ran. It ran with: ${shown}`,
  };
}
