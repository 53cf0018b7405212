/**
 * Anthropic's `compaction` blocks, for every other wire. Such a block stands for all that was said
 * before it, and its summary is text: it becomes a message of the user, and what it stands for is left out.
 */
import type { Block, Message, OpaqueBlock, TextBlock } from '../../core/conversation.js';
import type { LossLog } from '../../core/losses.js';

const ABOUT = 'Summary of the conversation before this point:';

/** Undefined for any other block, and for a compaction that failed: it stands for nothing. */
function summaryOf(block: Block): TextBlock | undefined {
  if (block.type !== 'opaque' || block.kind !== 'compaction') return undefined;
  const { content } = block.value;
  if (typeof content !== 'string' || content.trim() === '') return undefined;
  return { type: 'text', text: `${ABOUT}\n\n${content}` };
}

/** The messages from the last compaction on, which is text then; all of them where there is none. */
export function fromCompaction(messages: readonly Message[], losses: LossLog): readonly Message[] {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index];
    const at = message?.content.findLastIndex((block) => summaryOf(block) !== undefined) ?? -1;
    const block = message?.content[at];
    const summary = block && summaryOf(block);
    if (message === undefined || block?.type !== 'opaque' || summary === undefined) continue;
    loseChanges(block, index, losses);
    const rest = message.content.slice(at + 1);
    return [
      { role: 'user', content: [summary] },
      ...(rest.length > 0 ? [{ ...message, content: rest }] : []),
      ...messages.slice(index + 1),
    ];
  }
  return messages;
}

function loseChanges({ value }: OpaqueBlock, index: number, losses: LossLog): void {
  const { tool_changes: changes } = value;
  if (Array.isArray(changes) && changes.length > 0) {
    losses.add(`messages.${index}.tool_changes`, 'only anthropic-messages has it');
  }
}

/** The same in its place, for an agent whose history keeps every message. */
export function compactionAsText(block: Block): Block {
  return summaryOf(block) ?? block;
}
