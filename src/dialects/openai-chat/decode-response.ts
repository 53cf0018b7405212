/** A whole answer: wire to neutral, through the same machine as a stream. */
import { GatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import { isObject } from '../../core/is-object.js';
import { readErrorBody } from '../shared/openai-error-body.js';
import { embeddedError } from '../shared/openai-errors.js';
import type { ToolNames } from '../shared/tool-names.js';
import { AnswerDecoder } from './decode-answer.js';

export function decodeResponse(body: unknown, names: ToolNames): ModelEvent[] {
  const out: ModelEvent[] = [];
  const answer = new AnswerDecoder(names);
  if (!isObject(body)) {
    answer.fail(notAnAnswer(body), out);
    return out;
  }
  answer.push(body, out);
  if (!answer.failed && !hasChoice(body['choices'])) answer.fail(notAnAnswer(undefined), out);
  answer.end(out);
  return out;
}

function hasChoice(choices: unknown): boolean {
  return Array.isArray(choices) && isObject(choices[0]);
}

function notAnAnswer(body: unknown): GatewayError {
  const said = readErrorBody(body);
  if (said !== undefined && typeof body !== 'string') return embeddedError(said);
  // Not worth another try: a page stays a page. What it says is passed on.
  if (said !== undefined) return new GatewayError('upstream_failed', embeddedError(said).message);
  return new GatewayError(
    'upstream_failed',
    'The upstream answered with something that is not a chat completion. Check that its base_url ends where /chat/completions begins.',
  );
}
