/** The tools of a server, all pages, as far as the limits go. What is left out is said. */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { JsonObject } from '../../core/conversation.js';
import type { McpTool } from './mcp-client.js';
import type { McpLimits } from './wire/limits.js';
import type { Client } from './wire/sdk.js';

/**
 * Names of tools for models: `mcp__server__tool`, of the characters and the length that models
 * take. Which name a tool gets depends on the set of tools and not on their order, so that rules
 * and conversations that name it stay true.
 */
export const MAX_NAME_CHARS = 128;
const HASH_CHARS = 8;

/** By the server's own name of each tool. The server's part is never cut: rules go by it. */
export function nameTools(server: string, tools: readonly string[]): Map<string, string> {
  const prefix = `mcp__${server}__`;
  const plain = new Map(tools.map((tool) => [tool, prefix + safe(tool)]));
  const claims = new Map<string, number>();
  for (const name of plain.values()) claims.set(name, (claims.get(name) ?? 0) + 1);
  const names = new Map<string, string>();
  for (const [tool, name] of plain) {
    const keepsOwn = name === prefix + tool;
    const fits = name.length <= MAX_NAME_CHARS;
    const contested = (claims.get(name) ?? 0) > 1;
    names.set(tool, fits && (keepsOwn || !contested) ? name : withHash(name, tool));
  }
  return names;
}

function safe(tool: string): string {
  return tool.replace(/[^A-Za-z0-9_-]/g, '_') || '_';
}

function withHash(name: string, tool: string): string {
  const hash = createHash('sha256').update(tool).digest('hex').slice(0, HASH_CHARS);
  return `${name.slice(0, MAX_NAME_CHARS - HASH_CHARS - 1)}_${hash}`;
}

export interface ListedMcpTool
  extends Pick<McpTool, 'name' | 'title' | 'description' | 'inputSchema' | 'annotations'> {
  /** The server's own name of it. */
  rawName: string;
}

export interface Listing {
  tools: readonly ListedMcpTool[];
  /** What was left out and why; undefined where nothing was. */
  problem: string | undefined;
  /** Those that want some of their arguments in headers as well, by the server's own names. */
  mirrored: ReadonlyMap<string, MirroredTool>;
  /** Those of 2025-11-25 that must be called as tasks, by the server's own names. */
  asTask: ReadonlySet<string>;
}

export interface MirroredTool {
  name: string;
  inputSchema: JsonObject & { type: 'object' };
}

export const NO_TOOLS: Listing = { tools: [], problem: undefined, mirrored: new Map(), asTask: new Set() };

/** In the schema of an argument: the header that repeats it, for the router of the request. */
const MIRRORED = '"x-mcp-header":';

const pageSchema = z.looseObject({ nextCursor: z.string().optional().catch(undefined) });

/** Lenient: a server that gets a detail wrong keeps its tool. */
const toolSchema = z.looseObject({
  name: z.string().min(1),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.record(z.string(), z.unknown()),
  execution: z.looseObject({ taskSupport: z.string().optional() }).optional().catch(undefined),
  annotations: z
    .looseObject({
      title: z.string().optional().catch(undefined),
      readOnlyHint: z.boolean().optional().catch(undefined),
      destructiveHint: z.boolean().optional().catch(undefined),
      openWorldHint: z.boolean().optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});

interface WantedList {
  method: string;
  /** Where the list stands in the answer. */
  key: string;
  limits: McpLimits;
  signal: AbortSignal;
}

/** All pages. Rejects as the SDK does, or when the signal fires. */
export async function listAll(
  client: Client,
  { method, key, limits, signal }: WantedList,
): Promise<{ found: unknown[]; more: boolean }> {
  const found: unknown[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  let more = false;
  for (let page = 1; ; page += 1) {
    const answer = await client.request(
      { method, params: cursor === undefined ? {} : { cursor } },
      pageSchema,
      // A signal of its own for each page: the SDK never takes its listener back.
      { signal: AbortSignal.any([signal]), timeout: limits.listMs },
    );
    const listed = answer[key];
    if (!Array.isArray(listed)) throw new Error(`its answer to ${method} has no ${key}`);
    for (const each of listed) {
      if (found.length < limits.tools) found.push(each);
      else more = true;
    }
    cursor = answer.nextCursor;
    if (cursor === undefined || cursors.has(cursor)) break;
    cursors.add(cursor);
    if (more || page >= limits.pages) {
      more = true;
      break;
    }
  }
  return { found, more };
}

/** Rejects as the SDK does, or when the signal fires. */
export async function listTools(
  client: Client,
  { server, limits, signal }: { server: string; limits: McpLimits; signal: AbortSignal },
): Promise<Listing> {
  // A server without this capability answers the request with an error.
  if (client.getServerCapabilities()?.tools === undefined) return NO_TOOLS;
  const { found, more } = await listAll(client, { method: 'tools/list', key: 'tools', limits, signal });
  return decodeListing(found, { server, limits, more, tasks: tasksOf(client) });
}

/** `by-server`: from 2026-07-28 the server decides which calls are tasks, whatever its list says. */
type Tasks = 'by-server' | 'on-request' | 'none';

function tasksOf(client: Client): Tasks {
  if (client.getProtocolEra() === 'modern') return 'by-server';
  return client.getServerCapabilities()?.tasks?.requests?.tools?.call === undefined ? 'none' : 'on-request';
}

function decodeListing(
  found: readonly unknown[],
  { server, limits, more, tasks }: { server: string; limits: McpLimits; more: boolean; tasks: Tasks },
): Listing {
  const tools = new Map<string, Omit<ListedMcpTool, 'name'>>();
  const mirrored = new Map<string, MirroredTool>();
  const asTask = new Set<string>();
  const left = { invalid: 0, large: [] as string[], task: [] as string[], cut: 0 };
  for (const each of found) {
    const parsed = toolSchema.safeParse(each);
    if (!parsed.success || parsed.data.name.length > limits.toolNameChars) {
      left.invalid += 1;
      continue;
    }
    const { name, title, description = '', inputSchema, annotations, execution } = parsed.data;
    if (tools.has(name)) continue;
    if (execution?.taskSupport === 'required') {
      if (tasks === 'none') {
        left.task.push(name);
        continue;
      }
      if (tasks === 'on-request') asTask.add(name);
    }
    const schema = JSON.stringify(inputSchema);
    if (schema.length > limits.schemaChars) {
      left.large.push(name);
      continue;
    }
    if (schema.includes(MIRRORED)) mirrored.set(name, { name, inputSchema: asObjectSchema(inputSchema) });
    if (description.length > limits.descriptionChars) left.cut += 1;
    const shownTitle = (title ?? annotations?.title)?.slice(0, limits.titleChars);
    tools.set(name, {
      rawName: name,
      ...(shownTitle === undefined ? {} : { title: shownTitle }),
      description: cut(description, limits.descriptionChars),
      inputSchema: asObjectSchema(inputSchema),
      annotations: {
        ...(annotations?.readOnlyHint === undefined ? {} : { readOnly: annotations.readOnlyHint }),
        ...(annotations?.destructiveHint === undefined ? {} : { destructive: annotations.destructiveHint }),
        ...(annotations?.openWorldHint === undefined ? {} : { openWorld: annotations.openWorldHint }),
      },
    });
  }
  const names = nameTools(server, [...tools.keys()]);
  const notes = [
    more && `it has more than ${limits.tools} tools; only the first ${found.length} are offered`,
    left.invalid > 0 && `${left.invalid} of its tools are not valid and left out`,
    left.large.length > 0 && `the input schema of ${some(left.large)} is too large, so it is left out`,
    left.task.length > 0 &&
      `${some(left.task)} can only run as a task, and it does not say that it takes tasks`,
    left.cut > 0 && `${left.cut} descriptions over ${limits.descriptionChars} characters were cut`,
  ].filter((note) => note !== false);
  return {
    tools: [...tools.values()].map((tool) => ({ ...tool, name: names.get(tool.rawName) ?? tool.rawName })),
    problem: notes.length === 0 ? undefined : `Not all of its tools can be used: ${notes.join('; ')}.`,
    mirrored,
    asTask,
  };
}

/** Models take nothing but an object; some servers leave the type out where there are no parameters. */
function asObjectSchema(schema: JsonObject): JsonObject & { type: 'object' } {
  return { ...schema, type: 'object' };
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit)}… (cut)`;
}

function some(names: readonly string[]): string {
  const shown = names.slice(0, 3).map((name) => `"${name.slice(0, 60)}"`);
  return names.length > 3 ? `${shown.join(', ')} and ${names.length - 3} more` : shown.join(', ');
}
