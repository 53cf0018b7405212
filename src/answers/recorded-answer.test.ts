import { describe, expect, it } from 'vitest';
import { AnswerCollector } from '../core/answer-collector.js';
import { NO_USAGE } from '../core/conversation.js';
import { GatewayError } from '../core/errors.js';
import type { ModelEvent } from '../core/events.js';
import { StreamLifecycle } from '../core/lifecycle.js';
import { anthropicMessages } from '../dialects/anthropic-messages/index.js';
import { openaiChat } from '../dialects/openai-chat/index.js';
import {
  BytesRecorder,
  EventsRecorder,
  KEPT_LIMIT,
  keepBytes,
  type Recorded,
  readRecorded,
  replay,
} from './recorded-answer.js';

const FACTS = { upstream: 'u', losses: [], headers: { 'x-session-id': 's' }, created: 7 };

async function piecesOf<T>(pieces: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}

describe('a recorded answer', () => {
  it('is block for block the same when it is given again', async () => {
    const turn: Extract<Recorded, { kind: 'turn' }>['turn'] = {
      id: 'msg_1',
      model: 'm',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        { type: 'redacted_thinking', data: 'xx' },
        { type: 'text', text: 'One.' },
        { type: 'text', text: 'Two.' },
        { type: 'tool_use', id: 'c1', name: 'a', input: { z: 1, b: [null] } },
        { type: 'tool_use', id: 'c2', name: 'a', input: {} },
      ],
      stopReason: 'tool_use',
      usage: { ...NO_USAGE, inputTokens: 5, outputTokens: 9, reasoningTokens: 2 },
    };
    const kept = readRecorded(JSON.parse(JSON.stringify({ kind: 'turn', ...FACTS, turn })));
    if (kept === undefined) throw new Error('It was not read');
    const { answer, identity } = replay(kept, openaiChat, true);
    expect(identity).toEqual({ id: 'msg_1', model: 'm', created: 7 });
    expect(answer.headers).toEqual({ 'x-session-id': 's', 'idempotent-replayed': 'true' });
    if (answer.body.kind !== 'events') throw new Error('It is bytes');
    const lifecycle = new StreamLifecycle({ id: 'msg_1', model: 'm' });
    const collector = new AnswerCollector();
    for (const batch of await piecesOf(answer.body.batches)) collector.push(lifecycle.push(batch));
    collector.push(lifecycle.end());
    expect(collector.finish()).toEqual(turn);
    expect(lifecycle.repairs.size).toBe(0);
  });

  it('of bytes is the same bytes, text or not', async () => {
    for (const bytes of [Buffer.from('{"a":"北京"}'), Buffer.from([0x7b, 0xff, 0x7d])]) {
      const kept = keepBytes(bytes, { ...FACTS, id: 'x', status: 200, contentType: 'application/json' });
      const { answer } = replay(JSON.parse(JSON.stringify(kept)), openaiChat, false);
      if (answer.body.kind !== 'bytes') throw new Error('It is events');
      expect(Buffer.concat(await piecesOf(answer.body.chunks))).toEqual(bytes);
    }
  });

  it('that was too large says so, and that asking again needs a new key', () => {
    expect(() => replay({ kind: 'not-kept' }, openaiChat, false)).toThrow(
      expect.objectContaining({ status: 409, detail: 'idempotent_answer_not_kept' }),
    );
  });

  it.each([undefined, 'x', {}, { kind: 'turn' }, { kind: 'bytes', ...FACTS }])(
    'is not read from %j',
    (body) => {
      expect(readRecorded(body)).toBeUndefined();
    },
  );
});

function turn(...batches: ModelEvent[][]) {
  const recorder = new EventsRecorder({ id: 'msg_1', model: 'm' }, FACTS);
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
