/**
 * Credentials of processes that the gateway has started itself, as long as those live. They open
 * nothing but the model calls of one conversation.
 */
import { hash } from 'node:crypto';
import type { BoundModel, Principal } from './engine.js';

export class PrivateKeys {
  readonly #principals = new Map<string, Principal>();

  /** For the principal that the conversation belongs to; until the returned function is called. */
  add(secret: string, owner: Pick<Principal, 'name'>, bound: BoundModel): () => void {
    const digest = digestOf(secret);
    const principal: Principal = { name: owner.name, scopes: ['call'], models: ['*'], bound };
    this.#principals.set(digest, principal);
    return () => {
      if (this.#principals.get(digest) === principal) this.#principals.delete(digest);
    };
  }

  /** By digest, so that how long it takes says nothing about a secret. */
  find(secret: string): Principal | undefined {
    return this.#principals.size === 0 ? undefined : this.#principals.get(digestOf(secret));
  }
}

function digestOf(secret: string): string {
  return hash('sha256', secret, 'base64');
}
