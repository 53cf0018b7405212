/** The conversation as `instructions` and `input` items: neutral to wire. */
import { withoutBillingHeader } from '../../core/billing-header.js';
import type {
  Block,
  ConversationRequest,
  JsonObject,
  Message,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
} from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { fromCompaction } from '../shared/compaction.js';
import { EncodeMemo } from '../shared/encode-memo.js';
import { freeText } from '../shared/free-text.js';
import { repairHistory } from '../shared/repair-history.js';
import { fitId } from '../shared/tool-names.js';
import { type EncodeContext, encodePart, encodeResult, restore, textPart } from './encode-content.js';
import { encodeOwnTools } from './encode-tools.js';
import { asFound, ownSearchToolCalls } from './own-search.js';
import { encodeReasoning } from './reasoning.js';
import {
  callTypeOf,
  isTypedCall,
  type TypedCallType,
  typedCallItem,
  typedOutputItem,
} from './typed-calls.js';
import { CALL_ID_LIMIT, DIALECT } from './wire.js';

interface EncodedInput {
  instructions: string | undefined;
  input: JsonObject[];
}

/** `addition` is appended to the instructions: words that replace a missing feature. */
export function encodeInput(
  request: ConversationRequest,
  context: EncodeContext,
  addition: string | undefined,
): EncodedInput {
  const searches = ownSearchToolCalls(request.messages, context.search !== undefined);
  const writer = new ItemWriter(context, searches);
  writer.system(request.system, addition);
  const messages = fromCompaction(request.messages, context.losses);
  // Calls whose results are given now may stand in the history that the upstream keeps.
  const repaired = context.held ? messages : repairHistory(messages, context.losses);
  for (const [index, message] of repaired.entries()) writer.add(message, `messages.${index}`);
  return writer.finish();
}

const encodedMessages = new EncodeMemo<Message>();

class ItemWriter {
  readonly #context: EncodeContext;
  readonly #out: JsonObject[] = [];
  /** Calls of free text: their results have a type of their own. */
  readonly #custom = new Set<string>();
  /** Calls of typed tools: so have theirs. */
  readonly #typed = new Map<string, TypedCallType>();
  /** Calls of the gateway's search: they and their results go by what it is to this upstream. */
  readonly #searches: ReadonlySet<string>;
  #instructions: string | undefined;

  constructor(context: EncodeContext, searches: ReadonlySet<string>) {
    this.#context = context;
    this.#searches = searches;
  }

  system(blocks: readonly TextBlock[], addition: string | undefined): void {
    const texts: string[] = [];
    let item: JsonObject[] | undefined;
    for (const [index, block] of blocks.entries()) {
      const text = withoutBillingHeader(block.text);
      const head = block.extensions?.[DIALECT]?.['$item'];
      if (isObject(head)) {
        item = [];
        this.#out.push({ type: 'message', ...head, content: item });
      }
      if (text === '') continue;
      const part = restore(textPart(text), block.extensions, `system.${index}`, this.#context.losses);
      if (item === undefined) texts.push(text);
      else item.push(part);
    }
    if (addition !== undefined) texts.push(addition);
    if (texts.length > 0) this.#instructions = texts.join('\n\n');
  }

  add(message: Message, path: string): void {
    const encode = (): JsonObject[] => {
      const from = this.#out.length;
      this.#write(message, path);
      return this.#out.splice(from);
    };
    this.#out.push(
      ...(this.#standsAlone(message) ? encodedMessages.of([message], this.#context, encode) : encode()),
    );
  }

  /** What it becomes depends on no other message: results of some calls have types of their own. */
  #standsAlone({ content }: Message): boolean {
    if (this.#context.held || this.#context.names.hasTyped) return false;
    if (this.#custom.size > 0 || this.#typed.size > 0) return false;
    return content.every((block) => {
      if (block.type === 'tool_use' && this.#searches.has(block.id)) return false;
      if (block.type === 'tool_result' && this.#searches.has(block.toolUseId)) return false;
      const own = block.type === 'tool_use' ? block.extensions?.[DIALECT] : undefined;
      return own?.['$custom'] === undefined && own?.['$typed'] === undefined;
    });
  }

  #write(message: Message, path: string): void {
    if (message.role === 'assistant') this.#assistant(message, path);
    else if (message.role === 'system') this.#instruction(message, path);
    else this.#user(message, path);
  }

  finish(): EncodedInput {
    const input = this.#out;
    const { losses, held } = this.#context;
    const last = input.at(-1);
    if (last?.['role'] === 'assistant') {
      losses.add('messages', 'the upstream begins a new answer and does not go on with the last message');
    }
    const says = ({ type, role }: JsonObject): boolean =>
      type !== 'message' || role === 'user' || role === 'assistant';
    if (held || input.some(says)) return { instructions: this.#instructions, input };
    // Only instructions: a request needs something to answer.
    const said = input.pop()?.['content'] ?? [textPart(this.#instructions ?? '')];
    const instructions = input.length > 0 || last !== undefined ? this.#instructions : undefined;
    input.push({ type: 'message', role: 'user', content: said });
    return { instructions, input };
  }

  #instruction(message: Message, path: string): void {
    const { losses, quirks } = this.#context;
    const content = this.#parts(message.content, path);
    const role = message.extensions?.[DIALECT]?.['$role'] ?? quirks.systemRole;
    const item = restore({ type: 'message', role, content }, message.extensions, path, losses);
    if (content.length > 0) this.#out.push(item);
  }

  #user(message: Message, path: string): void {
    const { losses } = this.#context;
    const own = message.extensions?.[DIALECT]?.['$item'];
    if (isObject(own)) {
      this.#out.push(own);
      return;
    }
    let said: { block: Block; index: number }[] = [];
    const flush = (): void => {
      const content = said.flatMap(({ block, index }) =>
        encodePart(block, `${path}.content.${index}`, this.#context),
      );
      said = [];
      if (content.length === 0) return;
      this.#out.push(restore({ type: 'message', role: 'user', content }, message.extensions, path, losses));
    };
    for (const [index, block] of message.content.entries()) {
      const at = `${path}.content.${index}`;
      if (block.type === 'tool_result') {
        flush();
        this.#result(block, at);
      } else if (isItem(block)) {
        flush();
        this.#out.push(block.value);
      } else said.push({ block, index });
    }
    flush();
  }

  #result(block: ToolResultBlock, path: string): void {
    const own = block.extensions?.[DIALECT]?.['$item'];
    if (isObject(own)) {
      this.#out.push(own);
      return;
    }
    if (this.#context.search !== undefined && this.#searches.has(block.toolUseId)) {
      const found = encodeOwnTools(this.#context.search.found(block), this.#context);
      const head = { type: 'tool_search_output', call_id: fitId(block.toolUseId, CALL_ID_LIMIT) };
      // A search that found nothing has no other words here than an empty list.
      this.#out.push({ ...head, execution: 'client', status: 'completed', tools: found.map(asFound) });
      return;
    }
    const output = encodeResult(block, path, this.#context);
    const typed = this.#typed.get(block.toolUseId);
    if (typed !== undefined) {
      const text = typeof output === 'string' ? output : this.#textOf(output, path);
      this.#out.push(typedOutputItem(typed, fitId(block.toolUseId, CALL_ID_LIMIT), text, block.isError));
      return;
    }
    const type = this.#custom.has(block.toolUseId) ? 'custom_tool_call_output' : 'function_call_output';
    const wire: JsonObject = { type, call_id: fitId(block.toolUseId, CALL_ID_LIMIT), output };
    this.#out.push(restore(wire, block.extensions, path, this.#context.losses));
  }

  /** The results of typed tools are text. */
  #textOf(parts: readonly JsonObject[], path: string): string {
    const texts = parts.filter(({ type }) => type === 'input_text').map(({ text }) => String(text));
    if (texts.length < parts.length) this.#context.losses.add(path, 'the result of this tool is text alone');
    return texts.join('\n');
  }

  #assistant(message: Message, path: string): void {
    const { losses } = this.#context;
    const from = this.#out.length;
    let open: JsonObject[] | undefined;
    for (const [index, block] of message.content.entries()) {
      const at = `${path}.content.${index}`;
      if (block.type === 'text') {
        open = this.#text(block, at, open);
        continue;
      }
      open = undefined;
      switch (block.type) {
        case 'tool_use':
          this.#call(block, at);
          break;
        case 'thinking':
        case 'redacted_thinking': {
          const item = encodeReasoning(block, this.#context.held);
          if (item !== undefined) this.#out.push(item);
          else losses.add('messages', 'thinking that another wire made is not sent to this upstream');
          break;
        }
        case 'opaque':
          if (block.dialect === DIALECT) this.#out.push(block.value);
          else losses.add(at, `${block.kind} is known to ${block.dialect} only`);
          break;
        default:
          losses.add(at, `an assistant message has no place for ${block.type}`);
      }
    }
    if (message.extensions !== undefined) restore({}, message.extensions, path, losses);
    this.#dropLooseReasoning(from);
  }

  /** The content of the message item that the text stands in: the open one, unless the text begins another. */
  #text(block: TextBlock, path: string, open: JsonObject[] | undefined): JsonObject[] | undefined {
    const own = block.extensions?.[DIALECT];
    if (block.text === '') return open;
    const head = own?.['$item'];
    let content = open;
    if (content === undefined || isObject(head)) {
      content = [];
      this.#out.push({ type: 'message', role: 'assistant', ...(isObject(head) ? head : {}), content });
    }
    const part: JsonObject =
      own?.['$refusal'] === true
        ? { type: 'refusal', refusal: block.text }
        : { type: 'output_text', text: block.text };
    if (own?.['$annotations'] !== undefined) part['annotations'] = own['$annotations'];
    content.push(restore(part, block.extensions, path, this.#context.losses));
    return content;
  }

  #call(call: ToolUseBlock, path: string): void {
    const { names, losses } = this.#context;
    const own = call.extensions?.[DIALECT] ?? {};
    const { $namespace: namespace, $name: name, $custom: custom, $search: search, $item: item } = own;
    const typed = isTypedCall(own['$typed']) ? own['$typed'] : callTypeOf(names.typeOf(call.name) ?? '');
    if (typed !== undefined) {
      this.#typed.set(call.id, typed);
      const head = { call_id: fitId(call.id, CALL_ID_LIMIT) };
      this.#out.push(isObject(item) ? item : typedCallItem(head, typed, 'completed', call.input));
      return;
    }
    const isOwn = this.#searches.has(call.id);
    if (isOwn && this.#context.search !== undefined) {
      const head = { type: 'tool_search_call', call_id: fitId(call.id, CALL_ID_LIMIT) };
      this.#out.push({ ...head, execution: 'client', arguments: call.input, status: 'completed' });
      return;
    }
    if (search === true && !isOwn) {
      const wire: JsonObject = {
        type: 'tool_search_call',
        call_id: fitId(call.id, CALL_ID_LIMIT),
        arguments: call.input,
      };
      this.#out.push(restore(wire, call.extensions, path, losses));
      return;
    }
    const wire: JsonObject = {
      type: custom === true ? 'custom_tool_call' : 'function_call',
      call_id: fitId(call.id, CALL_ID_LIMIT),
      name: typeof name === 'string' ? name : names.encode(call.name),
    };
    if (typeof namespace === 'string') wire['namespace'] = namespace;
    if (custom === true) {
      this.#custom.add(call.id);
      wire['input'] = freeText(call.input);
    } else wire['arguments'] = argumentsOf(call, own);
    this.#out.push(restore(wire, call.extensions, path, losses));
  }

  /** Reasoning belongs to what follows it in the same turn; alone it is refused. */
  #dropLooseReasoning(from: number): void {
    while (this.#out.length > from && this.#out.at(-1)?.['type'] === 'reasoning') {
      this.#out.pop();
      this.#context.losses.add('messages', 'thinking that nothing came of is not sent');
    }
  }

  #parts(blocks: readonly Block[], path: string): JsonObject[] {
    return blocks.flatMap((block, index) => encodePart(block, `${path}.content.${index}`, this.#context));
  }
}

/** An opaque block of this wire in a user message is an item, unless it is a part of one. */
function isItem(block: Block): block is Extract<Block, { type: 'opaque' }> {
  return block.type === 'opaque' && block.dialect === DIALECT && !block.kind.startsWith('input_');
}

/** The model's own words where they are known; else the object in the order of its keys. */
function argumentsOf(call: ToolUseBlock, own: JsonObject): string {
  const words = own['$arguments'] ?? own['arguments'];
  return typeof words === 'string' ? words : JSON.stringify(call.input);
}
