/**
 * Normalizes a conversation as its client sees it, so that two forms of it have one fingerprint:
 * clients join and split texts, drop thinking, serialize arguments with their keys in another order,
 * and echo messages in the shape of their own dialect.
 */
import { createHash } from 'node:crypto';
import type {
  Block,
  MediaSource,
  Message,
  Role,
  TextBlock,
  ToolResultBlock,
  ToolResultContent,
  ToolUseBlock,
} from '../../core/conversation.js';
import { Memo } from '../../core/shared-values.js';

/** One unit of a conversation, with the message that it ends in. */
export interface Atom {
  key: string;
  message: number;
}

/** The keys of messages whose atoms no other message touches. */
const known = new Memo<Message, readonly string[]>({ last: true });

function keysAlone(message: Message): readonly string[] {
  return (
    known.get(message) ??
    known.keep(
      message,
      joinedAtoms([message]).map(({ key }) => key),
    )
  );
}

/** A history that is sent again is normalized once: see `core/shared-values.ts`. */
export function atomsOf(messages: readonly Message[]): Atom[] {
  const atoms: Atom[] = [];
  const keys = messages.map((message) => (message.role === 'assistant' ? undefined : keysAlone(message)));
  // Answers are joined up to the next message of somebody else that says something.
  const joins = (index: number) => index < messages.length && !((keys[index]?.length ?? 0) > 0);
  for (let index = 0, end = 0; index < messages.length; index = end) {
    end = index + 1;
    if (joins(index)) while (joins(end)) end += 1;
    const [message, ...others] = messages.slice(index, end);
    if (message === undefined) break;
    if (others.length > 0) {
      for (const atom of joinedAtoms([message, ...others])) {
        atoms.push({ key: atom.key, message: index + atom.message });
      }
    } else for (const key of keys[index] ?? keysAlone(message)) atoms.push({ key, message: index });
  }
  return atoms;
}

function joinedAtoms(messages: readonly Message[]): Atom[] {
  const atoms: Atom[] = [];
  const runs = runsOf(messages);
  let said: SaidAtom | undefined;
  for (const [index, { role, content }] of messages.entries()) {
    for (const block of content) {
      if (block.type === 'text') {
        // Many clients keep the calls of an answer and drop what was said beside them.
        if (runs[index]?.calls === true || isBlank(block.text)) continue;
        // Only an assistant's texts are spread over messages by some dialects.
        const joins = said?.role === role && (said.message === index || role === 'assistant');
        if (said === undefined || !joins) {
          said = new SaidAtom(role);
          atoms.push(said);
        }
        said.add(block.text, index);
        continue;
      }
      const key = keyOf(block, role);
      if (key === undefined) continue;
      atoms.push({ key: `${role}|${key}`, message: index });
      said = undefined;
    }
  }
  return atoms;
}

/** Adjacent texts count as one: clients join and split them. */
class SaidAtom implements Atom {
  readonly role: Role;
  message = -1;
  readonly #texts: string[] = [];
  #key: string | undefined;

  constructor(role: Role) {
    this.role = role;
  }

  add(text: string, message: number): void {
    this.#texts.push(text);
    this.message = message;
  }

  get key(): string {
    this.#key ??= `${this.role}|text|${this.role === 'assistant' ? spoken(this.#texts) : written(this.#texts)}`;
    return this.#key;
  }
}

const isBlank = (text: string): boolean => !/\S/.test(text);

/** An answer comes in pieces, which clients join with blanks, lines or nothing between. */
const spoken = (texts: readonly string[]): string => texts.join('').replace(/\s+/g, '');

/**
 * Clients send a written text unchanged except for its ends, its line ends, and the lines or blanks
 * that join texts. The indentation of a line is part of the text.
 */
function written(texts: readonly string[]): string {
  return (
    texts
      .join('\n')
      .trim()
      // One blank stays as it is: most runs are.
      .replace(/\s{2,}|[^\S ]/g, (run) => {
        const line = run.lastIndexOf('\n');
        const depth = line < 0 ? '' : run.slice(line + 1);
        return depth === '' ? ' ' : `\n${depth}`;
      })
  );
}

/**
 * For each message whether its answer makes calls: some dialects spread an answer over several
 * messages.
 */
function runsOf(messages: readonly Message[]): { calls: boolean }[] {
  let run = { calls: false };
  let before: Role | undefined;
  return messages.map((message) => {
    if (message.role !== 'assistant' || before !== 'assistant') run = { calls: false };
    before = message.role;
    run.calls ||= message.role === 'assistant' && message.content.some(({ type }) => type === 'tool_use');
    return run;
  });
}

/** Equal for two forms of one call. */
export function toolCallKey({ id, name, input }: Pick<ToolUseBlock, 'id' | 'name' | 'input'>): string {
  return JSON.stringify(['call', id, name, canonical(input)]);
}

/** Equal for two forms of one result. */
export function resultKey({
  toolUseId,
  content,
  isError,
}: Pick<ToolResultBlock, 'toolUseId' | 'content' | 'isError'>): string {
  const parts: string[] = [];
  let texts: string[] = [];
  const flush = () => {
    if (texts.length > 0) parts.push(`text|${written(texts)}`);
    texts = [];
  };
  for (const block of content) {
    if (block.type !== 'text') {
      flush();
      parts.push(contentKey(block));
    } else if (!isBlank(block.text)) texts.push(block.text);
  }
  flush();
  return JSON.stringify(['result', toolUseId, isError, parts]);
}

/** The key of a block beside results, or undefined for an empty one. */
export function saidKey(block: Block): string | undefined {
  const key = keyOf(block, 'user');
  return key === undefined ? undefined : `${block.type}|${key}`;
}

/** Undefined for blocks that clients leave out, and for empty ones. */
function keyOf(block: Block, role: Role): string | undefined {
  switch (block.type) {
    case 'text':
      return written([block.text]) || undefined;
    case 'image':
    case 'document':
      return contentKey(block);
    case 'tool_use':
      return toolCallKey(block);
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

function contentKey(block: Exclude<ToolResultContent, TextBlock>): string {
  switch (block.type) {
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

/** Tools are sent again with every request. */
const ordered = new Memo<object, { text: string }>({ last: true });

/** JSON with its keys in order: clients parse arguments and write them again. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const { text } = ordered.get(value) ?? ordered.keep(value, { text: inOrder(value) });
  return text;
}

function inOrder(value: object): string {
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join(',')}}`;
}

/** The messages after the first `length` atoms, which must not end in the middle of one. */
export function messagesAfter(
  messages: readonly Message[],
  atoms: readonly Atom[],
  length: number,
): Message[] {
  const last = atoms[length - 1];
  let from = last === undefined ? 0 : last.message + 1;
  // An assistant message without visible content is skipped.
  while (saysNothing(messages[from])) from += 1;
  return messages.slice(from);
}

const saysNothing = (message: Message | undefined): boolean =>
  message?.role === 'assistant' && atomsOf([message]).length === 0;

export function resultsIn(messages: readonly Message[]): ToolResultBlock[] {
  return messages.flatMap(({ content }) => content.filter((block) => block.type === 'tool_result'));
}

export function toolCallsIn(message: Message | undefined): ToolUseBlock[] {
  return message?.role === 'assistant' ? message.content.filter((block) => block.type === 'tool_use') : [];
}
