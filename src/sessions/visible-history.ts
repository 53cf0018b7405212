/**
 * A conversation as its client sees it, in a form in which two tellings of it are equal: clients
 * join and split texts, drop thinking, write arguments again with their keys in another order, and
 * echo messages in the shape of their own dialect.
 */
import { createHash } from 'node:crypto';
import type {
  Block,
  MediaSource,
  Message,
  Role,
  ToolResultBlock,
  ToolResultContent,
  ToolUseBlock,
} from '../core/conversation.js';

/** One thing that was said, with the message that it ends in. */
export interface Atom {
  key: string;
  message: number;
}

export function atomsOf(messages: readonly Message[]): Atom[] {
  const atoms: Atom[] = [];
  const calling = messagesThatCall(messages);
  let text: { role: Role; message: number } | undefined;
  for (const [index, { role, content }] of messages.entries()) {
    for (const block of content) {
      // Many clients keep the calls of an answer and drop what was said beside them.
      if (block.type === 'text' && calling.has(index)) continue;
      const key = keyOf(block, role);
      if (key === undefined) continue;
      const last = atoms.at(-1);
      const isText = block.type === 'text';
      // Only an assistant's texts are spread over messages by some dialects.
      const joins = text?.role === role && (text.message === index || role === 'assistant');
      if (isText && joins && last !== undefined) {
        last.key += key;
        last.message = index;
      } else {
        atoms.push({ key: `${role}|${isText ? 'text|' : ''}${key}`, message: index });
      }
      text = isText ? { role, message: index } : undefined;
    }
  }
  return atoms;
}

/** Messages of an assistant that make calls, or stand beside one that does: some dialects spread an answer over several. */
function messagesThatCall(messages: readonly Message[]): Set<number> {
  const calling = new Set<number>();
  let answer: number[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant') answer = [];
    else answer.push(index);
    if (callsIn(message).length > 0 || answer.some((each) => calling.has(each))) {
      for (const each of answer) calling.add(each);
    }
  }
  return calling;
}

/** The same for two tellings of one call. */
export function callKey({ id, name, input }: Pick<ToolUseBlock, 'id' | 'name' | 'input'>): string {
  return JSON.stringify(['call', id, name, canonical(input)]);
}

/** The same for two tellings of one result. */
export function resultKey({
  toolUseId,
  content,
  isError,
}: Pick<ToolResultBlock, 'toolUseId' | 'content' | 'isError'>): string {
  const parts: string[] = [];
  let joins = false;
  for (const block of content) {
    const key = contentKey(block);
    if (key === undefined) continue;
    const isText = block.type === 'text';
    if (isText && joins) parts.push(`${parts.pop() ?? ''}${key}`);
    else parts.push(isText ? `text|${key}` : key);
    joins = isText;
  }
  return JSON.stringify(['result', toolUseId, isError, parts]);
}

/** What one block beside results says, or undefined for nothing. */
export function saidKey(block: Block): string | undefined {
  const key = keyOf(block, 'user');
  return key === undefined ? undefined : `${block.type}|${key}`;
}

/** Undefined for what clients leave out, and for nothing at all. */
function keyOf(block: Block, role: Role): string | undefined {
  switch (block.type) {
    case 'text':
    case 'image':
    case 'document':
      return contentKey(block);
    case 'tool_use':
      return callKey(block);
    case 'tool_result':
      return resultKey(block);
    case 'opaque':
      // What an upstream's own tools did is left out by many clients when they echo it.
      return role === 'assistant' ? undefined : contentKey(block);
    case 'thinking':
    case 'redacted_thinking':
      return undefined;
  }
}

function contentKey(block: ToolResultContent): string | undefined {
  switch (block.type) {
    case 'text':
      return block.text.replace(/\s+/g, '') || undefined;
    case 'image':
    case 'document':
      return `${block.type}|${sourceKey(block.source)}`;
    case 'opaque': {
      const { cache_control: _, ...value } = block.value;
      return `opaque|${block.kind}|${canonical(value)}`;
    }
  }
}

function sourceKey(source: MediaSource): string {
  switch (source.type) {
    case 'base64':
    case 'text':
      return createHash('sha256').update(source.data).digest('base64url');
    case 'url':
      return source.url;
    case 'file':
      return `file|${source.fileId}`;
  }
}

/** JSON with its keys in order: clients parse arguments and write them again. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join(',')}}`;
}

/** The messages behind the first `length` atoms, which must not end in the middle of one. */
export function messagesAfter(
  messages: readonly Message[],
  atoms: readonly Atom[],
  length: number,
): Message[] {
  const last = atoms[length - 1];
  const rest = messages.slice(last === undefined ? 0 : last.message + 1);
  // An answer that said nothing to anybody is no message of its own.
  while (rest[0]?.role === 'assistant' && atomsOf(rest.slice(0, 1)).length === 0) rest.shift();
  return rest;
}

export function resultsIn(messages: readonly Message[]): ToolResultBlock[] {
  return messages.flatMap(({ content }) => content.filter((block) => block.type === 'tool_result'));
}

export function callsIn(message: Message | undefined): ToolUseBlock[] {
  return message?.role === 'assistant' ? message.content.filter((block) => block.type === 'tool_use') : [];
}
