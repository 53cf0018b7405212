/**
 * More tools than a prompt should carry: all but a few are kept back, and the model gets one tool that
 * searches them. What a search has found is shown from then on (core/tool-references.ts).
 */
import {
  type ConversationRequest,
  DIALECT_NAMES,
  type DialectName,
  type Extensions,
  type JsonObject,
  type ToolDefinition,
  type ToolResultBlock,
  type ToolUseBlock,
} from '../../core/conversation.js';
import { estimateToolTokens } from '../../core/estimate-tokens.js';
import { RunMemo } from '../../core/shared-values.js';
import { toolReference } from '../../core/tool-references.js';
import { isDeferred, searchesTools } from '../../dialects/shared/deferred-tools.js';
import type { ModelRule } from '../../routing/model-router.js';
import { rankTools, serverOf } from './rank-tools.js';

export const SEARCH_TOOL = 'tool_search';

const LIMITS = {
  /** More tools than these are too many. */
  tools: 40,
  /** So are definitions that take more than this part of the model's context. */
  partOfContext: 0.1,
  /** Tokens, for a model whose entry has no `context_window`. */
  context: 200_000,
  /** Of too many tools that belong to no server: the first ones stay. */
  kept: 10,
  /** Found by one search. */
  found: 5,
  mostFound: 20,
  /** Of the names in the description of the search. */
  namesChars: 1_500,
} as const;

export interface DeferredTools {
  /** Those that stay, the search, and those that are kept back. */
  readonly tools: readonly ToolDefinition[];
  readonly deferred: readonly ToolDefinition[];
}

interface DeferOptions {
  rule: Pick<ModelRule, 'toolSearch' | 'contextWindow'>;
  providerTools?: ConversationRequest['providerTools'];
  /** Stays, whatever there is of others. */
  stays?(tool: ToolDefinition): boolean;
}

/** Undefined where they are sent as they are: there are few, or the client has a search of its own. */
export function deferTools(
  tools: readonly ToolDefinition[],
  { rule, providerTools = [], stays = () => false }: DeferOptions,
): DeferredTools | undefined {
  const { toolSearch = 'auto', contextWindow = LIMITS.context } = rule;
  if (toolSearch === 'off' || tools.length === 0) return undefined;
  if (tools.some(isDeferred) || searchesTools({ tools })) return undefined;
  if (providerTools.some(({ kind }) => PROVIDER_SEARCH.test(kind))) return undefined;
  const movable = tools.filter((tool) => tool.typed === undefined && !stays(tool));
  const ofServers = movable.filter(({ name }) => serverOf(name) !== undefined);
  const plain = movable.filter(({ name }) => serverOf(name) === undefined);
  const few = toolSearch === 'on' ? LIMITS.kept : LIMITS.tools;
  const deferred = new Set([...ofServers, ...(plain.length > few ? plain.slice(LIMITS.kept) : [])]);
  if (deferred.size === 0) return undefined;
  const isFine = tools.length <= LIMITS.tools && tokensOf(tools) <= LIMITS.partOfContext * contextWindow;
  if (toolSearch === 'auto' && isFine) return undefined;
  const held = tools.filter((tool) => deferred.has(tool)).map(asDeferred);
  return {
    tools: [...tools.filter((tool) => !deferred.has(tool)), searchTool(held), ...held],
    deferred: held,
  };
}

/** Of definitions that came before: walking their schemas took longer than encoding them again. */
const estimates = new RunMemo<ToolDefinition, { tokens: number }>();

function tokensOf(tools: readonly ToolDefinition[]): number {
  const known = estimates.get(tools) ?? estimates.keep(tools, { tokens: estimateToolTokens(tools) });
  return known.tokens;
}

/**
 * Tools that the client left to its provider's search, for an upstream that has none: the gateway's search takes
 * its place. Undefined where the client did not, or has a tool of the search's name itself.
 */
export function adoptSearch(
  { tools, providerTools }: Pick<ConversationRequest, 'tools' | 'providerTools'>,
  upstream: DialectName,
): (DeferredTools & Pick<ConversationRequest, 'providerTools'>) | undefined {
  const search = providerTools.find(
    ({ kind, dialect }) => PROVIDER_SEARCH.test(kind) && dialect !== upstream,
  );
  // Two tools of one name are refused by upstreams, and calls of the client's would be answered here.
  if (search === undefined || tools.some(({ name }) => name === SEARCH_TOOL)) return undefined;
  const isLeft = ({ extensions }: ToolDefinition) => extensions?.[search.dialect]?.['defer_loading'] === true;
  const deferred = tools.filter(isLeft).map(asDeferred);
  if (deferred.length === 0) return undefined;
  return {
    tools: [...tools.filter((tool) => !isLeft(tool)), searchTool(deferred), ...deferred],
    deferred,
    providerTools: providerTools.filter((tool) => tool !== search),
  };
}

/** Where the provider itself searches. */
const PROVIDER_SEARCH = /^tool_search(?:_tool_|$)/;

/** The same object for the same tool: what was encoded before is found by it. */
const copies = new WeakMap<ToolDefinition, ToolDefinition>();

function asDeferred(tool: ToolDefinition): ToolDefinition {
  const known = copies.get(tool) ?? { ...withoutWish(tool), deferred: true };
  copies.set(tool, known);
  return known;
}

/** What a provider was to do is done here. */
function withoutWish(tool: ToolDefinition): ToolDefinition {
  const { extensions = {} } = tool;
  const kept: Extensions = {};
  for (const dialect of DIALECT_NAMES) {
    const { defer_loading: _wish, ...fields } = extensions[dialect] ?? {};
    if (Object.keys(fields).length > 0) kept[dialect] = fields;
  }
  const { extensions: _extensions, ...rest } = tool;
  return Object.keys(kept).length === 0 ? rest : { ...rest, extensions: kept };
}

const INPUT_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    query: {
      type: 'string',
      description: 'What the tool should do, in a few words; or the whole name of a tool.',
    },
    max_results: {
      type: 'integer',
      minimum: 1,
      maximum: LIMITS.mostFound,
      description: `How many tools to find at most. Default ${LIMITS.found}.`,
    },
  },
  required: ['query'],
};

function searchTool(deferred: readonly ToolDefinition[]): ToolDefinition {
  return {
    name: SEARCH_TOOL,
    description: `Finds further tools by what they do. ${deferred.length} tools are not shown until a search has found them; those that it finds can be called from then on. Search before you say that something cannot be done, and search once for everything that you need.\n${catalogue(deferred)}`,
    inputSchema: INPUT_SCHEMA,
  };
}

/** What there is to be found, in short: it stands in every prompt. */
function catalogue(tools: readonly ToolDefinition[]): string {
  const servers = new Map<string, number>();
  const plain: string[] = [];
  for (const { name } of tools) {
    const server = serverOf(name);
    if (server === undefined) plain.push(name);
    else servers.set(server, (servers.get(server) ?? 0) + 1);
  }
  const groups = [...servers].map(([server, count]) => `mcp__${server} (${count})`);
  return [
    ...(groups.length === 0 ? [] : [`Servers: ${listed(groups)}.`]),
    ...(plain.length === 0 ? [] : [`Names: ${listed(plain)}.`]),
  ].join('\n');
}

function listed(names: readonly string[]): string {
  let chars = 0;
  const fitting = names.filter((name) => {
    chars += name.length + 2;
    return chars <= LIMITS.namesChars;
  });
  const left = names.length - fitting.length;
  return left === 0 ? names.join(', ') : `${fitting.join(', ')} and ${left} more`;
}

/** The result of a call of the search. */
export function searchTools(call: ToolUseBlock, deferred: readonly ToolDefinition[]): ToolResultBlock {
  const { query, max_results: most } = call.input;
  const found =
    typeof query === 'string' && query.trim() !== '' ? rankTools(query, deferred, placesOf(most)) : undefined;
  const said =
    found === undefined
      ? 'query is missing. Say in a few words what the tool should do.'
      : `No tool was found for that. Try other words, or fewer.\n${catalogue(deferred)}`;
  return {
    type: 'tool_result',
    toolUseId: call.id,
    content:
      found === undefined || found.length === 0
        ? [{ type: 'text', text: said }]
        : found.map(({ name }) => toolReference(name)),
    isError: found === undefined,
  };
}

function placesOf(most: unknown): number {
  if (typeof most !== 'number' || !Number.isFinite(most)) return LIMITS.found;
  return Math.min(LIMITS.mostFound, Math.max(1, Math.floor(most)));
}
