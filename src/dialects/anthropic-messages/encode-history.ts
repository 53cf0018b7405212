/**
 * The conversation in the order that this wire demands: a user message first, turns that alternate,
 * results right after their calls, an instruction in the middle only after a user turn and never
 * before one.
 */
import type { JsonObject, Message, TextBlock } from '../../core/conversation.js';
import { withoutOwnCompactions } from '../shared/compaction.js';
import { EncodeMemo } from '../shared/encode-memo.js';
import { repairHistory } from '../shared/repair-history.js';
import { systemReminder } from '../shared/system-reminder.js';
import { type EncodeContext, encodeBlock, hasText, restore } from './encode-content.js';
import { DIALECT } from './wire.js';

export interface WireMessage extends JsonObject {
  role: string;
  content: readonly JsonObject[];
}

interface EncodedHistory {
  system: JsonObject[];
  messages: WireMessage[];
}

/** Blocks that stand in a tool result and nowhere else. */
const IN_RESULTS_ONLY: ReadonlySet<unknown> = new Set(['tool_reference', 'browser_state']);

const NOTHING_SAID = '(no content)';
const ASSISTANT_FIRST = '(the conversation begins with the assistant)';

export function encodeHistory(
  system: readonly TextBlock[],
  messages: readonly Message[],
  context: EncodeContext,
): EncodedHistory {
  const history = new History(system, context);
  const said = withoutOwnCompactions(messages, context.losses);
  for (const [index, message] of repairHistory(said, context.losses).entries()) {
    history.add(message, `messages.${index}`);
  }
  return history.finish();
}

/** By whether the client speaks this wire too, which decides about the order of calls. */
const memosOf = () => ({
  system: new EncodeMemo<TextBlock>(),
  content: new EncodeMemo<Message>(),
  messages: new EncodeMemo<Message, WireMessage>(),
});
const MEMOS = { native: memosOf(), foreign: memosOf() };

class History {
  readonly #context: EncodeContext;
  readonly #memos: ReturnType<typeof memosOf>;
  readonly #system: JsonObject[] = [];
  readonly #messages: WireMessage[] = [];
  /** Instructions that wait for the end of the user turn they came in. */
  #waiting: JsonObject[] = [];

  constructor(system: readonly TextBlock[], context: EncodeContext) {
    this.#context = context;
    this.#memos = context.native ? MEMOS.native : MEMOS.foreign;
    for (const [index, block] of system.entries()) {
      const encode = (): JsonObject[] => {
        const encoded = encodeBlock(block, `system.${index}`, context);
        return encoded === undefined ? [] : [encoded];
      };
      this.#system.push(...this.#memos.system.of([block], context, encode));
    }
  }

  add(message: Message, path: string): void {
    const content = this.#memos.content.of([message], this.#context, () => this.#content(message, path));
    if (message.role === 'system') this.#addSystem(message, content, path);
    else this.#addTurn(message, content, path);
  }

  #content(message: Message, path: string): JsonObject[] {
    const content: JsonObject[] = [];
    for (const [index, block] of message.content.entries()) {
      const at = `${path}.content.${index}`;
      const encoded = encodeBlock(block, at, this.#context);
      if (encoded === undefined) continue;
      if (IN_RESULTS_ONLY.has(encoded['type']))
        this.#context.losses.add(at, 'its tool result has lost its call');
      else content.push(encoded);
    }
    return message.role === 'assistant' && !this.#context.native ? callsLast(content) : content;
  }

  finish(): EncodedHistory {
    this.#endUserTurn();
    const messages = this.#messages;
    trimLast(messages);
    if (messages.length === 0) {
      // Only instructions, or nothing at all: a request needs something to answer.
      const said = this.#system.splice(0);
      messages.push({
        role: 'user',
        content: said.length > 0 ? said : [{ type: 'text', text: NOTHING_SAID }],
      });
    } else if (messages[0]?.role !== 'user') {
      messages.unshift({ role: 'user', content: [{ type: 'text', text: ASSISTANT_FIRST }] });
    }
    return { system: this.#system, messages };
  }

  #addTurn(message: Message, content: readonly JsonObject[], path: string): void {
    if (content.length === 0) return;
    const last = this.#messages.at(-1);
    if (message.role === 'assistant') this.#endUserTurn();
    if (last?.role === message.role && this.#messages.at(-1) === last) {
      // A copy: the one before may be shared.
      this.#messages.splice(-1, 1, { ...last, content: [...last.content, ...content] });
      return;
    }
    this.#start(message, content, path);
  }

  #start(message: Message, content: readonly JsonObject[], path: string): void {
    const start = (): WireMessage[] => {
      const wire: WireMessage = { role: message.role, content };
      restore(wire, message.extensions, path, this.#context);
      return [wire];
    };
    this.#messages.push(...this.#memos.messages.of([message], this.#context, start));
  }

  #addSystem(message: Message, content: readonly JsonObject[], path: string): void {
    const { quirks, native, losses } = this.#context;
    const own = message.extensions?.[DIALECT];
    if (this.#messages.length === 0) {
      this.#system.push(...content);
    } else if (!quirks.midSystem) {
      for (const key in own)
        losses.add(`${path}.${key}`, 'the upstream takes no system message in the middle');
      this.#addReminder(content, path);
    } else if (native) {
      if (content.length > 0 || own !== undefined) this.#start(message, content, path);
    } else {
      this.#waiting.push(...content);
    }
  }

  #addReminder(content: readonly JsonObject[], path: string): void {
    const texts: string[] = [];
    for (const { type, text } of content) {
      if (type === 'text' && typeof text === 'string') texts.push(text);
      else this.#context.losses.add(path, `the upstream takes no ${String(type)} in the middle`);
    }
    if (texts.length === 0) return;
    const reminder = { type: 'text', text: systemReminder(texts.join('\n\n')) };
    this.#addTurn({ role: 'user', content: [] }, [reminder], path);
  }

  #endUserTurn(): void {
    const content = this.#waiting;
    if (content.length === 0) return;
    this.#waiting = [];
    if (this.#messages.at(-1)?.role === 'user') this.#messages.push({ role: 'system', content });
    else this.#addReminder(content, 'messages');
  }
}

/**
 * Calls go last, as models of this wire write them; other models say more after a call. Proofs and
 * server tools are bound to their place, so a turn with one of them there stays as it is.
 */
function callsLast(content: JsonObject[]): JsonObject[] {
  const first = content.findIndex(({ type }) => type === 'tool_use');
  if (first < 0 || !content.slice(first).every(({ type }) => type === 'tool_use' || type === 'text'))
    return content;
  const isCall = ({ type }: JsonObject): boolean => type === 'tool_use';
  return [...content.filter((block) => !isCall(block)), ...content.filter(isCall)];
}

/** An answer that the model is to continue must not end in white space. */
function trimLast(messages: WireMessage[]): void {
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  if (last?.role !== 'assistant' || block?.['type'] !== 'text' || typeof block['text'] !== 'string') return;
  const text = block['text'].trimEnd();
  if (text === block['text']) return;
  const content = last.content.slice(0, -1);
  if (hasText(text)) content.push({ ...block, text });
  messages.splice(-1, 1, ...(content.length > 0 ? [{ ...last, content }] : []));
}
