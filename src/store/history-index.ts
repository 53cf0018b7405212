/**
 * Finds a session by what a client echoes: each message's link of the hash chain, by principal.
 * Written through `sessions.checkpoint`; entries live exactly as long as their session.
 */

export interface HistoryEntry {
  hash: string;
  /** How many messages the hash stands for. */
  position: number;
}

export interface HistoryMatch extends HistoryEntry {
  session: string;
  /** It is the last message of that session: going on from here is no fork. */
  head: boolean;
}

export interface HistoryIndex {
  /**
   * `chain` is the client's history, shortest prefix first. The last hash in it that a session of
   * this principal knows wins; among several sessions one that ends there, then the latest used.
   */
  longestPrefix(principal: string, chain: readonly string[]): Promise<HistoryMatch | undefined>;
  /**
   * Sessions of this principal that know the hash, at most `limit`: first those whose metadata has
   * this `prompt` (none is the same as an empty one), then in the same order.
   */
  find(principal: string, hash: string, options: { limit: number; prompt: string }): Promise<HistoryMatch[]>;
}
