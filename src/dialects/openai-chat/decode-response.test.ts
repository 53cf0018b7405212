import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AssistantTurn, JsonObject } from '../../core/conversation.js';
import type { TurnEvent } from '../../core/events.js';
import { StreamLifecycle } from '../../core/lifecycle.js';
import { TurnCollector } from '../../core/turn-collector.js';
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

function collect(events: readonly TurnEvent[]): AssistantTurn {
  const lifecycle = new StreamLifecycle({ id: 'x', model: 'm' });
  const collector = new TurnCollector();
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
        const out: TurnEvent[] = [];
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
