/** What stands in for content that a wire or an upstream has no place for. */
import type { DocumentBlock, ImageBlock, MediaSource, OpaqueBlock } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';

const TEXTUAL = /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|javascript)\b)/;

/** What a document says, where it is text. */
export function plainText(source: MediaSource): string | undefined {
  if (source.type === 'text') return source.data;
  if (source.type !== 'base64' || !TEXTUAL.test(source.mediaType)) return undefined;
  return Buffer.from(source.data, 'base64').toString('utf8');
}

/** A placeholder for the model, for content that cannot be carried. */
export function omittedText({ type, source }: ImageBlock | DocumentBlock): string {
  const kind = 'mediaType' in source && source.mediaType !== undefined ? `: ${source.mediaType}` : '';
  const where = source.type === 'url' ? ` at ${source.url}` : '';
  return `[${type} omitted${kind}${where}]`;
}

/** Ids of Anthropic's files begin so; OpenAI's begin with `file-`. */
export function isAnthropicFile(fileId: string): boolean {
  return fileId.startsWith('file_');
}

/** Blocks of one wire that are words in the end. */
export function textOfOpaque({ kind, value }: OpaqueBlock): string | undefined {
  if (kind === 'tool_reference' && typeof value['tool_name'] === 'string') {
    return `[The tool ${value['tool_name']} can be called now.]`;
  }
  if (kind !== 'search_result') return undefined;
  const texts: unknown[] = [value['title'], value['source']];
  for (const part of Array.isArray(value['content']) ? value['content'] : []) {
    if (isObject(part)) texts.push(part['text']);
  }
  return texts.filter((text) => typeof text === 'string' && text !== '').join('\n');
}

const SAYS_SO = /^\s*(?:error\b|<tool_use_error>|\[?(?:error|failed)\b)/i;

/** A tool's result on a wire without a field for errors: the text says it. */
export function resultText(text: string, isError: boolean): string {
  if (!isError || SAYS_SO.test(text)) return text;
  return text === '' ? 'Error: the tool failed without a message.' : `Error: ${text}`;
}
