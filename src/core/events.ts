/**
 * Two vocabularies. An engine says `ModelEvent`s: loose, in the order an upstream happened to send
 * them, calls named by a key of the upstream's own. The lifecycle turns them into `AnswerEvent`s:
 * strict, one open block at a time, dense indices. Encoders see only the strict ones.
 */
import {
  type Block,
  DIALECT_NAMES,
  type Extensions,
  type OpaqueBlock,
  type RedactedThinkingBlock,
  type StopReason,
  type ToolUseBlock,
  type Usage,
} from './conversation.js';
import type { GatewayError } from './errors.js';

export type ModelEvent =
  /** May come late, twice or never. */
  | { type: 'start'; id?: string; model?: string; usage?: Partial<Usage> }
  | { type: 'text'; text: string }
  | { type: 'thinking'; text: string }
  /** Belongs to the thinking block that is open, or makes an empty one. */
  | { type: 'signature'; signature: string }
  /** Id and name may come in either order, repeatedly or never. */
  | { type: 'tool'; key: number | string; id?: string; name?: string; extensions?: ToolExtensions }
  /** A piece of the arguments' JSON text. */
  | { type: 'tool-input'; key: number | string; json: string }
  /** The upstream says that this call's arguments are whole. */
  | { type: 'tool-end'; key: number | string }
  /** A block that arrives whole. */
  | { type: 'block'; block: RedactedThinkingBlock | OpaqueBlock }
  /** The upstream closes the text or thinking that is open; the next piece opens a new block. */
  | { type: 'break' }
  /** Later figures replace earlier ones, field by field. */
  | { type: 'usage'; usage: Partial<Usage> }
  | { type: 'stop'; reason: StopReason; stopSequence?: string }
  /** Fields of the answer that only one dialect has. */
  | { type: 'extensions'; extensions: Extensions }
  /** The answer failed. Final. */
  | { type: 'error'; error: GatewayError }
  /** Something of the answer that these events have no place for. */
  | { type: 'loss'; path: string; reason: string }
  | { type: 'ping' };

/** What must come back on the same call (Gemini's thought signature), by dialect. */
export type ToolExtensions = Extensions;

export type BlockStart =
  | { type: 'text' }
  | { type: 'thinking' }
  | { type: 'tool_use'; id: string; name: string; extensions?: ToolExtensions }
  | RedactedThinkingBlock
  | OpaqueBlock;

export type BlockDelta =
  | { type: 'text'; text: string }
  | { type: 'thinking'; text: string }
  | { type: 'signature'; signature: string }
  | { type: 'input'; json: string };

export type AnswerEvent =
  | { type: 'message-start'; id: string; model: string; usage: Usage; extensions?: Extensions }
  | { type: 'block-start'; index: number; block: BlockStart }
  | { type: 'block-delta'; index: number; delta: BlockDelta }
  /** `broken`: the answer fails here, so the block may lack its end. */
  | { type: 'block-stop'; index: number; broken?: true }
  /** Exactly one, last but for `message-stop`. */
  | {
      type: 'message-delta';
      stopReason: StopReason;
      stopSequence?: string;
      usage: Usage;
      extensions?: Extensions;
    }
  | { type: 'message-stop' }
  /** Final; whatever was open is closed before it. */
  | { type: 'error'; error: GatewayError }
  | { type: 'ping' };

/** Something that the model said, rather than something about the answer. */
export const isContent = ({ type }: AnswerEvent): boolean => type === 'block-start' || type === 'block-delta';

/** A whole tool call as the events of a stream. */
export function eventsOfToolCall(call: ToolUseBlock): ModelEvent[] {
  const { id, name, input, extensions } = call;
  return [
    { type: 'tool', key: id, id, name, ...(extensions === undefined ? {} : { extensions }) },
    { type: 'tool-input', key: id, json: JSON.stringify(input) },
    { type: 'tool-end', key: id },
  ];
}

/** Whole blocks as the events of a stream. What an answer has no place for is left out. */
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

/** What each dialect alone says of an answer, said in several pieces. */
export function mergeExtensions(before: Extensions | undefined, more: Extensions): Extensions {
  const all: Extensions = { ...before };
  for (const dialect of DIALECT_NAMES) {
    if (more[dialect] !== undefined) all[dialect] = { ...all[dialect], ...more[dialect] };
  }
  return all;
}
