/** The body of an upstream request as bytes, with the bytes of its shared parts as they were written before. */
import type { JsonObject } from '../../core/conversation.js';
import { isShared } from '../../core/shared-values.js';

const written = new WeakMap<object, Buffer>();

/** The bytes of `JSON.stringify(body)`, or its text where nothing in it is shared. */
export function writeJson(body: JsonObject): Buffer | string {
  if (!Object.values(body).some(hasShared)) return JSON.stringify(body);
  const pieces: Buffer[] = [];
  let text = '{';
  const flush = (): void => {
    if (text !== '') pieces.push(Buffer.from(text));
    text = '';
  };
  let isFirst = true;
  for (const key of Object.keys(body)) {
    const value = body[key];
    // As JSON has it: a field without a value is left out.
    if (value === undefined) continue;
    text += `${isFirst ? '' : ','}${JSON.stringify(key)}:`;
    isFirst = false;
    if (!hasShared(value)) {
      text += JSON.stringify(value);
      continue;
    }
    text += '[';
    for (const [index, element] of value.entries()) {
      if (isObjectShared(element)) {
        flush();
        const bytes = bytesOf(element);
        pieces.push(index === 0 ? bytes.subarray(1) : bytes);
      } else text += `${index === 0 ? '' : ','}${JSON.stringify(element)}`;
    }
    text += ']';
  }
  text += '}';
  flush();
  return Buffer.concat(pieces);
}

/** A list with an element that was made of something shared. */
function hasShared(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.some(isObjectShared);
}

function isObjectShared(value: unknown): value is object {
  return typeof value === 'object' && value !== null && isShared(value);
}

/** With the comma before it, which all but the first of a list have. */
function bytesOf(value: object): Buffer {
  const known = written.get(value);
  if (known !== undefined) return known;
  const bytes = Buffer.from(`,${JSON.stringify(value)}`);
  written.set(value, bytes);
  return bytes;
}
