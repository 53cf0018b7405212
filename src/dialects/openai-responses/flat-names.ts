/** Namespaced tools by one name each, and back: no other wire has namespaces. */
import type { ConversationRequest } from '../../core/conversation.js';
import { DIALECT, flatName } from './wire.js';

export interface NamespacedName {
  namespace: string;
  name: string;
}

export class FlatNames {
  readonly #taken = new Set<string>();
  readonly #flat = new Map<string, string>();
  readonly #typed = new Map<string, string>();

  /** A tool outside of any namespace keeps its name. */
  take(name: string): void {
    this.#taken.add(name);
  }

  /** The name of a tool that is offered; never one that another tool has. */
  offer(namespace: string, name: string): string {
    const known = this.#flat.get(keyOf(namespace, name));
    if (known !== undefined) return known;
    let flat = flatName(namespace, name);
    while (this.#taken.has(flat)) flat += '_';
    this.#taken.add(flat);
    this.#flat.set(keyOf(namespace, name), flat);
    return flat;
  }

  /** The name of a tool that has only a type. */
  offerTyped(kind: string, name: string): string {
    let free = name;
    while (this.#taken.has(free)) free += '_';
    this.#taken.add(free);
    this.#typed.set(kind, free);
    return free;
  }

  /** Undefined where no tool of that type is offered. */
  typed(kind: string): string | undefined {
    return this.#typed.get(kind);
  }

  /** The name of a tool in the history, offered or no longer. */
  flatten(namespace: string, name: string): string {
    return this.#flat.get(keyOf(namespace, name)) ?? flatName(namespace, name);
  }
}

const keyOf = (namespace: string, name: string): string => `${namespace}\n${name}`;

/** What the tools of `request` are called by their flat names. */
export function namespacedNames({ tools }: ConversationRequest): Map<string, NamespacedName> {
  const names = new Map<string, NamespacedName>();
  for (const { name: flat, extensions } of tools) {
    const { $namespace: namespace, $name: name } = extensions?.[DIALECT] ?? {};
    if (typeof namespace === 'string' && typeof name === 'string') names.set(flat, { namespace, name });
  }
  return names;
}
