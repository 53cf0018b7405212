/** What a person can look for in an entry of a transcript: what was said, and what tools were asked to do. */
import { isObject } from '../core/is-object.js';

/** More of one entry is not looked through: a pasted log, a file that is written whole. */
export const SPOKEN_LIMITS = { entryChars: 65_536, inputChars: 4096 };

/**
 * Texts of the user and the assistant, names of tools and the texts in their input. Not results, not
 * thinking, not instructions. Empty for entries that say nothing.
 */
export function spokenIn(entry: unknown): string {
  const message = isObject(entry) && entry['kind'] === 'message' ? entry['message'] : undefined;
  if (!isObject(message) || (message['role'] !== 'user' && message['role'] !== 'assistant')) return '';
  const { content } = message;
  if (!Array.isArray(content)) return '';
  const pieces: string[] = [];
  let left = SPOKEN_LIMITS.entryChars;
  for (const block of content) {
    const piece = cut(pieceOf(block), left);
    if (piece === '') continue;
    pieces.push(piece);
    left -= piece.length + 1;
  }
  return pieces.join('\n');
}

function pieceOf(block: unknown): string {
  if (!isObject(block)) return '';
  switch (block['type']) {
    case 'text':
      return typeof block['text'] === 'string' ? block['text'] : '';
    case 'document':
      return typeof block['title'] === 'string' ? block['title'] : '';
    case 'tool_use':
      return [String(block['name']), ...textsIn(block['input'])].join(' ');
    default:
      return '';
  }
}

/** The texts in it, in their order; keys are the tool's, and said by nobody. */
function textsIn(input: unknown): string[] {
  const texts: string[] = [];
  const open: unknown[] = [input];
  let left = SPOKEN_LIMITS.inputChars;
  while (open.length > 0 && left > 0) {
    const value = open.pop();
    if (typeof value === 'string') {
      texts.push(cut(value, left));
      left -= value.length + 1;
    } else if (typeof value === 'object' && value !== null) {
      open.push(...Object.values(value).slice(0, SPOKEN_LIMITS.inputChars).reverse());
    }
  }
  return texts;
}

function cut(text: string, most: number): string {
  return text.length > most ? text.slice(0, Math.max(0, most)) : text;
}
