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
import type { EncodeContext } from './encode-content.js';
import { restore } from './encode-content.js';
import { DIALECT } from './wire.js';

/** Adds `tools`, `tool_choice` and `parallel_tool_calls`; none of them where there is no tool. */
export function encodeTools(request: ConversationRequest, context: EncodeContext, body: JsonObject): void {
  const { losses, quirks } = context;
  const tools: JsonObject[] = [];
  for (const tool of wantedTools(request, losses)) tools.push(...offerTool(tool, context));
  for (const tool of request.providerTools) {
    if (tool.dialect === DIALECT) tools.push(tool.value);
    else {
      const reason = whyNotOffered(tool, `${tool.kind} is run by its provider and not by this upstream`);
      losses.add(`tools.${tool.name}`, reason);
    }
  }
  const choice = request.toolChoice;
  if (tools.length === 0) {
    if (choice !== undefined && choice.type !== 'auto' && choice.type !== 'none') {
      losses.add('tool_choice', 'no tool is left to choose');
    }
    return;
  }
  body['tools'] = tools;
  if (choice !== undefined) encodeChoice(choice, request, context, body);
  if (request.parallelToolCalls !== undefined && quirks.parallelToolCalls) {
    body['parallel_tool_calls'] = request.parallelToolCalls;
  }
}

const encodedTools = new EncodeMemo<ToolDefinition>();

function offerTool(tool: ToolDefinition, context: EncodeContext): readonly JsonObject[] {
  const { names, quirks } = context;
  names.offer(tool.name, quirks.textToolCalls ? stringProperties(tool.inputSchema) : undefined);
  return encodedTools.of([tool], context, () => [encodeTool(tool, context)]);
}

function encodeTool(tool: ToolDefinition, context: EncodeContext): JsonObject {
  const { losses, names, quirks } = context;
  const own = tool.extensions?.[DIALECT];
  const name = names.encode(tool.name);
  const custom = own?.['$custom'];
  if (isObject(custom)) return { type: 'custom', custom: { ...custom, name } };
  const path = `tools.${tool.name}`;
  const { schema, removed } = normaliseSchema(tool.inputSchema, quirks.schema);
  if (removed.length > 0) {
    losses.add(`${path}.input_schema`, `the upstream refuses ${removed.join(', ')}`);
  }
  const called: JsonObject = { name };
  if (tool.description !== undefined) called['description'] = tool.description;
  called['parameters'] = schema;
  if (tool.strict !== undefined) encodeStrict(tool.strict, schema, path, context, called);
  const wire: JsonObject = { type: 'function', function: called };
  if (tool.extensions === undefined) return wire;
  if (own !== undefined) restore(wire, { [DIALECT]: own }, path, losses);
  const { defer_loading: _deferred, ...foreign } = tool.extensions['anthropic-messages'] ?? {};
  loseForeign(path, { ...tool.extensions, 'anthropic-messages': foreign }, DIALECT, losses);
  return wire;
}

function encodeStrict(
  strict: boolean,
  schema: JsonObject,
  path: string,
  { losses, quirks }: EncodeContext,
  called: JsonObject,
): void {
  if (!quirks.strictTools) {
    if (strict) losses.add(`${path}.strict`, 'the upstream has no strict mode');
    return;
  }
  const closed = strict ? strictSchema(schema) : schema;
  if (closed === undefined) {
    losses.add(`${path}.strict`, 'strict mode needs every property required and every object closed');
    return;
  }
  called['parameters'] = closed;
  called['strict'] = strict;
}

function stringProperties(schema: JsonObject | undefined): ReadonlySet<string> {
  const strings = new Set<string>();
  const properties = schema?.['properties'];
  if (!isObject(properties)) return strings;
  for (const name in properties) {
    const property = properties[name];
    if (isObject(property) && property['type'] === 'string') strings.add(name);
  }
  return strings;
}

function encodeChoice(
  choice: ToolChoice,
  request: ConversationRequest,
  context: EncodeContext,
  body: JsonObject,
): void {
  const { names } = context;
  const type = takenChoice(choice, context, body);
  if (type === undefined) return;
  if (type === 'any' && choice.type === 'tool') onlyTool(body, names.encode(choice.name));
  if (type === 'tool' && choice.type === 'tool') {
    const tool = request.tools.find(({ name }) => name === choice.name);
    const kind = isObject(tool?.extensions?.[DIALECT]?.['$custom']) ? 'custom' : 'function';
    body['tool_choice'] = { type: kind, [kind]: { name: names.encode(choice.name) } };
  } else body['tool_choice'] = type === 'any' ? 'required' : type;
}

/** One tool and the duty to call a tool is that tool by name. */
function onlyTool(body: JsonObject, name: string): void {
  if (!Array.isArray(body['tools'])) return;
  const kept = body['tools'].filter(
    (tool) => isObject(tool['function']) && tool['function']['name'] === name,
  );
  if (kept.length > 0) body['tools'] = kept;
}
