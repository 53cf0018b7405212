/** Messages of a conversation for people: what was said, without the weight of what was shown. */
import type { Block, MediaSource, Message } from '../../core/conversation.js';
import { turnsOf } from '../../sessions/history/user-turns.js';
import type { MessageWire } from './wire/sessions.js';
import type { BlockWire, MediaSourceWire } from './wire/shared.js';

/** Where the data of a source can be had; undefined where it cannot. */
export type HrefOf = (source: MediaSource) => string | undefined;

/**
 * The messages in front of `before`, at most `limit` of them. Instructions in the middle of a
 * conversation are not said by anyone, and are left out; places are those in the whole.
 */
export function messagesToWire(
  messages: readonly Message[],
  { before, limit }: { before: number; limit: number },
  hrefOf: HrefOf,
): MessageWire[] {
  const turns = turnsOf(messages);
  const end = Math.min(before, messages.length);
  return messages.slice(Math.max(0, end - limit), end).flatMap(({ role, content }, offset) => {
    if (role === 'system') return [];
    const index = Math.max(0, end - limit) + offset;
    const blocks = content.map((block) => blockToWire(block, hrefOf));
    return [{ index, turn: turns[index] ?? 0, role, content: blocks }];
  });
}

export function blockToWire(block: Block, hrefOf: HrefOf): BlockWire {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'thinking':
      return { type: 'thinking', thinking: block.thinking };
    case 'redacted_thinking':
      return { type: 'redacted_thinking' };
    case 'image':
      return { type: 'image', source: sourceToWire(block.source, hrefOf) };
    case 'document':
      return { type: 'document', title: block.title ?? null, source: sourceToWire(block.source, hrefOf) };
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: block.name, input: block.input };
    case 'tool_result':
      return {
        type: 'tool_result',
        tool_use_id: block.toolUseId,
        is_error: block.isError,
        content: block.content.map((each) => blockToWire(each, hrefOf)),
      };
    case 'opaque':
      return { type: 'opaque', kind: block.kind, dialect: block.dialect };
  }
}

/** `size`: characters of the data, which is left out. */
function sourceToWire(source: MediaSource, hrefOf: HrefOf): MediaSourceWire {
  switch (source.type) {
    case 'url':
      return { type: 'url', url: source.url };
    case 'file':
      return { type: 'file', file_id: source.fileId };
    case 'base64':
    case 'text': {
      const href = hrefOf(source);
      const { type, mediaType, data } = source;
      return { type, media_type: mediaType, size: data.length, ...(href === undefined ? {} : { href }) };
    }
  }
}
