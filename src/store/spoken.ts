/** What a person can look for in an entry of a transcript: what was said, and what tools were asked to do. */
import { isObject } from '../core/is-object.js';

/**
 * More of one entry is not looked through: a pasted log, a file that is written whole. A secret that is
 * not longer than `secretChars` is redacted also where a text is cut in the middle of it.
 */
export const SPOKEN_LIMITS = { entryChars: 65_536, inputChars: 4096, secretChars: 16_384 };

type Redact = (text: string) => string;

/**
 * Texts of the user and the assistant, names of tools and the texts in their input, redacted. Not
 * results, not thinking, not instructions. Empty for entries that say nothing.
 */
export function spokenIn(entry: unknown, redact: Redact): string {
  const message = isObject(entry) && entry['kind'] === 'message' ? entry['message'] : undefined;
  if (!isObject(message) || (message['role'] !== 'user' && message['role'] !== 'assistant')) return '';
  const { content } = message;
  if (!Array.isArray(content)) return '';
  const pieces: string[] = [];
  let left = SPOKEN_LIMITS.entryChars;
  for (const block of content) {
    if (left <= 0) break;
    const piece = cut(pieceOf(block, redact), left, redact);
    if (piece === '') continue;
    pieces.push(piece);
    left -= piece.length + 1;
  }
  return redact(pieces.join('\n'));
}

function pieceOf(block: unknown, redact: Redact): string {
  if (!isObject(block)) return '';
  switch (block['type']) {
    case 'text':
      return typeof block['text'] === 'string' ? block['text'] : '';
    case 'document':
      return typeof block['title'] === 'string' ? block['title'] : '';
    case 'tool_use':
      return [String(block['name']), ...textsIn(block['input'], redact)].join(' ');
    default:
      return '';
  }
}

/** The texts in it, in order. Keys belong to the tool's schema, no one said them. */
function textsIn(input: unknown, redact: Redact): string[] {
  const texts: string[] = [];
  const open: unknown[] = [input];
  let left = SPOKEN_LIMITS.inputChars;
  while (open.length > 0 && left > 0) {
    const value = open.pop();
    if (typeof value === 'string') {
      texts.push(cut(value, left, redact));
      left -= value.length + 1;
    } else if (typeof value === 'object' && value !== null) {
      open.push(...Object.values(value).slice(0, SPOKEN_LIMITS.inputChars).reverse());
    }
  }
  return texts;
}

/** Redacted before it is cut: half a secret has no shape to be known by. */
function cut(text: string, most: number, redact: Redact): string {
  if (text.length <= most) return text;
  const { secretChars } = SPOKEN_LIMITS;
  const window = text.slice(0, most + secretChars);
  const redacted = redact(window);
  // What the end of the window cuts in half is not redacted, and is not taken either.
  const whole = window.length < text.length ? redacted.length - secretChars : redacted.length;
  return redacted.slice(0, Math.max(0, Math.min(most, whole)));
}
