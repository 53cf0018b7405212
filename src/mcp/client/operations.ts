/** What can be asked of a server, and its answer as content for the model. */
import * as z from 'zod';
import type { JsonObject } from '../../core/conversation.js';
import { decodeResult, toolCallResultSchema } from './decode-result.js';
import type { McpToolCallResult } from './mcp-client.js';
import type { McpLimits } from './wire/limits.js';

export interface McpOperation {
  method: 'tools/call' | 'resources/read' | 'prompts/get';
  params: JsonObject;
  /** Of a tool, by the server's own name. */
  tool?: string;
  /** Throws where the answer is none of the protocol's. */
  decode(answer: unknown, limits: McpLimits): McpToolCallResult;
}

export const toolCall = (tool: string, input: JsonObject): McpOperation => ({
  method: 'tools/call',
  params: { name: tool, arguments: input },
  tool,
  decode: (answer, limits) => decodeResult(toolCallResultSchema.parse(answer), limits),
});

const contentsSchema = z.looseObject({
  contents: z.array(
    z.looseObject({
      uri: z.string(),
      mimeType: z.string().optional().catch(undefined),
      text: z.string().optional(),
      blob: z.string().optional(),
    }),
  ),
});

export const resourceRead = (uri: string): McpOperation => ({
  method: 'resources/read',
  params: { uri },
  decode(answer, limits) {
    const { contents } = contentsSchema.parse(answer);
    const content = contents.map((resource) => ({ type: 'resource', resource }));
    return { ...decodeResult({ content }, limits), structured: { contents } };
  },
});

const messagesSchema = z.looseObject({
  description: z.string().optional().catch(undefined),
  messages: z.array(z.looseObject({ role: z.enum(['user', 'assistant']), content: z.unknown() })),
});

export const promptGet = (name: string, given: Readonly<Record<string, string>>): McpOperation => ({
  method: 'prompts/get',
  params: { name, arguments: given },
  decode(answer, limits) {
    const { description, messages } = messagesSchema.parse(answer);
    const content = messages.flatMap(({ role, content: said }) => [{ type: 'text', text: `${role}:` }, said]);
    const structured = { messages, ...(description === undefined ? {} : { description }) };
    return { ...decodeResult({ content }, limits), structured };
  },
});
