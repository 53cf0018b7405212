/** Changes of the tools in the middle of a conversation, for those that know one list of tools a request. */
import type { Block, ConversationRequest, Message, OpaqueBlock } from './conversation.js';
import { isObject } from './is-object.js';

const CHANGES: ReadonlySet<string> = new Set(['tool_addition', 'tool_removal']);
/** Those of an MCP server are known to the provider alone. */
const APPLICABLE: ReadonlySet<unknown> = new Set(['tool_reference', 'tool_definition']);

export function isToolChange(block: Block): block is OpaqueBlock {
  if (block.type !== 'opaque' || !CHANGES.has(block.kind)) return false;
  const { tool } = block.value;
  return isObject(tool) && APPLICABLE.has(tool['type']);
}

/** The request with the tools as its last message leaves them, and without the messages that say so. */
export function withOfferedTools(request: ConversationRequest): ConversationRequest {
  const { offered, ...rest } = request;
  if (offered === undefined) return request;
  return { ...rest, ...offered, messages: request.messages.flatMap(withoutChanges) };
}

function withoutChanges(message: Message): Message[] {
  if (message.role !== 'system' || !message.content.some(isToolChange)) return [message];
  const content = message.content.filter((block) => !isToolChange(block));
  return content.length === 0 && message.extensions === undefined ? [] : [{ ...message, content }];
}
