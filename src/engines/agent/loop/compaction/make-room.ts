/**
 * Makes a transcript fit: the older part becomes notes that the model itself writes; where that
 * fails or is not enough, the oldest results are left out.
 */
import type { Message } from '../../../../core/conversation.js';
import { LIMITS } from '../../limits.js';
import { renderTranscript } from './render-transcript.js';
import { elideResults, splitAt } from './split-transcript.js';
import { summaryMessage, summaryQuestion } from './summary.js';

/** Characters a token, on the safe side for the text that is to be summarised. */
const CHARS_PER_TOKEN = 3;

export interface Room {
  /** Tokens that the model takes, as far as is known. */
  window: number;
  /** Of the whole request with these messages. */
  tokensOf(messages: readonly Message[]): number;
  messageTokens(message: Message): number;
  /** One model call: rejects or gives '' where there are no notes to be had. */
  ask(question: string): Promise<string>;
}

/** Changes `messages` in place. Returns whether they became notes. Rejects only when aborted. */
export async function summarise(messages: Message[], room: Room, signal: AbortSignal): Promise<boolean> {
  const keep = LIMITS.context.keepRecent * room.window;
  const at = splitAt(messages, keep, (message) => room.messageTokens(message));
  if (at === undefined) return false;
  const older = messages.slice(0, at);
  const maxChars = Math.floor(LIMITS.context.summaryInput * room.window * CHARS_PER_TOKEN);
  let notes = '';
  try {
    notes = await room.ask(summaryQuestion(renderTranscript(older, maxChars)));
  } catch (error) {
    if (signal.aborted) throw error;
  }
  if (notes.trim() === '') return false;
  messages.splice(0, at, summaryMessage(notes, older));
  joinUsers(messages);
  return true;
}

/** Changes `messages` in place until they take at most `target` tokens, or nothing is left to leave out. */
export function elideTo(messages: Message[], room: Room, target: number): boolean {
  return elideResults(messages, () => room.tokensOf(messages) <= target);
}

/** The notes and a message of the user behind them are one message. */
function joinUsers(messages: Message[]): void {
  const [notes, next] = messages;
  if (notes === undefined || next?.role !== 'user') return;
  messages.splice(0, 2, { ...next, content: [...notes.content, ...next.content] });
}
