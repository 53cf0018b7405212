import { describe, expect, it } from 'vitest';
import { numberAttempts, type TracedAttempt, type TracedPiece, type TracePayload } from './payload.js';
import { emittedFlow, type Flow, upstreamFlow } from './timeline.js';

const payload = (timeline: TracedPiece[]): TracePayload => ({
  version: 1,
  cut: false,
  inbound: null,
  attempts: [],
  timeline,
});

const said = (flow: Flow): string[] =>
  flow.kind === 'events'
    ? flow.events.map(({ ms, type, detail, role }) => `${ms} ${type} ${detail} ${role}`)
    : [];

describe('events of a stream', () => {
  it('are put together from pieces, also where a character was cut, at the time of their last byte', () => {
    const bytes = Buffer.from('data: {"choices":[{"delta":{"content":"北京"}}]}\n\n');
    const cut = bytes.indexOf(Buffer.from('京')) + 1;
    const [one, two] = [bytes.subarray(0, cut), bytes.subarray(cut)].map(
      (part) => `base64:${part.toString('base64')}`,
    );
    const flow = upstreamFlow(
      payload([
        { ms: 1, from: 'upstream', attempt: 0, data: 'data: {"error":{"message":"no"}}\n\n' },
        { ms: 2, from: 'upstream', attempt: 1, data: one ?? '' },
        { ms: 3.5, from: 'upstream', attempt: 1, data: two ?? '' },
        { ms: 4, from: 'gateway', data: 'data: [DONE]\n\n' },
        { ms: 9, from: 'upstream', attempt: 1, data: 'data: [DONE]' },
      ]),
      1,
    );
    expect(said(flow)).toEqual(['3.5 delta.content 北京 text', '9 [DONE]  end']);
  });

  it('are told apart in every dialect', () => {
    const events = [
      'event: message_start\ndata: {"type":"message_start","message":{"model":"m"}}',
      'data: {"type":"content_block_start","content_block":{"type":"tool_use","name":"Read"}}',
      'data: {"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{\\"a\\""}}',
      'data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}',
      'data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{"}}]}}]}',
      'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}',
      'data: {"type":"response.output_text.delta","delta":"hi"}',
      'data: {"type":"response.failed","response":{"status":"failed"}}',
      'data: {"error":{"message":"overloaded"}}',
      'data: <b>no json</b>',
    ];
    const flow = emittedFlow(
      payload([{ ms: 1, from: 'gateway', data: `${events.join('\r\n\r\n')}\r\n\r\n` }]),
    );
    expect(said(flow).map((line) => line.slice(2))).toEqual([
      'message_start m start',
      'content_block_start tool_use Read call',
      'content_block_delta {"a" arguments',
      'message_delta tool_use stop',
      'delta.tool_calls f { call',
      'finish_reason stop stop',
      'response.output_text.delta hi text',
      'response.failed failed error',
      'error overloaded error',
      'text <b>no json</b> other',
    ]);
  });

  it('are none where the answer is one piece, or nothing came', () => {
    expect(emittedFlow(payload([{ ms: 2, from: 'gateway', data: '{"id":1}' }]))).toEqual({
      kind: 'body',
      ms: 2,
      text: '{"id":1}',
    });
    expect(upstreamFlow(payload([]), 0)).toEqual({ kind: 'none' });
  });
});

describe('upstream attempts', () => {
  it('are grouped by call until an answer is taken', () => {
    const attempts = [429, null, 200, 200].map(
      (status): TracedAttempt => ({ upstream: 'u', wire: 'w', url: '', body: '', status, headers: {} }),
    );
    expect(numberAttempts(attempts)).toEqual([
      { call: 1, tryNumber: 1 },
      { call: 1, tryNumber: 2 },
      { call: 1, tryNumber: 3 },
      { call: 2, tryNumber: 1 },
    ]);
  });
});
