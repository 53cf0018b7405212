/** Deferred tools, for wires that send every tool with every request. */
import type { ConversationRequest, ToolDefinition } from '../../core/conversation.js';
import type { LossLog } from '../../core/losses.js';

/**
 * Deferred tools are found by a search. Where the history shows that the client does the search,
 * only what was found is sent; else all of them, for nothing can be sent later.
 */
export function wantedTools(request: ConversationRequest, losses: LossLog): readonly ToolDefinition[] {
  if (!request.tools.some(isDeferred)) return request.tools;
  const found = toolReferences(request);
  if (found === undefined) {
    losses.add('tools', 'deferred tools are sent at once');
    return request.tools;
  }
  return request.tools.filter((tool) => !isDeferred(tool) || found.has(tool.name));
}

function isDeferred(tool: ToolDefinition): boolean {
  return tool.extensions?.['anthropic-messages']?.['defer_loading'] === true;
}

function toolReferences({ messages }: ConversationRequest): ReadonlySet<string> | undefined {
  let found: Set<string> | undefined;
  for (const { content } of messages) {
    for (const block of content) {
      if (block.type !== 'tool_result') continue;
      for (const part of block.content) {
        if (part.type !== 'opaque' || part.kind !== 'tool_reference') continue;
        found ??= new Set();
        found.add(String(part.value['tool_name']));
      }
    }
  }
  return found;
}
