/** What is shown of messages, arguments and results: enough to follow a turn, and bounded. */
import type { Block, JsonObject, MediaSource, ToolResultContent } from '../../../core/conversation.js';
import { cut } from '../../activity/encode-activity.js';
import type { BlockWire, MediaSourceWire } from '../wire/shared.js';
import type { EventLimits } from './limits.js';

/** Counts down what may still be shown. */
interface Room {
  chars: number;
  truncated: boolean;
}

export function messageToShow(
  blocks: readonly Block[],
  { messageChars, resultChars }: Pick<EventLimits, 'messageChars' | 'resultChars'>,
): BlockWire[] {
  const room = { chars: messageChars, truncated: false };
  return blocks.map((block) => blockToShow(block, room, resultChars));
}

export function resultToShow(
  content: readonly ToolResultContent[],
  { resultChars }: Pick<EventLimits, 'resultChars'>,
): { content: BlockWire[]; truncated: boolean } {
  const room = { chars: resultChars, truncated: false };
  const shown = content.map((block) => blockToShow(block, room, resultChars));
  return { content: shown, truncated: room.truncated };
}

function blockToShow(block: Block, room: Room, resultChars: number): BlockWire {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: take(block.text, room) };
    case 'thinking':
      return { type: 'thinking', thinking: take(block.thinking, room) };
    case 'redacted_thinking':
      return { type: 'redacted_thinking' };
    case 'image':
      return { type: 'image', source: sourceToShow(block.source, room) };
    case 'document':
      return { type: 'document', title: block.title ?? null, source: sourceToShow(block.source, room) };
    case 'tool_use': {
      const { input, truncated } = inputToShow(block.input, room.chars);
      room.truncated ||= truncated;
      return { type: 'tool_use', id: block.id, name: block.name, input };
    }
    case 'tool_result': {
      const { content } = resultToShow(block.content, { resultChars: Math.min(resultChars, room.chars) });
      return { type: 'tool_result', tool_use_id: block.toolUseId, is_error: block.isError, content };
    }
    case 'opaque':
      return { type: 'opaque', kind: block.kind, dialect: block.dialect };
  }
}

function take(text: string, room: Room): string {
  const shown = cut(text, room.chars);
  room.chars -= shown.length;
  if (shown.length === text.length) return text;
  room.truncated = true;
  return `${shown} […]`;
}

/** The bytes themselves are in the session. */
function sourceToShow(source: MediaSource, room: Room): MediaSourceWire {
  switch (source.type) {
    case 'url':
      return { type: 'url', url: source.url };
    case 'file':
      return { type: 'file', file_id: source.fileId };
    case 'base64':
    case 'text':
      room.truncated = true;
      return { type: source.type, media_type: source.mediaType, size: source.data.length };
  }
}

/** Characters of one text in arguments that are too long as a whole: the first that is enough holds. */
const SHORTER = [16_384, 1_024, 64] as const;

export function inputToShow(input: JsonObject, chars: number): { input: unknown; truncated: boolean } {
  if (charsOf(input, chars) <= chars) return { input, truncated: false };
  for (const each of SHORTER) {
    const shorter = shorten(input, each);
    if (charsOf(shorter, chars) <= chars) return { input: shorter, truncated: true };
  }
  return { input: {}, truncated: true };
}

/** Roughly what it is as JSON; counting ends where it is more than `enough`. */
function charsOf(value: unknown, enough: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 5;
  let chars = 2;
  for (const [key, each] of Object.entries(value)) {
    chars += key.length + 4 + charsOf(each, enough);
    if (chars > enough) break;
  }
  return chars;
}

function shorten(value: unknown, chars: number): unknown {
  if (typeof value === 'string') return value.length <= chars ? value : `${cut(value, chars)} […]`;
  if (Array.isArray(value)) return value.map((each: unknown) => shorten(each, chars));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shorten(each, chars)]));
}
