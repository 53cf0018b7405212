/** Shapes that several answers of `/api` share. Types alone: the console imports them too. */

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

/** Every error of `/api`. */
export interface ErrorWire {
  error: { message: string; type: string; param: string | null; code: string | null };
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
