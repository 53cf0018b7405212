/** Replies in the dialect and the manner (streaming or whole) that the request asks for. */
import type { DialectName } from '../../src/core/conversation.js';
import type { AnswerOptions, Piece, Reply } from './replies.js';
import { eventByEvent, json, sse } from './replies.js';
import type { RecordedRequest, ScriptFunction } from './scripted-upstream.js';
import {
  anthropicError,
  anthropicMessage,
  anthropicStream,
  type ChatStreamOptions,
  chatCompletion,
  chatStream,
  openaiError,
  responsesObject,
  responsesStream,
  type Scripted,
  type Wire,
} from './wire.js';

interface DialectWire {
  path: string;
  whole(scripted: Scripted): Wire;
  stream(scripted: Scripted, options: ChatStreamOptions): string;
  error(type: string, message: string): Wire;
}

const WIRES: Readonly<Record<DialectName, DialectWire>> = {
  'anthropic-messages': {
    path: '/messages',
    whole: anthropicMessage,
    stream: anthropicStream,
    error: anthropicError,
  },
  'openai-chat': {
    path: '/chat/completions',
    whole: chatCompletion,
    stream: chatStream,
    error: (type, message) => openaiError(message, { type }),
  },
  'openai-responses': {
    path: '/responses',
    whole: responsesObject,
    stream: responsesStream,
    error: (type, message) => openaiError(message, { type }),
  },
};

export function dialectOf(request: RecordedRequest): DialectName {
  const path = request.path.split('?', 1)[0] ?? '';
  if (path.endsWith(WIRES['anthropic-messages'].path)) return 'anthropic-messages';
  if (path.endsWith(WIRES['openai-chat'].path)) return 'openai-chat';
  if (path.endsWith(WIRES['openai-responses'].path)) return 'openai-responses';
  throw new Error(`${request.method} ${request.path} is a route of no dialect`);
}

const wantsUsage = ({ json: { stream_options: options } }: RecordedRequest): boolean =>
  typeof options === 'object' &&
  options !== null &&
  'include_usage' in options &&
  options.include_usage === true;

export interface AnswerInDialect extends AnswerOptions {
  /** How the stream is cut into pieces; one piece for each event without. */
  pieces?: (stream: string) => readonly Piece[];
  interleave?: boolean;
}

/** The answer in whatever dialect is asked; the model name is the one of the request. */
export const inDialect =
  (
    scripted: Scripted,
    { pieces = eventByEvent, interleave = false, ...options }: AnswerInDialect = {},
  ): ScriptFunction =>
  (request): Reply => {
    const wire = WIRES[dialectOf(request)];
    const model = typeof request.json['model'] === 'string' ? request.json['model'] : 'scripted';
    const named = { model, ...scripted };
    if (request.json['stream'] !== true) return json(wire.whole(named), options);
    return sse(pieces(wire.stream(named, { usage: wantsUsage(request), interleave })), options);
  };

/** A failure in the dialect's own shape. */
export const errorInDialect =
  (status: number, type: string, message: string, options: AnswerOptions = {}): ScriptFunction =>
  (request): Reply =>
    json(WIRES[dialectOf(request)].error(type, message), { status, ...options });
