/**
 * Repairs a client's messages for the model: the results of one assistant message are in one user
 * message after it, in the order of its calls, and every call has one.
 */
import type { Block, Message, ToolResultBlock, ToolUseBlock } from '../../core/conversation.js';
import { atomsOf, toolCallKey, toolCallsIn } from './visible-history.js';

/** In the place of a result that there is not; for the model. */
export const NO_RESULT = {
  notGiven: 'No result: the conversation as it was given has none for this call.',
  wentOn: 'No result: the user went on without running this call.',
  stopped: 'No result: the turn was stopped before the call was made.',
  unsure:
    'No result: the gateway was stopped while this call ran. It may or may not have taken effect: look before you make it again.',
  late: 'No result: the client did not send one in time.',
} as const;

export function errorResult(toolUseId: string, text: string): ToolResultBlock {
  return { type: 'tool_result', toolUseId, content: [{ type: 'text', text }], isError: true };
}

/** The calls of a message and their results so far. */
interface OpenCalls {
  calls: readonly ToolUseBlock[];
  results: ReadonlyMap<string, ToolResultBlock>;
}

/**
 * Splits messages after the last answer of an assistant. An assistant message that only repeats calls
 * without a result is not an answer: that is how the gateway asks for missing results.
 */
export function splitAtLastAnswer(
  messages: readonly Message[],
  before: readonly ToolUseBlock[] = [],
): { base: Message[]; incoming: Message[] } {
  let end = 0;
  let open = new Map(before.map((call) => [call.id, toolCallKey(call)]));
  for (const [index, message] of messages.entries()) {
    if (message.role === 'assistant') {
      if (isEcho(message, open)) continue;
      end = index + 1;
      open = new Map(toolCallsIn(message).map((call) => [call.id, toolCallKey(call)]));
    } else {
      for (const block of message.content) if (block.type === 'tool_result') open.delete(block.toolUseId);
    }
  }
  return {
    base: messages.slice(0, end),
    incoming: messages.slice(end).filter(({ role }) => role !== 'assistant'),
  };
}

function isEcho(message: Message, open: ReadonlyMap<string, string>): boolean {
  const atoms = atomsOf([message]);
  const calls = toolCallsIn(message);
  return calls.length === atoms.length && calls.every((call) => open.get(call.id) === toolCallKey(call));
}

/** `before`: calls of the message before these. The last message's calls stay without results. */
export function repairHistory(messages: readonly Message[], before?: OpenCalls): Message[] {
  const repair = new Repair(before);
  for (const message of messages) repair.take(message);
  return repair.done();
}

class Repair {
  readonly #out: Message[] = [];
  #calls: readonly ToolUseBlock[];
  #results: Map<string, ToolResultBlock>;
  #said: Block[] = [];
  #instructions: Message[] = [];
  /** A message came after the calls. */
  #answered = false;

  constructor(before: OpenCalls | undefined) {
    this.#calls = before?.calls ?? [];
    this.#results = new Map(before?.results);
  }

  take(message: Message): void {
    if (message.role === 'assistant') this.#onAssistant(message);
    else if (this.#calls.length === 0) this.#pass(message);
    else if (message.role === 'system') this.#instructions.push(message);
    else this.#onUser(message);
  }

  done(): Message[] {
    if (this.#answered) this.#close();
    return this.#out;
  }

  #onAssistant(message: Message): void {
    const open = this.#calls.filter(({ id }) => !this.#results.has(id));
    if (open.length > 0 && isEcho(message, new Map(open.map((call) => [call.id, toolCallKey(call)])))) return;
    this.#close();
    this.#out.push(message);
    this.#calls = toolCallsIn(message);
  }

  #onUser(message: Message): void {
    const hasResults = message.content.some((block) => block.type === 'tool_result');
    if (this.#answered && !hasResults && this.#isWhole()) {
      this.#close();
      this.#pass(message);
      return;
    }
    this.#answered = true;
    for (const block of message.content) {
      if (block.type !== 'tool_result') this.#said.push(block);
      else if (this.#isCalled(block.toolUseId) && !this.#results.has(block.toolUseId))
        this.#results.set(block.toolUseId, block);
    }
  }

  #isCalled(id: string): boolean {
    return this.#calls.some((call) => call.id === id);
  }

  #isWhole(): boolean {
    return this.#calls.every(({ id }) => this.#results.has(id));
  }

  #close(): void {
    if (this.#calls.length > 0) {
      this.#out.push(
        answerOf({ calls: this.#calls, results: this.#results }, NO_RESULT.notGiven, this.#said),
      );
    }
    this.#out.push(...this.#instructions);
    this.#calls = [];
    this.#results = new Map();
    this.#said = [];
    this.#instructions = [];
    this.#answered = false;
  }

  /** A model cannot be sent a result without its call. */
  #pass(message: Message): void {
    const content = message.content.filter((block) => block.type !== 'tool_result');
    if (content.length === message.content.length) this.#out.push(message);
    else if (content.length > 0) this.#out.push({ ...message, content });
  }
}

/** One result for each call, in their order, then what the user said. */
export function answerOf({ calls, results }: OpenCalls, missing: string, said: readonly Block[]): Message {
  const content: Block[] = calls.map(({ id }) => results.get(id) ?? errorResult(id, missing));
  return { role: 'user', content: [...content, ...said] };
}
