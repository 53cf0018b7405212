/** Tool definitions and tool choice: neutral to wire. */
import type { ConversationRequest, JsonObject, ToolChoice, ToolDefinition } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { shownTools } from '../../core/tool-references.js';
import { EncodeMemo } from '../shared/encode-memo.js';
import { normaliseSchema } from '../shared/json-schema.js';
import { type EncodeContext, restore } from './encode-content.js';
import { DIALECT } from './wire.js';

/** By whether the client speaks this wire too, which decides about unions. */
const encodedTools = { native: new EncodeMemo<ToolDefinition>(), foreign: new EncodeMemo<ToolDefinition>() };

export function encodeTools(request: ConversationRequest, context: EncodeContext): JsonObject[] {
  const memo = context.native ? encodedTools.native : encodedTools.foreign;
  const tools = listedTools(request, context).flatMap((tool) =>
    memo.of([tool], context, () => [encodeTool(tool, context)]),
  );
  for (const { dialect, kind, name, value } of request.providerTools) {
    if (dialect !== DIALECT)
      context.losses.add(`tools.${name}`, `${kind} is run by ${dialect} providers only`);
    else if (context.quirks.cacheControl || value['cache_control'] === undefined) tools.push(value);
    else {
      const { cache_control: _, ...rest } = value;
      tools.push(rest);
    }
  }
  return tools;
}

/** Upstreams that can keep tools back get all of them, those that are kept back last. */
function listedTools(request: ConversationRequest, { quirks }: EncodeContext): readonly ToolDefinition[] {
  const { tools } = request;
  if (!tools.some(({ deferred }) => deferred)) return tools;
  if (!quirks.toolSearch) return shownTools(request);
  return [...tools.filter(({ deferred }) => !deferred), ...tools.filter(({ deferred }) => deferred)];
}

function encodeTool(tool: ToolDefinition, context: EncodeContext): JsonObject {
  const path = `tools.${tool.name}`;
  if (tool.typed?.dialect === DIALECT) {
    const typed: JsonObject = { ...tool.typed.value, name: context.names.encode(tool.name) };
    if (tool.strict !== undefined) typed['strict'] = tool.strict;
    return restore(typed, tool.extensions, path, context);
  }
  const wire: JsonObject = { name: context.names.encode(tool.name) };
  if (tool.description !== undefined) wire['description'] = tool.description;
  wire['input_schema'] = objectSchema(tool.inputSchema, path, context);
  if (tool.strict !== undefined) {
    if (context.quirks.strictTools) wire['strict'] = tool.strict;
    else if (tool.strict) context.losses.add(`${path}.strict`, 'the upstream does not enforce schemas');
  }
  if (tool.deferred && context.quirks.toolSearch) {
    wire['defer_loading'] = true;
    // What is not in the prompt cannot be where its cache ends.
    const { cache_control: _mark, ...own } = tool.extensions?.[DIALECT] ?? {};
    return restore(wire, { ...tool.extensions, [DIALECT]: own }, path, context);
  }
  return restore(wire, tool.extensions, path, context);
}

const UNIONS = ['anyOf', 'oneOf', 'allOf'] as const;

/** The wire wants an object at the top, with no union there. */
function objectSchema(given: JsonObject | undefined, path: string, context: EncodeContext): JsonObject {
  if (given === undefined) return { type: 'object', properties: {} };
  const schema = context.quirks.schema === 'full' ? given : cutDown(given, path, context);
  const union = UNIONS.find((key) => Array.isArray(schema[key]));
  if (union !== undefined && !context.native) {
    context.losses.add(`${path}.input_schema.${union}`, 'the variants were merged into one object');
    return mergeVariants(schema, union);
  }
  return schema['type'] === 'object' ? schema : { ...schema, type: 'object' };
}

function cutDown(given: JsonObject, path: string, { quirks, losses }: EncodeContext): JsonObject {
  const { schema, removed } = normaliseSchema(given, quirks.schema);
  for (const keyword of removed) losses.add(`${path}.input_schema`, `the upstream does not take ${keyword}`);
  return schema;
}

function mergeVariants(schema: JsonObject, union: (typeof UNIONS)[number]): JsonObject {
  const { [union]: variants, ...rest } = schema;
  const properties: JsonObject = {};
  const required = new Set<unknown>();
  for (const variant of Array.isArray(variants) ? variants : []) {
    if (!isObject(variant)) continue;
    if (isObject(variant['properties'])) Object.assign(properties, variant['properties']);
    if (union !== 'allOf' || !Array.isArray(variant['required'])) continue;
    for (const name of variant['required']) required.add(name);
  }
  if (isObject(rest['properties'])) Object.assign(properties, rest['properties']);
  if (Array.isArray(rest['required'])) for (const name of rest['required']) required.add(name);
  return { ...rest, type: 'object', properties, ...(required.size > 0 ? { required: [...required] } : {}) };
}

/** Undefined leaves it to the upstream, which is `auto`. */
export function encodeToolChoice(
  request: ConversationRequest,
  context: EncodeContext,
): JsonObject | undefined {
  const { toolChoice, parallelToolCalls } = request;
  const choice = toolChoice === undefined ? undefined : understood(toolChoice, context);
  const wire: JsonObject | undefined =
    choice?.type === 'tool'
      ? { type: 'tool', name: context.names.encode(choice.name) }
      : choice && { ...choice };
  if (parallelToolCalls === undefined || choice?.type === 'none') return wire;
  if (!context.quirks.parallelToolCalls) {
    if (!parallelToolCalls)
      context.losses.add('parallelToolCalls', 'the upstream does not limit itself to one call');
    return wire;
  }
  if (parallelToolCalls) return wire && { ...wire, disable_parallel_tool_use: false };
  return { ...(wire ?? { type: 'auto' }), disable_parallel_tool_use: true };
}

/** The nearest form that the upstream knows. */
function understood(choice: ToolChoice, { quirks, losses }: EncodeContext): ToolChoice | undefined {
  if (quirks.toolChoice.includes(choice.type)) return choice;
  const nearest: ToolChoice | undefined =
    choice.type === 'tool' && quirks.toolChoice.includes('any') ? { type: 'any' } : undefined;
  losses.add(
    'toolChoice',
    `the upstream does not know "${choice.type}", "${nearest?.type ?? 'auto'}" was sent`,
  );
  return nearest;
}
