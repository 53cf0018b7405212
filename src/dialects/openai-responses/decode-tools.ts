/** Tools and the choice among them: wire to neutral. */
import type {
  ConversationRequest,
  JsonObject,
  ServerToolDefinition,
  ToolDefinition,
} from '../../core/conversation.js';
import { extraFields } from '../shared/extra-fields.js';
import { FREE_TEXT_SCHEMA } from '../shared/free-text.js';
import { fail, isObject, readArray, readNonEmpty, readObject, readOneOf } from '../shared/read.js';
import type { FlatNames } from './flat-names.js';
import { CUSTOM_FIELDS, DIALECT, extend, FUNCTION_FIELDS, NAMESPACE_FIELDS } from './wire.js';

export function decodeTools(value: unknown, request: ConversationRequest, names: FlatNames): void {
  if (value === undefined || value === null) return;
  const tools = readArray(value, 'tools');
  // Names outside of namespaces first: they are what they are.
  for (const tool of tools) {
    if (isObject(tool) && tool['type'] !== 'namespace' && typeof tool['name'] === 'string') {
      names.take(tool['name']);
    }
  }
  for (let index = 0; index < tools.length; index += 1) {
    const tool = tools[index];
    const path = `tools.${index}`;
    if (!isObject(tool)) fail(path, 'an object', tool);
    if (tool['type'] === 'namespace') decodeNamespace(tool, path, request, names);
    else {
      const own = decodeOwn(tool, path);
      if (own === undefined) request.serverTools.push(decodeServerTool(tool, path));
      else request.tools.push(own);
    }
  }
}

/** A tool that the client runs; undefined for the provider's own. */
function decodeOwn(tool: JsonObject, path: string): ToolDefinition | undefined {
  if (tool['type'] === 'function') return decodeFunction(tool, path);
  return tool['type'] === 'custom' ? decodeCustom(tool, path) : undefined;
}

function decodeNamespace(
  value: JsonObject,
  path: string,
  request: ConversationRequest,
  names: FlatNames,
): void {
  const namespace = readNonEmpty(value['name'], `${path}.name`);
  const about = extraFields(value, NAMESPACE_FIELDS) ?? {};
  const inner = readArray(value['tools'], `${path}.tools`);
  for (let index = 0; index < inner.length; index += 1) {
    const at = `${path}.tools.${index}`;
    const tool = readObject(inner[index], at);
    const own = decodeOwn(tool, at) ?? fail(`${at}.type`, '"function" or "custom"', tool['type']);
    const { name } = own;
    own.name = names.offer(namespace, name);
    request.tools.push(extend(own, { $namespace: namespace, $name: name, $about: about }));
  }
}

function decodeFunction(value: JsonObject, path: string): ToolDefinition {
  const { name, description, parameters, strict } = value;
  if (typeof name !== 'string' || name === '') return fail(`${path}.name`, 'a non-empty string', name);
  const tool: ToolDefinition = { name };
  if (description !== undefined && description !== null) {
    tool.description =
      typeof description === 'string' ? description : fail(`${path}.description`, 'a string', description);
  }
  if (parameters !== undefined && parameters !== null) {
    tool.inputSchema = isObject(parameters)
      ? parameters
      : fail(`${path}.parameters`, 'an object', parameters);
  }
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
  const custom = {
    type: 'custom',
    name,
    ...(said === '' ? {} : { description }),
    ...(isObject(format) ? { format } : {}),
  };
  return extend(tool, { ...extraFields(value, CUSTOM_FIELDS), $custom: custom });
}

function grammarText(format: unknown): string {
  if (!isObject(format) || format['type'] !== 'grammar') return '';
  const { syntax, definition } = format;
  if (typeof definition !== 'string') return '';
  return ` It must match this ${typeof syntax === 'string' ? `${syntax} ` : ''}grammar:\n${definition}`;
}

function decodeServerTool(value: JsonObject, path: string): ServerToolDefinition {
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
    // A tool of the provider's own: nobody else can be told to call it.
    readNonEmpty(type, 'tool_choice.type');
    request.extensions[DIALECT] = { ...request.extensions[DIALECT], tool_choice: choice };
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
  request.serverTools = request.serverTools.filter(
    ({ kind, name }) => provided.has(kind) || provided.has(name),
  );
  request.toolChoice = { type: mode === 'required' ? 'any' : 'auto' };
}
