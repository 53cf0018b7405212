/** Parts of a message's content: wire to neutral. */
import type { Block, DocumentBlock, ImageBlock, JsonObject, TextBlock } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { sourceOfUrl } from '../shared/data-url.js';
import { extraFields } from '../shared/extra-fields.js';
import { fail } from '../shared/read.js';
import {
  DIALECT,
  extend,
  FILE_FIELDS,
  IMAGE_FIELDS,
  OUTPUT_TEXT_FIELDS,
  REFUSAL_FIELDS,
  TEXT_FIELDS,
} from './wire.js';

const PARTS = '"input_text", "input_image", "input_file", "output_text" or "refusal"';

/** A string, or parts. */
export function decodeContent(content: unknown, path: string): Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) {
    return fail(`${path}.content`, 'a string or an array of content parts', content);
  }
  const blocks: Block[] = [];
  for (let position = 0; position < content.length; position += 1) {
    blocks.push(decodePart(content[position], `${path}.content.${position}`));
  }
  return blocks;
}

export function decodePart(part: unknown, path: string): Block {
  if (!isObject(part)) return fail(path, 'a content part', part);
  const { type } = part;
  switch (type) {
    case 'input_text':
    case 'text':
      return decodeText(part, part['text'], TEXT_FIELDS, path);
    case 'output_text':
      return decodeText(part, part['text'], OUTPUT_TEXT_FIELDS, path);
    case 'refusal':
      return extend(decodeText(part, part['refusal'], REFUSAL_FIELDS, path), { $refusal: true });
    case 'input_image':
      return decodeImage(part, path);
    case 'input_file':
      return decodeFile(part, path);
    default:
      if (typeof type !== 'string' || type === '') return fail(`${path}.type`, PARTS, type);
      return { type: 'opaque', dialect: DIALECT, kind: type, value: part };
  }
}

function decodeText(part: JsonObject, text: unknown, known: ReadonlySet<string>, path: string): TextBlock {
  if (typeof text !== 'string') return fail(`${path}.text`, 'a string', text);
  const block = extend<TextBlock>({ type: 'text', text }, extraFields(part, known));
  const { annotations } = part;
  // A citation says where the words came from; as history it says nothing to another model.
  return Array.isArray(annotations) && annotations.length > 0
    ? extend(block, { $annotations: annotations })
    : block;
}

function decodeImage(part: JsonObject, path: string): ImageBlock {
  const given = part['image_url'];
  // Some clients write it as Chat Completions does.
  const url = isObject(given) ? given['url'] : given;
  const fileId = part['file_id'];
  const block: ImageBlock = { type: 'image', source: { type: 'file', fileId: '' } };
  if (typeof url === 'string' && url !== '') block.source = sourceOfUrl(url);
  else if (typeof fileId === 'string' && fileId !== '') block.source = { type: 'file', fileId };
  else return fail(`${path}.image_url`, 'a URL, or a file_id', url);
  return extend(block, extraFields(part, IMAGE_FIELDS));
}

const SCHEME = /^[a-z]+:/i;

function decodeFile(part: JsonObject, path: string): DocumentBlock {
  const { file_data: data, file_id: fileId, file_url: url, filename } = part;
  const block: DocumentBlock = { type: 'document', source: { type: 'file', fileId: '' } };
  if (typeof data === 'string' && data !== '') {
    block.source = SCHEME.test(data.slice(0, 16))
      ? sourceOfUrl(data)
      : { type: 'base64', mediaType: 'application/pdf', data };
  } else if (typeof url === 'string' && url !== '') block.source = { type: 'url', url };
  else if (typeof fileId === 'string' && fileId !== '') block.source = { type: 'file', fileId };
  else return fail(path, 'file_data, file_url or file_id', part);
  if (typeof filename === 'string' && filename !== '') block.title = filename;
  return extend(block, extraFields(part, FILE_FIELDS));
}
