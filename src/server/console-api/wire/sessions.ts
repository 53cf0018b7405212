/** Conversations, and the console's own way to talk in them. */
import type { BlockWire, Time, TokenCounts } from '../../../activity/wire.js';

type SessionStateWire = 'live' | 'parked' | 'hibernated' | 'expired';

export interface SessionWire {
  id: string;
  key: string;
  model: string;
  /** `relay` for a conversation of the console with a plain model. */
  engine: 'relay' | 'native' | 'claude-code';
  state: SessionStateWire;
  title: string | null;
  parent: string | null;
  /** The folder that it works in; null for plain models. */
  root: string | null;
  created_at: Time;
  updated_at: Time;
  expires_at: Time;
  /** A turn runs in this gateway now. */
  running: boolean;
  /** The last turn broke off. */
  interrupted: boolean;
  /** It is `interrupted`, and `…/resume` resumes it. False where a client of /v1 began it: only that client can. */
  resumable: boolean;
  pending_approvals: number;
  /** Null where nothing was counted yet. */
  usage: SessionUsageWire | null;
  /** In the list, with `search`: where a word of it was said. */
  match?: MatchWire;
}

/** A line of what was said; the word is from `from` up to `to`, in UTF-16 units of `text`. */
export interface MatchWire {
  text: string;
  from: number;
  to: number;
}

export interface SessionUsageWire extends TokenCounts {
  requests: number;
  errors: number;
  /** Null where no price is known for any of it. */
  cost_usd: number | null;
  unpriced_requests: number;
}

/** `GET /api/sessions/:id?before=N&limit=M`: the newest M messages, or those in front of N. */
export interface SessionContentWire extends SessionWire {
  messages: MessageWire[];
  /** How many there are in all. */
  total: number;
  /** Calls that wait for the client. */
  open_calls: { id: string; name: string; input: unknown }[];
}

export interface MessageWire {
  /** Its place in the whole conversation, from 0. */
  index: number;
  /** Which turn it belongs to, from 0: `keep: turn` forks in front of it. */
  turn: number;
  role: 'user' | 'assistant';
  content: BlockWire[];
}

/**
 * `POST /api/chat`: says something to a model or an agent. The turn runs in the gateway whether or
 * not anyone watches; what happens is on `/api/events`. 202 with ChatStarted.
 */
export interface ChatRequest {
  model: string;
  /** Goes on in it; another engine or folder makes a new session with the same conversation. */
  session?: string;
  /** Forks: only so many turns of the session are kept (edit, regenerate). */
  keep?: number;
  /** Text, or content blocks of the Anthropic Messages API. Empty with `keep`: the turn that followed is made again. */
  content: string | unknown[];
  /** A folder for an agent to work in; the model's own where it is left out. */
  cwd?: string;
  /** The same id is the same request, once. */
  client_id?: string;
}

export interface ChatStarted {
  session: string;
  turn: string;
  how: 'new' | 'continue' | 'fork' | 'import';
}

/** `POST /api/sessions/:id/stop`: `stopped` is false where nothing ran and no turn had broken off. `POST …/resume` → ChatStarted. */
export interface StopAnswer {
  stopped: boolean;
}

/** `GET /api/models`: what the console can talk to. */
export interface ModelWire {
  /** A name, or a pattern such as `claude-*`, which a person completes. */
  name: string;
  pattern: boolean;
  engine: 'relay' | 'native' | 'claude-code';
  display_name: string | null;
  upstreams: string[];
  /** Of agents. */
  root: string | null;
  context_window: number | null;
  priced: boolean;
}

/** `GET /api/folders?path=…`: to choose a folder from. */
export interface FoldersWire {
  path: string;
  parent: string | null;
  folders: { name: string; path: string }[];
  /** Where one may begin. */
  roots: string[];
}

/** What a session does, in one word; in the order in which they want attention. */
export const SESSION_STATUSES = ['waiting', 'running', 'interrupted', 'client', 'idle'] as const;

/**
 * `waiting`: for a person who allows or denies something. `client`: for the client, which has calls
 * to run. A session has the first of these that is true of it.
 */
export type SessionStatus = (typeof SESSION_STATUSES)[number];

type StatusFacts = Pick<SessionWire, 'pending_approvals' | 'running' | 'interrupted' | 'state'>;

export function sessionStatus({
  pending_approvals,
  running,
  interrupted,
  state,
}: StatusFacts): SessionStatus {
  if (pending_approvals > 0) return 'waiting';
  if (running) return 'running';
  if (interrupted) return 'interrupted';
  return state === 'parked' || state === 'hibernated' ? 'client' : 'idle';
}
