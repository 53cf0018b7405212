/** A transcript as text to be summarised: no wire minds what is in it, and nothing in it is a call. */
import type { Block, Message, ToolResultContent } from '../../../../core/conversation.js';
import { LIMITS } from '../../limits.js';

const WHO: Readonly<Record<Message['role'], string>> = {
  user: 'User',
  assistant: 'Assistant',
  system: 'Instruction',
};

/** At most `maxChars`: long pieces are cut in the middle, ever shorter until all of it fits. */
export function renderTranscript(messages: readonly Message[], maxChars: number): string {
  let pieceChars: number = LIMITS.context.renderedChars;
  for (;;) {
    const text = messages.map((message) => renderMessage(message, pieceChars)).join('\n\n');
    if (text.length <= maxChars) return text;
    if (pieceChars <= 200) return middleOut(text, maxChars);
    pieceChars = Math.floor(pieceChars / 2);
  }
}

function renderMessage({ role, content }: Message, pieceChars: number): string {
  const lines = content.flatMap((block) => renderBlock(block, pieceChars));
  return `### ${WHO[role]}\n${lines.join('\n')}`;
}

function renderBlock(block: Block, pieceChars: number): string[] {
  switch (block.type) {
    case 'text':
      return [middleOut(block.text, pieceChars)];
    case 'tool_use':
      return [`[calls ${block.name} ${middleOut(JSON.stringify(block.input), pieceChars)}]`];
    case 'tool_result': {
      const said = block.content.map((part) => renderResult(part, pieceChars)).join('\n');
      return [`[${block.isError ? 'error' : 'result'}] ${said}`];
    }
    case 'image':
    case 'document':
      return [`[${block.type}]`];
    default:
      return [];
  }
}

function renderResult(part: ToolResultContent, pieceChars: number): string {
  return part.type === 'text' ? middleOut(part.text, pieceChars) : `[${part.type}]`;
}

export function middleOut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.max(1, Math.floor((maxChars - 40) / 2));
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters …]\n${text.slice(-half)}`;
}
