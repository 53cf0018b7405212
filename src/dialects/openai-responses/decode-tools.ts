/** Tools and the choice among them: wire to neutral. */
import type {
  ConversationRequest,
  JsonObject,
  ProviderToolDefinition,
  ToolDefinition,
} from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { Memo } from '../../core/shared-values.js';
import { extraFields } from '../shared/extra-fields.js';
import { FREE_TEXT_SCHEMA } from '../shared/free-text.js';
import { describeTool } from '../shared/openai-tools.js';
import { fail, readArray, readNonEmpty, readObject, readOneOf } from '../shared/read.js';
import { typedTool } from '../shared/typed-tools.js';
import type { FlatNames } from './flat-names.js';
import {
  ADDITIONAL_FIELDS,
  CUSTOM_FIELDS,
  DIALECT,
  extend,
  FUNCTION_FIELDS,
  NAMESPACE_FIELDS,
  SEARCH_NAME,
} from './wire.js';

export function decodeTools(body: JsonObject, request: ConversationRequest, names: FlatNames): void {
  const { tools, input } = body;
  if (tools !== undefined && tools !== null) decodeList(tools, 'tools', request, names);
  if (Array.isArray(input)) decodeInputTools(input, request, names);
}

/** Tools that came later: items of the input may bring more, or bring one again that has changed. */
function decodeInputTools(input: readonly unknown[], request: ConversationRequest, names: FlatNames): void {
  const additional: JsonObject[] = [];
  for (let index = 0; index < input.length; index += 1) {
    const item = input[index];
    if (!isObject(item)) continue;
    const path = `input.${index}.tools`;
    if (item['type'] === 'additional_tools') {
      decodeList(item['tools'], path, request, names, { $additional: additional.length });
      additional.push(extraFields(item, ADDITIONAL_FIELDS) ?? {});
    } else if (item['type'] === 'tool_search_output' && Array.isArray(item['tools'])) {
      decodeList(item['tools'], path, request, names, { $found: true });
    }
  }
  if (additional.length > 0) note(request, { $additional: additional });
}

function note({ extensions }: ConversationRequest, fields: JsonObject): void {
  extensions[DIALECT] = Object.assign(extensions[DIALECT] ?? {}, fields);
}

function decodeList(
  value: unknown,
  path: string,
  request: ConversationRequest,
  names: FlatNames,
  later?: JsonObject,
): void {
  const tools = readArray(value, path);
  // Names outside of namespaces first: they are what they are.
  for (const tool of tools) {
    if (isObject(tool) && tool['type'] !== 'namespace' && typeof tool['name'] === 'string') {
      names.take(tool['name']);
    }
  }
  for (let index = 0; index < tools.length; index += 1) {
    const tool = tools[index];
    const at = `${path}.${index}`;
    if (!isObject(tool)) fail(at, 'an object', tool);
    if (tool['type'] === 'namespace') {
      for (const own of decodeNamespace(tool, at, names)) offer(request, extend(own, later), later);
      continue;
    }
    const own =
      (later === undefined ? decodeKnown(tool, at) : decodeOwn(tool, at)) ?? decodeTyped(tool, names);
    if (own === undefined) request.providerTools.push(decodeProviderTool(tool, at));
    else offer(request, extend(own, later), later);
  }
}

function offer(request: ConversationRequest, tool: ToolDefinition, later: JsonObject | undefined): void {
  const at = later === undefined ? -1 : request.tools.findIndex(({ name }) => name === tool.name);
  if (at < 0) request.tools.push(tool);
  else request.tools[at] = tool;
}

const decodedTools = new Memo<JsonObject, ToolDefinition>();

/** As `decodeOwn`, for a tool that is not changed afterwards. */
function decodeKnown(tool: JsonObject, path: string): ToolDefinition | undefined {
  const known = decodedTools.get(tool);
  if (known !== undefined) return known;
  const own = decodeOwn(tool, path);
  return own === undefined ? undefined : decodedTools.keep(tool, own);
}

/** A tool that the client runs; undefined for the provider's own. */
function decodeOwn(tool: JsonObject, path: string): ToolDefinition | undefined {
  switch (tool['type']) {
    case 'function':
      return decodeFunction(tool, path);
    case 'custom':
      return decodeCustom(tool, path);
    case 'tool_search':
      return tool['execution'] === 'client' ? decodeSearch(tool, path) : undefined;
    default:
      return undefined;
  }
}

/** Defined by its type alone, and run by the client. */
function decodeTyped(tool: JsonObject, names: FlatNames): ToolDefinition | undefined {
  const typed = typedTool(DIALECT, tool);
  if (typed === undefined) return undefined;
  typed.name = names.offerTyped(typed.typed.kind, typed.name);
  return extend<ToolDefinition>(typed, extraFields(tool, new Set(Object.keys(typed.typed.value))));
}

function decodeNamespace(value: JsonObject, path: string, names: FlatNames): ToolDefinition[] {
  const namespace = readNonEmpty(value['name'], `${path}.name`);
  const about = extraFields(value, NAMESPACE_FIELDS) ?? {};
  return readArray(value['tools'], `${path}.tools`).map((inner, index) => {
    const at = `${path}.tools.${index}`;
    const tool = readObject(inner, at);
    const own = decodeOwn(tool, at) ?? fail(`${at}.type`, '"function" or "custom"', tool['type']);
    const { name } = own;
    own.name = names.offer(namespace, name);
    return extend(own, { $namespace: namespace, $name: name, $about: about });
  });
}

function decodeFunction(value: JsonObject, path: string): ToolDefinition {
  const { name, strict } = value;
  if (typeof name !== 'string' || name === '') return fail(`${path}.name`, 'a non-empty string', name);
  const tool = describeTool({ name }, value, path);
  if (strict !== undefined && strict !== null) {
    tool.strict = typeof strict === 'boolean' ? strict : fail(`${path}.strict`, 'true or false', strict);
  } else extend(tool, { $strict: 'unsaid' });
  return extend(tool, extraFields(value, FUNCTION_FIELDS));
}

/** The original is kept whole; what other wires get says in words what a grammar says here. */
function decodeCustom(value: JsonObject, path: string): ToolDefinition {
  const name = readNonEmpty(value['name'], `${path}.name`);
  const { description, format } = value;
  const tool: ToolDefinition = { name, inputSchema: FREE_TEXT_SCHEMA };
  const said = typeof description === 'string' && description !== '' ? `${description}\n\n` : '';
  tool.description = `${said}Give the whole text in the parameter \`input\`.${grammarText(format)}`;
  const custom: JsonObject = { type: 'custom', name };
  for (const [key, field] of Object.entries({ description, format })) {
    if (field !== undefined && field !== null) custom[key] = field;
  }
  return extend(tool, { ...extraFields(value, CUSTOM_FIELDS), $custom: custom });
}

function grammarText(format: unknown): string {
  if (!isObject(format) || format['type'] !== 'grammar') return '';
  const { syntax, definition } = format;
  if (typeof definition !== 'string') return '';
  return ` It must match this ${typeof syntax === 'string' ? `${syntax} ` : ''}grammar:\n${definition}`;
}

/** A search for tools that the client does itself is a tool like any other. */
function decodeSearch(value: JsonObject, path: string): ToolDefinition {
  return extend(describeTool({ name: SEARCH_NAME }, value, path), { $search: value });
}

function decodeProviderTool(value: JsonObject, path: string): ProviderToolDefinition {
  const kind = readNonEmpty(value['type'], `${path}.type`);
  const { name, server_label: server } = value;
  const called = [name, server].find((each) => typeof each === 'string' && each !== '');
  return { dialect: DIALECT, kind, name: typeof called === 'string' ? called : kind, value };
}

export function decodeToolChoice(value: unknown, request: ConversationRequest, names: FlatNames): void {
  if (value === undefined || value === null) return;
  if (typeof value === 'string') {
    const word = readOneOf(value, 'tool_choice', ['auto', 'none', 'required']);
    request.toolChoice = { type: word === 'required' ? 'any' : word };
    return;
  }
  const choice = readObject(value, 'tool_choice');
  const { type } = choice;
  if (type === 'allowed_tools') allowTools(choice, request, names);
  else if (type === 'function' || type === 'custom') {
    request.toolChoice = { type: 'tool', name: nameOf(choice, 'tool_choice', names) };
  } else {
    const typed = names.typed(readNonEmpty(type, 'tool_choice.type'));
    if (typed !== undefined) request.toolChoice = { type: 'tool', name: typed };
    // A tool of the provider's own: no other model can call it.
    else note(request, { tool_choice: choice });
  }
}

function nameOf(value: JsonObject, path: string, names: FlatNames): string {
  const name = readNonEmpty(value['name'], `${path}.name`);
  const { namespace } = value;
  return typeof namespace === 'string' && namespace !== '' ? names.flatten(namespace, name) : name;
}

/** The tools that are allowed, and no others: what every wire can say. */
function allowTools(allowed: JsonObject, request: ConversationRequest, names: FlatNames): void {
  const mode = readOneOf(allowed['mode'], 'tool_choice.mode', ['auto', 'required']);
  const own = new Set<string>();
  const provided = new Set<string>();
  const tools = readArray(allowed['tools'], 'tool_choice.tools');
  for (let index = 0; index < tools.length; index += 1) {
    const path = `tool_choice.tools.${index}`;
    const tool = readObject(tools[index], path);
    const { type } = tool;
    const typed = typeof type === 'string' ? names.typed(type) : undefined;
    if (typed !== undefined) {
      own.add(typed);
      continue;
    }
    if (type !== 'function' && type !== 'custom') {
      provided.add(readNonEmpty(tool['server_label'] ?? type, `${path}.type`));
      continue;
    }
    const name = nameOf(tool, path, names);
    if (!request.tools.some((each) => each.name === name)) {
      fail(path, 'one of the tools in this request', name);
    }
    own.add(name);
  }
  request.tools = request.tools.filter(({ name }) => own.has(name));
  request.providerTools = request.providerTools.filter(
    ({ kind, name }) => provided.has(kind) || provided.has(name),
  );
  request.toolChoice = { type: mode === 'required' ? 'any' : 'auto' };
}
