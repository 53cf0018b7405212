/** Who is there to answer questions, on whichever node: an approval waits only where somebody could decide it. */

export interface Present {
  /** Null: somebody who answers for everyone. */
  principal: string | null;
  /** How long that holds, unless it is said again. */
  forMs: number;
}

export interface PresenceStore {
  /** Replaces what `node` has said before. Each node has a name of its own. */
  put(node: string, present: readonly Present[]): Promise<void>;
  /** Whether somebody is there for the principal, or for everyone, on any node. */
  isThere(principal: string): Promise<boolean>;
}
