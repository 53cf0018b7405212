/** `/api/upstreams`: those of the configuration, and those that were connected at run time. For administrators. */
import type { Time } from '../../../activity/wire.js';

export interface UpstreamWire {
  name: string;
  source: 'configuration' | 'environment' | 'store';
  /** `replaced`: the configuration has one of the same name, which holds in its place. */
  state: 'active' | 'replaced' | 'unusable';
  /** Why it is unusable. */
  problem: string | null;
  dialect: string;
  base_url: string | null;
  /** Where its key comes from; the key itself is never shown. */
  key: 'none' | 'stored' | 'environment' | 'configuration';
  /** The environment variable that has it, of one that was connected at run time. */
  key_variable: string | null;
  /** Of one that was connected at run time. */
  models: string[] | null;
  agent_model: string | null;
  created_at: Time | null;
  created_by: string | null;
}

export interface UpstreamListWire {
  data: UpstreamWire[];
  /** Why a key that is typed cannot be stored; null where it can. */
  key_obstacle: string | null;
}

/** `POST /api/upstreams/test`. */
export interface UpstreamTestWire {
  ok: boolean;
  /** What was wrong and what to do. */
  problem: string | null;
  /** Null where it gave no list. */
  models: string[] | null;
}
