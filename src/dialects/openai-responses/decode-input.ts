/**
 * `input`: wire to neutral. Items in a row that one side said become one message, so that an answer
 * of reasoning, text and calls is one turn again. Paths are built only for an error.
 */
import type {
  Block,
  JsonObject,
  Message,
  OpaqueBlock,
  TextBlock,
  ToolResultBlock,
  ToolResultContent,
  ToolUseBlock,
} from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { Memo, RunMemo } from '../../core/shared-values.js';
import { extraFields } from '../shared/extra-fields.js';
import { fail } from '../shared/read.js';
import { decodeContent, decodePart } from './decode-content.js';
import type { FlatNames } from './flat-names.js';
import { decodeReasoning } from './reasoning.js';
import {
  decodeTypedCall,
  decodeTypedResult,
  isProvidersShell,
  isTypedCall,
  nameOfTyped,
  type TypedCallType,
  toolOf,
} from './typed-calls.js';
import {
  CALL_FIELDS,
  CUSTOM_CALL_FIELDS,
  DIALECT,
  extend,
  MESSAGE_FIELDS,
  RESULT_FIELDS,
  SEARCH_CALL_FIELDS,
  SEARCH_NAME,
  SEARCH_OUTPUT_FIELDS,
} from './wire.js';

const ROLES = '"user", "assistant", "system" or "developer"';
/** Items that answer something; everything else that is no message is the model's own doing. */
const ANSWERING = /_output$|^mcp_approval_response$/;

export interface DecodedInput {
  system: TextBlock[];
  messages: Message[];
  /** The first item that stands in an earlier answer and is only named here. */
  reference: { id: string; path: string } | undefined;
}

/** The id of an item that is only named; its type may be left out. */
export function referenceOf(item: unknown): string | undefined {
  if (!isObject(item) || typeof item['id'] !== 'string') return undefined;
  const { type, role, content } = item;
  const isNamed =
    type === 'item_reference' ||
    ((type ?? undefined) === undefined && role === undefined && content === undefined);
  return isNamed ? item['id'] : undefined;
}

/** Instructions in front are the system prompt; later ones keep their place. */
export function decodeInput(value: unknown, instructions: unknown, names: FlatNames): DecodedInput {
  const reader = new ItemReader(names);
  if (instructions !== undefined && instructions !== null && instructions !== '') {
    if (typeof instructions !== 'string') fail('instructions', 'a string', instructions);
    reader.system.push({ type: 'text', text: instructions });
  }
  if (typeof value === 'string') {
    reader.messages.push({ role: 'user', content: value === '' ? [] : [{ type: 'text', text: value }] });
  } else if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) reader.add(value[index], index);
  } else if (value !== undefined && value !== null) {
    fail('input', 'a string or an array of items', value);
  }
  reader.close();
  const { system, messages, reference } = reader;
  return { system, messages, reference };
}

/** What an item adds to the message of its side. */
interface DecodedItem {
  role: 'user' | 'assistant';
  blocks: readonly Block[];
}

/** Of items that mean the same wherever they stand. */
const decodedItems = new Memo<JsonObject, DecodedItem>();
const decodedMessages = new Memo<JsonObject, Message>();
const decodedInstructions = new Memo<JsonObject, readonly TextBlock[]>();
const collectedMessages = new RunMemo<DecodedItem, Message>();

class ItemReader {
  readonly system: TextBlock[] = [];
  readonly messages: Message[] = [];
  reference: DecodedInput['reference'];
  readonly #names: FlatNames;
  /** Ids of calls by the ids that their results may name. */
  readonly #typed = new Map<string, string>();
  /** Calls that the provider ran. */
  readonly #providers = new Set<string>();
  /** Items of one side in a row, which are one message. */
  #open: DecodedItem[] = [];

  constructor(names: FlatNames) {
    this.#names = names;
  }

  add(value: unknown, index: number): void {
    if (!isObject(value)) fail(`input.${index}`, 'an item', value);
    const known = decodedItems.get(value);
    if (known !== undefined) {
      this.#collect(known);
      return;
    }
    const named = referenceOf(value);
    if (named !== undefined) {
      this.reference ??= { id: named, path: `input.${index}` };
      this.#collect({ role: 'assistant', blocks: [opaque({ ...value, type: 'item_reference' })] });
      return;
    }
    const type = value['type'] ?? 'message';
    if (type === 'item_reference') fail(`input.${index}.id`, 'the id of an item', value['id']);
    if (isTypedCall(type)) {
      this.#collect({ role: 'assistant', blocks: [this.#typedCall(value, type)] });
      return;
    }
    switch (type) {
      case 'message':
        this.#message(value, index);
        return;
      case 'additional_tools':
        // Read with the tools.
        return;
      case 'shell_call_output':
      case 'local_shell_call_output':
      case 'apply_patch_call_output':
        this.#collect({ role: 'user', blocks: [this.#typedResult(value, index)] });
        return;
      case 'agent_message':
        this.#agentMessage(value);
        return;
      default: {
        const item = this.#item(type, value, index);
        // A name inside a namespace depends on the tools that are offered.
        const isPlain = (value['namespace'] ?? undefined) === undefined;
        this.#collect(isPlain ? decodedItems.keep(value, item) : item);
      }
    }
  }

  #item(type: unknown, value: JsonObject, index: number): DecodedItem {
    switch (type) {
      case 'function_call':
        return { role: 'assistant', blocks: [this.#call(value, index)] };
      case 'custom_tool_call':
        return { role: 'assistant', blocks: [this.#customCall(value, index)] };
      case 'function_call_output':
      case 'custom_tool_call_output':
        return { role: 'user', blocks: [decodeResult(value, index)] };
      case 'reasoning':
        return { role: 'assistant', blocks: [decodeReasoning(value)] };
      case 'tool_search_call':
        return { role: 'assistant', blocks: [decodeSearchCall(value)] };
      case 'tool_search_output':
        return { role: 'user', blocks: [decodeSearchOutput(value)] };
      default:
        if (typeof type !== 'string' || type === '') fail(`input.${index}.type`, 'the type of an item', type);
        return { role: ANSWERING.test(type) ? 'user' : 'assistant', blocks: [opaque(value)] };
    }
  }

  #collect(item: DecodedItem): void {
    if (this.#open[0] !== undefined && this.#open[0].role !== item.role) this.close();
    this.#open.push(item);
  }

  /** Before a message of its own, and at the end. */
  close(): void {
    const items = this.#open;
    const role = items[0]?.role;
    if (role === undefined) return;
    this.#open = [];
    this.messages.push(
      collectedMessages.get(items) ??
        collectedMessages.keep(items, { role, content: items.flatMap(({ blocks }) => blocks) }),
    );
  }

  #message(value: JsonObject, index: number): void {
    const { role } = value;
    const path = `input.${index}`;
    if (role === 'assistant') {
      const blocks = decodeContent(value['content'] ?? [], path);
      const [first] = blocks;
      // Two messages in a row stay two: what an item says of itself is noted on its first part.
      if (first?.type === 'text') extend(first, { $item: extraFields(value, MESSAGE_FIELDS) ?? {} });
      this.#collect(decodedItems.keep(value, { role, blocks }));
      return;
    }
    if (role === 'user') {
      this.close();
      this.messages.push(decodedMessages.get(value) ?? decodedMessages.keep(value, userMessage(value, path)));
      return;
    }
    if (role !== 'system' && role !== 'developer') fail(`${path}.role`, ROLES, role);
    this.close();
    if (this.messages.length > 0) this.messages.push(laterInstruction(role, value, path));
    else {
      this.system.push(
        ...(decodedInstructions.get(value) ??
          decodedInstructions.keep(value, firstInstruction(role, value, path))),
      );
    }
  }

  /** Codex hands on what another agent said; to every other wire it is a message of the user. */
  #agentMessage(value: JsonObject): void {
    const texts: string[] = [];
    for (const part of Array.isArray(value['content']) ? value['content'] : []) {
      if (isObject(part) && typeof part['text'] === 'string') texts.push(part['text']);
    }
    const text = `[Message from ${String(value['author'])} to ${String(value['recipient'])}]\n${texts.join('\n')}`;
    this.close();
    this.messages.push(
      extend<Message>({ role: 'user', content: [{ type: 'text', text }] }, { $item: value }),
    );
  }

  #call(value: JsonObject, index: number): ToolUseBlock {
    const path = `input.${index}`;
    const block = this.#head(value, path);
    decodeArguments(block, value['arguments'], path);
    return extend(block, extraFields(value, CALL_FIELDS));
  }

  /** Free text has a place in the neutral model as the property `input`. */
  #customCall(value: JsonObject, index: number): ToolUseBlock {
    const path = `input.${index}`;
    const block = this.#head(value, path);
    const input = value['input'] ?? '';
    if (typeof input !== 'string') return fail(`${path}.input`, 'a string', input);
    block.input = { input };
    return extend(block, { ...extraFields(value, CUSTOM_CALL_FIELDS), $custom: true });
  }

  #typedCall(value: JsonObject, type: TypedCallType): Block {
    const { call_id: callId, id: itemId } = value;
    const id = [callId, itemId].find((each) => typeof each === 'string' && each !== '');
    if (typeof id !== 'string' || isProvidersShell(value)) {
      if (typeof id === 'string') this.#providers.add(id);
      return opaque(value);
    }
    // The output of a `local_shell_call` may name the item in place of the call.
    for (const known of [callId, itemId]) if (typeof known === 'string') this.#typed.set(known, id);
    return decodeTypedCall(value, type, { id, name: this.#names.typed(toolOf(type)) ?? nameOfTyped(type) });
  }

  #typedResult(value: JsonObject, index: number): Block {
    const named = value['call_id'] ?? value['id'];
    if (typeof named !== 'string' || named === '') {
      return fail(`input.${index}.call_id`, 'a non-empty string', named);
    }
    return this.#providers.has(named)
      ? opaque(value)
      : decodeTypedResult(value, this.#typed.get(named) ?? named);
  }

  #head(value: JsonObject, path: string): ToolUseBlock {
    const { call_id: id, name, namespace } = value;
    if (typeof id !== 'string' || id === '') return fail(`${path}.call_id`, 'a non-empty string', id);
    if (typeof name !== 'string' || name === '') return fail(`${path}.name`, 'a non-empty string', name);
    if (typeof namespace !== 'string' || namespace === '') return { type: 'tool_use', id, name, input: {} };
    const block: ToolUseBlock = {
      type: 'tool_use',
      id,
      name: this.#names.flatten(namespace, name),
      input: {},
    };
    return extend(block, { $namespace: namespace, $name: name });
  }
}

function userMessage(value: JsonObject, path: string): Message {
  const content = decodeContent(value['content'] ?? [], path);
  return extend<Message>({ role: 'user', content }, extraFields(value, MESSAGE_FIELDS));
}

/** Instructions in the middle keep their place. */
function laterInstruction(role: string, value: JsonObject, path: string): Message {
  const content = decodeContent(value['content'] ?? [], path);
  return extend<Message>({ role: 'system', content }, { ...extraFields(value, MESSAGE_FIELDS), $role: role });
}

/** Instructions in front are the system prompt: the first block notes the item that it stood in. */
function firstInstruction(role: string, value: JsonObject, path: string): TextBlock[] {
  const texts = decodeContent(value['content'] ?? [], path).map((block) =>
    block.type === 'text' ? block : fail(`${path}.content`, 'text only', block.type),
  );
  if (texts[0] !== undefined) extend(texts[0], { $item: { ...extraFields(value, MESSAGE_FIELDS), role } });
  return texts;
}

/** A search that the client does itself; the provider's own has no id to answer to. */
function decodeSearchCall(value: JsonObject): Block {
  const { call_id: id } = value;
  if (typeof id !== 'string' || id === '') return opaque(value);
  const input = value['arguments'];
  const call: ToolUseBlock = { type: 'tool_use', id, name: SEARCH_NAME, input: isObject(input) ? input : {} };
  return extend(call, { ...extraFields(value, SEARCH_CALL_FIELDS), $search: true });
}

function decodeSearchOutput(value: JsonObject): Block {
  const { call_id: toolUseId, tools } = value;
  if (typeof toolUseId !== 'string' || toolUseId === '') return opaque(value);
  const found = Array.isArray(tools)
    ? tools.filter(isObject).map(({ name, type }) => String(name ?? type))
    : [];
  const text =
    found.length === 0 ? 'No tool was found.' : `Tools that can be called now: ${found.join(', ')}`;
  const result: ToolResultBlock = {
    type: 'tool_result',
    toolUseId,
    content: [{ type: 'text', text }],
    isError: false,
  };
  return extend(result, { ...extraFields(value, SEARCH_OUTPUT_FIELDS), $item: value });
}

function opaque(value: JsonObject): OpaqueBlock {
  return { type: 'opaque', dialect: DIALECT, kind: String(value['type']), value };
}

function decodeResult(value: JsonObject, index: number): ToolResultBlock {
  const path = `input.${index}`;
  const toolUseId = value['call_id'];
  if (typeof toolUseId !== 'string' || toolUseId === '') {
    return fail(`${path}.call_id`, 'a non-empty string', toolUseId);
  }
  const content = decodeOutput(value['output'], path);
  return extend<ToolResultBlock>(
    { type: 'tool_result', toolUseId, content, isError: false },
    extraFields(value, RESULT_FIELDS),
  );
}

function decodeOutput(output: unknown, path: string): ToolResultContent[] {
  if (output === undefined || output === null || output === '') return [];
  if (typeof output === 'string') return [{ type: 'text', text: output }];
  // Clients hand over what the tool returned; the wire wants text, and JSON is that.
  if (!Array.isArray(output)) return [{ type: 'text', text: JSON.stringify(output) }];
  const blocks: Block[] = [];
  for (let at = 0; at < output.length; at += 1) blocks.push(decodePart(output[at], `${path}.output.${at}`));
  return blocks.filter(isResultContent);
}

function isResultContent(block: Block): block is ToolResultContent {
  return (
    block.type === 'text' || block.type === 'image' || block.type === 'document' || block.type === 'opaque'
  );
}

/**
 * `arguments` is the text that a model wrote. It comes back to this wire byte for byte (an upstream
 * that finds its own words finds its prompt cache), so text that the parsed object would not give
 * again is kept beside it: as a note of ours where nothing is lost elsewhere, else as a field.
 */
function decodeArguments(block: ToolUseBlock, value: unknown, path: string): void {
  if (value === undefined || value === null || value === '') return;
  if (isObject(value)) {
    block.input = value;
    return;
  }
  if (typeof value !== 'string') fail(`${path}.arguments`, 'a JSON text', value);
  const parsed = parse(value);
  // Encoded twice: a string that holds the object.
  const input = typeof parsed === 'string' ? parse(parsed) : parsed;
  if (isObject(input)) {
    block.input = input;
    if (JSON.stringify(input) !== value) extend(block, { $arguments: value });
  } else if (input !== null) extend(block, { arguments: value });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
