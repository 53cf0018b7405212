/**
 * What searches found for conversations that the gateway only relays. The client does not see them, so it
 * cannot send them again: they are found by what it does send, its last answer in its own conversation.
 * Held in memory; once it is forgotten, tools that were called stay, and others are searched again.
 */
import { createHash } from 'node:crypto';
import type { Block, ConversationRequest, Message } from '../../core/conversation.js';

const CONVERSATIONS = 2_000;
/** Of one conversation. */
const TOOLS = 200;
/** Of an answer: its end tells it from others. */
const TAIL_CHARS = 400;

interface Asker {
  principal: { readonly name: string };
  request: ConversationRequest;
}

export class LoadedTools {
  readonly #byAnswer = new Map<string, readonly string[]>();
  readonly #most: number;

  constructor(most = CONVERSATIONS) {
    this.#most = most;
  }

  /** Names of tools that were found before the last answer, in the order in which they were found. */
  of(asker: Asker): readonly string[] {
    const last = asker.request.messages.findLastIndex(({ role }) => role === 'assistant');
    const answer = asker.request.messages[last];
    if (answer === undefined) return [];
    const key = keyOf(asker, markOf(answer.content));
    return this.#byAnswer.get(key) ?? [];
  }

  /** `answer`: what the client saw. */
  remember(asker: Asker, answer: readonly Block[], names: readonly string[]): void {
    if (names.length === 0 || names.length > TOOLS) return;
    const key = keyOf(asker, markOf(answer));
    this.#byAnswer.delete(key);
    this.#byAnswer.set(key, names);
    const [oldest] = this.#byAnswer.keys();
    if (this.#byAnswer.size > this.#most && oldest !== undefined) this.#byAnswer.delete(oldest);
  }
}

/** Clients keep ids as they are, and words but for white space. */
function markOf(content: readonly Block[]): string {
  const ids = content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
  if (ids.length > 0) return ids.join('\0');
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
  return text.replace(/\s+/g, '').slice(-TAIL_CHARS);
}

/** Never the same for two keys, two end users, or conversations that began differently. */
function keyOf({ principal, request }: Asker, mark: string): string {
  const { userId = '', cacheKey = '', messages } = request;
  const began = messages.find(({ role }) => role === 'user');
  const parts = [principal.name, userId, cacheKey, textOf(began), mark];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}

function textOf(message: Message | undefined): string {
  return message?.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('') ?? '';
}
