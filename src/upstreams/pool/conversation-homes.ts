/**
 * What a conversation is called, and which target of a pool answered it last. Where it belongs is
 * computed (`rendezvous.ts`); the memory tells that it has moved, and which target keeps an answer. Each
 * key has its own share of it: many conversations of one push out none of another.
 */
import { hash } from 'node:crypto';

export const HOME_LIMITS = { keys: 500, conversations: 500 } as const;

/** A request of a conversation, as far as it can be known again. */
export interface Affinity {
  /** Whose it is. */
  key: string;
  model: string;
  /** The id of the answer that it goes on from, which its target keeps. */
  follows?: string | undefined;
  /** What its client calls it. */
  conversation?: string | undefined;
  /** Fingerprint of what was said before the first answer; asked for where it has no name. */
  opening?: (() => string | undefined) | undefined;
}

/** The same for each request of a conversation, on every node; no two keys share one. */
export function conversationOf({ key, conversation, opening }: Affinity): string | undefined {
  if (conversation !== undefined) return digest(['name', key, conversation]);
  const first = opening?.();
  return first === undefined ? undefined : digest(['opening', key, first]);
}

export class ConversationHomes {
  /** By key, then by conversation and by answer; what was used longest ago comes first. */
  readonly #targets = new Map<string, Map<string, string>>();

  /** The target that keeps the answer that the request goes on from. */
  keeper({ key, follows }: Affinity): string | undefined {
    return follows === undefined ? undefined : this.#targets.get(key)?.get(answerName(follows));
  }

  /** The target that answered the conversation last. */
  last(key: string, conversation: string): string | undefined {
    return this.#targets.get(key)?.get(conversation);
  }

  /** `answer`: the id under which the target keeps its answer. */
  remember(key: string, conversation: string | undefined, target: string, answer: string | undefined): void {
    const targets = this.#targets.get(key) ?? new Map<string, string>();
    if (answer !== undefined) put(targets, answerName(answer), target, HOME_LIMITS.conversations);
    if (conversation !== undefined) put(targets, conversation, target, HOME_LIMITS.conversations);
    put(this.#targets, key, targets, HOME_LIMITS.keys);
  }
}

const answerName = (id: string): string => digest(['answer', id]);

/** Names come from clients and may be long. */
const digest = (parts: readonly string[]): string => hash('sha256', JSON.stringify(parts), 'base64url');

function put<V>(entries: Map<string, V>, name: string, value: V, limit: number): void {
  entries.delete(name);
  entries.set(name, value);
  for (const oldest of entries.keys()) {
    if (entries.size <= limit) break;
    entries.delete(oldest);
  }
}
