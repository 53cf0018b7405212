/**
 * Keys that were made while the gateway runs; those of the configuration are not in the store. Only digests of
 * secrets are: nobody who reads the store can call with one.
 */

/** What a key may do; the words of the configuration. */
export interface KeyGrants {
  /** The person it was made for. */
  user?: string;
  team?: string;
  scopes: readonly string[];
  /** Names and globs. */
  models: readonly string[];
  /** Folders that its agents may work in. Left out: all. */
  workspaces?: readonly string[];
  /** Requests a minute. */
  rpm?: number;
  /** Tokens a minute. */
  tpm?: number;
  maxStreams?: number;
  maxAgents?: number;
  bodyLimitMb?: number;
  budget?: { usd: number; softUsd?: number; per: 'day' | 'week' | 'month'; onUnknown: 'allow' | 'deny' };
}

/** What a secret is known by. */
export interface KeySecret {
  /** SHA-256 in hex. */
  digest: string;
  /** Its first characters, by which people recognise it. */
  start: string;
}

export interface NewKey extends KeyGrants, KeySecret {
  /** Sessions and usage belong to it. Unique among the keys that are not revoked. */
  name: string;
  expiresAt?: number;
}

export interface StoredKey extends NewKey {
  id: string;
  createdAt: number;
  createdBy: string;
  rotatedAt?: number;
  /** The secret before the last rotation, until its time is over. */
  previous?: { digest: string; until: number };
  revokedAt?: number;
}

export interface KeyRotation extends KeySecret {
  /** The secret of before is taken until then. Left out: no longer. */
  previousUntil?: number;
  /** Left out: as it was. */
  expiresAt?: number;
}

export interface KeyStore {
  /** Undefined where a key that is not revoked has the name. */
  add(key: NewKey, by: string): Promise<StoredKey | undefined>;
  /**
   * In the order they were made; those that expired or were revoked as well, until they are pruned. Of the
   * pruned the newest stay: a gateway that has had a key never takes callers without one again.
   */
  list(): Promise<StoredKey[]>;
  /** Undefined where there is none, or it is revoked. */
  rotate(id: string, rotation: KeyRotation, by: string): Promise<StoredKey | undefined>;
  /** The key as it is now, for the one caller that revoked it. */
  revoke(id: string, by: string): Promise<StoredKey | undefined>;
  /** Changes whenever any key does: who keeps keys in memory compares it. */
  revision(): Promise<number>;
}
