/** Tools and the choice among them: neutral to wire. */
import type { ConversationRequest, JsonObject, ToolChoice, ToolDefinition } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { wantedTools } from '../shared/deferred-tools.js';
import { EncodeMemo } from '../shared/encode-memo.js';
import { loseForeign } from '../shared/foreign-extensions.js';
import { normaliseSchema } from '../shared/json-schema.js';
import { takenChoice } from '../shared/openai-tools.js';
import { strictSchema } from '../shared/strict-schema.js';
import { whyNotOffered } from '../shared/typed-tools.js';
import { type EncodeContext, restore } from './encode-content.js';
import { encodeOwnSearch } from './own-search.js';
import { DIALECT } from './wire.js';

/**
 * Adds `tools`, `tool_choice` and `parallel_tool_calls`; none of them where there is no tool.
 * Returns the items of `input` that bring tools, where the client sent them so.
 */
export function encodeTools(
  request: ConversationRequest,
  context: EncodeContext,
  body: JsonObject,
): JsonObject[] {
  const { losses, quirks } = context;
  const wanted = context.search?.listed ?? wantedTools(request, losses);
  const own = wanted.filter((tool) => tool.extensions?.[DIALECT]?.['$found'] !== true);
  const items = encodeAdditional(own, request, context);
  const tools = encodeOwnTools(
    own.filter((tool) => additionalOf(tool) === undefined),
    context,
  );
  for (const tool of request.providerTools) {
    if (tool.dialect === DIALECT) tools.push(tool.value);
    else {
      const reason = whyNotOffered(tool, `${tool.kind} is run by its provider and not by this upstream`);
      losses.add(`tools.${tool.name}`, reason);
    }
  }
  const choice = request.toolChoice;
  if (tools.length === 0 && items.length === 0) {
    if (choice !== undefined && choice.type !== 'auto' && choice.type !== 'none') {
      losses.add('tool_choice', 'no tool is left to choose');
    }
    return items;
  }
  if (tools.length > 0) body['tools'] = tools;
  if (choice !== undefined) encodeChoice(choice, request, context, body);
  if (request.parallelToolCalls !== undefined && quirks.parallelToolCalls) {
    body['parallel_tool_calls'] = request.parallelToolCalls;
  }
  return items;
}

function additionalOf(tool: ToolDefinition): number | undefined {
  const index = tool.extensions?.[DIALECT]?.['$additional'];
  return typeof index === 'number' ? index : undefined;
}

function encodeAdditional(
  tools: readonly ToolDefinition[],
  { extensions }: ConversationRequest,
  context: EncodeContext,
): JsonObject[] {
  const heads = extensions[DIALECT]?.['$additional'];
  if (!Array.isArray(heads)) return [];
  return heads.map((head: unknown, index) => ({
    type: 'additional_tools',
    ...(isObject(head) ? head : {}),
    tools: encodeOwnTools(
      tools.filter((tool) => additionalOf(tool) === index),
      context,
    ),
  }));
}

/** Tools of one namespace stand together again, where the first of them stood. */
export function encodeOwnTools(tools: readonly ToolDefinition[], context: EncodeContext): JsonObject[] {
  const out: JsonObject[] = [];
  const namespaces = new Map<string, JsonObject[]>();
  for (const tool of tools) {
    const { $namespace: namespace, $about: about } = tool.extensions?.[DIALECT] ?? {};
    if (typeof namespace !== 'string') {
      out.push(...offerTool(tool, context));
      continue;
    }
    let inner = namespaces.get(namespace);
    if (inner === undefined) {
      inner = [];
      namespaces.set(namespace, inner);
      out.push({ type: 'namespace', ...(isObject(about) ? about : { name: namespace }), tools: inner });
    }
    inner.push(...offerTool(tool, context));
  }
  return out;
}

const encodedTools = new EncodeMemo<ToolDefinition>();

function offerTool(tool: ToolDefinition, context: EncodeContext): readonly JsonObject[] {
  if (tool.typed?.dialect === DIALECT) return [encodeTool(tool, context)];
  if (tool === context.search?.tool) return [encodeOwnSearch(tool)];
  if (typeof tool.extensions?.[DIALECT]?.['$name'] !== 'string') context.names.offer(tool.name);
  return encodedTools.of([tool], context, () => [encodeTool(tool, context)]);
}

function encodeTool(tool: ToolDefinition, context: EncodeContext): JsonObject {
  const { losses, names, quirks } = context;
  const own = tool.extensions?.[DIALECT];
  if (tool.typed?.dialect === DIALECT) {
    names.offerTyped(tool.typed.kind, tool.name);
    return restore({ ...tool.typed.value }, tool.extensions, `tools.${tool.name}`, losses);
  }
  const name = typeof own?.['$name'] === 'string' ? own['$name'] : names.encode(tool.name);
  const path = `tools.${tool.name}`;
  const { $custom: custom, $search: search } = own ?? {};
  if (isObject(search)) return search;
  if (isObject(custom)) return restore({ ...custom, name }, tool.extensions, path, losses);
  const { schema, removed } = normaliseSchema(tool.inputSchema, quirks.schema);
  if (removed.length > 0) {
    losses.add(`${path}.input_schema`, `the upstream refuses ${removed.join(', ')}`);
  }
  const wire: JsonObject = { type: 'function', name };
  if (tool.description !== undefined) wire['description'] = tool.description;
  wire['parameters'] = schema;
  encodeStrict(tool, schema, path, context, wire);
  if (own !== undefined) restore(wire, { [DIALECT]: own }, path, losses);
  if (tool.extensions === undefined) return wire;
  const { defer_loading: _deferred, ...foreign } = tool.extensions['anthropic-messages'] ?? {};
  loseForeign(path, { ...tool.extensions, 'anthropic-messages': foreign }, DIALECT, losses);
  return wire;
}

/** Silence means "strict if the schema allows it" here and "not strict" everywhere else, so it is said. */
function encodeStrict(
  tool: ToolDefinition,
  schema: JsonObject,
  path: string,
  { losses, quirks }: EncodeContext,
  wire: JsonObject,
): void {
  const strict = tool.strict ?? false;
  if (!quirks.strictTools) {
    if (strict) losses.add(`${path}.strict`, 'the upstream has no strict mode');
    return;
  }
  if (tool.extensions?.[DIALECT]?.['$strict'] === 'unsaid') return;
  const closed = strict ? strictSchema(schema) : undefined;
  if (strict && closed === undefined) {
    losses.add(`${path}.strict`, 'strict mode needs every property required and every object closed');
  }
  wire['parameters'] = closed ?? schema;
  wire['strict'] = closed !== undefined;
}

function encodeChoice(
  choice: ToolChoice,
  request: ConversationRequest,
  context: EncodeContext,
  body: JsonObject,
): void {
  const type = takenChoice(choice, context, body);
  if (type === undefined) return;
  if (type === 'any' && choice.type === 'tool') onlyTool(body, choice.name, context);
  if (type === 'tool' && choice.type === 'tool')
    body['tool_choice'] = namedChoice(choice.name, request, context);
  else body['tool_choice'] = type === 'any' ? 'required' : type;
}

function namedChoice(name: string, request: ConversationRequest, { names }: EncodeContext): JsonObject {
  const kind = names.typeOf(name);
  if (kind !== undefined) return { type: kind };
  const own = request.tools.find((tool) => tool.name === name)?.extensions?.[DIALECT];
  const type = isObject(own?.['$custom']) ? 'custom' : 'function';
  const { $namespace: namespace, $name: inner } = own ?? {};
  if (typeof namespace !== 'string') return { type, name: names.encode(name) };
  return { type, name: inner, namespace };
}

/** One tool and the duty to call a tool is that tool by name. */
function onlyTool(body: JsonObject, name: string, { names }: EncodeContext): void {
  if (!Array.isArray(body['tools'])) return;
  const kind = names.typeOf(name);
  const isMeant = (tool: JsonObject): boolean =>
    kind === undefined ? tool['name'] === names.encode(name) : tool['type'] === kind;
  const kept = body['tools'].filter((tool) => isObject(tool) && isMeant(tool));
  if (kept.length > 0) body['tools'] = kept;
}
