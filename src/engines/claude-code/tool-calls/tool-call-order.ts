/**
 * Claude Code tells its model results in the order in which they came. In the order of the calls the
 * same conversation reads the same each time, also to a process that was not there.
 */
import type { Block, Message } from '../../../core/conversation.js';

export function inToolCallOrder(messages: readonly Message[]): Message[] {
  let order: ReadonlyMap<string, number> = new Map();
  return messages.map((message) => {
    if (message.role === 'assistant') order = orderOf(message.content);
    if (message.role !== 'user') return message;
    const content = sorted(message.content, order);
    return content === message.content ? message : { ...message, content };
  });
}

function orderOf(content: readonly Block[]): Map<string, number> {
  const order = new Map<string, number>();
  for (const block of content) if (block.type === 'tool_use') order.set(block.id, order.size);
  return order;
}

/** Only results change places, and only among themselves. */
function sorted(content: Block[], order: ReadonlyMap<string, number>): Block[] {
  const results = content.filter((block) => block.type === 'tool_result');
  const inOrder = results.toSorted((a, b) => placeOf(a.toolUseId, order) - placeOf(b.toolUseId, order));
  if (inOrder.every((block, index) => block === results[index])) return content;
  const next = inOrder.values();
  return content.map((block) => (block.type === 'tool_result' ? (next.next().value ?? block) : block));
}

function placeOf(id: string, order: ReadonlyMap<string, number>): number {
  return order.get(id) ?? Number.MAX_SAFE_INTEGER;
}
