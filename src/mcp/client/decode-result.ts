/** The answer to a call as content for the model. What cannot be shown becomes a line that says so. */
import * as z from 'zod';
import type { ToolResultContent } from '../../core/conversation.js';
import type { McpToolCallResult } from './mcp-client.js';
import type { McpLimits } from './wire/limits.js';

export const toolCallResultSchema = z.looseObject({
  content: z.array(z.unknown()).optional(),
  structuredContent: z.record(z.string(), z.unknown()).optional().catch(undefined),
  isError: z.boolean().optional().catch(undefined),
});

const blockSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('image'), data: z.string(), mimeType: z.string() }),
  z.looseObject({ type: z.literal('audio'), data: z.string(), mimeType: z.string() }),
  z.looseObject({
    type: z.literal('resource'),
    resource: z.looseObject({
      uri: z.string(),
      mimeType: z.string().optional().catch(undefined),
      text: z.string().optional(),
      blob: z.string().optional(),
    }),
  }),
  z.looseObject({
    type: z.literal('resource_link'),
    uri: z.string(),
    name: z.string().optional().catch(undefined),
    description: z.string().optional().catch(undefined),
    mimeType: z.string().optional().catch(undefined),
  }),
]);
type McpBlock = z.output<typeof blockSchema>;

/** What models see as images. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const URI_CHARS = 2000;

export function decodeResult(
  { content = [], structuredContent, isError = false }: z.output<typeof toolCallResultSchema>,
  limits: Pick<McpLimits, 'contentBlocks' | 'imageBytes'>,
): McpToolCallResult {
  const blocks = content.slice(0, limits.contentBlocks).flatMap((block) => decodeBlock(block, limits));
  if (content.length > limits.contentBlocks) {
    blocks.push(note(`${content.length - limits.contentBlocks} more parts of the answer are left out`));
  }
  if (blocks.length === 0 && structuredContent !== undefined)
    blocks.push(text(JSON.stringify(structuredContent)));
  return {
    content: blocks,
    isError,
    ...(structuredContent === undefined ? {} : { structured: structuredContent }),
  };
}

function decodeBlock(block: unknown, limits: Pick<McpLimits, 'imageBytes'>): ToolResultContent[] {
  const parsed = blockSchema.safeParse(block);
  if (!parsed.success) return [note(`a part of the answer that is not understood: ${kindOf(block)}`)];
  return decoders(parsed.data, limits);
}

function decoders(block: McpBlock, limits: Pick<McpLimits, 'imageBytes'>): ToolResultContent[] {
  switch (block.type) {
    case 'text':
      return [text(block.text)];
    case 'image':
      return [image(block.data, block.mimeType, limits)];
    case 'audio':
      return [note(`audio, ${block.mimeType}, ${sizeOf(block.data)}: it cannot be shown`)];
    case 'resource': {
      const { uri, mimeType = 'application/octet-stream', text: words, blob } = block.resource;
      const shown = uri.slice(0, URI_CHARS);
      if (words !== undefined) return [text(`Resource ${shown}:\n${words}`)];
      if (blob === undefined) return [note(`the resource ${shown}, which is empty`)];
      if (!mimeType.startsWith('image/'))
        return [note(`the resource ${shown}, ${mimeType}, ${sizeOf(blob)}: not text`)];
      return [text(`Resource ${shown}:`), image(blob, mimeType, limits)];
    }
    case 'resource_link': {
      const about = [block.name, block.mimeType, block.description].filter((part) => part);
      return [
        text(
          `Resource link ${block.uri.slice(0, URI_CHARS)}${about.length === 0 ? '' : ` (${about.join('; ')})`}`,
        ),
      ];
    }
  }
}

function image(
  data: string,
  mimeType: string,
  { imageBytes }: Pick<McpLimits, 'imageBytes'>,
): ToolResultContent {
  const mediaType = (mimeType.split(';')[0] ?? '').trim().toLowerCase();
  if (!IMAGE_TYPES.has(mediaType))
    return note(`an image, ${mimeType}, ${sizeOf(data)}: models do not take this type`);
  if (bytesOf(data) > imageBytes) {
    return note(
      `an image, ${mimeType}, ${sizeOf(data)}: larger than the ${kilobytes(imageBytes)} that models take`,
    );
  }
  const plain = data.replace(/\s+/g, '');
  if (!BASE64.test(plain)) return note(`an image, ${mimeType}, whose data is not base64`);
  return { type: 'image', source: { type: 'base64', mediaType, data: plain } };
}

function text(words: string): ToolResultContent {
  return { type: 'text', text: words };
}

function note(words: string): ToolResultContent {
  return text(`[${words}]`);
}

function kindOf(block: unknown): string {
  if (typeof block !== 'object' || block === null || !('type' in block)) return 'it has no type';
  return `type ${JSON.stringify(block.type)?.slice(0, 60)}`;
}

function bytesOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4);
}

function sizeOf(base64: string): string {
  return kilobytes(bytesOf(base64));
}

function kilobytes(bytes: number): string {
  return bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024)} KB`;
}
