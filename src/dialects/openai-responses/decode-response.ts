/** A whole answer: wire to neutral, through the same machine as a stream. */
import type { JsonObject } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import { isObject } from '../../core/is-object.js';
import { readErrorBody } from '../shared/openai-error-body.js';
import { embeddedError } from '../shared/openai-errors.js';
import type { ToolNames } from '../shared/tool-names.js';
import { AnswerDecoder } from './decode-answer.js';

/** The answer is still being made; only a client that asked for that could come back for it. */
const UNFINISHED: ReadonlySet<unknown> = new Set(['queued', 'in_progress']);

export function decodeResponse(body: unknown, names: ToolNames): ModelEvent[] {
  const out: ModelEvent[] = [];
  const answer = new AnswerDecoder(names);
  if (isResponse(body)) answer.finish(body, out);
  else answer.fail(notAnAnswer(body), out);
  return out;
}

function isResponse(body: unknown): body is JsonObject {
  if (!isObject(body)) return false;
  if (body['object'] === 'response' && isObject(body['error'])) return true;
  return Array.isArray(body['output']) && !UNFINISHED.has(body['status']);
}

function notAnAnswer(body: unknown): GatewayError {
  const error = isObject(body) && body['object'] === 'response' ? undefined : readErrorBody(body);
  if (error !== undefined && typeof body !== 'string') return embeddedError(error);
  // Not worth another try: a page stays a page. What it says is passed on.
  if (error !== undefined) return new GatewayError('upstream_failed', embeddedError(error).message);
  return new GatewayError(
    'upstream_failed',
    'The upstream answered with something that is not a finished response. Check that its base_url ends where /responses begins.',
  );
}
