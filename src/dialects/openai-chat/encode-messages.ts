/** The conversation: neutral to wire, in the order and the forms that the upstream takes. */
import { withoutBillingHeader } from '../../core/billing-header.js';
import type {
  Block,
  ConversationRequest,
  JsonObject,
  Message,
  TextBlock,
  ThinkingBlock,
  ToolResultBlock,
  ToolUseBlock,
} from '../../core/conversation.js';
import { fromCompaction } from '../shared/compaction.js';
import { EncodeMemo } from '../shared/encode-memo.js';
import { repairHistory } from '../shared/repair-history.js';
import { systemReminder } from '../shared/system-reminder.js';
import { fitId } from '../shared/tool-names.js';
import { type EncodeContext, encodeContent, encodeResult, joinText, restore } from './encode-content.js';
import { encodeDetails } from './reasoning.js';
import { DIALECT } from './wire.js';

/** Between results and a user message, for chat templates that want turns to alternate. */
const AFTER_RESULTS = 'I have the results.';
/** Gemini takes this in place of a signature that the client could not keep. */
const NO_SIGNATURE = 'skip_thought_signature_validator';

/** `addition` is appended to the system prompt: instructions that replace a missing feature. */
export function encodeMessages(
  request: ConversationRequest,
  context: EncodeContext,
  addition: string | undefined,
): JsonObject[] {
  const writer = new MessageWriter(context);
  writer.system(request.system, addition);
  const messages = repairHistory(fromCompaction(request.messages, context.losses), context.losses);
  for (const [index, message] of messages.entries()) writer.add(message, `messages.${index}`);
  return writer.finish();
}

const encodedMessages = new EncodeMemo<Message>();
const encodedSystems = new EncodeMemo<TextBlock>();

class MessageWriter {
  readonly #context: EncodeContext;
  readonly #out: JsonObject[] = [];
  /** Names of the calls of the last assistant turn, for tool messages that must carry one. */
  #called = new Map<string, string>();

  constructor(context: EncodeContext) {
    this.#context = context;
  }

  system(blocks: readonly TextBlock[], addition: string | undefined): void {
    const encode = (): JsonObject[] => this.#system(blocks, addition);
    this.#out.push(...(addition === undefined ? encodedSystems.of(blocks, this.#context, encode) : encode()));
  }

  #system(blocks: readonly TextBlock[], addition: string | undefined): JsonObject[] {
    const role = this.#context.quirks.systemRole;
    const texts: string[] = [];
    const apart: JsonObject[] = [];
    for (const [index, block] of blocks.entries()) {
      const text = withoutBillingHeader(block.text);
      if (text === '') continue;
      const path = `system.${index}`;
      const extra = restore({}, block.extensions, path, this.#context.losses);
      if (Object.keys(extra).length > 0) apart.push({ role, content: text, ...extra });
      else texts.push(text);
    }
    if (addition !== undefined) texts.push(addition);
    return texts.length > 0 ? [{ role, content: texts.join('\n\n') }, ...apart] : apart;
  }

  add(message: Message, path: string): void {
    // Where results name the tool, a message depends on the one before it.
    const encoded = this.#context.quirks.toolResultName
      ? this.#encode(message, path)
      : encodedMessages.of([message], this.#context, () => this.#encode(message, path));
    for (const each of encoded) this.#push(each);
  }

  #encode(message: Message, path: string): JsonObject[] {
    if (message.role === 'assistant') return this.#assistant(message, path);
    return message.role === 'system' ? this.#instruction(message, path) : this.#user(message, path);
  }

  finish(): JsonObject[] {
    const out = this.#out;
    const { losses } = this.#context;
    const last = out.at(-1);
    if (last?.['role'] === 'assistant' && last['tool_calls'] === undefined) {
      losses.add('messages', 'the upstream begins a new answer and does not go on with the last message');
    }
    if (out.some(({ role }) => role === 'user' || role === 'assistant')) return out;
    // Only instructions: a request needs something to answer.
    const said = out.pop();
    out.push({ role: 'user', content: said?.['content'] ?? '' });
    return out;
  }

  #instruction(message: Message, path: string): JsonObject[] {
    const { losses, quirks } = this.#context;
    const content = encodeContent(message.content, path, this.#context);
    if (content.length === 0) {
      restore({}, message.extensions, path, losses);
      return [];
    }
    const role = quirks.midSystemRole;
    const text = typeof content === 'string' ? content : joinText(message.content.filter(isText));
    const said = role === 'user' ? systemReminder(text) : text;
    return [restore({ role, content: said }, message.extensions, path, losses)];
  }

  #user(message: Message, path: string): JsonObject[] {
    const { content } = message;
    const out: JsonObject[] = [];
    const media: JsonObject[] = [];
    let at = 0;
    for (; at < content.length; at += 1) {
      const block = content[at];
      if (block?.type !== 'tool_result') break;
      media.push(...this.#result(block, `${path}.content.${at}`, out));
    }
    const rest = encodeContent(content, path, this.#context, at);
    const said = media.length === 0 ? rest : [...media, ...asParts(rest)];
    if (said.length === 0) return out;
    out.push(restore({ role: 'user', content: said }, message.extensions, path, this.#context.losses));
    return out;
  }

  /** Appends the tool message; returns what must follow all results in a user message. */
  #result(block: ToolResultBlock, path: string, out: JsonObject[]): JsonObject[] {
    const { quirks, losses } = this.#context;
    const { content, media } = encodeResult(block, path, this.#context);
    const wire: JsonObject = { role: 'tool', tool_call_id: fitId(block.toolUseId, quirks.toolIdLimit) };
    const name = quirks.toolResultName ? this.#called.get(block.toolUseId) : undefined;
    if (name !== undefined) wire['name'] = name;
    wire['content'] = content;
    out.push(restore(wire, block.extensions, path, losses));
    if (media.length === 0) return media;
    return [{ type: 'text', text: `Attached to the result of ${wire['tool_call_id']}:` }, ...media];
  }

  #push(message: JsonObject): void {
    const { assistantAfterTool } = this.#context.quirks;
    if (assistantAfterTool && message['role'] === 'user' && this.#out.at(-1)?.['role'] === 'tool') {
      this.#out.push({ role: 'assistant', content: AFTER_RESULTS });
    }
    this.#out.push(message);
  }

  #assistant(message: Message, path: string): JsonObject[] {
    const { losses } = this.#context;
    const texts: string[] = [];
    const refusals: string[] = [];
    const calls: ToolUseBlock[] = [];
    const wire: JsonObject = { role: 'assistant', content: null };
    for (const [index, block] of message.content.entries()) {
      const at = `${path}.content.${index}`;
      switch (block.type) {
        case 'text':
          if (block.extensions?.[DIALECT]?.['refusal'] === true) refusals.push(block.text);
          else texts.push(block.text);
          if (block.extensions !== undefined) restore({}, block.extensions, at, losses);
          break;
        case 'tool_use':
          calls.push(block);
          break;
        case 'thinking':
        case 'redacted_thinking':
          break;
        case 'opaque':
          if (block.dialect === DIALECT) Object.assign(wire, block.value);
          else losses.add(at, `${block.kind} is known to ${block.dialect} only`);
          break;
        default:
          losses.add(at, `an assistant message has no place for ${block.type}`);
      }
    }
    // One string: models that see a list of parts in their own turns begin to write such lists.
    const text = texts.join('');
    if (text !== '') wire['content'] = text;
    if (refusals.length > 0) wire['refusal'] = refusals.join('');
    this.#reasoning(message.content, calls.length > 0, wire);
    if (calls.length > 0) wire['tool_calls'] = this.#calls(calls, path);
    if (isEmpty(wire)) return [];
    if (wire['content'] === null && calls.length === 0) wire['content'] = '';
    return [restore(wire, message.extensions, path, losses)];
  }

  #calls(calls: readonly ToolUseBlock[], path: string): JsonObject[] {
    const { quirks, names, losses } = this.#context;
    this.#called = new Map();
    const out: JsonObject[] = [];
    for (const call of calls) {
      const name = names.encode(call.name);
      this.#called.set(call.id, name);
      const own = call.extensions?.[DIALECT];
      const id = fitId(call.id, quirks.toolIdLimit);
      const wire: JsonObject =
        own?.['type'] === 'custom'
          ? { id, type: 'custom', custom: { name, input: call.input['input'] ?? '' } }
          : { id, type: 'function', function: { name, arguments: argumentsOf(call, own) } };
      restore(wire, call.extensions, path, losses);
      delete wire['arguments'];
      if (!quirks.thoughtSignatures) delete wire['extra_content'];
      out.push(wire);
    }
    const first = out[0];
    if (quirks.thoughtSignatures && first !== undefined && !out.some((call) => call['extra_content'])) {
      first['extra_content'] = { google: { thought_signature: NO_SIGNATURE } };
    }
    return out;
  }

  #reasoning(blocks: readonly Block[], hasCalls: boolean, wire: JsonObject): void {
    const { reasoningHistory, reasoningRequired } = this.#context.quirks;
    const thinking = blocks.filter(isThinking);
    if (reasoningHistory === 'none') {
      if (thinking.length > 0 || blocks.some(isRedacted)) {
        this.#context.losses.add('messages', 'thinking of earlier turns is not sent to this upstream');
      }
      return;
    }
    if (reasoningHistory === 'reasoning_details') {
      const details = encodeDetails(blocks, 'upstream');
      if (details.length > 0) wire['reasoning_details'] = details;
      return;
    }
    if (blocks.some(isRedacted)) {
      this.#context.losses.add(
        'messages',
        'encrypted thinking of earlier turns is not sent to this upstream',
      );
    }
    const text = thinking.map((block) => block.thinking).join('\n');
    if (text !== '' || (reasoningRequired && hasCalls)) wire[reasoningHistory] = text;
  }
}

/** The model's own words where they are known; else the object in the order of its keys. */
function argumentsOf(call: ToolUseBlock, own: JsonObject | undefined): string {
  const words = own?.['$arguments'] ?? own?.['arguments'];
  return typeof words === 'string' ? words : JSON.stringify(call.input);
}

/** Nothing said and nothing called: reasoning alone is no turn. */
function isEmpty(wire: JsonObject): boolean {
  return (
    wire['content'] === null &&
    wire['tool_calls'] === undefined &&
    wire['refusal'] === undefined &&
    wire['audio'] === undefined
  );
}

function asParts(content: string | JsonObject[]): JsonObject[] {
  if (typeof content !== 'string') return content;
  return content === '' ? [] : [{ type: 'text', text: content }];
}

function isText(block: Block): block is TextBlock {
  return block.type === 'text';
}

function isThinking(block: Block): block is ThinkingBlock {
  return block.type === 'thinking';
}

function isRedacted(block: Block): boolean {
  return block.type === 'redacted_thinking';
}
