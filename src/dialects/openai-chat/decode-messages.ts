/** `messages`: wire to neutral. Paths are built only for an error, never for a field that is right. */
import type {
  Block,
  JsonObject,
  Message,
  TextBlock,
  ToolResultBlock,
  ToolResultContent,
  ToolUseBlock,
} from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { Memo, RunMemo } from '../../core/shared-values.js';
import { fail } from '../shared/read.js';
import { decodePart } from './decode-content.js';
import { decodeReasoning } from './reasoning.js';
import {
  ASSISTANT_FIELDS,
  DIALECT,
  extend,
  extraFields,
  TEXT_MESSAGE_FIELDS,
  TOOL_CALL_FIELDS,
  TOOL_MESSAGE_FIELDS,
} from './wire.js';

const ROLES = '"system", "developer", "user", "assistant", "tool" or "function"';

interface DecodedMessages {
  system: TextBlock[];
  messages: Message[];
}

/** Instructions in front are the system prompt; later ones keep their place. */
export function decodeMessages(value: unknown): DecodedMessages {
  if (!Array.isArray(value)) return fail('messages', 'an array', value);
  if (value.length === 0) return fail('messages', 'at least one message', value);
  const reader = new MessageReader();
  for (let index = 0; index < value.length; index += 1) reader.add(value[index], index);
  reader.endResults();
  return { system: reader.system, messages: reader.messages };
}

const decodedMessages = new Memo<JsonObject, Message>();
const decodedInstructions = new Memo<JsonObject, readonly TextBlock[]>();
const decodedResults = new Memo<JsonObject, ToolResultBlock>();
const collectedResults = new RunMemo<ToolResultBlock, Message>();

class MessageReader {
  readonly system: TextBlock[] = [];
  readonly messages: Message[] = [];
  /** Results in a row, which are one message. */
  #results: ToolResultBlock[] = [];
  /** Calls of the wire's first form, which had no ids: the latest of each name. */
  readonly #functions = new Map<string, string>();

  add(value: unknown, index: number): void {
    if (!isObject(value)) fail(`messages.${index}`, 'an object', value);
    const role = value['role'];
    if (role === 'tool') {
      this.#results.push(
        decodedResults.get(value) ?? decodedResults.keep(value, decodeToolMessage(value, index)),
      );
      return;
    }
    if (role === 'function') {
      this.#results.push(this.#functionResult(value, index));
      return;
    }
    this.endResults();
    if ((role === 'system' || role === 'developer') && this.messages.length === 0) {
      this.system.push(
        ...(decodedInstructions.get(value) ?? decodedInstructions.keep(value, decodeFront(value, index))),
      );
      return;
    }
    this.messages.push(decodedMessages.get(value) ?? this.#message(role, value, index));
  }

  /** Before another message, and at the end. */
  endResults(): void {
    const content = this.#results;
    if (content.length === 0) return;
    this.#results = [];
    this.messages.push(
      collectedResults.get(content) ?? collectedResults.keep(content, { role: 'user', content }),
    );
  }

  #message(role: unknown, value: JsonObject, index: number): Message {
    switch (role) {
      case 'user':
        return keepMessage(value, { role, content: decodeContent(value['content'], index) });
      case 'assistant': {
        const message = this.#assistant(value, index);
        // The wire's first form depends on where it stands.
        return (value['function_call'] ?? undefined) === undefined
          ? decodedMessages.keep(value, message)
          : message;
      }
      case 'system':
      case 'developer':
        return keepMessage(value, { role: 'system', content: decodeInstruction(value, index) });
      default:
        return fail(`messages.${index}.role`, ROLES, role);
    }
  }

  #functionResult(value: JsonObject, index: number): ToolResultBlock {
    const { name } = value;
    if (typeof name !== 'string' || name === '') {
      return fail(`messages.${index}.name`, 'a non-empty string', name);
    }
    const toolUseId = this.#functions.get(name) ?? `call_${index}_${name}`;
    return { type: 'tool_result', toolUseId, content: decodeResult(value['content'], index), isError: false };
  }

  #assistant(value: JsonObject, index: number): Message {
    const content: Block[] = decodeReasoning(value);
    const said = value['content'];
    if (typeof said === 'string') {
      if (said !== '') content.push({ type: 'text', text: said });
    } else if (said !== undefined && said !== null) content.push(...decodeContent(said, index));
    const { refusal, audio } = value;
    if (typeof refusal === 'string' && refusal !== '') content.push(refusalBlock(refusal));
    if (isObject(audio)) {
      content.push({ type: 'opaque', dialect: DIALECT, kind: 'audio', value: { audio } });
    }
    const calls = value['tool_calls'];
    if (Array.isArray(calls)) {
      for (let position = 0; position < calls.length; position += 1) {
        content.push(decodeCall(calls[position], `messages.${index}.tool_calls.${position}`));
      }
    } else if (calls !== undefined && calls !== null) fail(`messages.${index}.tool_calls`, 'an array', calls);
    const legacy = value['function_call'];
    if (legacy !== undefined && legacy !== null) content.push(this.#functionCall(legacy, index));
    return extend<Message>({ role: 'assistant', content }, extraFields(value, ASSISTANT_FIELDS));
  }

  #functionCall(value: unknown, index: number): ToolUseBlock {
    const path = `messages.${index}.function_call`;
    if (!isObject(value)) return fail(path, 'an object', value);
    const name = readName(value['name'], path);
    const id = `call_${index}_${name}`;
    this.#functions.set(name, id);
    return decodeArguments({ type: 'tool_use', id, name, input: {} }, value['arguments'], path);
  }
}

function keepMessage(value: JsonObject, message: Message): Message {
  return decodedMessages.keep(value, extend(message, extraFields(value, TEXT_MESSAGE_FIELDS)));
}

function decodeInstruction(value: JsonObject, index: number): TextBlock[] {
  return decodeContent(value['content'], index).map((block) =>
    block.type === 'text' ? block : fail(`messages.${index}.content`, 'text only', value['content']),
  );
}

/** Instructions in front: each block carries what the message said of itself. */
function decodeFront(value: JsonObject, index: number): TextBlock[] {
  const extra = extraFields(value, TEXT_MESSAGE_FIELDS);
  return decodeInstruction(value, index).map((block) => extend(block, extra));
}

function readName(value: unknown, path: string): string {
  return typeof value === 'string' && value !== ''
    ? value
    : fail(`${path}.name`, 'a non-empty string', value);
}

function refusalBlock(text: string): TextBlock {
  return { type: 'text', text, extensions: { [DIALECT]: { refusal: true } } };
}

function decodeContent(content: unknown, index: number): Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) {
    return fail(`messages.${index}.content`, 'a string or an array of content parts', content);
  }
  const blocks: Block[] = [];
  for (let position = 0; position < content.length; position += 1) {
    const part: unknown = content[position];
    if (isObject(part) && part['type'] === 'refusal' && typeof part['refusal'] === 'string') {
      blocks.push(refusalBlock(part['refusal']));
    } else blocks.push(decodePart(part, `messages.${index}.content.${position}`));
  }
  return blocks;
}

function decodeToolMessage(value: JsonObject, index: number): ToolResultBlock {
  const toolUseId = value['tool_call_id'];
  if (typeof toolUseId !== 'string' || toolUseId === '') {
    return fail(`messages.${index}.tool_call_id`, 'a non-empty string', toolUseId);
  }
  const content = decodeResult(value['content'], index);
  return extend<ToolResultBlock>(
    { type: 'tool_result', toolUseId, content, isError: false },
    extraFields(value, TOOL_MESSAGE_FIELDS),
  );
}

function decodeResult(content: unknown, index: number): ToolResultContent[] {
  if (content === undefined || content === null) return [];
  if (typeof content !== 'string' && !Array.isArray(content)) {
    // Clients hand over what the tool returned; the wire wants text, and JSON is that.
    return [{ type: 'text', text: JSON.stringify(content) }];
  }
  return decodeContent(content, index).filter(isResultContent);
}

function isResultContent(block: Block): block is ToolResultContent {
  return (
    block.type === 'text' || block.type === 'image' || block.type === 'document' || block.type === 'opaque'
  );
}

function decodeCall(value: unknown, path: string): ToolUseBlock {
  if (!isObject(value)) return fail(path, 'an object', value);
  const { id } = value;
  if (typeof id !== 'string' || id === '') return fail(`${path}.id`, 'a non-empty string', id);
  if (value['type'] === 'custom') return decodeCustomCall(value, id, path);
  const called = value['function'];
  if (!isObject(called)) return fail(`${path}.function`, 'an object', called);
  const name = readName(called['name'], `${path}.function`);
  const block = decodeArguments(
    { type: 'tool_use', id, name, input: {} },
    called['arguments'],
    `${path}.function`,
  );
  return extend(block, extraFields(value, TOOL_CALL_FIELDS));
}

/** Free text has a place in the neutral model as the property `input`. */
function decodeCustomCall(value: JsonObject, id: string, path: string): ToolUseBlock {
  const { custom } = value;
  if (!isObject(custom)) return fail(`${path}.custom`, 'an object', custom);
  const name = readName(custom['name'], `${path}.custom`);
  const input = custom['input'] ?? '';
  if (typeof input !== 'string') return fail(`${path}.custom.input`, 'a string', input);
  return { type: 'tool_use', id, name, input: { input }, extensions: { [DIALECT]: { type: 'custom' } } };
}

/**
 * `arguments` is the text that a model wrote. It comes back to this wire byte for byte (an upstream
 * that finds its own words finds its prompt cache), so text that the parsed object would not give
 * again is kept beside it: as a note of ours where nothing is lost elsewhere, else as a field.
 */
function decodeArguments(block: ToolUseBlock, value: unknown, path: string): ToolUseBlock {
  if (value === undefined || value === null || value === '') return block;
  if (isObject(value)) {
    block.input = value;
    return block;
  }
  if (typeof value !== 'string') return fail(`${path}.arguments`, 'a JSON text', value);
  const parsed = parse(value);
  // Encoded twice: a string that holds the object.
  const input = typeof parsed === 'string' ? parse(parsed) : parsed;
  const again = isObject(input) ? stringify(input) : undefined;
  if (isObject(input) && again !== undefined) {
    block.input = input;
    return again === value ? block : extend(block, { $arguments: value });
  }
  return input === null ? block : extend(block, { arguments: value });
}

/** Undefined for an object nested deeper than the stack: the parser reads what cannot be written again. */
function stringify(value: JsonObject): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
