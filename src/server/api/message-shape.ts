/** Messages of a conversation for people: what was said, without the weight of what was shown. */
import type { Block, MediaSource, Message } from '../../core/conversation.js';

export function messageToWire({ role, content }: Message): object {
  return { role, content: content.map(blockToWire) };
}

function blockToWire(block: Block): object {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'thinking':
      return { type: 'thinking', thinking: block.thinking };
    case 'redacted_thinking':
      return { type: 'redacted_thinking' };
    case 'image':
      return { type: 'image', source: sourceToWire(block.source) };
    case 'document':
      return { type: 'document', title: block.title ?? null, source: sourceToWire(block.source) };
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: block.name, input: block.input };
    case 'tool_result':
      return {
        type: 'tool_result',
        tool_use_id: block.toolUseId,
        is_error: block.isError,
        content: block.content.map(blockToWire),
      };
    case 'opaque':
      return { type: block.kind, dialect: block.dialect };
  }
}

/** `size`: characters of the data, which is left out. */
function sourceToWire(source: MediaSource): object {
  switch (source.type) {
    case 'url':
      return { type: 'url', url: source.url };
    case 'file':
      return { type: 'file', file_id: source.fileId };
    case 'base64':
    case 'text':
      return { type: source.type, media_type: source.mediaType, size: source.data.length };
  }
}
