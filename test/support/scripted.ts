/** An answer described once, for the builders of every dialect. */

export type Pieces = string | readonly string[];

/** A list of pieces is a list of deltas when streamed, and joined in a whole answer. */
export type Part =
  | { type: 'text'; text: Pieces }
  /** `signature` travels as the signature of a thinking block or as encrypted reasoning. */
  | { type: 'thinking'; text: Pieces; signature?: string }
  /** `arguments` is the JSON text as the model wrote it, which may be broken. */
  | { type: 'call'; id: string; name: string; arguments: Pieces };

export type CallPart = Extract<Part, { type: 'call' }>;

export type Stop = 'end_turn' | 'tool_use' | 'max_tokens' | 'stop_sequence' | 'refusal';

/** Counts that do not overlap; `reasoning` is part of `output`. */
export interface ScriptedUsage {
  input: number;
  output: number;
  cacheRead?: number;
  cacheWrite?: number;
  reasoning?: number;
}

export interface Scripted {
  id?: string;
  model?: string;
  parts: readonly Part[];
  /** `tool_use` where there is a call and `end_turn` where there is none, unless given. */
  stop?: Stop;
  stopSequence?: string;
  usage?: ScriptedUsage;
}

export type Wire = Record<string, unknown>;

export const CREATED = 1_760_000_000;

const DEFAULT_USAGE: ScriptedUsage = { input: 20, output: 10 };

export const piecesOf = (pieces: Pieces): readonly string[] =>
  typeof pieces === 'string' ? [pieces] : pieces;

export const joined = (pieces: Pieces): string => piecesOf(pieces).join('');

export const usageOf = ({ usage = DEFAULT_USAGE }: Scripted): Required<ScriptedUsage> => ({
  cacheRead: 0,
  cacheWrite: 0,
  reasoning: 0,
  ...usage,
});

export const stopOf = ({ stop, parts }: Scripted): Stop =>
  stop ?? (parts.some((part) => part.type === 'call') ? 'tool_use' : 'end_turn');

/** Cuts `text` into pieces of `size` characters, as a model that streams would. */
export function cut(text: string, size: number): string[] {
  return text.match(new RegExp(`.{1,${size}}`, 'gsu')) ?? [];
}

export const textAnswer = (text: Pieces, rest: Partial<Scripted> = {}): Scripted => ({
  parts: [{ type: 'text', text }],
  ...rest,
});

/** `input` becomes JSON text, cut into deltas. */
export const call = (name: string, input: Wire, id = `call_${name}`): CallPart => ({
  type: 'call',
  id,
  name,
  arguments: cut(JSON.stringify(input), 8),
});

export const callAnswer = (
  name: string,
  input: Wire,
  rest: Partial<Scripted> & { callId?: string } = {},
): Scripted => {
  const { callId, ...scripted } = rest;
  return { parts: [call(name, input, callId)], ...scripted };
};

export const callsAnswer = (...calls: readonly CallPart[]): Scripted => ({ parts: calls });

export const thinkingAnswer = (thinking: Pieces, text: Pieces, signature?: string): Scripted => ({
  parts: [
    { type: 'thinking', text: thinking, ...(signature === undefined ? {} : { signature }) },
    { type: 'text', text },
  ],
});
