/** Resources and prompts of a server: what there is, and tools by which an agent gets at them. */
import * as z from 'zod';
import type { JsonObject } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import type { McpConnection } from './connection.js';
import type { McpDirectory, McpTool, McpToolCallOptions, McpToolCallResult } from './mcp-client.js';
import { type McpOperation, promptGet, resourceRead } from './operations.js';

const TEXT = { short: 256, long: 2_000 };
const short = z.string().max(TEXT.long);
const named = {
  name: short,
  title: short.optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  mimeType: short.optional().catch(undefined),
};

const resource = z.object({ ...named, uri: short, size: z.number().optional().catch(undefined) });
const template = z.object({ ...named, uriTemplate: short });
const prompt = z.object({
  name: short,
  title: named.title,
  description: named.description,
  arguments: z
    .array(z.object({ name: short, description: named.description, required: z.boolean().optional() }))
    .max(50)
    .optional()
    .catch(undefined),
});

const cut = <T extends { description?: string | undefined }>(each: T): T =>
  each.description === undefined ? each : { ...each, description: each.description.slice(0, TEXT.long) };

function readAll<T extends { description?: string | undefined }>(
  schema: z.ZodType<T>,
  found: readonly unknown[],
): T[] {
  return found.flatMap((each) => {
    const read = schema.safeParse(each).data;
    return read === undefined ? [] : [cut(read)];
  });
}

/** Rejects as the SDK does. */
export async function listDirectory(
  server: string,
  connection: McpConnection,
  signal: AbortSignal,
): Promise<McpDirectory> {
  const { resources: hasResources, prompts: hasPrompts } = connection.offers;
  const list = (has: boolean, method: string, key: string) =>
    has ? connection.list(method, key, signal) : Promise.resolve([]);
  const [resources, templates, prompts] = await Promise.all([
    list(hasResources, 'resources/list', 'resources'),
    // Many servers have resources and no such method.
    list(hasResources, 'resources/templates/list', 'resourceTemplates').catch(() => []),
    list(hasPrompts, 'prompts/list', 'prompts'),
  ]);
  return {
    server,
    resources: readAll(resource, resources),
    templates: readAll(template, templates),
    prompts: readAll(prompt, prompts),
  };
}

export const READ_RESOURCE = 'read_resource';
export const GET_PROMPT = 'get_prompt';

interface DirectoryParts {
  server: string;
  directory(signal: AbortSignal): Promise<McpDirectory>;
  run(operation: McpOperation, options: McpToolCallOptions): Promise<McpToolCallResult>;
}

/** Under the server's own prefix, so that rules about it are about these too. */
export function directoryTools(
  { server, directory, run }: DirectoryParts,
  { resources, prompts }: McpConnection['offers'],
): McpTool[] {
  const make = (
    name: string,
    description: string,
    properties: JsonObject,
    call: McpTool['call'],
    required = Object.keys(properties).slice(0, 1),
  ): McpTool => ({
    name: `mcp__${server}__${name}`,
    server,
    description,
    inputSchema: { type: 'object', properties, required },
    annotations: { readOnly: true },
    call,
  });
  const text = { type: 'string' };
  const listing = (pick: (found: McpDirectory) => JsonObject): McpTool['call'] => {
    return async (_input, { signal }) => {
      const structured = pick(await directory(signal));
      return { content: [{ type: 'text', text: JSON.stringify(structured) }], isError: false, structured };
    };
  };
  return [
    ...(resources
      ? [
          make(
            'list_resources',
            `Lists the resources of the MCP server ${server}.`,
            {},
            listing(resourcesOf),
          ),
          make(
            READ_RESOURCE,
            `Reads a resource of the MCP server ${server} by its address.`,
            { uri: text },
            (input, options) => run(resourceRead(String(input['uri'] ?? '')), options),
          ),
        ]
      : []),
    ...(prompts
      ? [
          make('list_prompts', `Lists the prompts of the MCP server ${server}.`, {}, listing(promptsOf)),
          make(
            GET_PROMPT,
            `Gets a prompt of the MCP server ${server}, filled in.`,
            { name: text, arguments: { type: 'object', additionalProperties: text } },
            (input, options) =>
              run(promptGet(String(input['name'] ?? ''), textsIn(input['arguments'])), options),
          ),
        ]
      : []),
  ];
}

const resourcesOf = ({ resources, templates }: McpDirectory): JsonObject => ({
  resources: [...resources],
  resourceTemplates: [...templates],
});
const promptsOf = ({ prompts }: McpDirectory): JsonObject => ({ prompts: [...prompts] });

function textsIn(given: unknown): Record<string, string> {
  if (!isObject(given)) return {};
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
}
