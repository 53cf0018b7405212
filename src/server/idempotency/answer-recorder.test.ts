import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import { anthropicMessages } from '../../dialects/anthropic-messages/index.js';
import { BytesRecorder, KEPT_LIMIT, TurnRecorder } from './answer-recorder.js';

const FACTS = { upstream: 'u', losses: [], headers: { 'x-session-id': 's' }, created: 1 };

function turn(...batches: ModelEvent[][]) {
  const recorder = new TurnRecorder({ id: 'msg_1', model: 'm' }, FACTS);
  for (const batch of batches) recorder.take(batch);
  return recorder.finish();
}

const sse = (...events: { type: string }[]): Buffer =>
  Buffer.from(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));

const START = {
  type: 'message_start',
  message: { id: 'msg_up', type: 'message', role: 'assistant', model: 'up', content: [], usage: {} },
};
const TEXT = [
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi.' } },
  { type: 'content_block_stop', index: 0 },
];
const END = [
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 1 },
  },
  { type: 'message_stop' },
];

function bytes(chunk: Buffer, contentType = 'text/event-stream') {
  const recorder = new BytesRecorder({ ...FACTS, id: 'msg_1', status: 200, contentType }, anthropicMessages);
  recorder.take(chunk);
  return recorder.finish();
}

describe('the recording of a neutral answer', () => {
  it('keeps it with its losses', () => {
    const kept = turn(
      [{ type: 'text', text: 'Hi.' }],
      [
        { type: 'loss', path: 'stop_reason', reason: 'paused' },
        { type: 'stop', reason: 'pause_turn' },
      ],
    );
    expect(kept?.recorded).toMatchObject({
      kind: 'turn',
      headers: { 'x-session-id': 's' },
      losses: [{ path: 'stop_reason' }],
      turn: { id: 'msg_1', stopReason: 'pause_turn', content: [{ type: 'text', text: 'Hi.' }] },
    });
  });

  it('keeps nothing where it failed or never ended', () => {
    const error = new GatewayError('overloaded', 'Too much.');
    expect(turn([{ type: 'text', text: 'Hi.' }], [{ type: 'error', error }])).toBeUndefined();
    expect(turn([{ type: 'text', text: 'Hi.' }])).toBeUndefined();
  });

  it('keeps a note instead where it is too large', () => {
    const piece = 'x'.repeat(KEPT_LIMIT / 2);
    const kept = turn(
      [{ type: 'text', text: piece }],
      [{ type: 'text', text: piece }],
      [{ type: 'text', text: '!' }],
      [{ type: 'stop', reason: 'end_turn' }],
    );
    expect(kept?.recorded).toEqual({ kind: 'not-kept' });
    expect(kept?.turn).toBeDefined();
  });
});

describe('the recording of a forwarded answer', () => {
  it('keeps the bytes', () => {
    const whole = sse(START, ...TEXT, ...END);
    expect(bytes(whole)?.recorded).toMatchObject({ kind: 'bytes', encoding: 'utf8', text: whole.toString() });
  });

  it('keeps nothing where it ends in an error', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    expect(bytes(sse(START, ...TEXT, error))).toBeUndefined();
    expect(bytes(sse(START, ...TEXT))).toBeUndefined();
    expect(bytes(Buffer.from('{"half'), 'application/json')).toBeUndefined();
  });

  it('leaves word where it is too large', () => {
    expect(bytes(Buffer.alloc(KEPT_LIMIT + 1, 32))?.recorded).toEqual({ kind: 'not-kept' });
  });
});
