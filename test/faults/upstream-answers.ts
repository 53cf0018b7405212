/** What the upstreams of these tests say, in any dialect, and what a client must hold of it. */
import { expect } from 'vitest';
import type { RawResponse } from '../support/raw-http.js';
import { call, type Scripted } from '../support/scripted.js';
import { type AnswerOptions, json, type ScriptFunction, sse } from '../support/scripted-upstream.js';
import { anthropicError, openaiError } from '../support/wire.js';
import type { Frame } from './stream-faults.js';
import type { Said, Wire } from './wires.js';

export const TEXT = 'I look it up: Zürich, 北京 😀';

/** Something of everything that a stream can hold. */
export const ANSWER: Scripted = {
  model: 'upstream-model',
  parts: [
    { type: 'thinking', text: ['Let me ', 'see…'], signature: 'c2lnbmVk' },
    { type: 'text', text: ['I look it up: ', 'Zürich, 北京 😀'] },
    call('get_weather', { city: 'Zürich', days: [1, 2] }, 'call_1'),
    call('search', { query: '"北京"' }, 'call_2'),
  ],
};

/** One event as it stands on the wire. */
export function frameText(wire: Wire, frame: Frame): string {
  if (typeof frame === 'string') return frame;
  const name = wire.name === 'openai-chat' ? '' : `event: ${String(frame['type'])}\n`;
  return `${name}data: ${JSON.stringify(frame)}\n\n`;
}

/** The events of the answer, each as its text. */
export const eventsOf = (wire: Wire): string[] =>
  wire.frames(ANSWER, false).map((frame) => frameText(wire, frame));

/** How many events may stand before an error with no part of the answer left open, something being said. */
export function quietPlaces(wire: Wire): number[] {
  const events = eventsOf(wire);
  const closes = /^event: (?:content_block_stop|response\.output_item\.done)\n/;
  if (wire.name === 'openai-chat') return [4, 7, events.length - 4];
  return events.flatMap((event, index) => (closes.test(event) ? [index + 1] : []));
}

export const streamOf = (wire: Wire): string => eventsOf(wire).join('');

/** A whole answer or a stream, as it was asked for. */
export const good =
  (wire: Wire, options: AnswerOptions = {}): ScriptFunction =>
  ({ json: { stream } }) =>
    stream === true ? sse(streamOf(wire), options) : json(wire.whole(ANSWER), options);

/** The body of a failed request. */
export const errorBody = (wire: Wire, type: string, message: string): object =>
  wire.name === 'anthropic-messages' ? anthropicError(type, message) : openaiError(message, { type });

/** An error as it stands in a stream of this dialect. */
export function errorEvent(wire: Wire, message: string, sequence = 0): string {
  switch (wire.name) {
    case 'anthropic-messages':
      return frameText(wire, anthropicError('overloaded_error', message));
    case 'openai-chat':
      return frameText(wire, openaiError(message, { type: 'server_error' }));
    case 'openai-responses': {
      const fields = { code: 'server_error', message, param: null, sequence_number: sequence };
      return frameText(wire, { type: 'error', ...fields });
    }
  }
}

const NOTHING: Said = { text: '', thinking: '', calls: [], stop: undefined, failed: true };

/** What the client holds in the end. Throws where it would: an error in another shape, a stream that is invalid. */
export function held(client: Wire, response: RawResponse): Said {
  if (response.status !== 200) {
    expect(response.status, response.text).toBeGreaterThanOrEqual(400);
    expect(client.isError(response.json()), response.text).toBe(true);
    return NOTHING;
  }
  expect(response.complete, 'the answer was cut off').toBe(true);
  const isStream = response.headers['content-type']?.startsWith('text/event-stream') ?? false;
  return isStream ? client.accept(response.text) : client.read(response.json());
}

/** The message of an error, in whatever dialect and place it stands. */
export function errorMessage(response: RawResponse): string {
  const found = [...response.text.matchAll(/"message":("(?:[^"\\]|\\.)*")/g)].at(-1);
  if (found?.[1] === undefined) throw new Error(`There is no error in ${response.text}`);
  return String(JSON.parse(found[1]));
}
