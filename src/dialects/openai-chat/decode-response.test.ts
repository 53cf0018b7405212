import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerCollector } from '../../core/answer-collector.js';
import type { AssistantMessage, JsonObject } from '../../core/conversation.js';
import type { ModelEvent } from '../../core/events.js';
import { StreamLifecycle } from '../../core/lifecycle.js';
import { ToolNames } from '../shared/tool-names.js';
import { decodeResponse } from './decode-response.js';
import { createStreamDecoder } from './decode-stream.js';
import { nameLimits } from './wire.js';

function names(): ToolNames {
  const made = new ToolNames(nameLimits(64));
  made.offer('Read');
  made.offer('my tool');
  return made;
}

function collect(events: readonly ModelEvent[]): AssistantMessage {
  const lifecycle = new StreamLifecycle({ id: 'x', model: 'm' });
  const collector = new AnswerCollector();
  collector.push(lifecycle.push(events));
  collector.push(lifecycle.end());
  return collector.finish();
}

const completion = (message: unknown, finish_reason = 'stop', rest: JsonObject = {}): JsonObject => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message, finish_reason, logprobs: null }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  ...rest,
});

describe('decodeResponse', () => {
  it('reads text, reasoning, calls and usage', () => {
    const wireName = names().encode('my tool');
    const turn = collect(
      decodeResponse(
        completion(
          {
            role: 'assistant',
            content: 'Hi',
            refusal: null,
            reasoning_content: 'hm',
            tool_calls: [
              { id: 'a', type: 'function', function: { name: 'Read', arguments: '{"z":1,"a":2}' } },
              { id: 'b', type: 'function', function: { name: wireName, arguments: '' } },
            ],
          },
          'tool_calls',
        ),
        names(),
      ),
    );
    expect(turn.content).toEqual([
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'Hi' },
      { type: 'tool_use', id: 'a', name: 'Read', input: { z: 1, a: 2 } },
      { type: 'tool_use', id: 'b', name: 'my tool', input: {} },
    ]);
    expect(turn).toMatchObject({ stopReason: 'tool_use', usage: { inputTokens: 10, outputTokens: 5 } });
  });

  it('an empty answer is one empty text', () => {
    expect(
      collect(decodeResponse(completion({ role: 'assistant', content: null }), names())).content,
    ).toEqual([{ type: 'text', text: '' }]);
  });

  it.each<[string, unknown, string]>([
    ['an error in a 200', { error: { message: 'no', code: 429 } }, 'rate_limited'],
    ['an error string', { error: 'no' }, 'upstream_failed'],
    ['no choices', completion({}, 'stop', { choices: [] }), 'upstream_failed'],
    ['a page', '<html><title>Login</title></html>', 'upstream_failed'],
    ['nothing', null, 'upstream_failed'],
    [
      'a list of errors',
      [{ error: { code: 400, message: 'no', status: 'INVALID_ARGUMENT' } }],
      'invalid_request',
    ],
  ])('%s is an error and nothing more', (_name, body, code) => {
    const events = decodeResponse(body, names());
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { code } });
    expect(events.filter(({ type }) => type === 'error' || type === 'stop')).toHaveLength(1);
  });
});

describe('text in one choice and calls in another', () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'Read', arguments: '{"path":"a"}' } };
  const other = { ...call, id: 'call_2' };
  const one = [
    { type: 'text', text: 'I look.' },
    { type: 'tool_use', id: 'call_1', input: { path: 'a' } },
  ];

  it.each([
    ['numbered', { index: 0 }, { index: 1 }],
    ['both the first', { index: 0 }, { index: 0 }],
    ['without numbers, as Copilot sends them', {}, {}],
  ])('are one answer: %s', (_how, first, second) => {
    const choices = [
      { ...first, message: { role: 'assistant', content: 'I look.' }, finish_reason: 'tool_calls' },
      { ...second, message: { role: 'assistant', tool_calls: [call] }, finish_reason: 'tool_calls' },
    ];
    const turn = collect(decodeResponse(completion(null, 'stop', { choices }), names()));
    expect(turn).toMatchObject({ stopReason: 'tool_use', content: one });
  });

  it.each(['stop', 'tool_calls'])('are one answer, streamed, when the text ends with %s', (finish_reason) => {
    const chunks = [
      [{ index: 0, delta: { role: 'assistant', content: 'I ' } }],
      [{ index: 0, delta: { content: 'look.' }, finish_reason }],
      [
        {
          index: 1,
          delta: { tool_calls: [{ index: 0, ...call, function: { name: 'Read', arguments: '{"path"' } }] },
        },
      ],
      [{ index: 1, delta: { tool_calls: [{ index: 0, function: { arguments: ':"a"}' } }] } }],
      [{ index: 1, delta: {}, finish_reason: 'tool_calls' }],
    ];
    const decoder = createStreamDecoder(names());
    const out: ModelEvent[] = [];
    for (const choices of chunks)
      decoder.push({ event: '', data: JSON.stringify({ id: 'x', choices }) }, out);
    decoder.push({ event: '', data: '[DONE]' }, out);
    expect(collect(out)).toMatchObject({ stopReason: 'tool_use', content: one });
  });

  it('are two answers where both call, of which the first counts; a second text is none of it', () => {
    const choices = [
      { index: 0, message: { content: 'I look.', tool_calls: [call] }, finish_reason: 'tool_calls' },
      { index: 1, message: { content: 'Me too.', tool_calls: [other] }, finish_reason: 'tool_calls' },
    ];
    const turn = collect(decodeResponse(completion(null, 'stop', { choices }), names()));
    expect(turn.content).toMatchObject(one);
    expect(turn.content).toHaveLength(2);
  });
});

describe('the streamed and the whole answer', () => {
  const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
  const call = fc.record({
    id: fc.stringMatching(/^[a-z]{8}$/),
    name: fc.constantFrom('Read', 'Write'),
    input: fc.dictionary(word, fc.jsonValue(), { maxKeys: 3 }),
  });
  const message = fc.record({
    thinking: fc.array(word, { maxLength: 3 }),
    text: fc.array(word, { maxLength: 4 }),
    calls: fc.uniqueArray(call, { maxLength: 3, selector: ({ id }) => id }),
    cuts: fc.infiniteStream(fc.integer({ min: 1, max: 5 })),
    field: fc.constantFrom('reasoning_content', 'reasoning'),
  });

  it('are the same message', () => {
    fc.assert(
      fc.property(message, ({ thinking, text, calls, cuts, field }) => {
        const finish = calls.length > 0 ? 'tool_calls' : 'stop';
        const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
        const whole = completion(
          {
            role: 'assistant',
            content: text.join('') || null,
            [field]: thinking.join('') || null,
            tool_calls: calls.map(({ id, name, input }) => ({
              id,
              type: 'function',
              function: { name, arguments: JSON.stringify(input) },
            })),
          },
          finish,
        );
        const deltas: unknown[] = [
          { role: 'assistant', content: '' },
          ...thinking.map((piece) => ({ [field]: piece })),
          ...text.map((piece) => ({ content: piece })),
        ];
        for (const [index, { id, name, input }] of calls.entries()) {
          deltas.push({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] });
          let json = JSON.stringify(input);
          while (json !== '') {
            const { value: length } = cuts.next();
            deltas.push({ tool_calls: [{ index, function: { arguments: json.slice(0, length) } }] });
            json = json.slice(length);
          }
        }
        const decoder = createStreamDecoder(names());
        const out: ModelEvent[] = [];
        const push = (chunk: unknown) => decoder.push({ event: '', data: JSON.stringify(chunk) }, out);
        for (const delta of deltas)
          push({ id: 'chatcmpl-1', choices: [{ index: 0, delta, finish_reason: null }] });
        push({ id: 'chatcmpl-1', choices: [{ index: 0, delta: {}, finish_reason: finish }] });
        push({ id: 'chatcmpl-1', choices: [], usage });
        decoder.push({ event: '', data: '[DONE]' }, out);
        expect(collect(out)).toEqual(collect(decodeResponse(whole, names())));
      }),
      { numRuns: 500 },
    );
  });
});
