/** Nodes that share a store: who is there, under which name, and where others reach it. */
import type { GatewayError } from '../core/errors.js';

export interface NewNode {
  name: string;
  /** One process: another one under the same name is another instance. */
  instance: string;
  /** Where other nodes reach it. */
  address: string;
  /** Says whether two nodes have the same secret, and nothing of the secret. */
  secretCheck: string;
  /** Of the gateway. */
  version: string;
  /** Roots that other nodes have as well. */
  workspaces: readonly string[];
}

export interface ClusterNode extends NewNode {
  /** How long it has not been heard of, by the clock of the database. */
  silentMs: number;
}

export type JoinOutcome =
  | { joined: true; clockMs: number }
  /** Another instance has the name, and was heard of lately. */
  | { joined: false; reason: 'name'; node: ClusterNode }
  /** Others have another secret. */
  | { joined: false; reason: 'secret'; node: ClusterNode };

export interface NodeStore {
  /**
   * Takes the name. One whose instance is not heard of for `lostMs`, or is in `gone`, is taken over.
   * `clockMs` is the time of the database.
   */
  join(node: NewNode, options: { lostMs: number; gone?: readonly string[] }): Promise<JoinOutcome>;
  /** The time of the database; undefined where another instance has the name. */
  beat(name: string, instance: string): Promise<number | undefined>;
  leave(name: string, instance: string): Promise<void>;
  /** Those that were heard of lately. */
  list(lostMs: number): Promise<ClusterNode[]>;
  /**
   * Until it is called without a reason, the whole store fails with it as if it were away, but for `join`, `beat`
   * and `leave`. What has begun ends.
   */
  suspend(reason: GatewayError | undefined): void;
}
