/**
 * The public form of what an agent does, and the shapes in it that other answers of `/api` share.
 * Types alone: the console imports them too.
 */

/** ISO 8601. */
export type Time = string;

export interface AgentRef {
  id: string;
  label: string;
  /** The call of the parent that started it. */
  parent: string;
}

export interface TokenCounts {
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
}

export type MediaSourceWire =
  | { type: 'url'; url: string }
  | { type: 'file'; file_id: string }
  /** `href`: where the bytes are; `size`: characters of the data. */
  | { type: 'base64' | 'text'; media_type: string; size: number; href?: string };

export type BlockWire =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string }
  | { type: 'redacted_thinking' }
  | { type: 'image'; source: MediaSourceWire }
  | { type: 'document'; title: string | null; source: MediaSourceWire }
  | { type: 'tool_use'; id: string; name: string; input: unknown }
  | { type: 'tool_result'; tool_use_id: string; is_error: boolean; content: BlockWire[] }
  /** Something that only one dialect has. */
  | { type: 'opaque'; kind: string; dialect: string };

/** An activity on `/api/events`. `turn`: the id of the request that began it. */
export type ActivityWire = EncodedActivity & { turn: string; at: Time };

type WithoutTurn<Chunk> = Chunk extends unknown ? Omit<Chunk, 'session' | 'turn'> : never;

/** An activity in the record of a turn, which names the session and the turn once. */
export type RecordedChunk = WithoutTurn<ActivityWire>;

type TurnEndName = 'complete' | 'parked' | 'stopped' | 'broken' | 'failed';

export interface TurnEndWire {
  end: TurnEndName;
  stop_reason: string | null;
  /** What to do next is in its message. */
  error: { type: string; message: string } | null;
}

/**
 * A piece of what people were shown of a turn, as it is kept beside the transcript: what the
 * transcript does not say by itself.
 */
export interface ActivityRecord {
  /** Of the request that began the turn. */
  id: string;
  began_at: Time;
  model: string;
  chunks: RecordedChunk[];
  /** The chunks are all of it: what was kept before under this id is not needed any more. */
  whole?: true;
  /** Only in the last piece. */
  ended?: TurnEndWire;
}

/** What every public form of an activity has. `agent` is null for the main one. */
export type EncodedActivity = { session: string; agent: AgentRef | null } & (
  | { type: 'text'; text: string }
  | { type: 'thinking'; text: string }
  /** A call begins; its arguments follow as `tool_input_delta`. */
  | { type: 'tool_use'; tool_use_id: string; name: string; complete: false }
  /**
   * The call is whole, and `tool_use_id` is the id that results, approvals and the transcript have.
   * `was`: it began under this one. `truncated`: long texts of the input are cut here.
   */
  | {
      type: 'tool_use';
      tool_use_id: string;
      name: string;
      complete: true;
      input: unknown;
      was?: string;
      truncated?: boolean;
    }
  /** Calls that had begun and will not be made: the answer broke off, and is asked for again. */
  | { type: 'dropped'; tool_use_ids: string[] }
  | { type: 'tool_input_delta'; tool_use_id: string; delta: string }
  /** It runs. */
  | {
      type: 'tool_start';
      tool_use_id: string;
      name: string;
      kind: string;
      title: string;
      command: string | null;
      diff: string | null;
      /** Why it was let through: "rule Bash(git:*) of the configuration", "allowed by alice (console)". */
      because: string | null;
    }
  /** It waits for a person. */
  | { type: 'tool_waiting'; tool_use_id: string; name: string; title: string; approval: string | null }
  /** What is new of what it prints or says. */
  | { type: 'tool_progress'; tool_use_id: string; name: string; text: string }
  | {
      type: 'tool_result';
      tool_use_id: string;
      name: string;
      outcome: string;
      is_error: boolean;
      duration_ms: number;
      content: BlockWire[];
      /** The text of `content` with its terminal codes, where it has any. In no transcript. */
      shown?: string;
      /** The whole of it is in `GET /api/sessions/:id`. */
      truncated: boolean;
      because: string | null;
    }
  /** Calls that the client has to run. */
  | { type: 'handed_back'; tool_use_ids: string[] }
  | { type: 'model_start'; step: number; model: string }
  | { type: 'usage'; step: number; stop_reason: string; usage: TokenCounts }
  | { type: 'agent_start'; description: string }
  | { type: 'agent_end'; turns: number; usage: TokenCounts; cut_short: string | null }
  | { type: 'compacted'; tokens_before: number; tokens_after: number }
  | { type: 'max_turns'; turns: number }
);
