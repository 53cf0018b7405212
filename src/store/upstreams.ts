/**
 * Upstreams that were connected while the gateway runs; those of the configuration are not in the store. A key is
 * there only sealed: nobody who reads the store can call with it.
 */

export interface NewUpstream {
  /** Unique. */
  name: string;
  dialect: string;
  baseUrl: string;
  /** The environment variable that has its key. */
  keyVariable?: string;
  /** Its key, encrypted. */
  sealedKey?: string;
  /** The names of its models that are offered. */
  models: readonly string[];
  /** Which of them drives the agents, where no file says it. */
  agentModel?: string;
}

export interface StoredUpstream extends NewUpstream {
  createdAt: number;
  createdBy: string;
}

export interface UpstreamStore {
  /** Undefined where there is one of the name. */
  add(upstream: NewUpstream, by: string): Promise<StoredUpstream | undefined>;
  /** In the order they were added. */
  list(): Promise<StoredUpstream[]>;
  /** As it was, for the one caller that removed it. */
  remove(name: string, by: string): Promise<StoredUpstream | undefined>;
}
