/** Exact bytes of the OpenAI Chat Completions API. */
import {
  type CallPart,
  CREATED,
  joined,
  type Part,
  piecesOf,
  type Scripted,
  type Stop,
  stopOf,
  usageOf,
  type Wire,
} from './scripted.js';

/** Unnamed events, closed by `[DONE]` unless `done` is false. */
export const chatSse = (chunks: readonly Wire[], done = true): string =>
  chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('') + (done ? 'data: [DONE]\n\n' : '');

const ID = 'chatcmpl-scripted';
const MODEL = 'gpt-scripted';

const FINISH: Readonly<Record<Stop, string>> = {
  end_turn: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  stop_sequence: 'stop',
  refusal: 'content_filter',
};

export function chatUsage(scripted: Scripted): Wire {
  const usage = usageOf(scripted);
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoning, audio_tokens: 0 },
  };
}

const textOf = (parts: readonly Part[], type: 'text' | 'thinking'): string =>
  parts.map((part) => (part.type === type ? joined(part.text) : '')).join('');

const callsOf = (parts: readonly Part[]): CallPart[] => parts.filter((part) => part.type === 'call');

const base = (scripted: Scripted, object: string): Wire => ({
  id: scripted.id ?? ID,
  object,
  created: CREATED,
  model: scripted.model ?? MODEL,
  system_fingerprint: 'fp_scripted',
});

export function chatCompletion(scripted: Scripted): Wire {
  const text = textOf(scripted.parts, 'text');
  const reasoning = textOf(scripted.parts, 'thinking');
  const calls = callsOf(scripted.parts).map((part) => ({
    id: part.id,
    type: 'function',
    function: { name: part.name, arguments: joined(part.arguments) },
  }));
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return {
    ...base(scripted, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: FINISH[stopOf(scripted)] }],
    usage: chatUsage(scripted),
  };
}

export interface ChatStreamOptions {
  /** What `stream_options.include_usage` asks for: `usage: null` on every chunk, then one with figures. */
  usage?: boolean;
  /** Argument deltas of several calls take turns, as models that decode calls in parallel send them. */
  interleave?: boolean;
}

/** One chunk with this delta, for tests that write a stream by hand. */
export const chatChunk = (
  delta: Wire,
  finish: string | null = null,
  scripted: Partial<Scripted> = {},
): Wire => ({
  ...base({ parts: [], ...scripted }, 'chat.completion.chunk'),
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
});

const opening = (part: CallPart, index: number): Wire => ({
  tool_calls: [{ index, id: part.id, type: 'function', function: { name: part.name, arguments: '' } }],
});

const argumentDeltas = (part: CallPart, index: number): Wire[] =>
  piecesOf(part.arguments).map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] }));

function interleaved(calls: readonly CallPart[]): Wire[] {
  const rest = calls.map(argumentDeltas);
  const turns: Wire[] = [];
  for (let turn = 0; rest.some(({ length }) => turn < length); turn++) {
    for (const deltas of rest) turns.push(...deltas.slice(turn, turn + 1));
  }
  return [...calls.map(opening), ...turns];
}

function partDeltas(part: Part, calls: readonly CallPart[]): Wire[] {
  switch (part.type) {
    case 'text':
      return piecesOf(part.text).map((content) => ({ content }));
    case 'thinking':
      return piecesOf(part.text).map((reasoning) => ({ reasoning_content: reasoning }));
    case 'call': {
      const index = calls.indexOf(part);
      return [opening(part, index), ...argumentDeltas(part, index)];
    }
  }
}

function deltasOf(parts: readonly Part[], interleave: boolean): Wire[] {
  const calls = callsOf(parts);
  if (!interleave) return parts.flatMap((part) => partDeltas(part, calls));
  const rest = parts.filter((part) => part.type !== 'call').flatMap((part) => partDeltas(part, calls));
  return [...rest, ...interleaved(calls)];
}

export function chatChunks(scripted: Scripted, options: ChatStreamOptions = {}): Wire[] {
  const chunks = [
    chatChunk({ role: 'assistant', content: '', refusal: null }, null, scripted),
    ...deltasOf(scripted.parts, options.interleave ?? false).map((delta) => chatChunk(delta, null, scripted)),
    chatChunk({}, FINISH[stopOf(scripted)], scripted),
  ];
  if (!options.usage) return chunks;
  const last = { ...base(scripted, 'chat.completion.chunk'), choices: [], usage: chatUsage(scripted) };
  return [...chunks.map((chunk) => ({ ...chunk, usage: null })), last];
}

export const chatStream = (scripted: Scripted, options: ChatStreamOptions = {}): string =>
  chatSse(chatChunks(scripted, options));

/** The body of a failed request; the same shape stands in a stream that fails. */
export const openaiError = (
  message: string,
  { type = 'invalid_request_error', code = null, param = null }: OpenAIErrorFields = {},
): Wire => ({ error: { message, type, param, code } });

export interface OpenAIErrorFields {
  type?: string;
  code?: string | null;
  param?: string | null;
}
