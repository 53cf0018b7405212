/**
 * Anthropic's `compaction` blocks, for every other wire. Such a block stands for all that was said
 * before it, and its summary is text: it becomes a message of the user, and what it stands for is left out.
 */
import type { Block, JsonObject, Message, OpaqueBlock, TextBlock } from '../../core/conversation.js';
import type { LossLog } from '../../core/losses.js';
import { toolChangesIn } from '../../core/tool-changes.js';

const ABOUT = 'Summary of the conversation before this point:';

/** In the place of a provider's signature: no provider takes it, so such a block is text to all of them. */
const OWN_SIGNATURE = 'toolgate';

/** The block of a summary that the gateway had written. Without a text it says that there is none. */
export function ownCompaction(content: string | null, toolChanges: readonly JsonObject[]): OpaqueBlock {
  const value = {
    type: 'compaction',
    content,
    encrypted_content: null,
    ...(content === null ? {} : { signature: OWN_SIGNATURE }),
    ...(toolChanges.length === 0 ? {} : { tool_changes: toolChanges }),
  };
  return { type: 'opaque', dialect: 'anthropic-messages', kind: 'compaction', value };
}

/** It is in the place of what a provider would have signed. */
export function isOwnCompaction(block: Block): boolean {
  return summaryOf(block) !== undefined && isOwn(block);
}

function isOwn(block: Block): boolean {
  return block.type === 'opaque' && block.value['signature'] === OWN_SIGNATURE;
}

/** For the wire that has such blocks: the gateway's own as text, with what they stand for left out. */
export function withoutOwnCompactions(messages: readonly Message[], losses: LossLog): readonly Message[] {
  const blocks = messages.flatMap(({ content }) => content);
  if (!blocks.some(isOwnCompaction)) return messages;
  const last = blocks.findLast((block) => summaryOf(block) !== undefined);
  if (last !== undefined && isOwn(last)) return fromCompaction(messages, losses);
  const asText = (block: Block): Block => (isOwn(block) ? compactionAsText(block) : block);
  return messages.map((message) => ({ ...message, content: message.content.map(asText) }));
}

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

/** Changes of tools are in the request's own list by now; those of MCP servers are their provider's to know. */
function loseChanges(block: OpaqueBlock, index: number, losses: LossLog): void {
  const { tool_changes: changes } = block.value;
  if (Array.isArray(changes) && changes.length > toolChangesIn(block).length) {
    losses.add(`messages.${index}.tool_changes`, 'only anthropic-messages has it');
  }
}

/** The same in its place, for an agent whose history keeps every message. */
export function compactionAsText(block: Block): Block {
  return summaryOf(block) ?? block;
}
