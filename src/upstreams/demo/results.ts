/** A tool's result in few words: JSON as keys and values, long texts cut, pictures named. */
import type { DocumentBlock, ImageBlock, ToolResultBlock } from '../../core/conversation.js';
import { imageSize } from '../../core/image-size.js';
import type { Phrases } from './phrases.js';
import { isObject, isShallow } from './schema.js';

const LIMITS = { text: 600, lines: 12, keys: 10, items: 5, nested: 80, parsed: 200_000 } as const;

/** Keys that hold the one thing an object is about. */
const WRAPPERS: ReadonlySet<string> = new Set([
  'result',
  'answer',
  'value',
  'output',
  'data',
  'content',
  'text',
  'message',
]);

export interface Summary {
  text: string;
  isError: boolean;
}

export function summarise(result: ToolResultBlock, phrases: Phrases): Summary {
  const parts: string[] = [];
  for (const block of result.content) {
    if (block.type === 'text') {
      if (block.text.trim() !== '') parts.push(summariseText(block.text.trim(), phrases));
    } else if (block.type === 'opaque') parts.push(phrases.opaque(block.kind));
    else parts.push(describeMedia(block, phrases));
  }
  const text = parts.length === 0 ? phrases.nothing : parts.join(phrases.join);
  return { text, isError: result.isError || /^(?:error|exception|fatal|错误|失败)\b/i.test(text) };
}

/** The plain text of a result, for what comes after it ("… and e-mail it"). */
export function plainText(result: ToolResultBlock): string {
  return result.content
    .filter((block) => block.type === 'text')
    .map((block) => block.text)
    .join('\n')
    .slice(0, 4_000);
}

function summariseText(text: string, phrases: Phrases): string {
  if (text.length <= LIMITS.parsed && /^[[{]/.test(text)) {
    const value = parsed(text);
    if (value !== undefined && isShallow(value)) return cut(summariseValue(value, phrases), phrases);
  }
  return cut(text, phrases);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function summariseValue(value: unknown, phrases: Phrases): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return phrases.nothing;
    const shown = value.slice(0, LIMITS.items).map((item) => nested(item, phrases));
    return `${phrases.items(value.length)}${shown.join('; ')}${value.length > shown.length ? '; …' : ''}`;
  }
  if (!isObject(value)) return String(value);
  const entries = Object.entries(value);
  const [only] = entries;
  if (entries.length === 1 && only !== undefined && WRAPPERS.has(only[0].toLowerCase())) {
    return summariseValue(only[1], phrases);
  }
  if (entries.length === 0) return phrases.nothing;
  const shown = entries.slice(0, LIMITS.keys).map(([key, item]) => `${key}: ${nested(item, phrases)}`);
  return `${shown.join(', ')}${entries.length > shown.length ? ', …' : ''}`;
}

function nested(value: unknown, phrases: Phrases): string {
  if (typeof value === 'string')
    return value.length > LIMITS.nested ? `${value.slice(0, LIMITS.nested)}…` : value;
  if (!isObject(value) && !Array.isArray(value)) return String(value);
  const text = JSON.stringify(value);
  if (text.length <= LIMITS.nested) return text;
  return Array.isArray(value) ? phrases.items(value.length).trim() : `${text.slice(0, LIMITS.nested)}…`;
}

function cut(text: string, phrases: Phrases): string {
  const lines = text.split('\n', LIMITS.lines + 1);
  if (text.length <= LIMITS.text && lines.length <= LIMITS.lines) return text;
  const start = lines.slice(0, LIMITS.lines).join('\n').slice(0, LIMITS.text);
  // Never cut between the halves of a surrogate pair.
  return `${start.replace(/[\ud800-\udbff]$/, '')}… ${phrases.inAll(text.length)}`;
}

/** "an image (image/png, 640 × 480)". */
export function describeMedia(block: ImageBlock | DocumentBlock, phrases: Phrases): string {
  const { source } = block;
  const facts: string[] = [];
  if ('mediaType' in source && source.mediaType !== undefined) facts.push(source.mediaType);
  if (block.type === 'document' && block.title !== undefined) facts.push(block.title);
  if (source.type === 'url') facts.push(source.url.startsWith('data:') ? 'data' : source.url.slice(0, 200));
  if (source.type === 'file') facts.push(source.fileId);
  if (source.type === 'text') facts.push(phrases.characters(source.data.length));
  if (source.type === 'base64') {
    const size = block.type === 'image' ? imageSize(source.data) : undefined;
    if (size !== undefined) facts.push(`${size.width} × ${size.height}`);
    facts.push(bytes(Math.floor(source.data.length * 0.75)));
  }
  return block.type === 'image' ? phrases.image(facts.join(', ')) : phrases.document(facts.join(', '));
}

function bytes(count: number): string {
  return count < 1024
    ? `${count} B`
    : count < 1024 ** 2
      ? `${Math.round(count / 1024)} KB`
      : `${(count / 1024 ** 2).toFixed(1)} MB`;
}
