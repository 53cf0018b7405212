/**
 * Which target has the prompt cache of a conversation, as the names and histories of requests tell. Each
 * key has its own share of the memory: many conversations of one push out none of another.
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
  /** Links of its history, the oldest first; asked for where it has no name. */
  history?: (() => readonly string[]) | undefined;
}

export class ConversationHomes {
  /** By key and by conversation; what was used longest ago comes first. */
  readonly #homes = new Map<string, Map<string, string>>();

  /** The target that answered it last. */
  find(affinity: Affinity): string | undefined {
    const homes = this.#homes.get(affinity.key);
    if (homes === undefined) return undefined;
    for (const name of knownNames(affinity)) {
      const target = homes.get(name);
      if (target !== undefined) return target;
    }
    return undefined;
  }

  /** `answer`: the id under which the target keeps its answer. */
  remember(affinity: Affinity, target: string, answer: string | undefined): void {
    const homes = this.#homes.get(affinity.key) ?? new Map<string, string>();
    if (answer !== undefined) put(homes, digest(`answer ${answer}`), target, HOME_LIMITS.conversations);
    const name = affinity.conversation;
    const link = name === undefined ? affinity.history?.().at(-1) : digest(`name ${name}`);
    if (link !== undefined) put(homes, link, target, HOME_LIMITS.conversations);
    put(this.#homes, affinity.key, homes, HOME_LIMITS.keys);
  }
}

/** The surest first. */
function* knownNames({ follows, conversation, history }: Affinity): Generator<string> {
  if (follows !== undefined) yield digest(`answer ${follows}`);
  if (conversation !== undefined) return yield digest(`name ${conversation}`);
  // Its last message is new: what was answered before ends earlier.
  yield* (history?.() ?? []).slice(0, -1).toReversed();
}

/** Names come from clients and may be long. */
const digest = (name: string): string => hash('sha256', name, 'base64url');

function put<V>(entries: Map<string, V>, name: string, value: V, limit: number): void {
  entries.delete(name);
  entries.set(name, value);
  for (const oldest of entries.keys()) {
    if (entries.size <= limit) break;
    entries.delete(oldest);
  }
}
