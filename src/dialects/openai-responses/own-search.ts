/**
 * The gateway's search of tools that are kept back, as the wire's own `tool_search` that the client executes. What
 * is kept back is not sent at all (the provider's own search shows the model each function's name and description), and
 * what a search found comes with its result, so that nothing before it changes in the prompt.
 */
import type {
  ConversationRequest,
  JsonObject,
  Message,
  ToolDefinition,
  ToolResultBlock,
} from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { LossLog } from '../../core/losses.js';
import { knownTools, referencedTools } from '../../core/tool-references.js';
import { fromCompaction } from '../shared/compaction.js';
import { DIALECT, SEARCH_NAME } from './wire.js';

export interface OwnSearch {
  /** Those that stay, the search among them, and those that the conversation knows from no search of its own. */
  readonly listed: readonly ToolDefinition[];
  readonly tool: ToolDefinition;
  /** Those of a result, in the order in which they were found. */
  found(result: ToolResultBlock): ToolDefinition[];
}

/** Undefined where the gateway keeps no tool back. */
export function ownSearchOf(request: ConversationRequest): OwnSearch | undefined {
  const { tools } = request;
  const tool = tools.find(({ name, deferred }) => name === SEARCH_NAME && deferred !== true);
  if (tool === undefined || tool.extensions?.[DIALECT]?.['$search'] !== undefined) return undefined;
  const held = new Map<string, ToolDefinition>();
  for (const each of tools) if (each.deferred === true && !held.has(each.name)) held.set(each.name, each);
  if (held.size === 0) return undefined;
  const ofNames = (names: Iterable<string>): ToolDefinition[] =>
    [...names].flatMap((name) => held.get(name) ?? []);
  // Searches before a compaction are not sent.
  const messages = [...fromCompaction(request.messages, new LossLog())];
  const searched = referencedTools({ messages });
  const known = [...knownTools(request)].filter((name) => !searched.has(name));
  return {
    listed: [...tools.filter(({ deferred }) => deferred !== true), ...ofNames(known)],
    tool,
    found: (result) => ofNames(referencedTools({ messages: [{ role: 'user', content: [result] }] })),
  };
}

/** Calls of the gateway's search. A client's own search is answered by an item, which its result notes. */
export function ownSearchToolCalls(messages: readonly Message[], isOffered: boolean): Set<string> {
  const calls = new Set<string>();
  const answered = new Map<string, boolean>();
  for (const { content } of messages) {
    for (const block of content) {
      if (block.type === 'tool_use' && block.name === SEARCH_NAME) calls.add(block.id);
      if (block.type === 'tool_result') {
        answered.set(block.toolUseId, isObject(block.extensions?.[DIALECT]?.['$item']));
      }
    }
  }
  return new Set([...calls].filter((id) => (answered.get(id) ?? !isOffered) === false));
}

export function encodeOwnSearch({ description, inputSchema }: ToolDefinition): JsonObject {
  return {
    type: 'tool_search',
    execution: 'client',
    ...(description === undefined ? {} : { description }),
    parameters: inputSchema ?? { type: 'object', properties: {} },
  };
}

/** As they stand in the result of a search. */
export function asFound(tool: JsonObject): JsonObject {
  const { type, tools } = tool;
  if (type !== 'namespace' || !Array.isArray(tools)) return { ...tool, defer_loading: true };
  return { ...tool, tools: tools.map((inner: unknown) => (isObject(inner) ? asFound(inner) : inner)) };
}
