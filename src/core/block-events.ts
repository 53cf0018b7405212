/** Whole blocks as the events of a stream. */
import type { Block, StopReason, ToolUseBlock } from './conversation.js';
import type { ModelEvent } from './events.js';

export function eventsOfToolCall(call: ToolUseBlock): ModelEvent[] {
  const { id, name, input, extensions } = call;
  return [
    { type: 'tool', key: id, id, name, ...(extensions === undefined ? {} : { extensions }) },
    { type: 'tool-input', key: id, json: JSON.stringify(input) },
    { type: 'tool-end', key: id },
  ];
}

/** What an answer has no place for is left out. */
export function eventsOfBlocks(blocks: readonly Block[]): ModelEvent[] {
  return blocks.flatMap((block): ModelEvent[] => {
    switch (block.type) {
      case 'text':
        return [{ type: 'text', text: block.text }, { type: 'break' }];
      case 'thinking': {
        const { thinking, signature } = block;
        return [
          { type: 'thinking', text: thinking },
          ...(signature === undefined ? [] : [{ type: 'signature' as const, signature }]),
          { type: 'break' },
        ];
      }
      case 'redacted_thinking':
      case 'opaque':
        return [{ type: 'block', block }];
      case 'tool_use':
        return eventsOfToolCall(block);
      default:
        return [];
    }
  });
}

export function stopEvent(reason: StopReason, stopSequence?: string): ModelEvent {
  return { type: 'stop', reason, ...(stopSequence === undefined ? {} : { stopSequence }) };
}
