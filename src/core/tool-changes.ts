/** Changes of the tools in the middle of a conversation, for those that know one list of tools a request. */
import type { Block, ConversationRequest, Message, OpaqueBlock } from './conversation.js';
import { isObject } from './is-object.js';

const CHANGES: ReadonlySet<string> = new Set(['tool_addition', 'tool_removal']);
/** Those of an MCP server are known to the provider alone. */
const APPLICABLE: ReadonlySet<unknown> = new Set(['tool_reference', 'tool_definition']);

function isToolChange(block: Block): block is OpaqueBlock {
  if (block.type !== 'opaque' || !CHANGES.has(block.kind)) return false;
  const { tool } = block.value;
  return isObject(tool) && APPLICABLE.has(tool['type']);
}

/** What a compaction says of the changes that it stands for, as the blocks that it stands for. */
export function toolChangesIn({ kind, dialect, value }: OpaqueBlock): OpaqueBlock[] {
  const { tool_changes: changes } = value;
  if (kind !== 'compaction' || !Array.isArray(changes)) return [];
  return changes
    .filter(isObject)
    .map((each): OpaqueBlock => ({ type: 'opaque', dialect, kind: String(each['type']), value: each }))
    .filter(isToolChange);
}

/** The changes of a whole conversation, in their order. */
export function toolChangesOf(messages: readonly Message[]): OpaqueBlock[] {
  return messages.flatMap(({ role, content }) =>
    content.flatMap((block) => {
      if (block.type !== 'opaque') return [];
      if (isToolChange(block)) return role === 'system' ? [block] : [];
      return toolChangesIn(block);
    }),
  );
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
