/** Tools and the choice among them: wire to neutral. */
import type {
  ConversationRequest,
  JsonObject,
  ProviderToolDefinition,
  ToolChoice,
  ToolDefinition,
} from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { Memo } from '../../core/shared-values.js';
import { describeTool } from '../shared/openai-tools.js';
import { fail, readArray, readNonEmpty, readObject, readOneOf } from '../shared/read.js';
import { DIALECT, extend, extraFields, FUNCTION_FIELDS, TOOL_FIELDS } from './wire.js';

/** A custom tool takes free text. To every other wire it is a function with that text as its one property. */
const CUSTOM_SCHEMA: JsonObject = Object.freeze({
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
});

export function decodeTools(body: JsonObject, request: ConversationRequest): void {
  if (body['tools'] !== undefined && body['tools'] !== null) {
    const tools = readArray(body['tools'], 'tools');
    for (let index = 0; index < tools.length; index += 1) decodeTool(tools[index], `tools.${index}`, request);
  }
  if (body['functions'] !== undefined && body['functions'] !== null) {
    const functions = readArray(body['functions'], 'functions');
    for (let index = 0; index < functions.length; index += 1) {
      const tool = decodeFunction(functions[index], `functions.${index}`);
      request.tools.push(extend(tool, { $legacy: true }));
    }
  }
  const choice = body['tool_choice'] ?? body['function_call'];
  if (choice === undefined || choice === null) return;
  const path =
    body['tool_choice'] === undefined || body['tool_choice'] === null ? 'function_call' : 'tool_choice';
  decodeToolChoice(choice, path, request);
}

const decodedTools = new Memo<JsonObject, ToolDefinition>();

function decodeTool(value: unknown, path: string, request: ConversationRequest): void {
  if (!isObject(value)) fail(path, 'an object', value);
  const known = decodedTools.get(value);
  if (known !== undefined) {
    request.tools.push(known);
    return;
  }
  const { type } = value;
  if (type === 'custom') request.tools.push(decodedTools.keep(value, decodeCustom(value, path)));
  else if (type === 'function' || type === undefined) {
    const tool = decodeFunction(value['function'], `${path}.function`);
    request.tools.push(decodedTools.keep(value, extend(tool, extraFields(value, TOOL_FIELDS))));
  } else request.providerTools.push(decodeProviderTool(value, path));
}

function decodeFunction(value: unknown, path: string): ToolDefinition {
  if (!isObject(value)) return fail(path, 'an object', value);
  const { name, strict } = value;
  if (typeof name !== 'string' || name === '') return fail(`${path}.name`, 'a non-empty string', name);
  const tool = describeTool({ name }, value, path);
  if (strict !== undefined && strict !== null) {
    tool.strict = typeof strict === 'boolean' ? strict : fail(`${path}.strict`, 'true or false', strict);
  }
  return extend(tool, extraFields(value, FUNCTION_FIELDS));
}

function decodeCustom(value: JsonObject, path: string): ToolDefinition {
  const custom = readObject(value['custom'], `${path}.custom`);
  const name = readNonEmpty(custom['name'], `${path}.custom.name`);
  const { description, format } = custom;
  const tool: ToolDefinition = { name, inputSchema: CUSTOM_SCHEMA };
  if (typeof description === 'string') tool.description = description;
  // A grammar is a promise that no other wire can make; free text is what they all do.
  const grammar = isObject(format) && format['type'] !== 'text' ? { format } : undefined;
  return extend(tool, { $custom: custom, ...grammar });
}

/** A type that this version does not know: the provider's own. */
function decodeProviderTool(value: JsonObject, path: string): ProviderToolDefinition {
  const kind = readNonEmpty(value['type'], `${path}.type`);
  const name = typeof value['name'] === 'string' && value['name'] !== '' ? value['name'] : kind;
  return { dialect: DIALECT, kind, name, value };
}

function decodeToolChoice(value: unknown, path: string, request: ConversationRequest): void {
  if (typeof value === 'string') {
    const word = readOneOf(value, path, ['auto', 'none', 'required']);
    request.toolChoice = { type: word === 'required' ? 'any' : word };
    return;
  }
  const choice = readObject(value, path);
  if (choice['type'] === 'allowed_tools') {
    allowTools(
      readObject(choice['allowed_tools'], `${path}.allowed_tools`),
      `${path}.allowed_tools`,
      request,
    );
    return;
  }
  const named = choice['type'] === 'custom' ? choice['custom'] : (choice['function'] ?? choice);
  const where = choice['type'] === 'custom' ? `${path}.custom` : `${path}.function`;
  request.toolChoice = {
    type: 'tool',
    name: readNonEmpty(readObject(named, where)['name'], `${where}.name`),
  };
}

/** The tools that are allowed, and no others: what every wire can say. */
function allowTools(allowed: JsonObject, path: string, request: ConversationRequest): void {
  const mode = readOneOf(allowed['mode'], `${path}.mode`, ['auto', 'required']);
  const names = new Set(
    readArray(allowed['tools'], `${path}.tools`).map((tool, index) => {
      const given = readObject(tool, `${path}.tools.${index}`);
      const body = given['function'] ?? given['custom'] ?? given;
      const name = readNonEmpty(
        readObject(body, `${path}.tools.${index}`)['name'],
        `${path}.tools.${index}.name`,
      );
      if (!request.tools.some((each) => each.name === name)) {
        fail(`${path}.tools.${index}`, 'one of the tools in this request', name);
      }
      return name;
    }),
  );
  request.tools = request.tools.filter(({ name }) => names.has(name));
  const choice: ToolChoice = { type: mode === 'required' ? 'any' : 'auto' };
  request.toolChoice = choice;
}
