/** Deferred tools, for wires that send every tool with every request. */
import type { ConversationRequest, ToolDefinition } from '../../core/conversation.js';
import type { LossLog } from '../../core/losses.js';

/** What Claude Code calls its search, and others after it. */
const SEARCH_TOOL = /^tool_?search$/i;

/**
 * A model sees a deferred tool when a search has found it. Where the client does the search, only
 * what it found is sent (Claude Code also defers a tool that must never be seen); else nobody
 * searches, and all of them are sent.
 */
export function wantedTools(request: ConversationRequest, losses: LossLog): readonly ToolDefinition[] {
  if (!request.tools.some(isDeferred)) return request.tools;
  const references = toolReferences(request);
  if (references.size === 0 && !request.tools.some(isSearch)) {
    losses.add('tools', 'deferred tools are sent at once');
    return request.tools;
  }
  const known = new Set([...references, ...usedTools(request)]);
  return request.tools.filter((tool) => !isDeferred(tool) || known.has(tool.name));
}

function isDeferred(tool: ToolDefinition): boolean {
  return tool.extensions?.['anthropic-messages']?.['defer_loading'] === true;
}

function isSearch(tool: ToolDefinition): boolean {
  return SEARCH_TOOL.test(tool.name) && !isDeferred(tool);
}

/** The names that searches have found. */
function toolReferences({ messages }: ConversationRequest): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { content } of messages) {
    for (const block of content) {
      if (block.type !== 'tool_result') continue;
      for (const part of block.content) {
        if (part.type === 'opaque' && part.kind === 'tool_reference')
          found.add(String(part.value['tool_name']));
      }
    }
  }
  return found;
}

/** Called before, when their search was not yet forgotten; or wanted now. */
function usedTools({ messages, toolChoice }: ConversationRequest): ReadonlySet<string> {
  const used = new Set<string>();
  if (toolChoice?.type === 'tool') used.add(toolChoice.name);
  for (const { content } of messages) {
    for (const block of content) if (block.type === 'tool_use') used.add(block.name);
  }
  return used;
}
