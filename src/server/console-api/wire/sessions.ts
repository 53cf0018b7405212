/** Conversations, and the console's own way to talk in them. */
import type { BlockWire, RecordedChunk, Time, TokenCounts, TurnEndWire } from '../../../activity/wire.js';

export type SessionModeWire = 'ask' | 'read-only' | 'allow-edits' | 'plan';

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
  /** By people, for their lists. */
  pinned: boolean;
  archived: boolean;
  /** What a person chose; null where the configuration's holds. */
  mode: SessionModeWire | null;
  /** The folder that it works in; null for plain models. */
  root: string | null;
  created_at: Time;
  updated_at: Time;
  expires_at: Time;
  /** A turn runs now, on whichever node. */
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

/** `PATCH /api/sessions/:id`: what is left out stays; with a `title` of null or nothing, its own counts again. */
export interface LabelSession {
  title?: string | null;
  pinned?: boolean;
  archived?: boolean;
  /** Null: the configuration's. One that lets more through takes the scope `approve`. */
  mode?: SessionModeWire | null;
}

/** Of `archived` in the list; left out: `exclude`. */
export const ARCHIVED_CHOICES = ['exclude', 'only', 'include'] as const;

/** UTF-16 units. */
export const TITLE_MAX_LENGTH = 120;

/** `GET /api/sessions/:id?before=N&limit=M`: the newest M messages, or those in front of N. */
export interface SessionContentWire extends SessionWire {
  messages: MessageWire[];
  /** How many there are in all. */
  total: number;
  /** Calls that wait for the client. */
  open_calls: { id: string; name: string; input: unknown }[];
  /** What was shown of the turns that these messages are of, beside what the messages say. */
  turns: RecordedTurnWire[];
}

/** A turn as it was shown while it ran. Its words, and the results of its calls, are in the messages. */
export interface RecordedTurnWire {
  /** As in the messages. */
  turn: number;
  /** Of the request that began it. */
  id: string;
  began_at: Time;
  model: string;
  chunks: RecordedChunk[];
  /** Null where it runs, or the gateway stopped without a word. */
  ended: TurnEndWire | null;
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
  /** Of a new session. */
  mode?: SessionModeWire;
  /** The same id is the same request, once. */
  client_id?: string;
}

export interface ChatStarted {
  session: string;
  turn: string;
  how: 'new' | 'continue' | 'fork' | 'import';
}

/** `steer`: into the turn that runs, before its model is asked again. `queue`: when the turn is over. */
export type MessageMode = 'queue' | 'steer';

/** `POST /api/sessions/:id/messages`: 202 with this while a turn runs, with ChatStarted where none does. */
export interface QueuedMessageWire {
  id: string;
  session: string;
  mode: MessageMode;
  content: string | unknown[];
  queued_at: Time;
}

/**
 * `POST /api/sessions/:id/stop`: `stopped` is false where nothing ran and no turn had broken off;
 * `withdrawn` are the messages that waited for its end. `POST …/resume` → ChatStarted.
 */
export interface StopAnswer {
  stopped: boolean;
  withdrawn: QueuedMessageWire[];
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
  /** Of agents: what this key may choose for a new session, and what holds where nothing is chosen. */
  modes: SessionModeWire[];
  configured_mode: 'ask' | 'allow' | 'deny' | 'read-only';
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
