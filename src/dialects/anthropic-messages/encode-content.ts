/** Blocks: neutral to wire. What the upstream cannot take is a loss, and text where text can stand for it. */
import type {
  Block,
  DocumentBlock,
  Extensions,
  ImageBlock,
  JsonObject,
  MediaSource,
  OpaqueBlock,
  ToolResultBlock,
} from '../../core/conversation.js';
import type { LossLog } from '../../core/losses.js';
import { textOfOpaque } from '../shared/as-text.js';
import { loseForeign } from '../shared/foreign-extensions.js';
import type { Quirks } from '../shared/quirks.js';
import type { ToolNames } from '../shared/tool-names.js';
import { DIALECT, fitId, isOwnProof } from './wire.js';

export interface EncodeContext {
  quirks: Quirks;
  losses: LossLog;
  names: ToolNames;
  /** The client speaks this wire too: it knows the rules, and what it sent goes out as it came. */
  native: boolean;
}

/** The API refuses text without a visible character. */
export const hasText = (text: string): boolean => /\S/.test(text);

/** `wire` with what this dialect kept of the block. */
export function restore(
  wire: JsonObject,
  extensions: Extensions | undefined,
  path: string,
  context: EncodeContext,
): JsonObject {
  if (extensions === undefined) return wire;
  const own = extensions[DIALECT];
  for (const key in own) {
    if (key !== 'cache_control' || context.quirks.cacheControl) wire[key] = own[key];
  }
  loseForeign(path, extensions, DIALECT, context.losses);
  return wire;
}

/** Undefined for a block that is left out. */
export function encodeBlock(block: Block, path: string, context: EncodeContext): JsonObject | undefined {
  switch (block.type) {
    case 'text':
      if (!hasText(block.text)) return undefined;
      return restore({ type: 'text', text: block.text }, block.extensions, path, context);
    case 'tool_use': {
      const { id, name, input } = block;
      const wire = { type: 'tool_use', id: fitId(id), name: context.names.encode(name), input };
      return restore(wire, block.extensions, path, context);
    }
    case 'tool_result':
      return encodeToolResult(block, path, context);
    case 'thinking': {
      const { thinking, signature } = block;
      if (!isOwnProof(signature)) return lose(path, 'thinking without a signature of this wire', context);
      return restore({ type: 'thinking', thinking, signature }, block.extensions, path, context);
    }
    case 'redacted_thinking':
      if (!isOwnProof(block.data)) return lose(path, "another wire's encrypted thinking", context);
      return restore({ type: 'redacted_thinking', data: block.data }, block.extensions, path, context);
    case 'image':
      return encodeImage(block, path, context);
    case 'document':
      return encodeDocument(block, path, context);
    case 'opaque':
      return encodeOpaque(block, path, context);
  }
}

function lose(path: string, reason: string, context: EncodeContext): undefined {
  context.losses.add(path, reason);
  return undefined;
}

function encodeToolResult(block: ToolResultBlock, path: string, context: EncodeContext): JsonObject {
  const content: JsonObject[] = [];
  for (const [index, part] of block.content.entries()) {
    const at = `${path}.content.${index}`;
    const encoded =
      part.type === 'image' && context.quirks.toolResultImage === 'omit'
        ? omitted(part, at, context)
        : encodeBlock(part, at, context);
    if (encoded !== undefined) content.push(encoded);
  }
  // An error without content is a 400.
  if (block.isError && content.length === 0) content.push({ type: 'text', text: 'Error' });
  const wire: JsonObject = { type: 'tool_result', tool_use_id: fitId(block.toolUseId) };
  if (content.length > 0) wire['content'] = content;
  if (block.isError) wire['is_error'] = true;
  return restore(wire, block.extensions, path, context);
}

function encodeOpaque(block: OpaqueBlock, path: string, context: EncodeContext): JsonObject | undefined {
  if (block.dialect !== DIALECT) {
    return lose(path, `${block.kind} is known to ${block.dialect} only`, context);
  }
  const { tool_name: name, $own: own } = block.value;
  if (own === true && typeof name === 'string') {
    if (!context.quirks.toolSearch) return { type: 'text', text: textOfOpaque(block) ?? name };
    return { type: 'tool_reference', tool_name: context.names.encode(name) };
  }
  if (context.quirks.cacheControl || block.value['cache_control'] === undefined) return block.value;
  const { cache_control: _, ...value } = block.value;
  return value;
}

function encodeImage(block: ImageBlock, path: string, context: EncodeContext): JsonObject {
  const source = context.quirks.images ? encodeSource(block.source, context) : undefined;
  if (source === undefined) return omitted(block, path, context);
  return restore({ type: 'image', source }, block.extensions, path, context);
}

/** A placeholder for the model, for content that cannot be carried. */
function omitted(block: ImageBlock | DocumentBlock, path: string, context: EncodeContext): JsonObject {
  const { source } = block;
  const kind = 'mediaType' in source && source.mediaType !== undefined ? `: ${source.mediaType}` : '';
  context.losses.add(path, `the upstream takes no such ${block.type}`);
  return { type: 'text', text: `[${block.type} omitted${kind}]` };
}

function encodeDocument(block: DocumentBlock, path: string, context: EncodeContext): JsonObject {
  const { title } = block;
  const plain = plainText(block.source);
  if (!context.quirks.documents) {
    if (plain === undefined || !hasText(plain)) return omitted(block, path, context);
    return { type: 'text', text: title === undefined ? plain : `${title}\n\n${plain}` };
  }
  const source =
    plain === undefined
      ? encodeSource(block.source, context)
      : { type: 'text', media_type: 'text/plain', data: plain };
  if (source === undefined || (source['type'] === 'base64' && source['media_type'] !== 'application/pdf')) {
    return omitted(block, path, context);
  }
  const wire: JsonObject = { type: 'document', source };
  if (title !== undefined) wire['title'] = title;
  return restore(wire, block.extensions, path, context);
}

const TEXTUAL = /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|javascript)\b)/;

/** What a document says, where it is text; as a document the wire has PDF and plain text only. */
function plainText(source: MediaSource): string | undefined {
  if (source.type === 'text') return source.data;
  if (source.type !== 'base64' || !TEXTUAL.test(source.mediaType)) return undefined;
  return Buffer.from(source.data, 'base64').toString('utf8');
}

/** Undefined for a file that only another provider holds. */
function encodeSource(source: MediaSource, context: EncodeContext): JsonObject | undefined {
  switch (source.type) {
    case 'base64': {
      const mediaType = source.mediaType === 'image/jpg' ? 'image/jpeg' : source.mediaType;
      return { type: 'base64', media_type: mediaType, data: source.data };
    }
    case 'url':
      return { type: 'url', url: source.url };
    case 'file':
      if (!context.native && !source.fileId.startsWith('file_')) return undefined;
      return { type: 'file', file_id: source.fileId };
    case 'text':
      return { type: 'text', media_type: source.mediaType, data: source.data };
  }
}
