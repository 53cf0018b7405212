import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerCollector } from './answer-collector.js';
import { GatewayError } from './errors.js';
import type { AnswerEvent, ModelEvent } from './events.js';
import { type LifecycleOptions, StreamLifecycle } from './lifecycle.js';

const STOP: ModelEvent = { type: 'stop', reason: 'end_turn' };
const text = (value: string): ModelEvent => ({ type: 'text', text: value });
const thinking = (value: string): ModelEvent => ({ type: 'thinking', text: value });
const tool = (key: number, id?: string, name?: string): ModelEvent => ({
  type: 'tool',
  key,
  ...(id === undefined ? {} : { id }),
  ...(name === undefined ? {} : { name }),
});
const input = (key: number, json: string): ModelEvent => ({ type: 'tool-input', key, json });

function run(events: ModelEvent[], options: Partial<LifecycleOptions> = {}) {
  const lifecycle = new StreamLifecycle({ id: 'msg_1', model: 'm', ...options });
  const out = [...lifecycle.push(events), ...lifecycle.end()];
  return { out, repairs: Object.fromEntries(lifecycle.repairs), lifecycle };
}

/** A stream as one short line: what a reader of the test wants to compare. */
function sketch(events: readonly AnswerEvent[]): string {
  return events
    .map((event) => {
      switch (event.type) {
        case 'message-start':
          return 'start';
        case 'block-start':
          return event.block.type === 'tool_use'
            ? `${event.index}<tool ${event.block.id} ${event.block.name}`
            : `${event.index}<${event.block.type}`;
        case 'block-delta': {
          const { delta } = event;
          return delta.type === 'input'
            ? delta.json
            : delta.type === 'signature'
              ? `#${delta.signature}`
              : delta.text;
        }
        case 'block-stop':
          return `${event.index}>`;
        case 'message-delta':
          return event.stopSequence === undefined
            ? event.stopReason
            : `${event.stopReason}=${event.stopSequence}`;
        case 'message-stop':
          return 'end';
        default:
          return event.type;
      }
    })
    .join(' ');
}

interface Case {
  name: string;
  events: ModelEvent[];
  stream: string;
  repairs?: Record<string, number>;
  options?: Partial<LifecycleOptions>;
}

const cases: Case[] = [
  { name: 'text', events: [text('a'), text('b'), STOP], stream: 'start 0<text a b 0> end_turn end' },
  {
    name: 'empty deltas open nothing',
    events: [thinking(''), text(''), text('a'), STOP],
    stream: 'start 0<text a 0> end_turn end',
  },
  {
    name: 'an empty answer has one empty text',
    events: [{ type: 'start' }, STOP],
    stream: 'start 0<text 0> end_turn end',
  },
  {
    name: 'a second start',
    events: [{ type: 'start' }, text('a'), { type: 'start' }, STOP],
    stream: 'start 0<text a 0> end_turn end',
    repairs: { 'second-start': 1 },
  },
  {
    name: 'thinking, text, thinking again',
    events: [thinking('t'), text('a'), thinking('u'), { type: 'signature', signature: 's' }, STOP],
    stream: 'start 0<thinking t 0> 1<text a 1> 2<thinking u #s 2> end_turn end',
  },
  {
    name: 'thinking right before a call',
    events: [thinking('t'), tool(0, 'c', 'Read'), input(0, '{}'), STOP],
    stream: 'start 0<thinking t 0> 1<tool c Read {} 1> tool_use end',
    repairs: { 'stop-reason': 1 },
  },
  {
    name: 'a break closes text so that the next piece is a block of its own',
    events: [text('a'), { type: 'break' }, text('b'), STOP],
    stream: 'start 0<text a 0> 1<text b 1> end_turn end',
  },
  {
    name: 'text after a whole call',
    events: [text('a'), tool(0, 'c', 'Read'), input(0, '{"x":'), input(0, '1}'), text('b'), STOP],
    stream: 'start 0<text a 0> 1<tool c Read {"x": 1} 1> 2<text b 2> tool_use end',
    repairs: { 'stop-reason': 1 },
  },
  {
    name: 'text inside a call waits until the call is whole',
    events: [tool(0, 'c', 'Read'), text('b'), input(0, '{"x":'), text('c'), input(0, '1}'), text('d'), STOP],
    stream: 'start 0<tool c Read {"x": 1} 0> 1<text b c d 1> tool_use end',
    repairs: { interleaved: 1, 'stop-reason': 1 },
  },
  {
    name: 'parallel calls one after another',
    events: [
      tool(0, 'a', 'A'),
      input(0, '{}'),
      tool(1, 'b', 'B'),
      input(1, '{}'),
      { type: 'stop', reason: 'tool_use' },
    ],
    stream: 'start 0<tool a A {} 0> 1<tool b B {} 1> tool_use end',
  },
  {
    name: 'parallel calls interleaved',
    events: [
      tool(0, 'a', 'A'),
      tool(1, 'b', 'B'),
      input(0, '{"x":'),
      input(1, '{"y":'),
      input(0, '1}'),
      input(1, '2}'),
      { type: 'stop', reason: 'tool_use' },
    ],
    stream: 'start 0<tool a A {"x": 1} 0> 1<tool b B {"y": 2} 1> tool_use end',
    repairs: { interleaved: 1 },
  },
  {
    name: 'id and name in separate events, name first empty',
    events: [tool(0, 'c', ''), tool(0, undefined, 'Read'), tool(0, 'c', 'Read'), input(0, '{}'), STOP],
    stream: 'start 0<tool c Read {} 0> tool_use end',
    repairs: { 'stop-reason': 1 },
  },
  {
    name: 'no id ever: one is made once',
    events: [
      tool(0, undefined, 'Read'),
      input(0, '{"a'),
      input(0, '":1}'),
      { type: 'stop', reason: 'tool_use' },
    ],
    stream: 'start 0<tool call_msg1_0 Read {"a ":1} 0> tool_use end',
    repairs: { 'missing-id': 1 },
  },
  {
    name: 'no name ever: the call is kept',
    events: [tool(0, 'c'), input(0, '{"a":1}'), { type: 'stop', reason: 'tool_use' }],
    stream: 'start 0<tool c unknown_tool {"a":1} 0> tool_use end',
    repairs: { 'missing-name': 1 },
  },
  {
    name: 'the same id on two calls',
    events: [
      tool(0, '0', 'A'),
      input(0, '{}'),
      tool(1, '0', 'B'),
      input(1, '{}'),
      { type: 'stop', reason: 'tool_use' },
    ],
    stream: 'start 0<tool 0 A {} 0> 1<tool 0-1 B {} 1> tool_use end',
    repairs: { 'duplicate-id': 1 },
  },
  {
    name: 'no arguments',
    events: [tool(0, 'c', 'Now'), { type: 'stop', reason: 'tool_use' }],
    stream: 'start 0<tool c Now {} 0> tool_use end',
  },
  {
    name: 'null arguments',
    events: [tool(0, 'c', 'Now'), input(0, 'null'), { type: 'stop', reason: 'tool_use' }],
    stream: 'start 0<tool c Now {} 0> tool_use end',
    repairs: { 'arguments-not-an-object': 1 },
  },
  {
    name: 'arguments encoded twice',
    events: [
      tool(0, 'c', 'A'),
      input(0, '"{\\"x\\"'),
      input(0, ':1}"'),
      { type: 'stop', reason: 'tool_use' },
    ],
    stream: 'start 0<tool c A {"x":1} 0> tool_use end',
    repairs: { 'arguments-not-an-object': 1 },
  },
  {
    name: 'arguments that are an array are wrapped, not lost',
    events: [tool(0, 'c', 'A'), input(0, '[1]'), { type: 'stop', reason: 'tool_use' }],
    stream: 'start 0<tool c A {"value":[1]} 0> tool_use end',
    repairs: { 'arguments-not-an-object': 1 },
  },
  {
    name: 'arguments sent a second time behind the first',
    events: [
      tool(0, 'c', 'A'),
      input(0, '{"x":"}"}'),
      input(0, '{"x":"}"}'),
      { type: 'stop', reason: 'tool_use' },
    ],
    stream: 'start 0<tool c A {"x":"}"} 0> tool_use end',
    repairs: { 'arguments-trailing': 1 },
  },
  {
    name: 'arguments that end too early are completed',
    events: [tool(0, 'c', 'A'), input(0, '{"x":["a'), { type: 'stop', reason: 'tool_use' }],
    stream: 'start 0<tool c A {"x":["a "]} 0> tool_use end',
    repairs: { 'arguments-completed': 1 },
  },
  {
    name: 'arguments that end too early stay as they are for an agent, which judges them itself',
    events: [tool(0, 'c', 'A'), input(0, '{"x":["a'), { type: 'stop', reason: 'tool_use' }],
    options: { asWritten: true },
    stream: 'start 0<tool c A {"x":["a 0> tool_use end',
  },
  {
    name: 'arguments cut by the token limit stay as they are',
    events: [tool(0, 'c', 'A'), input(0, '{"x":"a'), { type: 'stop', reason: 'max_tokens' }],
    stream: 'start 0<tool c A {"x":"a 0> max_tokens end',
  },
  {
    name: 'arguments cut by the token limit are completed where more follows',
    events: [
      { type: 'stop', reason: 'max_tokens' },
      tool(0, 'c', 'A'),
      input(0, '{"x":"a'),
      tool(1, 'd', 'B'),
      input(1, '{}'),
    ],
    stream: 'start 0<tool c A {"x":"a "} 0> 1<tool d B {} 1> max_tokens end',
    repairs: { 'arguments-completed': 1, interleaved: 1 },
  },
  {
    name: 'arguments that were passed on and are no JSON make an error, not a call',
    events: [tool(0, 'c', 'A'), input(0, '{"x":'), input(0, 'y}'), { type: 'stop', reason: 'tool_use' }],
    stream: 'start 0<tool c A {"x": y} 0> error',
    repairs: { 'arguments-broken': 1 },
  },
  {
    name: 'arguments that nothing completes make an error too, and nothing follows it',
    events: [
      tool(0, 'c', 'A'),
      input(0, '{"x":y'),
      { type: 'tool-end', key: 0 },
      text('a'),
      { type: 'stop', reason: 'tool_use' },
    ],
    stream: 'start 0<tool c A {"x":y 0> error',
    repairs: { 'arguments-broken': 1, 'after-end': 1 },
  },
  {
    name: 'thinking after its signature is another block',
    events: [
      { type: 'thinking', text: 'a' },
      { type: 'signature', signature: 's' },
      { type: 'signature', signature: '' },
      { type: 'thinking', text: 'b' },
      STOP,
    ],
    stream: 'start 0<thinking a #s 0> 1<thinking b 1> end_turn end',
  },
  {
    name: 'tool_use without a call',
    events: [text('a'), { type: 'stop', reason: 'tool_use' }],
    stream: 'start 0<text a 0> end_turn end',
    repairs: { 'stop-reason': 1 },
  },
  {
    name: 'a stop sequence and which one',
    events: [text('a'), { type: 'stop', reason: 'stop_sequence', stopSequence: 'END' }],
    stream: 'start 0<text a 0> stop_sequence=END end',
  },
  {
    name: 'two stops: the one that says more',
    events: [text('a'), STOP, { type: 'stop', reason: 'max_tokens' }, STOP],
    stream: 'start 0<text a 0> max_tokens end',
    repairs: { 'second-stop': 2 },
  },
  {
    name: 'content after the stop still counts',
    events: [text('a'), STOP, text('b')],
    stream: 'start 0<text a b 0> end_turn end',
  },
  {
    name: 'an error closes what is open',
    events: [text('a'), { type: 'error', error: new GatewayError('overloaded', 'x') }, text('b'), STOP],
    stream: 'start 0<text a 0> error',
    repairs: { 'after-end': 1 },
  },
  { name: 'an end without a stop is an error', events: [text('a')], stream: 'start 0<text a 0> error' },
  { name: 'nothing at all is an error', events: [], stream: 'start error' },
  {
    name: 'a whole block between others',
    events: [text('a'), { type: 'block', block: { type: 'redacted_thinking', data: 'z' } }, text('b'), STOP],
    stream: 'start 0<text a 0> 1<redacted_thinking 1> 2<text b 2> end_turn end',
  },
  {
    name: 'an explicit end of a call lets text follow at once',
    events: [
      tool(0, 'c', 'A'),
      { type: 'tool-end', key: 0 },
      text('b'),
      { type: 'stop', reason: 'tool_use' },
    ],
    stream: 'start 0<tool c A {} 0> 1<text b 1> tool_use end',
  },
  {
    name: 'only one call when the client allows only one',
    options: { parallelToolCalls: false },
    events: [
      tool(0, 'a', 'A'),
      input(0, '{}'),
      tool(1, 'b', 'B'),
      text('t'),
      { type: 'stop', reason: 'tool_use' },
    ],
    stream: 'start 0<tool a A {} 0> 1<text t 1> tool_use end',
    repairs: { 'parallel-call-dropped': 1 },
  },
  {
    name: 'a ping starts the answer',
    events: [{ type: 'ping' }, text('a'), STOP],
    stream: 'start ping 0<text a 0> end_turn end',
  },
];

describe('StreamLifecycle', () => {
  it.each(cases)('$name', ({ events, stream, repairs = {}, options = {} }) => {
    const result = run(events, options);
    expect(sketch(result.out)).toBe(stream);
    expect(result.repairs).toEqual(repairs);
  });

  it.each(cases)('$name, one event at a time', ({ events, stream, options = {} }) => {
    const lifecycle = new StreamLifecycle({ id: 'msg_1', model: 'm', ...options });
    const out = events.flatMap((event) => lifecycle.push([event]));
    expect(sketch([...out, ...lifecycle.end()])).toBe(stream);
  });

  it('keeps what the answer could not carry, without a word to the client', () => {
    const { out, lifecycle } = run([text('a'), { type: 'loss', path: 'content', reason: 'r' }, STOP]);
    expect(sketch(out)).toBe('start 0<text a 0> end_turn end');
    expect(lifecycle.losses.list()).toEqual([{ path: 'content', reason: 'r' }]);
  });

  it('passes argument deltas on as they come', () => {
    const lifecycle = new StreamLifecycle({ id: 'i', model: 'm' });
    lifecycle.push([tool(0, 'c', 'A')]);
    expect(sketch(lifecycle.push([input(0, '{"a"')]))).toBe('{"a"');
    expect(sketch(lifecycle.push([input(0, ':1')]))).toBe(':1');
  });

  it('uses the estimate until the upstream counts, then only the upstream', () => {
    const { out } = run(
      [text('a'), { type: 'usage', usage: { inputTokens: 5, cacheReadTokens: 7, outputTokens: 3 } }, STOP],
      { estimate: { inputTokens: 40 } },
    );
    expect(out[0]).toMatchObject({ type: 'message-start', usage: { inputTokens: 40, outputTokens: 0 } });
    expect(out.at(-2)).toMatchObject({
      usage: { inputTokens: 5, cacheReadTokens: 7, cacheWriteTokens: 0, outputTokens: 3 },
    });
  });

  it('counts at least what was said of an answer that breaks off after the first figures', () => {
    const lifecycle = new StreamLifecycle({ id: 'i', model: 'm' });
    lifecycle.push([{ type: 'start', usage: { inputTokens: 5, outputTokens: 1 } }, text('x'.repeat(36))]);
    expect(lifecycle.usage).toMatchObject({ inputTokens: 5, outputTokens: 10 });
  });

  it('estimates output that was never counted', () => {
    const { out } = run([text('x'.repeat(36)), STOP]);
    expect(out.at(-2)).toMatchObject({ usage: { outputTokens: 10 } });
  });

  const key = fc.integer({ min: 0, max: 2 });
  const piece = fc.constantFrom('', '{', '}', '"a":1', '"', '\\', 'null', '[1]', ' ', '{"x":"y"}');
  const anyEvent: fc.Arbitrary<ModelEvent> = fc.oneof(
    fc.record({ type: fc.constant('text' as const), text: fc.string({ maxLength: 3 }) }),
    fc.record({ type: fc.constant('thinking' as const), text: fc.string({ maxLength: 3 }) }),
    fc.record({ type: fc.constant('signature' as const), signature: fc.string({ maxLength: 3 }) }),
    fc.record({
      type: fc.constant('tool' as const),
      key,
      id: fc.constantFrom('', 'a', 'b'),
      name: fc.constantFrom('', 'N'),
    }),
    fc.record({ type: fc.constant('tool-input' as const), key, json: piece }),
    fc.record({ type: fc.constant('tool-end' as const), key }),
    fc.constant<ModelEvent>({ type: 'break' }),
    fc.constant<ModelEvent>({ type: 'ping' }),
    fc.constant<ModelEvent>({ type: 'start' }),
    fc.constant<ModelEvent>({ type: 'usage', usage: { outputTokens: 4 } }),
    fc.constantFrom<ModelEvent>(
      STOP,
      { type: 'stop', reason: 'tool_use' },
      { type: 'stop', reason: 'max_tokens' },
    ),
    fc.constant<ModelEvent>({ type: 'error', error: new GatewayError('overloaded', 'x') }),
  );

  it('makes a valid stream of anything, and the same one however it is cut into batches', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 30 }), fc.integer({ min: 1, max: 5 }), (events, size) => {
        const whole = run(events).out;
        assertValid(whole);
        const lifecycle = new StreamLifecycle({ id: 'msg_1', model: 'm' });
        const parts: AnswerEvent[] = [];
        for (let i = 0; i < events.length; i += size)
          parts.push(...lifecycle.push(events.slice(i, i + size)));
        parts.push(...lifecycle.end());
        expect(sketch(parts)).toBe(sketch(whole));
        const last = whole.at(-1);
        if (last?.type !== 'message-stop') return;
        const collector = new AnswerCollector();
        collector.push(whole);
        const turn = collector.finish();
        expect(turn.stopReason === 'tool_use').toBe(
          turn.content.some((block) => block.type === 'tool_use') && turn.stopReason !== 'max_tokens',
        );
      }),
      { numRuns: 3000 },
    );
  });
});

function assertValid(events: readonly AnswerEvent[]): void {
  let open: number | undefined;
  let next = 0;
  let starts = 0;
  let terminal = 0;
  let inputText: string | undefined;
  let cut = false;
  const inputs: string[] = [];
  for (const event of events) {
    expect(terminal).toBe(0);
    switch (event.type) {
      case 'message-start':
        starts += 1;
        break;
      case 'block-start':
        expect(starts).toBe(1);
        expect(open).toBeUndefined();
        expect(event.index).toBe(next);
        open = event.index;
        inputText = undefined;
        if (event.block.type === 'tool_use') {
          inputText = '';
          expect(event.block.id).not.toBe('');
          expect(event.block.name).not.toBe('');
        }
        break;
      case 'block-delta':
        expect(event.index).toBe(open);
        if (event.delta.type === 'input') inputText = (inputText ?? '') + event.delta.json;
        break;
      case 'block-stop':
        expect(event.index).toBe(open);
        if (inputText !== undefined) inputs.push(inputText);
        open = undefined;
        next += 1;
        break;
      case 'message-delta':
        expect(open).toBeUndefined();
        cut = event.stopReason === 'max_tokens';
        break;
      case 'message-stop':
        terminal += 1;
        break;
      case 'error':
        terminal += 1;
        cut = true;
        break;
    }
  }
  expect(starts).toBe(1);
  expect(terminal).toBe(1);
  // Text such as `{"}` cannot be mended by closing it; everything that can be, is.
  if (!cut)
    for (const json of inputs) expect(json.startsWith('{') || json.trimStart().startsWith('{')).toBe(true);
}

describe('an answer without measure', () => {
  it.each(['{', '{}'])('ends with an error behind too many calls of %s', (json) => {
    const calls = Array.from({ length: 3_000 }, (_, key) => [tool(key, `c${key}`, 'f'), input(key, json)]);
    const { out } = run([...calls.flat(), STOP]);
    expect(out.at(-1)).toMatchObject({ type: 'error', error: { code: 'upstream_failed' } });
  });

  it.each(['{"a":', ''])('takes no arguments that nest too deep to be written again: %s[[[', (before) => {
    const json = `${before}${'['.repeat(100_000)}${']'.repeat(100_000)}${before === '' ? '' : '}'}`;
    const { out, repairs } = run([tool(0, 'a', 'f'), input(0, json), STOP]);
    expect(Object.keys(repairs)).toContain(before === '' ? 'arguments-unparsable' : 'arguments-broken');
    if (before !== '') expect(out.at(-1)?.type).toBe('error');
  });

  it('is not collected', () => {
    const collector = new AnswerCollector();
    collector.push([{ type: 'block-start', index: 0, block: { type: 'text' } }]);
    const delta: AnswerEvent = {
      type: 'block-delta',
      index: 0,
      delta: { type: 'text', text: 'a'.repeat(1024 * 1024) },
    };
    const all = Array.from({ length: 65 }, () => delta);
    expect(() => collector.push(all)).toThrow('too large');
  });
});
