/** `GET /api/status`: what is connected, and how it is set up. Nothing is called to answer it. */
import type { Time } from '../../../activity/wire.js';

export interface StatusWire {
  version: string;
  started_at: Time;
  uptime_s: number;
  now: Time;
  /** Where the gateway listens: what clients are given. */
  url: string;
  keys: {
    /** Without keys only this machine can reach the gateway, and any credential or none is taken. */
    configured: boolean;
    /** Who asks. */
    name: string;
    scopes: string[];
    models: string[];
  };
  upstreams: UpstreamStatusWire[];
  models: { total: number; agents: number };
  tools: { total: number; enabled: number };
  /** How many servers are in which state. */
  mcp: { total: number; states: Record<string, number> };
  store: { kind: string; size_bytes: number; schema_version: number; location: string | null };
  sandbox:
    | { active: true; kind: string; detail: string }
    | { active: false; reason: 'off' | 'unavailable'; detail: string; advice: string };
  approvals: {
    mode: string;
    timeout_s: number;
    unattended: 'deny' | 'wait';
    /** That this caller can see. */
    pending: number;
  };
  traces: { bodies: boolean; max_age_s: number; max_mb: number };
}

export interface UpstreamStatusWire {
  name: string;
  dialect: string;
  /** Of its address; null where it has none (the embedded demo). */
  host: string | null;
  has_key: boolean;
  last_answer_at: Time | null;
  last_failure: { at: Time; code: string } | null;
  /** By what was seen last. */
  state: 'unknown' | 'ok' | 'failing';
}
