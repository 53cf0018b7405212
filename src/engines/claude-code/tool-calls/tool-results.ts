/** Results of tools on their way into Claude Code and out of it. */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import type { Block, MediaSource, ToolResultBlock, ToolResultContent } from '../../../core/conversation.js';
import { isObject } from '../../../core/is-object.js';
import { anthropicMessages } from '../../../dialects/anthropic-messages/index.js';

export function toMcpResult({
  content,
  isError,
}: Pick<ToolResultBlock, 'content' | 'isError'>): CallToolResult {
  const blocks = content.map(toMcpContent);
  if (isError && blocks.length === 0) blocks.push({ type: 'text', text: 'Error' });
  return { content: blocks, ...(isError ? { isError: true } : {}) };
}

export function mcpError(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

function toMcpContent(part: ToolResultContent): ContentBlock {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return mediaOf(part.source, 'image');
    case 'document':
      return mediaOf(part.source, 'document');
    case 'opaque':
      return { type: 'text', text: JSON.stringify(part.value) };
  }
}

function mediaOf(source: MediaSource, kind: 'image' | 'document'): ContentBlock {
  switch (source.type) {
    case 'base64':
      if (kind === 'image') return { type: 'image', data: source.data, mimeType: source.mediaType };
      return {
        type: 'resource',
        resource: { uri: 'attachment:document', mimeType: source.mediaType, blob: source.data },
      };
    case 'url':
      return { type: 'text', text: `[${kind}: ${source.url}]` };
    case 'file':
      return { type: 'text', text: `[${kind} of the id ${source.fileId}]` };
    case 'text':
      return { type: 'text', text: source.data };
  }
}

/** The blocks of a user message from Claude Code; what cannot be read is kept as text. */
export function blocksOf(content: unknown): Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block: unknown) => decode(block));
}

function decode(block: unknown): Block[] {
  try {
    const { messages } = anthropicMessages.ingress.decodeRequest({
      model: 'any',
      max_tokens: 1,
      messages: [{ role: 'user', content: [block] }],
    });
    return messages[0]?.content ?? [];
  } catch {
    const fallen = fallback(block);
    return fallen === undefined ? [] : [fallen];
  }
}

function fallback(block: unknown): Block | undefined {
  if (!isObject(block)) return undefined;
  const { type, tool_use_id: toolUseId, content, is_error: isError } = block;
  if (type !== 'tool_result' || typeof toolUseId !== 'string') return undefined;
  const text = typeof content === 'string' ? content : JSON.stringify(content ?? '');
  return { type: 'tool_result', toolUseId, content: [{ type: 'text', text }], isError: isError === true };
}
