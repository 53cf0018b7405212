import { accumulateResponse } from 'openai/lib/responses/ResponseAccumulator.js';
import { describe, expect, it } from 'vitest';
import { streamFixtures } from '../../../test/support/dialect-fixtures.js';
import { parseSseText, type SseEvent, validateResponsesStream } from '../../../test/support/sse.js';
import { AnswerCollector } from '../../core/answer-collector.js';
import type { JsonObject } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { AnswerEvent, ModelEvent } from '../../core/events.js';
import { isObject } from '../../core/is-object.js';
import { StreamLifecycle } from '../../core/lifecycle.js';
import { LossLog } from '../../core/losses.js';
import { ToolNames } from '../shared/tool-names.js';
import { answerForm } from './answer-form.js';
import { decodeRequest } from './decode-request.js';
import { createStreamDecoder } from './decode-stream.js';
import { encodeResponse } from './encode-response.js';
import { createStreamEncoder } from './encode-stream.js';

const CONTEXT = { model: 'asked', requestId: 'req_1', created: 1700000000 };
const STOP: ModelEvent = { type: 'stop', reason: 'end_turn' };
/** A schema in which the client writes what the encoder looks for. */
const OWN_OUTPUT = { type: 'json_schema', name: 'n', schema: { output: [] } };
const ENCRYPTED = { include: ['reasoning.encrypted_content'] };

const requestOf = (fields: JsonObject) =>
  decodeRequest({ model: 'asked', input: 'q', stream: true, ...fields });

function strict(events: readonly ModelEvent[]): AnswerEvent[] {
  const lifecycle = new StreamLifecycle({ id: 'resp_1', model: 'asked' });
  return [...lifecycle.push(events), ...lifecycle.end()];
}

function encode(events: readonly ModelEvent[], fields: JsonObject = {}): SseEvent[] {
  const encoder = createStreamEncoder(requestOf(fields), CONTEXT);
  return parseSseText(
    strict(events)
      .map((event) => encoder.encode([event]))
      .join(''),
  ).events;
}

const valuesOf = (events: readonly SseEvent[]): JsonObject[] => events.map(({ data }) => JSON.parse(data));

/** The events without their numbers and without whole responses, which have tests of their own. */
function shape(events: readonly SseEvent[]): JsonObject[] {
  return valuesOf(events).map(({ sequence_number: _number, response, ...rest }) =>
    response === undefined ? rest : { type: rest['type'] },
  );
}

/** The answer as the whole one is written. */
function whole(events: readonly ModelEvent[], fields: JsonObject = {}): JsonObject {
  const collector = new AnswerCollector();
  collector.push(strict(events));
  const form = answerForm(requestOf(fields));
  return encodeResponse(collector.finish(), { ...CONTEXT, form }, new LossLog());
}

function lastResponse(events: readonly SseEvent[]): unknown {
  return valuesOf(events).at(-1)?.['response'];
}

describe('the sequence of events', () => {
  it('of text', () => {
    const events = encode([{ type: 'text', text: 'Hi ' }, { type: 'text', text: '"you"\n' }, STOP]);
    const at = { item_id: 'msg_1_0', output_index: 0, content_index: 0 };
    const part = { type: 'output_text', text: 'Hi "you"\n', annotations: [], logprobs: [] };
    const item = { id: 'msg_1_0', type: 'message', role: 'assistant' };
    expect(shape(events)).toEqual([
      { type: 'response.created' },
      { type: 'response.in_progress' },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...item, status: 'in_progress', content: [] },
      },
      { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
      { type: 'response.output_text.delta', ...at, delta: 'Hi ', logprobs: [] },
      { type: 'response.output_text.delta', ...at, delta: '"you"\n', logprobs: [] },
      { type: 'response.output_text.done', ...at, text: 'Hi "you"\n', logprobs: [] },
      { type: 'response.content_part.done', ...at, part },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { ...item, status: 'completed', content: [part] },
      },
      { type: 'response.completed' },
    ]);
  });

  it('of a call', () => {
    const events = encode([
      { type: 'tool', key: 'a', id: 'call_1', name: 'Read' },
      { type: 'tool-input', key: 'a', json: '{"a":' },
      { type: 'tool-input', key: 'a', json: '1}' },
      { type: 'tool-end', key: 'a' },
      { type: 'stop', reason: 'tool_use' },
    ]);
    const at = { item_id: 'fc_1_0', output_index: 0 };
    const item = { id: 'fc_1_0', type: 'function_call', call_id: 'call_1', name: 'Read' };
    expect(shape(events).slice(2, -1)).toEqual([
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...item, status: 'in_progress', arguments: '' },
      },
      { type: 'response.function_call_arguments.delta', ...at, delta: '{"a":' },
      { type: 'response.function_call_arguments.delta', ...at, delta: '1}' },
      { type: 'response.function_call_arguments.done', ...at, name: 'Read', arguments: '{"a":1}' },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { ...item, status: 'completed', arguments: '{"a":1}' },
      },
    ]);
  });

  it('of thinking, whose proof comes back in what is encrypted', () => {
    const turn: ModelEvent[] = [
      { type: 'thinking', text: 'I ' },
      { type: 'thinking', text: 'think' },
      { type: 'signature', signature: 'c2ln' },
      { type: 'text', text: 'So.' },
      STOP,
    ];
    const at = { item_id: 'rs_1_0', output_index: 0, summary_index: 0 };
    const events = shape(encode(turn, ENCRYPTED)).slice(2, 9);
    expect(events).toEqual([
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { id: 'rs_1_0', type: 'reasoning', summary: [] },
      },
      { type: 'response.reasoning_summary_part.added', ...at, part: { type: 'summary_text', text: '' } },
      { type: 'response.reasoning_summary_text.delta', ...at, delta: 'I ' },
      { type: 'response.reasoning_summary_text.delta', ...at, delta: 'think' },
      { type: 'response.reasoning_summary_text.done', ...at, text: 'I think' },
      {
        type: 'response.reasoning_summary_part.done',
        ...at,
        part: { type: 'summary_text', text: 'I think' },
      },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: {
          id: 'rs_1_0',
          type: 'reasoning',
          summary: [{ type: 'summary_text', text: 'I think' }],
          encrypted_content: expect.stringMatching(/^tgr1\./),
        },
      },
    ]);
    // A client that drops everything else still sends this back.
    const { item } = events.at(-1) ?? {};
    const encrypted = isObject(item) ? item['encrypted_content'] : undefined;
    const again = decodeRequest({
      model: 'm',
      input: [{ type: 'reasoning', summary: [], encrypted_content: encrypted }],
    });
    expect(again.messages).toEqual([
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'I think', signature: 'c2ln' }] },
    ]);
  });

  it('of a custom tool, as text and not as JSON', () => {
    const pieces = ['{"in', 'put": "*** ', 'Begin\\', 'n\\u00', 'e9 \\"x\\"', '"}'];
    const events = encode(
      [
        { type: 'tool', key: 0, id: 'call_1', name: 'patch' },
        ...pieces.map((json): ModelEvent => ({ type: 'tool-input', key: 0, json })),
        STOP,
      ],
      { tools: [{ type: 'custom', name: 'patch' }] },
    );
    const text = '*** Begin\né "x"';
    const inner = shape(events).slice(2, -1);
    const deltas = inner.filter(({ type }) => type === 'response.custom_tool_call_input.delta');
    expect(deltas.map(({ delta }) => delta)).toEqual(['*** ', 'Begin', '\n', 'é "x"']);
    expect(inner.at(0)).toMatchObject({ item: { type: 'custom_tool_call', name: 'patch', input: '' } });
    expect(inner.at(-2)).toMatchObject({ type: 'response.custom_tool_call_input.done', input: text });
    expect(inner.at(-1)).toMatchObject({
      item: { type: 'custom_tool_call', call_id: 'call_1', input: text },
    });
  });

  it('of a search for tools, whose arguments are an object', () => {
    const events = encode(
      [
        { type: 'tool', key: 0, id: 'call_1', name: 'tool_search' },
        { type: 'tool-input', key: 0, json: '{"query":"mail"}' },
        STOP,
      ],
      { tools: [{ type: 'tool_search', execution: 'client', description: 'Finds tools', parameters: {} }] },
    );
    const item = { id: 'tsc_1_0', type: 'tool_search_call', call_id: 'call_1', execution: 'client' };
    expect(shape(events).slice(2, -1)).toEqual([
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...item, status: 'in_progress', arguments: {} },
      },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { ...item, status: 'completed', arguments: { query: 'mail' } },
      },
    ]);
  });

  it('names a tool as its namespace does', () => {
    const inner = { type: 'function', name: 'spawn', parameters: {} };
    const events = encode([{ type: 'tool', key: 0, id: 'call_1', name: 'agents__spawn' }, STOP], {
      tools: [{ type: 'namespace', name: 'agents', description: '', tools: [inner] }],
    });
    expect(shape(events).at(-2)).toMatchObject({ item: { name: 'spawn', namespace: 'agents' } });
  });

  it('numbers every event', () => {
    const events = valuesOf(encode([{ type: 'text', text: 'Hi' }, STOP]));
    expect(events.map((event) => event['sequence_number'])).toEqual(events.map((_, index) => index));
  });

  it('says nothing to a client but a comment when it is only to be kept waiting', () => {
    const encoder = createStreamEncoder(requestOf({}), CONTEXT);
    expect(encoder.encode([{ type: 'ping' }])).toBe(': ping\n\n');
  });
});

describe('the last event', () => {
  const turn: ModelEvent[] = [
    { type: 'thinking', text: 'Hm' },
    { type: 'signature', signature: 'c2ln' },
    { type: 'block', block: { type: 'redacted_thinking', data: 'xyz' } },
    { type: 'text', text: 'One' },
    { type: 'break' },
    { type: 'text', text: 'Two' },
    { type: 'tool', key: 1, id: 'call_1', name: 'Read' },
    { type: 'tool-input', key: 1, json: '{"a":1}' },
    { type: 'tool', key: 2, id: 'call_2', name: 'patch' },
    { type: 'tool-input', key: 2, json: '{"input":"x"}' },
    {
      type: 'block',
      block: {
        type: 'opaque',
        dialect: 'openai-responses',
        kind: 'web_search_call',
        value: { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      },
    },
    {
      type: 'block',
      block: { type: 'opaque', dialect: 'anthropic-messages', kind: 'server_tool_use', value: {} },
    },
    { type: 'usage', usage: { inputTokens: 5, cacheReadTokens: 3, outputTokens: 2, reasoningTokens: 1 } },
    { type: 'stop', reason: 'tool_use' },
  ];
  const fields = {
    ...ENCRYPTED,
    tools: [{ type: 'custom', name: 'patch' }],
    metadata: { a: '"output":[]' },
    text: { format: OWN_OUTPUT },
  };

  it('is the whole answer', () => {
    expect(lastResponse(encode(turn, fields))).toEqual(whole(turn, fields));
  });

  it.each([
    ['end_turn', 'response.completed', null],
    ['stop_sequence', 'response.completed', null],
    ['max_tokens', 'response.incomplete', { reason: 'max_output_tokens' }],
    ['pause_turn', 'response.incomplete', { reason: 'max_output_tokens' }],
    ['context_window_exceeded', 'response.incomplete', { reason: 'max_output_tokens' }],
    ['refusal', 'response.incomplete', { reason: 'content_filter' }],
  ] as const)('of %s is %s', (reason, type, details) => {
    const events = encode([
      { type: 'text', text: 'Hi' },
      { type: 'stop', reason },
    ]);
    expect(valuesOf(events).at(-1)).toMatchObject({ type, response: { incomplete_details: details } });
  });

  it('has a message even when nothing was said', () => {
    expect(lastResponse(encode([STOP]))).toMatchObject({
      output: [{ type: 'message', content: [{ type: 'output_text', text: '' }] }],
    });
    expect(lastResponse(encode([STOP]))).toEqual(whole([STOP]));
  });

  it('has a refusal where the model refused without a word', () => {
    const refused: ModelEvent[] = [{ type: 'stop', reason: 'refusal' }];
    const events = encode(refused);
    expect(lastResponse(events)).toMatchObject({ output: [{ content: [{ type: 'refusal' }] }] });
    expect(lastResponse(events)).toEqual(whole(refused));
    validateResponsesStream(events);
  });

  it('says that arguments were cut', () => {
    const events = encode([
      { type: 'tool', key: 0, id: 'call_1', name: 'Read' },
      { type: 'tool-input', key: 0, json: '{"file":"/t' },
      { type: 'stop', reason: 'max_tokens' },
    ]);
    expect(lastResponse(events)).toMatchObject({
      output: [{ status: 'incomplete', arguments: '{"file":"/t' }],
    });
    validateResponsesStream(events);
  });

  it('has no thinking that the client could not send back', () => {
    const redacted: ModelEvent[] = [{ type: 'block', block: { type: 'redacted_thinking', data: 'x' } }, STOP];
    expect(lastResponse(encode(redacted))).toMatchObject({ output: [{ type: 'message' }] });
  });
});

describe('failures', () => {
  const overflow = new GatewayError('context_overflow', 'prompt is too long');

  it('after the beginning end in an error and response.failed, with what was said as incomplete', () => {
    const events = encode([
      { type: 'text', text: 'Hi' },
      { type: 'error', error: overflow },
    ]);
    const said = { type: 'message', status: 'incomplete', content: [{ text: 'Hi' }] };
    expect(valuesOf(events).slice(-3)).toMatchObject([
      { type: 'response.output_item.done', item: said },
      { type: 'error', code: 'context_length_exceeded', error: { message: 'prompt is too long' } },
      {
        type: 'response.failed',
        response: {
          status: 'failed',
          error: { code: 'context_length_exceeded', message: 'prompt is too long' },
          output: [said],
        },
      },
    ]);
    validateResponsesStream(events, { error: 'expected' });
  });

  it('leave what was finished before them completed', () => {
    const events = encode([
      { type: 'text', text: 'Hi' },
      { type: 'break' },
      { type: 'text', text: 'Ho' },
      { type: 'error', error: overflow },
    ]);
    expect(lastResponse(events)).toMatchObject({
      output: [{ status: 'completed' }, { status: 'incomplete' }],
    });
  });

  it.each([
    [
      'a function',
      { name: 'Read', json: '{"file":"/tm' },
      { type: 'function_call', arguments: '{"file":"/tm' },
    ],
    [
      'free text',
      { name: 'patch', json: '{"input":"*** Begin' },
      { type: 'custom_tool_call', input: '*** Begin' },
    ],
  ])(
    'never give half a call of %s out as done: clients run it then, whatever its status',
    (_kind, call, item) => {
      const custom = { type: 'custom', name: 'patch' };
      const events = encode(
        [
          { type: 'tool', key: 0, id: 'call_1', name: call.name },
          { type: 'tool-input', key: 0, json: call.json },
          { type: 'error', error: overflow },
        ],
        { tools: [custom] },
      );
      expect(valuesOf(events).filter(({ type }) => String(type).endsWith('.done'))).toEqual([]);
      expect(lastResponse(events)).toMatchObject({ output: [{ ...item, status: 'incomplete' }] });
      validateResponsesStream(events, { error: 'expected' });
    },
  );

  it('behind bytes of the upstream are an event that every client throws for', () => {
    const encoder = createStreamEncoder(requestOf({}), CONTEXT);
    const [event] = parseSseText(encoder.encode([{ type: 'error', error: overflow }])).events;
    expect(event?.event).toBe('error');
    expect(JSON.parse(event?.data ?? '')).toEqual({
      type: 'error',
      code: 'context_length_exceeded',
      message: 'prompt is too long',
      param: null,
      sequence_number: 0,
      error: {
        type: 'invalid_request_error',
        code: 'context_length_exceeded',
        message: 'prompt is too long',
        param: null,
      },
    });
  });
});

describe('any upstream stream', () => {
  it.each(streamFixtures(import.meta.url))('$name is one that clients accept', ({ events }) => {
    const decoder = createStreamDecoder(new ToolNames({ pattern: /^/, maxLength: 64 }));
    const turn: ModelEvent[] = [];
    for (const event of events) decoder.push(event, turn);
    decoder.end(turn);
    const out = encode(turn, ENCRYPTED);
    validateResponsesStream(out, { error: 'allowed' });
    let snapshot: Parameters<typeof accumulateResponse>[1];
    for (const { data } of out) snapshot = accumulateResponse(JSON.parse(data), snapshot);
    const { output_text: _text, ...final } = snapshot ?? {};
    expect(JSON.parse(JSON.stringify(final))).toEqual(lastResponse(out));
  });
});
