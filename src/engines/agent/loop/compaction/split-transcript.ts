/** Where a transcript is divided: what is older is summarised, what is newer stays word for word. */
import type { Message, ToolResultContent } from '../../../../core/conversation.js';
import { LIMITS } from '../../limits.js';

/** The results of calls stand right behind them and must stay there. */
export function isSplittable(messages: readonly Message[], index: number): boolean {
  const message = messages[index];
  if (message === undefined || index === 0) return false;
  return !message.content.some((block) => block.type === 'tool_result');
}

/**
 * Index of the first message that stays: as many of the newest as fit into `keepTokens`, and at
 * least one. Undefined when there is no place to divide it.
 */
export function splitAt(
  messages: readonly Message[],
  keepTokens: number,
  tokensOf: (message: Message) => number,
): number | undefined {
  let found: number | undefined;
  let tokens = 0;
  for (let index = messages.length - 1; index > 0; index -= 1) {
    const message = messages[index];
    if (message === undefined) break;
    tokens += tokensOf(message);
    if (!isSplittable(messages, index)) continue;
    if (found !== undefined && tokens > keepTokens) break;
    found = index;
    if (tokens > keepTokens) break;
  }
  return found;
}

/**
 * Leaves out the oldest results until `enough` says so; those of the last message only when that
 * does not suffice. Returns whether anything was left out.
 */
export function elideResults(messages: Message[], enough: () => boolean): boolean {
  let changed = false;
  for (let index = 0; index < messages.length && !enough(); index += 1) {
    const message = messages[index];
    if (message === undefined || message.role !== 'user') continue;
    let elided = false;
    const content = message.content.map((block) => {
      if (block.type !== 'tool_result') return block;
      const size = sizeOf(block.content);
      if (size < LIMITS.context.elideFrom) return block;
      elided = true;
      return { ...block, content: [{ type: 'text' as const, text: leftOut(size) }] };
    });
    if (!elided) continue;
    messages[index] = { ...message, content };
    changed = true;
  }
  return changed;
}

function leftOut(size: number): string {
  return `[Left out to make room: a result of about ${size} characters. Make the call again if it is needed.]`;
}

function sizeOf(content: readonly ToolResultContent[]): number {
  let size = 0;
  for (const block of content) {
    if (block.type === 'text') size += block.text.length;
    else if (block.type === 'opaque') size += JSON.stringify(block.value).length;
    else size += 'data' in block.source ? block.source.data.length : LIMITS.context.elideFrom;
  }
  return size;
}
