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
    const error = readErrorBody(body);
    answer.fail(error === undefined ? notAnAnswer() : embeddedError(error), out);
    return out;
  }
  answer.push(body, out);
  if (!answer.failed && !hasChoice(body['choices'])) answer.fail(notAnAnswer(), out);
  answer.end(out);
  return out;
}

function hasChoice(choices: unknown): boolean {
  return Array.isArray(choices) && isObject(choices[0]);
}

function notAnAnswer(): GatewayError {
  return new GatewayError(
    'upstream_failed',
    'The upstream answered with something that is not a chat completion. Check that its base_url ends where /chat/completions begins.',
    { retryable: true },
  );
}
