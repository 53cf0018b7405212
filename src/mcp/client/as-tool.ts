/** Tools of MCP servers as tools of the runtime, under the same permissions as all others. */
import * as z from 'zod';
import { isObject } from '../../core/is-object.js';
import { defineTool } from '../../permissions/tool-definition.js';
import type { ToolSource } from '../../tools/runtime/registry.js';
import type { Tool, ToolYield } from '../../tools/runtime/tool.js';
import type { McpClient, McpTool, McpToolCallResult } from './mcp-client.js';

const DETAIL_CHARS = 4000;
const anyObject = z.looseObject({});

export function mcpTools(client: McpClient): ToolSource {
  const known = new WeakMap<McpTool, Tool>();
  return {
    source: 'mcp',
    tools: (session) =>
      client.tools(session).map((tool) => {
        const made = known.get(tool) ?? asTool(tool);
        known.set(tool, made);
        return made;
      }),
    closeSession: (session) => client.closeSession(session),
    problems: () =>
      client.status().flatMap(({ name, problem, state }) => {
        const reason = problem ?? (state === 'connecting' ? 'it is being connected' : undefined);
        return reason === undefined
          ? []
          : [{ name: `mcp__${name}`, reason: `The MCP server "${name}": ${reason}.` }];
      }),
  };
}

export function asTool(tool: McpTool): Tool {
  const title = tool.title ?? tool.name.slice(`mcp__${tool.server}__`.length);
  return {
    name: tool.name,
    userFacingName: () => `${tool.server}: ${title}`,
    description: tool.description,
    // The server checks its own input; a pattern of its schema must not run here.
    inputSchema: anyObject,
    inputJSONSchema: tool.inputSchema,
    definition: defineTool(tool),
    // The server's word would let it through in mode `read-only`; it is not a permission.
    isReadOnly: () => false,
    isConcurrencySafe: () => tool.annotations.readOnly ?? false,
    needsPermissions: () => true,
    describe: (input) => ({
      title: `Call ${title} of the MCP server ${tool.server}`,
      kind: 'mcp',
      paths: [],
      detail: shorten(JSON.stringify(input, undefined, 2) ?? ''),
    }),
    async *call(input, context) {
      const progress = new ProgressQueue();
      const done = tool
        .call(isObject(input) ? input : {}, {
          signal: context.signal,
          session: context.session.id,
          meta: context.options.traceContext?.(context.toolUseId, tool.name) ?? {},
          onQuestion: ({ message, form }) =>
            context.fillIn({ title: `The MCP server ${tool.server} asks`, message, form }),
          onProgress: (step) => progress.push(sentenceOf(step)),
        })
        .finally(() => progress.end());
      // Awaited below; the signal may fire before that.
      done.catch(() => {});
      for await (const content of progress) yield { type: 'progress', content } satisfies ToolYield;
      const result = await done;
      yield {
        type: 'result',
        resultForAssistant: result.content.length === 0 ? '(The tool gave no output.)' : result.content,
        isError: result.isError,
        data: dataOf(tool, result),
      };
    },
  };
}

function dataOf(tool: McpTool, { content, structured }: McpToolCallResult): object {
  return {
    server: tool.server,
    ...(structured === undefined ? {} : { structured }),
    images: content.filter((block) => block.type === 'image').length,
  };
}

function sentenceOf(step: { progress: number; total?: number; message?: string }): string {
  const counted = step.total === undefined ? `${step.progress}` : `${step.progress} of ${step.total}`;
  return step.message === undefined ? counted : `${step.message} (${counted})`;
}

function shorten(text: string): string {
  return text.length <= DETAIL_CHARS ? text : `${text.slice(0, DETAIL_CHARS)}…`;
}

/** From callbacks to a loop. Only the newest step waits: a slow reader has no use for the others. */
class ProgressQueue implements AsyncIterable<string> {
  #latest: string | undefined;
  #ended = false;
  #wake: () => void = () => {};

  push(step: string): void {
    this.#latest = step;
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string, void, void> {
    for (;;) {
      const step = this.#latest;
      this.#latest = undefined;
      if (step !== undefined) yield step;
      else if (this.#ended) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
