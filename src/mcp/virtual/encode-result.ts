/** From what a tool gave to the content of an MCP result. */
import type { ToolResultContent } from '../../core/conversation.js';
import type { ToolRunResult } from '../../tools/runtime/runtime.js';
import type { CallToolResult, ContentBlock } from './sdk.js';

/** For whoever wants to tell a refusal from a failure without reading the text. */
const OUTCOME = 'toolgate/outcome';

export function encodeResult(result: ToolRunResult, changedInputChars: number): CallToolResult {
  const { content, isError, outcome, input } = result;
  const changed = input === undefined ? [] : [changedInput(input, changedInputChars)];
  return {
    content: [...changed, ...content.flatMap((block, index) => encodeBlock(block, index))],
    isError,
    _meta: { [OUTCOME]: outcome },
  };
}

/** The model must not believe that what it wrote is what was done. */
function changedInput(input: unknown, chars: number): ContentBlock {
  return text(
    `A person changed the input of this call before it ran. It ran with: ${JSON.stringify(input).slice(0, chars)}`,
  );
}

function encodeBlock(block: ToolResultContent, index: number): ContentBlock[] {
  switch (block.type) {
    case 'text':
      return [text(block.text)];
    case 'image':
      return block.source.type === 'base64'
        ? [{ type: 'image', data: block.source.data, mimeType: block.source.mediaType }]
        : [text(`[an image: ${JSON.stringify(block.source)}]`)];
    case 'document': {
      const { source } = block;
      if (source.type === 'text') return [text(source.data)];
      if (source.type !== 'base64') return [text(`[a document: ${JSON.stringify(source)}]`)];
      const resource = {
        uri: `toolgate:document/${index + 1}`,
        mimeType: source.mediaType,
        blob: source.data,
      };
      return [{ type: 'resource', resource }];
    }
    case 'opaque':
      return [text(JSON.stringify(block.value))];
  }
}

function text(words: string): ContentBlock {
  return { type: 'text', text: words };
}
