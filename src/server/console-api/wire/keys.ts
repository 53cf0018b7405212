/** `/api/keys`: keys of the configuration, and those that were made at run time. Only for administrators. */
import type { Time } from '../../../activity/wire.js';

export interface KeyWire {
  /** Null for one of the configuration. */
  id: string | null;
  name: string;
  source: 'configuration' | 'store';
  /** `replaced`: the configuration has a key of the same name, which holds in its place. */
  state: 'active' | 'expired' | 'revoked' | 'replaced';
  /** The first characters of the secret; null for one of the configuration. */
  start: string | null;
  user: string | null;
  team: string | null;
  scopes: string[];
  models: string[];
  /** Null: all folders. */
  workspaces: string[] | null;
  rpm: number | null;
  tpm: number | null;
  max_streams: number | null;
  max_agents: number | null;
  body_limit_mb: number | null;
  budget: {
    usd: number;
    soft_usd?: number;
    per: 'day' | 'week' | 'month';
    on_unknown: 'allow' | 'deny';
  } | null;
  created_at: Time | null;
  created_by: string | null;
  expires_at: Time | null;
  rotated_at: Time | null;
  /** Until when the secret before the last rotation is taken. */
  previous_until: Time | null;
  revoked_at: Time | null;
}

/** What a change answers with. */
export interface ChangedKeyWire extends KeyWire {
  /** What else it changes, for the person who made it. */
  notes: string[];
}

/** A key that was made or rotated. */
export interface NewKeyWire extends ChangedKeyWire {
  /** Shown once: the store has only its digest. */
  secret: string;
}

/** `POST /api/reload`: key paths of the file that differ from before. */
export interface ReloadWire {
  /** Null where there is none. */
  file: string | null;
  /** They hold from now on. */
  changed: string[];
  /** They hold after a restart. */
  restart: string[];
}
