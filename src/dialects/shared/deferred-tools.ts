/** Deferred tools, for wires that send every tool with every request. */
import type { ConversationRequest, ToolDefinition } from '../../core/conversation.js';
import type { LossLog } from '../../core/losses.js';
import { referencedTools, shownTools } from '../../core/tool-references.js';

/** What Claude Code calls its search, and others after it. */
const SEARCH_TOOL = /^tool_?search$/i;

/**
 * A model sees a deferred tool when a search has found it. Where the client or the gateway does the search,
 * only what it found is sent (Claude Code also defers a tool that must never be seen); else nobody
 * searches, and all of them are sent.
 */
export function wantedTools(request: ConversationRequest, losses: LossLog): readonly ToolDefinition[] {
  if (!request.tools.some(isDeferred)) return request.tools;
  if (!searchesTools(request) && referencedTools(request).size === 0) {
    losses.add('tools', 'deferred tools are sent at once');
    return request.tools;
  }
  return shownTools(request, isDeferred);
}

/** Somebody other than the provider searches the tools that are kept back. */
export function searchesTools({ tools }: { tools: readonly ToolDefinition[] }): boolean {
  return tools.some((tool) => SEARCH_TOOL.test(tool.name) && !isDeferred(tool));
}

export function isDeferred({ deferred, extensions }: ToolDefinition): boolean {
  return deferred === true || extensions?.['anthropic-messages']?.['defer_loading'] === true;
}
