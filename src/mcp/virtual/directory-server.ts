/**
 * Resources and prompts of the connected servers through `/mcp/gateway`. Addresses and names say whose they
 * are. A key sees those of the servers whose tools it has; reading is a call of the server's tool for it, with
 * the same rules, approvals and audit.
 */
import * as z from 'zod';
import type { JsonObject } from '../../core/conversation.js';
import type { ToolOffer, ToolRunResult } from '../../tools/runtime/runtime.js';
import { GET_PROMPT, READ_RESOURCE } from '../client/directory.js';
import type { McpDirectory } from '../client/mcp-client.js';
import { guarded, type McpScope } from './mcp-scope.js';
import type { Server, ServerContext } from './sdk.js';

interface DirectoryParts {
  offer(): Promise<ToolOffer>;
  run(wanted: { name: string; input: JsonObject }, context: ServerContext): Promise<ToolRunResult>;
}

/** `toolgate:SERVER/ADDRESS`: a template stays one. */
const ADDRESS = /^toolgate:([^/]+)\/(.+)$/s;
const addressOf = (server: string, uri: string): string => `toolgate:${server}/${uri}`;

const PROMPT = /^mcp__(.+?)__(.+)$/s;
const promptName = (server: string, name: string): string => `mcp__${server}__${name}`;

const contents = z.looseObject({
  structured: z.object({
    contents: z.array(
      z.object({
        uri: z.string(),
        mimeType: z.string().optional(),
        text: z.string().optional(),
        blob: z.string().optional(),
      }),
    ),
  }),
});

const content = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('image'), data: z.string(), mimeType: z.string() }),
  z.looseObject({ type: z.literal('audio'), data: z.string(), mimeType: z.string() }),
]);

const filledIn = z.looseObject({
  structured: z.object({
    description: z.string().optional(),
    messages: z.array(
      z.object({
        role: z.enum(['user', 'assistant']),
        // What an older client would not know is given as its JSON.
        content: z.union([
          content,
          z.unknown().transform((value) => ({ type: 'text' as const, text: JSON.stringify(value) })),
        ]),
      }),
    ),
  }),
});

export function serveDirectory(server: Server, scope: McpScope, { offer, run }: DirectoryParts): void {
  const { sdk, parts } = scope;

  async function visible(tool: string, signal: AbortSignal): Promise<McpDirectory[]> {
    const [offered, found] = await Promise.all([offer(), parts.mcp.directory(signal)]);
    return found.filter(({ server: name }) => offered.find(`mcp__${name}__${tool}`) !== undefined);
  }

  function missing(what: string, given: string): never {
    const shown = JSON.stringify(given.slice(0, 200));
    throw new sdk.ProtocolError(
      sdk.ErrorCode.InvalidParams,
      `There is no ${what} ${shown}. ${what}s/list has those that there are.`,
    );
  }

  /** The data of a call that went well; its text as an error where it did not. */
  async function called(name: string, input: JsonObject, context: ServerContext): Promise<unknown> {
    const result = await run({ name, input }, context);
    if (!result.isError) return result.data;
    const said = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
    throw new sdk.ProtocolError(sdk.ErrorCode.InvalidRequest, said);
  }

  server.setRequestHandler('resources/list', (_request, { mcpReq: { signal } }) =>
    guarded(scope, async () => ({
      resources: (await visible(READ_RESOURCE, signal)).flatMap(({ server: name, resources }) =>
        resources.map((each) => defined({ ...each, uri: addressOf(name, each.uri) })),
      ),
    })),
  );
  server.setRequestHandler('resources/templates/list', (_request, { mcpReq: { signal } }) =>
    guarded(scope, async () => ({
      resourceTemplates: (await visible(READ_RESOURCE, signal)).flatMap(({ server: name, templates }) =>
        templates.map((each) => defined({ ...each, uriTemplate: addressOf(name, each.uriTemplate) })),
      ),
    })),
  );
  server.setRequestHandler('resources/read', ({ params }, context) =>
    guarded(scope, async () => {
      const [, name = '', uri = ''] = ADDRESS.exec(params.uri) ?? missing('resource', params.uri);
      const tool = `mcp__${name}__${READ_RESOURCE}`;
      if ((await offer()).find(tool) === undefined) missing('resource', params.uri);
      const { structured } = contents.parse(await called(tool, { uri }, context));
      return {
        contents: structured.contents.map(({ uri: own, mimeType, text, blob }) => ({
          uri: addressOf(name, own),
          ...(mimeType === undefined ? {} : { mimeType }),
          ...(blob === undefined ? { text: text ?? '' } : { blob }),
        })),
      };
    }),
  );
  server.setRequestHandler('prompts/list', (_request, { mcpReq: { signal } }) =>
    guarded(scope, async () => ({
      prompts: (await visible(GET_PROMPT, signal)).flatMap(({ server: name, prompts }) =>
        prompts.map((each) => defined({ ...each, name: promptName(name, each.name) })),
      ),
    })),
  );
  server.setRequestHandler('prompts/get', ({ params }, context) =>
    guarded(scope, async () => {
      const [, name = '', prompt = ''] = PROMPT.exec(params.name) ?? missing('prompt', params.name);
      const tool = `mcp__${name}__${GET_PROMPT}`;
      if ((await offer()).find(tool) === undefined) missing('prompt', params.name);
      const input = { name: prompt, arguments: { ...params.arguments } };
      return filledIn.parse(await called(tool, input, context)).structured;
    }),
  );
}

/** The SDK takes a key that is not there, and none that is undefined. */
function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return JSON.parse(JSON.stringify(value));
}
