/** What stands in a transcript for what was dropped from it to make room. */
import type { Block, Message, ToolResultContent } from '../../core/conversation.js';

const HEAD =
  'The older part of this conversation was dropped to make room. These are the notes about it; files are as the tools left them.';
const LEFT_OUT = '[Left out to make room: a result of about ';

/** `request`: what the user asked for last, in the part that was dropped. */
export function notesMessage(notes: string, request: string | undefined): Message {
  const parts = [HEAD, `<notes>\n${notes.trim()}\n</notes>`];
  if (request !== undefined) parts.push(`The user's last request, word for word:\n${request}`);
  return { role: 'user', content: [{ type: 'text', text: parts.join('\n\n') }] };
}

export function isNotes(text: string): boolean {
  return text.startsWith(HEAD);
}

/** What the user said in the same message, where it begins with notes; undefined where it does not. */
export function saidAfterNotes({ role, content }: Message): Block[] | undefined {
  const [first, ...rest] = content;
  return role === 'user' && first?.type === 'text' && isNotes(first.text) ? rest : undefined;
}

/** In place of a result of so many characters. */
export function leftOut(size: number): ToolResultContent[] {
  return [{ type: 'text', text: `${LEFT_OUT}${size} characters. Make the call again if it is needed.]` }];
}

export function isLeftOut([first]: readonly ToolResultContent[]): boolean {
  return first?.type === 'text' && first.text.startsWith(LEFT_OUT);
}
