/** Parts of a message's content: wire to neutral. */
import type { Block, DocumentBlock, ImageBlock, JsonObject } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { sourceOfUrl } from '../shared/data-url.js';
import { fail } from '../shared/read.js';
import {
  DIALECT,
  extend,
  extraFields,
  FILE_FIELDS,
  FILE_PART_FIELDS,
  IMAGE_PART_FIELDS,
  IMAGE_URL_FIELDS,
  TEXT_PART_FIELDS,
} from './wire.js';

export function decodePart(part: unknown, path: string): Block {
  if (!isObject(part)) return fail(path, 'a content part', part);
  const { type } = part;
  switch (type) {
    case 'text': {
      const { text } = part;
      if (typeof text !== 'string') return fail(`${path}.text`, 'a string', text);
      return extend<Block & { type: 'text' }>({ type, text }, extraFields(part, TEXT_PART_FIELDS));
    }
    case 'image_url':
      return decodeImage(part, path);
    case 'file':
      return decodeFile(part, path);
    default:
      if (typeof type !== 'string' || type === '') {
        return fail(`${path}.type`, '"text", "image_url", "input_audio" or "file"', type);
      }
      return { type: 'opaque', dialect: DIALECT, kind: type, value: part };
  }
}

/** `{image_url: {url, detail}}`; some clients write `{image_url: "…"}`. */
function decodeImage(part: JsonObject, path: string): ImageBlock {
  const image = part['image_url'];
  const url = isObject(image) ? image['url'] : image;
  if (typeof url !== 'string' || url === '') return fail(`${path}.image_url.url`, 'a URL', url);
  const block: ImageBlock = { type: 'image', source: sourceOfUrl(url) };
  extend(block, isObject(image) ? extraFields(image, IMAGE_URL_FIELDS) : undefined);
  return extend(block, extraFields(part, IMAGE_PART_FIELDS));
}

function decodeFile(part: JsonObject, path: string): DocumentBlock {
  const { file } = part;
  if (!isObject(file)) return fail(`${path}.file`, 'an object', file);
  const { file_data: data, file_id: fileId, filename } = file;
  const block: DocumentBlock = { type: 'document', source: { type: 'file', fileId: '' } };
  if (typeof data === 'string' && data !== '') {
    const source = sourceOfUrl(data);
    const isBare = source.type === 'url' && !/^[a-z]+:/i.test(data.slice(0, 16));
    block.source = isBare ? { type: 'base64', mediaType: 'application/pdf', data } : source;
  } else if (typeof fileId === 'string' && fileId !== '') block.source = { type: 'file', fileId };
  else return fail(`${path}.file`, 'file_data or file_id', file);
  if (typeof filename === 'string' && filename !== '') block.title = filename;
  extend(block, extraFields(file, FILE_FIELDS));
  return extend(block, extraFields(part, FILE_PART_FIELDS));
}
