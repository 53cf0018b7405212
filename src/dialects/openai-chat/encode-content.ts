/** Text, images and documents inside a message: neutral to wire. */
import type {
  Block,
  DocumentBlock,
  ImageBlock,
  JsonObject,
  OpaqueBlock,
  TextBlock,
  ToolResultBlock,
} from '../../core/conversation.js';
import type { LossLog } from '../../core/losses.js';
import { textOfOpaque } from '../shared/as-text.js';
import { dataUrl } from '../shared/data-url.js';
import { restorerOf } from '../shared/foreign-extensions.js';
import type { Quirks } from '../shared/quirks.js';
import type { ToolNames } from '../shared/tool-names.js';
import { DIALECT } from './wire.js';

export interface EncodeContext {
  quirks: Quirks;
  losses: LossLog;
  names: ToolNames;
}

export const restore = restorerOf(DIALECT);

/** The blocks from `from` on as text, or as parts where there is more. Empty when nothing is left. */
export function encodeContent(
  blocks: readonly Block[],
  path: string,
  context: EncodeContext,
  from = 0,
): string | JsonObject[] {
  const parts: JsonObject[] = [];
  let plain = true;
  for (let index = from; index < blocks.length; index += 1) {
    const block = blocks[index];
    if (block === undefined) continue;
    for (const part of encodePart(block, `${path}.content.${index}`, context)) {
      if (part['type'] !== 'text' || Object.keys(part).length > 2) plain = false;
      parts.push(part);
    }
  }
  // Many servers take nothing but a string here.
  return plain ? parts.map((part) => part['text']).join('\n\n') : parts;
}

function encodePart(block: Block, path: string, context: EncodeContext): JsonObject[] {
  switch (block.type) {
    case 'text':
      if (block.text === '') return [];
      return [restore(textPart(block.text), block.extensions, path, context.losses)];
    case 'image':
      return [encodeImage(block, path, context)];
    case 'document':
      return [encodeDocument(block, path, context)];
    case 'opaque':
      return encodeOpaque(block, path, context);
    default:
      context.losses.add(path, `${block.type} has no place in a message of this role`);
      return [];
  }
}

function textPart(text: string): JsonObject {
  return { type: 'text', text };
}

function encodeImage(block: ImageBlock, path: string, context: EncodeContext): JsonObject {
  const { source } = block;
  const url =
    source.type === 'base64'
      ? dataUrl(source.mediaType, source.data)
      : source.type === 'url'
        ? source.url
        : undefined;
  if (url === undefined || !context.quirks.images) return omitted(block, path, context);
  const image: JsonObject = { url };
  const part: JsonObject = { type: 'image_url', image_url: image };
  const detail =
    block.extensions?.[DIALECT]?.['detail'] ?? block.extensions?.['openai-responses']?.['detail'];
  if (detail !== undefined) image['detail'] = detail;
  restore(part, block.extensions, path, context.losses);
  delete part['detail'];
  return part;
}

function encodeDocument(block: DocumentBlock, path: string, context: EncodeContext): JsonObject {
  const { source, title } = block;
  const text = plainText(block);
  if (text !== undefined) return textPart(title === undefined ? text : `${title}\n\n${text}`);
  const file: JsonObject = {};
  if (source.type === 'base64') {
    file['filename'] = title ?? 'document.pdf';
    file['file_data'] = dataUrl(source.mediaType, source.data);
  } else if (source.type === 'file' && !isAnthropicFile(source.fileId)) {
    file['file_id'] = source.fileId;
    if (title !== undefined) file['filename'] = title;
  }
  const known = file['file_data'] ?? file['file_id'];
  if (known === undefined || !context.quirks.documents) return omitted(block, path, context);
  return restore({ type: 'file', file }, block.extensions, path, context.losses);
}

/** Ids of Anthropic's files begin so; OpenAI's begin with `file-`. */
function isAnthropicFile(fileId: string): boolean {
  return fileId.startsWith('file_');
}

const TEXTUAL = /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|javascript)\b)/;

function plainText({ source }: DocumentBlock): string | undefined {
  if (source.type === 'text') return source.data;
  if (source.type !== 'base64' || !TEXTUAL.test(source.mediaType)) return undefined;
  return Buffer.from(source.data, 'base64').toString('utf8');
}

/** A placeholder for the model, for content that cannot be carried. */
function omitted(block: ImageBlock | DocumentBlock, path: string, context: EncodeContext): JsonObject {
  const { source } = block;
  const kind = 'mediaType' in source && source.mediaType !== undefined ? `: ${source.mediaType}` : '';
  const where = source.type === 'url' ? ` at ${source.url}` : '';
  context.losses.add(path, `the upstream takes no such ${block.type}`);
  return textPart(`[${block.type} omitted${kind}${where}]`);
}

function encodeOpaque(block: OpaqueBlock, path: string, context: EncodeContext): JsonObject[] {
  if (block.dialect === DIALECT) return [block.value];
  const text = textOfOpaque(block);
  if (text !== undefined) return [textPart(text)];
  context.losses.add(path, `${block.kind} is known to ${block.dialect} only`);
  return [];
}

interface EncodedResult {
  content: string | JsonObject[];
  /** What has to follow in a user message, because a tool message takes text only. */
  media: JsonObject[];
}

/** A tool's result. The wire has no field for an error, so the text says it. */
export function encodeResult(block: ToolResultBlock, path: string, context: EncodeContext): EncodedResult {
  const { toolResultImage } = context.quirks;
  const texts: string[] = [];
  const media: JsonObject[] = [];
  for (const [index, each] of block.content.entries()) {
    const at = `${path}.content.${index}`;
    const parts =
      each.type === 'image' && toolResultImage === 'omit'
        ? [omitted(each, at, context)]
        : encodePart(each, at, context);
    for (const part of parts) {
      if (part['type'] === 'text') texts.push(String(part['text']));
      else media.push(part);
    }
  }
  const text = said(texts.join('\n'), block.isError);
  if (media.length === 0) return { content: text, media };
  if (toolResultImage === 'inline') {
    return { content: text === '' ? media : [textPart(text), ...media], media: [] };
  }
  return { content: text === '' ? '[The result is attached in the next message.]' : text, media };
}

const SAYS_SO = /^\s*(?:error\b|<tool_use_error>|\[?(?:error|failed)\b)/i;

function said(text: string, isError: boolean): string {
  if (!isError || SAYS_SO.test(text)) return text;
  return text === '' ? 'Error: the tool failed without a message.' : `Error: ${text}`;
}

/** The text of a message that is nothing else. */
export function joinText(blocks: readonly TextBlock[]): string {
  return blocks
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join('\n\n');
}
