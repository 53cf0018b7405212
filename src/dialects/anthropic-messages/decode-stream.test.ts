import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadEvents } from '../../../test/support/dialect-fixtures.js';
import { AnswerCollector } from '../../core/answer-collector.js';
import type { AssistantMessage } from '../../core/conversation.js';
import type { ModelEvent } from '../../core/events.js';
import { StreamLifecycle } from '../../core/lifecycle.js';
import type { ServerSentEvent } from '../../core/server-sent-event.js';
import { ToolNames } from '../shared/tool-names.js';
import { createStreamDecoder } from './decode-stream.js';
import { TOOL_NAME_LIMITS } from './wire.js';

const names = new ToolNames(TOOL_NAME_LIMITS);

const sse = (data: object | string): ServerSentEvent => ({
  event: typeof data === 'object' && 'type' in data ? String(data.type) : '',
  data: typeof data === 'string' ? data : JSON.stringify(data),
});

function decode(events: readonly ServerSentEvent[], end = true): ModelEvent[] {
  const decoder = createStreamDecoder(names);
  const out: ModelEvent[] = [];
  for (const event of events) decoder.push(event, out);
  if (end) decoder.end(out);
  return out;
}

const run = (...events: (object | string)[]): ModelEvent[] => decode(events.map(sse));

/** As a client that asked for no stream gets it. */
function collect(events: readonly ModelEvent[]): AssistantMessage {
  const lifecycle = new StreamLifecycle({ id: 'msg', model: 'm' });
  const collector = new AnswerCollector();
  collector.push(lifecycle.push(events));
  collector.push(lifecycle.end());
  return collector.finish();
}

const start = (index: number, block: object) => ({
  type: 'content_block_start',
  index,
  content_block: block,
});
const delta = (index: number, piece: object) => ({ type: 'content_block_delta', index, delta: piece });
const stop = (index: number) => ({ type: 'content_block_stop', index });
const text = (index: number, value: string) => delta(index, { type: 'text_delta', text: value });
const json = (index: number, value: string) =>
  delta(index, { type: 'input_json_delta', partial_json: value });
const BEGIN = {
  type: 'message_start',
  message: { id: 'msg_1', model: 'm', usage: { input_tokens: 10, output_tokens: 1 } },
};
const finish = (reason: string | null, usage: object = { output_tokens: 5 }) => ({
  type: 'message_delta',
  delta: { stop_reason: reason, stop_sequence: null },
  usage,
});
const END = { type: 'message_stop' };

describe('a stream', () => {
  it('of thinking, text and two calls', () => {
    const events = decode(loadEvents(import.meta.url, 'stream-tools.sse'));
    expect(events.slice(0, 3)).toEqual([
      {
        type: 'start',
        id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
        model: 'claude-opus-5-5',
        usage: { inputTokens: 12, outputTokens: 3, cacheReadTokens: 6789, cacheWriteTokens: 345 },
      },
      { type: 'ping' },
      { type: 'thinking', text: 'Two files' },
    ]);
    expect(collect(events)).toEqual({
      id: 'msg',
      model: 'm',
      content: [
        { type: 'thinking', thinking: 'Two files then.', signature: 'EqQBCkYIBxgCKkA7Q2x+/8Q==' },
        { type: 'text', text: '我读 both "files".' },
        {
          type: 'tool_use',
          id: 'toolu_01A',
          name: 'Read',
          input: { file_path: '/a' },
          extensions: { 'anthropic-messages': { caller: { type: 'direct' } } },
        },
        { type: 'tool_use', id: 'toolu_01B', name: 'List', input: {} },
      ],
      stopReason: 'tool_use',
      usage: {
        inputTokens: 12,
        outputTokens: 89,
        cacheReadTokens: 6789,
        cacheWriteTokens: 345,
        reasoningTokens: 21,
      },
    });
  });

  it('of a search that the provider ran', () => {
    const turn = collect(decode(loadEvents(import.meta.url, 'stream-web-search.sse')));
    expect(turn.content).toEqual([
      { type: 'text', text: "I'll check." },
      {
        type: 'opaque',
        dialect: 'anthropic-messages',
        kind: 'server_tool_use',
        value: {
          type: 'server_tool_use',
          id: 'srvtoolu_014',
          name: 'web_search',
          input: { query: 'weather NYC' },
        },
      },
      expect.objectContaining({ kind: 'web_search_tool_result' }),
      { type: 'text', text: 'Sunny.' },
    ]);
    expect(turn).toMatchObject({ stopReason: 'end_turn', usage: { inputTokens: 10682, outputTokens: 510 } });
  });

  it('of a compaction, whose delta is the last value', () => {
    const events = run(
      BEGIN,
      start(0, { type: 'compaction', content: '', encrypted_content: null }),
      delta(0, { type: 'compaction_delta', content: 'summary', encrypted_content: 'Ev==' }),
      stop(0),
      finish('compaction'),
      END,
    );
    expect(events).toContainEqual({
      type: 'block',
      block: {
        type: 'opaque',
        dialect: 'anthropic-messages',
        kind: 'compaction',
        value: { type: 'compaction', content: 'summary', encrypted_content: 'Ev==' },
      },
    });
    expect(events.at(-1)).toEqual({ type: 'stop', reason: 'compaction' });
  });

  it('passes arguments on as they come', () => {
    const decoder = createStreamDecoder(names);
    const out: ModelEvent[] = [];
    for (const event of [
      BEGIN,
      start(0, { type: 'tool_use', id: 'a', name: 'n', input: {} }),
      json(0, '{"a'),
    ]) {
      decoder.push(sse(event), out);
    }
    expect(out.at(-1)).toEqual({ type: 'tool-input', key: 0, json: '{"a' });
  });

  it('whose call has its whole input at the start', () => {
    const events = run(
      BEGIN,
      start(0, { type: 'tool_use', id: 'a', name: 'n', input: { x: 1 } }),
      stop(0),
      finish('tool_use'),
      END,
    );
    expect(collect(events).content).toEqual([{ type: 'tool_use', id: 'a', name: 'n', input: { x: 1 } }]);
  });

  it('whose call has its input at the start and again in deltas', () => {
    const events = run(
      BEGIN,
      start(0, { type: 'tool_use', id: 'a', name: 'n', input: { x: 1 } }),
      json(0, '{"x":1}'),
      stop(0),
      finish('tool_use'),
      END,
    );
    expect(events.filter(({ type }) => type === 'tool-input')).toHaveLength(1);
  });

  it('whose blocks have their text at the start', () => {
    const events = run(
      BEGIN,
      start(0, { type: 'thinking', thinking: 't', signature: 's' }),
      stop(0),
      start(1, { type: 'redacted_thinking', data: 'd' }),
      stop(1),
      start(2, { type: 'text', text: 'a' }),
      text(2, 'b'),
      stop(2),
      finish('end_turn'),
      END,
    );
    expect(collect(events).content).toEqual([
      { type: 'thinking', thinking: 't', signature: 's' },
      { type: 'redacted_thinking', data: 'd' },
      { type: 'text', text: 'ab' },
    ]);
  });

  it('gives names back as the client knows them', () => {
    const wire = names.encode('my.tool');
    expect(run(BEGIN, start(0, { type: 'tool_use', id: 'a', name: wire }))).toContainEqual({
      type: 'tool',
      key: 0,
      id: 'a',
      name: 'my.tool',
    });
  });

  it('says when its last event has come', () => {
    const decoder = createStreamDecoder(names);
    const out: ModelEvent[] = [];
    decoder.push(sse(BEGIN), out);
    decoder.push(sse(finish('end_turn')), out);
    expect(decoder.done).toBe(false);
    decoder.push(sse(END), out);
    expect(decoder.done).toBe(true);
    const before = out.length;
    decoder.push(sse(text(0, 'late')), out);
    decoder.end(out);
    expect(out).toHaveLength(before);
  });
});

describe('usage', () => {
  const usageOf = (...events: object[]) => collect(run(...events, END)).usage;

  it('of the start and of the end are one', () => {
    expect(usageOf(BEGIN, finish('end_turn'))).toMatchObject({ inputTokens: 10, outputTokens: 5 });
  });

  it('of the end replaces a start that did not know', () => {
    const begin = { type: 'message_start', message: { usage: { input_tokens: 0, output_tokens: 0 } } };
    expect(
      usageOf(begin, finish('end_turn', { input_tokens: 7, output_tokens: 5, cache_read_input_tokens: 2 })),
    ).toMatchObject({
      inputTokens: 7,
      cacheReadTokens: 2,
    });
  });

  it('of a start is not undone by zeros at the end', () => {
    const end = finish('end_turn', { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 5 });
    expect(usageOf(BEGIN, end)).toMatchObject({ inputTokens: 10, outputTokens: 5 });
  });

  it('reads a prompt that came from the cache alone', () => {
    const end = finish('end_turn', { input_tokens: 0, cache_read_input_tokens: 9, output_tokens: 5 });
    expect(usageOf(BEGIN, end)).toMatchObject({ inputTokens: 0, cacheReadTokens: 9 });
  });
});

describe('a stream that is not as it should be', () => {
  const content = (...events: (object | string)[]) => collect(run(...events)).content;

  it.each<[string, (object | string)[]]>([
    ['no message_start', [start(0, { type: 'text' }), text(0, 'a'), stop(0), finish('end_turn'), END]],
    [
      'two message_starts',
      [BEGIN, BEGIN, start(0, { type: 'text' }), text(0, 'a'), stop(0), finish('end_turn'), END],
    ],
    ['no content_block_start', [BEGIN, text(0, 'a'), stop(0), finish('end_turn'), END]],
    ['no content_block_stop', [BEGIN, start(0, { type: 'text' }), text(0, 'a'), finish('end_turn'), END]],
    ['no message_stop', [BEGIN, start(0, { type: 'text' }), text(0, 'a'), stop(0), finish('end_turn')]],
    ['no stop_reason', [BEGIN, start(0, { type: 'text' }), text(0, 'a'), stop(0), finish(null), END]],
    ['no message_delta', [BEGIN, start(0, { type: 'text' }), text(0, 'a'), stop(0), END]],
    ['two message_deltas', [BEGIN, text(0, 'a'), finish('end_turn'), finish('max_tokens'), END]],
    ['[DONE] at the end', [BEGIN, text(0, 'a'), finish('end_turn'), '[DONE]', text(0, 'late')]],
    [
      'events of the future',
      [BEGIN, { type: 'weather', sunny: true }, text(0, 'a'), finish('end_turn'), END],
    ],
    [
      'deltas of the future',
      [BEGIN, delta(0, { type: 'mood_delta', mood: 'x' }), text(0, 'a'), finish('end_turn'), END],
    ],
    [
      'things that are no events',
      [BEGIN, '5', 'null', '[]', '""', '', text(0, 'a'), finish('end_turn'), END],
    ],
    [
      'fields of wrong types',
      [
        BEGIN,
        delta(0, { type: 'text_delta', text: 5 }),
        { type: 'content_block_delta' },
        { type: 'content_block_start' },
        text(0, 'a'),
        finish('end_turn'),
        END,
      ],
    ],
    [
      'no index',
      [
        BEGIN,
        { type: 'content_block_start', content_block: { type: 'text' } },
        { type: 'content_block_delta', delta: { type: 'text_delta', text: 'a' } },
        finish('end_turn'),
        END,
      ],
    ],
  ])('%s: the answer is whole', (_name, events) => {
    expect(content(...events)).toEqual([{ type: 'text', text: 'a' }]);
  });

  it('that stops twice stops once', () => {
    const out = run(BEGIN, text(0, 'a'), finish('end_turn'), finish('max_tokens', { output_tokens: 8 }), END);
    expect(out.filter(({ type }) => type === 'stop')).toEqual([{ type: 'stop', reason: 'end_turn' }]);
    expect(collect(out).usage.outputTokens).toBe(8);
  });

  it('without the starts of its texts keeps them apart', () => {
    expect(content(BEGIN, text(0, 'a'), stop(0), text(1, 'b'), stop(1), finish('end_turn'), END)).toEqual([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]);
  });

  it('with an index used twice has two calls', () => {
    const call = (id: string) => start(0, { type: 'tool_use', id, name: 'n', input: {} });
    expect(
      content(
        BEGIN,
        call('a'),
        json(0, '{"x":1}'),
        call('b'),
        json(0, '{"x":2}'),
        stop(0),
        finish('tool_use'),
        END,
      ),
    ).toEqual([
      { type: 'tool_use', id: 'a', name: 'n', input: { x: 1 } },
      { type: 'tool_use', id: 'b', name: 'n', input: { x: 2 } },
    ]);
  });

  it('passes on a server tool whose input is broken', () => {
    const block = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
    expect(content(BEGIN, start(0, block), json(0, '{"q'), stop(0), finish('end_turn'), END)).toEqual([
      { type: 'opaque', dialect: 'anthropic-messages', kind: 'server_tool_use', value: block },
    ]);
  });

  it('reads the event name where the data has no type', () => {
    expect(decode([{ event: 'ping', data: '{}' }], false)).toEqual([{ type: 'ping' }]);
  });

  it.each<[string, (object | string)[], object]>([
    [
      'ends early',
      [BEGIN, start(0, { type: 'text' }), text(0, 'a')],
      {
        code: 'upstream_failed',
        retryable: true,
        message: expect.stringContaining('before the answer was complete'),
      },
    ],
    [
      'ends at once',
      [],
      { code: 'upstream_failed', retryable: true, message: expect.stringContaining('without an answer') },
    ],
    [
      'is cut inside an event',
      [BEGIN, text(0, 'a'), '{"type":"content_bl'],
      { code: 'upstream_failed', retryable: true, message: expect.stringContaining('not JSON') },
    ],
    [
      'fails',
      [BEGIN, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
      { code: 'overloaded', message: 'Overloaded', retryable: true },
    ],
    [
      'fails as another wire does',
      [BEGIN, '{"error":{"message":"boom"}}'],
      { code: 'upstream_failed', message: 'boom' },
    ],
    [
      'overflows',
      [{ type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 5 > 4' } }],
      { code: 'context_overflow' },
    ],
    ['has arguments without a call', [BEGIN, json(3, '{"a":1}')], { code: 'upstream_failed' }],
  ])('that %s ends in an error', (_name, events, error) => {
    const out = run(...events);
    expect(out.at(-1)).toMatchObject({ type: 'error', error });
    expect(out.filter(({ type }) => type === 'error')).toHaveLength(1);
  });

  it('says nothing after an error', () => {
    const out = run(
      BEGIN,
      { type: 'error', error: { type: 'api_error', message: 'x' } },
      text(0, 'a'),
      finish('end_turn'),
      END,
    );
    expect(out.map(({ type }) => type)).toEqual(['start', 'error']);
  });
});

it('never throws, whatever comes', () => {
  const scraps = fc.oneof(
    fc.string(),
    fc.json(),
    fc.constantFrom(...loadEvents(import.meta.url, 'stream-tools.sse').map(({ data }) => data)),
    fc
      .record({
        type: fc.constantFrom(
          'content_block_start',
          'content_block_delta',
          'content_block_stop',
          'message_delta',
          'error',
        ),
        index: fc.anything(),
        content_block: fc.oneof(
          fc.anything(),
          fc.record({
            type: fc.constantFrom('text', 'tool_use', 'x'),
            id: fc.anything(),
            input: fc.anything(),
          }),
        ),
        delta: fc.oneof(
          fc.anything(),
          fc.record({
            type: fc.constantFrom('text_delta', 'input_json_delta', 'signature_delta'),
            text: fc.anything(),
            partial_json: fc.anything(),
          }),
        ),
        usage: fc.anything(),
        error: fc.anything(),
      })
      .map(
        (value) =>
          JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? String(each) : each)) ?? '',
      ),
  );
  fc.assert(
    fc.property(
      fc.array(fc.record({ event: fc.constantFrom('', 'ping', 'error', 'message_stop'), data: scraps }), {
        maxLength: 30,
      }),
      (events) => {
        const lifecycle = new StreamLifecycle({ id: 'msg', model: 'm' });
        const out = [...lifecycle.push(decode(events)), ...lifecycle.end()];
        expect(['message-stop', 'error']).toContain(out.at(-1)?.type);
      },
    ),
    { numRuns: 2000 },
  );
});
