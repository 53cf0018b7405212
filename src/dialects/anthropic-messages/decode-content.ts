/** Messages and blocks: wire to neutral. Paths are built only for a block or an error, never for a field. */
import type {
  Block,
  DocumentBlock,
  Extensions,
  ImageBlock,
  JsonObject,
  MediaSource,
  Message,
  OpaqueBlock,
  Role,
  TextBlock,
  ToolResultBlock,
  ToolResultContent,
  ToolUseBlock,
} from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { Memo } from '../../core/shared-values.js';
import { fail } from '../shared/read.js';
import {
  DIALECT,
  DOCUMENT_FIELDS,
  IMAGE_FIELDS,
  MESSAGE_FIELDS,
  REDACTED_FIELDS,
  SOURCE_FIELDS,
  TEXT_FIELDS,
  THINKING_FIELDS,
  TOOL_RESULT_FIELDS,
  TOOL_USE_FIELDS,
} from './wire.js';

const ROLES = ['user', 'assistant', 'system'] as const satisfies Role[];

/** Fields that `known` does not name. `null` is "not given": answers come back with their nulls. */
export function extraFields(value: JsonObject, known: ReadonlySet<string>): JsonObject | undefined {
  let rest: JsonObject | undefined;
  for (const key in value) {
    if (known.has(key) || key === '__proto__') continue;
    const field = value[key];
    if (field === null || field === undefined) continue;
    rest ??= {};
    rest[key] = field;
  }
  return rest;
}

function own(fields: JsonObject | undefined): Extensions | undefined {
  return fields === undefined ? undefined : { [DIALECT]: fields };
}

/** `block` with what only this wire has, where there is any. */
function extend<T extends { extensions?: Extensions }>(
  block: T,
  value: JsonObject,
  known: ReadonlySet<string>,
): T {
  const extensions = own(extraFields(value, known));
  if (extensions !== undefined) block.extensions = extensions;
  return block;
}

const systemBlocks = new Memo<JsonObject, TextBlock>();
const decodedMessages = new Memo<JsonObject, Message>();

export function decodeSystem(value: unknown): TextBlock[] {
  if (value === undefined || value === null || value === '') return [];
  if (typeof value === 'string') return [{ type: 'text', text: value }];
  if (!Array.isArray(value)) return fail('system', 'a string or an array of text blocks', value);
  return value.map((block: unknown, index) => {
    const path = `system.${index}`;
    if (!isObject(block)) return fail(path, 'a text block', block);
    if (block['type'] !== 'text') return fail(`${path}.type`, '"text"', block['type']);
    return systemBlocks.get(block) ?? systemBlocks.keep(block, decodeText(block, path));
  });
}

export function decodeMessages(value: unknown): Message[] {
  if (!Array.isArray(value)) return fail('messages', 'an array', value);
  if (value.length === 0) return fail('messages', 'at least one message', value);
  const messages: Message[] = [];
  for (let index = 0; index < value.length; index += 1) messages.push(decodeMessage(value[index], index));
  return messages;
}

function decodeMessage(value: unknown, index: number): Message {
  if (!isObject(value)) return fail(`messages.${index}`, 'an object', value);
  const known = decodedMessages.get(value);
  if (known !== undefined) return known;
  const role = value['role'];
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    return fail(`messages.${index}.role`, `one of ${ROLES.map((each) => `"${each}"`).join(', ')}`, role);
  }
  const message: Message = { role, content: decodeContent(value['content'], role, index) };
  return decodedMessages.keep(value, extend(message, value, MESSAGE_FIELDS));
}

function decodeContent(content: unknown, role: Role, index: number): Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (Array.isArray(content)) {
    const blocks: Block[] = [];
    for (let position = 0; position < content.length; position += 1) {
      blocks.push(decodeBlock(content[position], role, `messages.${index}.content.${position}`));
    }
    return blocks;
  }
  // A system message may carry nothing but its own settings (`output_config`).
  if (role === 'system' && (content === undefined || content === null)) return [];
  return fail(`messages.${index}.content`, 'a string or an array of content blocks', content);
}

function decodeBlock(block: unknown, role: Role, path: string): Block {
  if (!isObject(block)) return fail(path, 'a content block', block);
  switch (block['type']) {
    case 'text':
      return decodeText(block, path);
    case 'tool_use':
      return role === 'assistant' ? decodeToolUse(block, path) : misplaced(block, role, path);
    case 'tool_result':
      return role === 'user' ? decodeToolResult(block, path) : misplaced(block, role, path);
    case 'thinking':
      return role === 'assistant' ? decodeThinking(block, path) : misplaced(block, role, path);
    case 'redacted_thinking':
      return role === 'assistant' ? decodeRedacted(block, path) : misplaced(block, role, path);
    case 'image':
      return decodeImage(block, path);
    case 'document':
      return decodeDocument(block, path);
    default:
      return decodeOpaque(block, path);
  }
}

function misplaced(block: JsonObject, role: Role, path: string): never {
  return fail(`${path}.type`, `a block that ${role} messages may hold`, block['type']);
}

function decodeOpaque(block: JsonObject, path: string): OpaqueBlock {
  const kind = block['type'];
  if (typeof kind !== 'string' || kind === '')
    return fail(`${path}.type`, 'the type of a content block', kind);
  return { type: 'opaque', dialect: DIALECT, kind, value: block };
}

function decodeText(block: JsonObject, path: string): TextBlock {
  const text = block['text'];
  if (typeof text !== 'string') return fail(`${path}.text`, 'a string', text);
  return extend<TextBlock>({ type: 'text', text }, block, TEXT_FIELDS);
}

function decodeThinking(block: JsonObject, path: string): Block {
  const { thinking, signature } = block;
  if (typeof thinking !== 'string') return fail(`${path}.thinking`, 'a string', thinking);
  if (signature === undefined || signature === null || signature === '') {
    return extend<Block & { type: 'thinking' }>({ type: 'thinking', thinking }, block, THINKING_FIELDS);
  }
  if (typeof signature !== 'string') return fail(`${path}.signature`, 'a string', signature);
  return extend<Block & { type: 'thinking' }>(
    { type: 'thinking', thinking, signature },
    block,
    THINKING_FIELDS,
  );
}

function decodeRedacted(block: JsonObject, path: string): Block {
  const { data } = block;
  if (typeof data !== 'string') return fail(`${path}.data`, 'a string', data);
  return extend<Block & { type: 'redacted_thinking' }>(
    { type: 'redacted_thinking', data },
    block,
    REDACTED_FIELDS,
  );
}

function decodeToolUse(block: JsonObject, path: string): ToolUseBlock {
  const { id, name } = block;
  const input = block['input'] ?? {};
  if (typeof id !== 'string' || id === '') return fail(`${path}.id`, 'a non-empty string', id);
  if (typeof name !== 'string' || name === '') return fail(`${path}.name`, 'a non-empty string', name);
  if (!isObject(input)) return fail(`${path}.input`, 'an object', input);
  return extend<ToolUseBlock>({ type: 'tool_use', id, name, input }, block, TOOL_USE_FIELDS);
}

function decodeToolResult(block: JsonObject, path: string): ToolResultBlock {
  const toolUseId = block['tool_use_id'];
  const isError = block['is_error'] ?? false;
  if (typeof toolUseId !== 'string' || toolUseId === '') {
    return fail(`${path}.tool_use_id`, 'a non-empty string', toolUseId);
  }
  if (typeof isError !== 'boolean') return fail(`${path}.is_error`, 'true or false', isError);
  const content = decodeResultContent(block['content'], path);
  return extend<ToolResultBlock>(
    { type: 'tool_result', toolUseId, content, isError },
    block,
    TOOL_RESULT_FIELDS,
  );
}

function decodeResultContent(content: unknown, path: string): ToolResultContent[] {
  if (content === undefined || content === null || content === '') return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) {
    return fail(`${path}.content`, 'a string or an array of content blocks', content);
  }
  return content.map((block: unknown, index) => {
    const at = `${path}.content.${index}`;
    if (!isObject(block)) return fail(at, 'a content block', block);
    switch (block['type']) {
      case 'text':
        return decodeText(block, at);
      case 'image':
        return decodeImage(block, at);
      case 'document':
        return decodeDocument(block, at);
      default:
        return decodeOpaque(block, at);
    }
  });
}

function decodeImage(block: JsonObject, path: string): ImageBlock | OpaqueBlock {
  const value = readSource(block, path);
  const source = value['type'] === 'text' ? undefined : decodeSource(value, `${path}.source`);
  if (source === undefined) return decodeOpaque(block, path);
  return keepSource(extend<ImageBlock>({ type: 'image', source }, block, IMAGE_FIELDS), value);
}

function decodeDocument(block: JsonObject, path: string): DocumentBlock | OpaqueBlock {
  const value = readSource(block, path);
  const source = decodeSource(value, `${path}.source`) ?? textOfContent(value);
  if (source === undefined) return decodeOpaque(block, path);
  const title = block['title'];
  const document: DocumentBlock = { type: 'document', source };
  if (title !== undefined && title !== null) {
    document.title = typeof title === 'string' ? title : fail(`${path}.title`, 'a string', title);
  }
  return keepSource(extend(document, block, DOCUMENT_FIELDS), value);
}

function readSource(block: JsonObject, path: string): JsonObject {
  const { source } = block;
  return isObject(source) ? source : fail(`${path}.source`, 'an object', source);
}

/** Undefined for a kind of source that this version does not know. */
function decodeSource(source: JsonObject, path: string): MediaSource | undefined {
  const string = (name: string): string => {
    const field = source[name];
    return typeof field === 'string' ? field : fail(`${path}.${name}`, 'a string', field);
  };
  switch (source['type']) {
    case 'base64':
      return { type: 'base64', mediaType: string('media_type'), data: string('data') };
    case 'text':
      return { type: 'text', mediaType: string('media_type'), data: string('data') };
    case 'url':
      return { type: 'url', url: string('url') };
    case 'file':
      return { type: 'file', fileId: string('file_id') };
    default:
      return typeof source['type'] === 'string'
        ? undefined
        : fail(`${path}.type`, 'a string', source['type']);
  }
}

/** A `content` source is text to every other wire; with images in it there is no such reading. */
function textOfContent(source: JsonObject): MediaSource | undefined {
  if (source['type'] !== 'content') return undefined;
  const { content } = source;
  if (typeof content === 'string') return { type: 'text', mediaType: 'text/plain', data: content };
  if (!Array.isArray(content)) return undefined;
  const texts: string[] = [];
  for (const part of content) {
    const text: unknown = isObject(part) && part['type'] === 'text' ? part['text'] : undefined;
    if (typeof text !== 'string') return undefined;
    texts.push(text);
  }
  return { type: 'text', mediaType: 'text/plain', data: texts.join('\n') };
}

/** A source that the neutral one does not say whole comes back verbatim on this wire. */
function keepSource<T extends ImageBlock | DocumentBlock>(block: T, source: JsonObject): T {
  const known = SOURCE_FIELDS[String(source['type'])];
  if (known !== undefined && extraFields(source, known) === undefined) return block;
  block.extensions = { [DIALECT]: { ...block.extensions?.[DIALECT], source } };
  return block;
}
