/**
 * A conversation as its client sees it, in a form in which two tellings of it are equal: clients
 * join and split texts, drop thinking, and echo messages in the shape of their own dialect.
 */
import type { Block, Message, Role } from '../../../core/conversation.js';

/** One thing that was said, with the message that it ends in. */
export interface Atom {
  key: string;
  message: number;
}

export function atomsOf(messages: readonly Message[]): Atom[] {
  const atoms: Atom[] = [];
  let text: { role: Role; message: number } | undefined;
  for (const [index, { role, content }] of messages.entries()) {
    for (const block of content) {
      const key = keyOf(block);
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

/** Undefined for what clients leave out, and for nothing at all. */
function keyOf(block: Block): string | undefined {
  switch (block.type) {
    case 'text':
      return block.text.replace(/\s+/g, '') || undefined;
    case 'tool_use':
      return `call|${block.id}|${block.name}`;
    case 'tool_result':
      return `result|${block.toolUseId}`;
    case 'image':
    case 'document':
      return `${block.type}|${sourceKey(block.source)}`;
    default:
      return undefined;
  }
}

function sourceKey(source: Extract<Block, { type: 'image' | 'document' }>['source']): string {
  switch (source.type) {
    case 'base64':
    case 'text':
      return `${source.data.length}|${source.data.slice(0, 64)}|${source.data.slice(-64)}`;
    case 'url':
      return source.url;
    case 'file':
      return source.fileId;
  }
}

/** How many of `known` the atoms begin with. */
export function commonLength(known: readonly string[], atoms: readonly Atom[]): number {
  let length = 0;
  while (length < known.length && atoms[length]?.key === known[length]) length += 1;
  return length;
}

/** The messages behind the first `length` atoms; undefined when that is in the middle of one. */
export function messagesAfter(
  messages: readonly Message[],
  atoms: readonly Atom[],
  length: number,
): Message[] | undefined {
  const last = atoms[length - 1];
  if (last === undefined) return [...messages];
  if (atoms[length]?.message === last.message) return undefined;
  const rest = messages.slice(last.message + 1);
  // An answer that said nothing to anybody is no message of its own.
  while (rest[0]?.role === 'assistant' && atomsOf(rest.slice(0, 1)).length === 0) rest.shift();
  return rest;
}
