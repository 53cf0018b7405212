/** Which of the tools that are kept back a conversation has got to know: by a search, by a call, or by choice. */
import type { ConversationRequest, OpaqueBlock, ToolDefinition } from './conversation.js';

/** The result of a search names a tool with it. `$own`: the gateway's own search, not the client's. */
export function toolReference(name: string): OpaqueBlock {
  return {
    type: 'opaque',
    dialect: 'anthropic-messages',
    kind: 'tool_reference',
    value: { type: 'tool_reference', tool_name: name, $own: true },
  };
}

type Conversation = Pick<ConversationRequest, 'messages' | 'toolChoice'>;

/** Names that searches have found, in the order in which they were found. */
export function referencedTools({ messages }: Conversation): Set<string> {
  return namesIn({ messages }, false);
}

/** With those that were called before, when their search was not yet forgotten, and the one that is wanted now. */
export function knownTools(conversation: Conversation): Set<string> {
  return namesIn(conversation, true);
}

function namesIn({ messages, toolChoice }: Conversation, called: boolean): Set<string> {
  const names = new Set<string>();
  for (const { content } of messages) {
    for (const block of content) {
      if (block.type === 'tool_use' && called) names.add(block.name);
      if (block.type !== 'tool_result') continue;
      for (const part of block.content) {
        if (part.type === 'opaque' && part.kind === 'tool_reference')
          names.add(String(part.value['tool_name']));
      }
    }
  }
  if (toolChoice?.type === 'tool') names.add(toolChoice.name);
  return names;
}

/**
 * The tools that a model is shown: those that are not kept back, then those that the conversation has got
 * to know, in that order. The list only grows at its end, so that what an upstream has cached of it stays.
 */
export function shownTools(
  request: Pick<ConversationRequest, 'tools' | 'messages' | 'toolChoice'>,
  isDeferred: (tool: ToolDefinition) => boolean = ({ deferred }) => deferred === true,
): readonly ToolDefinition[] {
  const { tools } = request;
  if (!tools.some(isDeferred)) return tools;
  const held = new Map<string, ToolDefinition>();
  for (const tool of tools) if (isDeferred(tool) && !held.has(tool.name)) held.set(tool.name, tool);
  const shown = tools.filter((tool) => !isDeferred(tool));
  for (const name of knownTools(request)) {
    const tool = held.get(name);
    if (tool !== undefined) shown.push(tool);
  }
  return shown;
}
