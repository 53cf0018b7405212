/** Deferred tools, for wires that send every tool with every request. */
import type { ConversationRequest, ToolDefinition } from '../../core/conversation.js';
import type { LossLog } from '../../core/losses.js';

/** Kinds by which providers offer to search deferred tools themselves. */
const PROVIDERS_SEARCH = /^tool_search/;

/**
 * A model sees a deferred tool when a search has found it. A client that searches sends the names
 * it found as results, and only those tools are sent. Where the client leaves the search to its
 * provider, nobody searches: all of them are sent.
 */
export function wantedTools(request: ConversationRequest, losses: LossLog): readonly ToolDefinition[] {
  if (!request.tools.some(isDeferred)) return request.tools;
  if (request.serverTools.some(({ kind }) => PROVIDERS_SEARCH.test(kind))) {
    losses.add('tools', 'deferred tools are sent at once');
    return request.tools;
  }
  const known = knownTools(request);
  return request.tools.filter((tool) => !isDeferred(tool) || known.has(tool.name));
}

function isDeferred(tool: ToolDefinition): boolean {
  return tool.extensions?.['anthropic-messages']?.['defer_loading'] === true;
}

/** Found, called before, or wanted now. */
function knownTools({ messages, toolChoice }: ConversationRequest): ReadonlySet<string> {
  const known = new Set<string>();
  if (toolChoice?.type === 'tool') known.add(toolChoice.name);
  for (const { content } of messages) {
    for (const block of content) {
      if (block.type === 'tool_use') known.add(block.name);
      if (block.type !== 'tool_result') continue;
      for (const part of block.content) {
        if (part.type === 'opaque' && part.kind === 'tool_reference')
          known.add(String(part.value['tool_name']));
      }
    }
  }
  return known;
}
