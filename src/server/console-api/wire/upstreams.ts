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

/** A provider that the gateway knows by name. */
export interface ProviderWire {
  name: string;
  title: string;
  dialect: string;
  base_url: string;
  /** The environment variable that usually has its key. */
  key_variable: string;
  /** Whether the environment of the gateway has that variable. */
  key_is_set: boolean;
  /** Models to suggest, the one for agents first. */
  suggested: string[];
}

export interface UpstreamListWire {
  data: UpstreamWire[];
  /** Providers that can be connected with a key alone. */
  providers: ProviderWire[];
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

/** A model server on the machine of the gateway. */
export interface LocalServerWire {
  name: string;
  title: string;
  dialect: string;
  base_url: string;
  models: string[];
}

/** `GET /api/upstreams/local`: those that answered. */
export interface LocalServersWire {
  data: LocalServerWire[];
}
