/** Text, images and documents inside an item: neutral to wire. */
import type {
  Block,
  DocumentBlock,
  ImageBlock,
  JsonObject,
  OpaqueBlock,
  ToolResultBlock,
} from '../../core/conversation.js';
import type { LossLog } from '../../core/losses.js';
import { isAnthropicFile, omittedText, plainText, resultText, textOfOpaque } from '../shared/as-text.js';
import { dataUrl } from '../shared/data-url.js';
import { restorerOf } from '../shared/foreign-extensions.js';
import type { Quirks } from '../shared/quirks.js';
import type { ToolNames } from '../shared/tool-names.js';
import type { OwnSearch } from './own-search.js';
import { DIALECT } from './wire.js';

export interface EncodeContext {
  quirks: Quirks;
  losses: LossLog;
  names: ToolNames;
  /** The upstream keeps the conversation and knows its items by their ids. */
  held: boolean;
  /** Undefined where the upstream does not know it: then it is a function like any other. */
  search?: OwnSearch | undefined;
}

export const restore = restorerOf(DIALECT);

/** One block as parts of a message or of a tool's result. */
export function encodePart(block: Block, path: string, context: EncodeContext): JsonObject[] {
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

export function textPart(text: string): JsonObject {
  return { type: 'input_text', text };
}

function encodeImage(block: ImageBlock, path: string, context: EncodeContext): JsonObject {
  const { source } = block;
  const part: JsonObject = { type: 'input_image' };
  if (source.type === 'base64') part['image_url'] = dataUrl(source.mediaType, source.data);
  else if (source.type === 'url') part['image_url'] = source.url;
  else if (source.type === 'file' && !isAnthropicFile(source.fileId)) part['file_id'] = source.fileId;
  const known = part['image_url'] ?? part['file_id'];
  if (known === undefined || !context.quirks.images) return omitted(block, path, context);
  const detail = block.extensions?.['openai-chat']?.['detail'];
  if (detail !== undefined) part['detail'] = detail;
  return restore(part, block.extensions, path, context.losses);
}

function encodeDocument(block: DocumentBlock, path: string, context: EncodeContext): JsonObject {
  const { source, title } = block;
  const text = plainText(source);
  if (text !== undefined) return textPart(title === undefined ? text : `${title}\n\n${text}`);
  const part: JsonObject = { type: 'input_file' };
  if (source.type === 'base64') {
    part['filename'] = title ?? 'document.pdf';
    part['file_data'] = dataUrl(source.mediaType, source.data);
  } else if (source.type === 'url') part['file_url'] = source.url;
  else if (source.type === 'file' && !isAnthropicFile(source.fileId)) part['file_id'] = source.fileId;
  const known = part['file_data'] ?? part['file_url'] ?? part['file_id'];
  if (known === undefined || !context.quirks.documents) return omitted(block, path, context);
  return restore(part, block.extensions, path, context.losses);
}

function omitted(block: ImageBlock | DocumentBlock, path: string, { losses }: EncodeContext): JsonObject {
  losses.add(path, `the upstream takes no such ${block.type}`);
  return textPart(omittedText(block));
}

function encodeOpaque(block: OpaqueBlock, path: string, { losses }: EncodeContext): JsonObject[] {
  if (block.dialect === DIALECT) return [block.value];
  const text = textOfOpaque(block);
  if (text !== undefined) return [textPart(text)];
  losses.add(path, `${block.kind} is known to ${block.dialect} only`);
  return [];
}

/** A tool's result: text where it is nothing else. The wire has no field for an error, so the text says it. */
export function encodeResult(
  block: ToolResultBlock,
  path: string,
  context: EncodeContext,
): string | JsonObject[] {
  const texts: string[] = [];
  const media: JsonObject[] = [];
  for (const [index, each] of block.content.entries()) {
    const at = `${path}.content.${index}`;
    const parts =
      each.type === 'image' && context.quirks.toolResultImage === 'omit'
        ? [omitted(each, at, context)]
        : encodePart(each, at, context);
    for (const part of parts) {
      if (part['type'] === 'input_text') texts.push(String(part['text']));
      else media.push(part);
    }
  }
  const text = resultText(texts.join('\n'), block.isError);
  if (media.length === 0) return text;
  return text === '' ? media : [textPart(text), ...media];
}
