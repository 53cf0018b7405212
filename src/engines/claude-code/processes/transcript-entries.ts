/**
 * A conversation as Claude Code keeps one on disk, made from neutral messages: it resumes from this
 * as if it had been there. Whatever of it looks unfinished or out of order it would fill in with words
 * of its own, so the entries are always whole turns that end with the assistant.
 */
import { randomUUID } from 'node:crypto';
import type { SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';
import type { Block, JsonObject, Message, TextBlock, ToolResultBlock } from '../../../core/conversation.js';
import { type Loss, LossLog } from '../../../core/losses.js';
import { type EncodeContext, encodeBlock } from '../../../dialects/anthropic-messages/encode-content.js';
import { encodeHistory } from '../../../dialects/anthropic-messages/encode-history.js';
import { TOOL_NAME_LIMITS } from '../../../dialects/anthropic-messages/wire.js';
import { STANDARD_QUIRKS } from '../../../dialects/shared/quirks.js';
import { systemReminder } from '../../../dialects/shared/system-reminder.js';
import { ToolNames } from '../../../dialects/shared/tool-names.js';

interface ClaudeTranscriptEntry {
  type: 'user' | 'assistant';
  uuid: string;
  parentUuid: string | null;
  sessionId: string;
  timestamp: string;
  cwd: string;
  version: string;
  userType: 'external';
  isSidechain: false;
  message: JsonObject;
}

export interface ClaudeTranscript {
  sessionId: string;
  /** At least one. */
  entries: readonly ClaudeTranscriptEntry[];
  /** Of the last entry. */
  at: string;
  losses: readonly Loss[];
}

interface ClaudeTranscriptOptions {
  cwd: string;
  model: string;
  /** Milliseconds since 1970. */
  now: number;
}

/** Only read by people and by migrations of older transcripts. */
const ENTRY_VERSION = '2.1.325';

const NO_USAGE = { input_tokens: 0, output_tokens: 0 } as const;

/**
 * Undefined where there is nothing to go on from. Names of tools are those that Claude Code knows.
 * Throws where the history does not end with the assistant.
 */
export function transcriptOf(
  history: readonly Message[],
  options: ClaudeTranscriptOptions,
): ClaudeTranscript | undefined {
  const last = history.at(-1);
  if (last === undefined) return undefined;
  if (last.role !== 'assistant') {
    throw new Error(`The history of a conversation ends with the ${last.role}, not with the assistant`);
  }
  const context = encodeContext();
  // What comes next answers open calls; without a stand-in for it they would count as interrupted.
  const { messages, system } = encodeHistory([], [...history.map(verbatim), standIn(last)], context);
  const wire = messages.slice(0, -1);
  const first = wire[0];
  if (first === undefined) return undefined;
  // Instructions before the first message have no place of their own in a transcript.
  if (system.length > 0) {
    const reminder = { type: 'text', text: systemReminder(textOf(system)) };
    wire[0] = { ...first, content: [reminder, ...first.content] };
  }
  const sessionId = randomUUID();
  const entries: ClaudeTranscriptEntry[] = [];
  for (const { role, content } of wire) {
    const previous = entries.at(-1)?.uuid ?? null;
    const message = role === 'assistant' ? assistantMessage(content, options.model) : { role, content };
    entries.push({
      type: role === 'assistant' ? 'assistant' : 'user',
      uuid: randomUUID(),
      parentUuid: previous,
      sessionId,
      timestamp: new Date(options.now - (wire.length - entries.length)).toISOString(),
      cwd: options.cwd,
      version: ENTRY_VERSION,
      userType: 'external',
      isSidechain: false,
      message,
    });
  }
  const at = entries.at(-1)?.uuid;
  return at === undefined ? undefined : { sessionId, entries, at, losses: context.losses.list() };
}

/**
 * What is new, as the one message to be sent: results first, in the order given. Instructions become
 * reminders, as in the history. Throws where the assistant speaks, or nothing is said.
 */
export function incomingMessage(messages: readonly Message[]): {
  message: SDKUserMessage;
  losses: readonly Loss[];
} {
  const context = encodeContext();
  const results: SentBlock[] = [];
  const others: SentBlock[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'assistant') throw new Error('The assistant does not write to itself');
    const blocks = message.role === 'system' ? reminder(message) : message.content;
    for (const [position, block] of blocks.entries()) {
      const encoded = encodeBlock(block, `messages.${index}.content.${position}`, context);
      if (encoded === undefined) continue;
      if (!isSent(encoded)) throw new Error(`A user message cannot hold ${String(encoded['type'])}`);
      (block.type === 'tool_result' ? results : others).push(encoded);
    }
  }
  const content = [...results, ...others];
  if (content.length === 0) throw new Error('There is nothing to send');
  return {
    message: {
      type: 'user',
      message: { role: 'user', content },
      parent_tool_use_id: null,
      client_composed: true,
    },
    losses: context.losses.list(),
  };
}

type SentBlock = Exclude<SDKUserMessage['message']['content'], string>[number];

/** Which blocks a user message has on this wire; what they hold is the encoder's to get right. */
const SENT: ReadonlySet<unknown> = new Set<SentBlock['type']>([
  'text',
  'image',
  'document',
  'tool_result',
  'search_result',
  'container_upload',
]);

const isSent = (block: JsonObject): block is JsonObject & SentBlock => SENT.has(block['type']);

function encodeContext(): EncodeContext {
  return {
    // Claude Code sets its own cache marks, and a request may have four of them.
    quirks: { ...STANDARD_QUIRKS, cacheControl: false, midSystem: false },
    losses: new LossLog(),
    names: new ToolNames(TOOL_NAME_LIMITS),
    native: false,
  };
}

/**
 * Thinking with its signature goes back as it came, from any provider: it is sent to the gateway again,
 * which knows its own proofs of other upstreams.
 */
function verbatim(message: Message): Message {
  if (!message.content.some(isThinking)) return message;
  return { ...message, content: message.content.map(verbatimBlock) };
}

const isThinking = ({ type }: Block): boolean => type === 'thinking' || type === 'redacted_thinking';

function verbatimBlock(block: Block): Block {
  if (block.type === 'redacted_thinking') {
    const value = { type: 'redacted_thinking', data: block.data };
    return { type: 'opaque', dialect: 'anthropic-messages', kind: block.type, value };
  }
  if (block.type !== 'thinking' || block.signature === undefined || block.signature === '') return block;
  const value = { type: 'thinking', thinking: block.thinking, signature: block.signature };
  return { type: 'opaque', dialect: 'anthropic-messages', kind: block.type, value };
}

function standIn(last: Message): Message {
  const results = last.content.flatMap((block): ToolResultBlock[] =>
    block.type === 'tool_use'
      ? [{ type: 'tool_result', toolUseId: block.id, content: [], isError: false }]
      : [],
  );
  return { role: 'user', content: results.length > 0 ? results : [{ type: 'text', text: '.' }] };
}

function reminder({ content }: Message): TextBlock[] {
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return texts.length === 0 ? [] : [{ type: 'text', text: systemReminder(texts.join('\n\n')) }];
}

function textOf(blocks: readonly JsonObject[]): string {
  return blocks.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n\n');
}

function assistantMessage(content: readonly JsonObject[], model: string): JsonObject {
  const calls = content.some(({ type }) => type === 'tool_use');
  return {
    id: `msg_${randomUUID().replaceAll('-', '')}`,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: calls ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: NO_USAGE,
  };
}
