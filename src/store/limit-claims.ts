/** What nodes may use of a limit that they share. The claims of all of them never add up to more than the limit. */

export interface LimitClaim {
  /** Which limit of whom. */
  name: string;
  limit: number;
  /** In use already, by an earlier claim: it stays granted. */
  held: number;
  /** What the node would like to have, `held` included; 0 gives the claim back. */
  wanted: number;
  /** How long it holds, unless it is claimed again. */
  forMs: number;
}

export interface LimitClaimStore {
  /** Replaces what `node` has claimed of these limits, all in one step. Gives what is granted, by name. */
  claim(node: string, claims: readonly LimitClaim[]): Promise<ReadonlyMap<string, number>>;
}
