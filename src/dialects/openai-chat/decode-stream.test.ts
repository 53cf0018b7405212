import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { streamFixtures } from '../../../test/support/dialect-fixtures.js';
import type { AnswerEvent, ModelEvent } from '../../core/events.js';
import { StreamLifecycle } from '../../core/lifecycle.js';
import type { ServerSentEvent } from '../../core/server-sent-event.js';
import { ToolNames } from '../shared/tool-names.js';
import { createStreamDecoder } from './decode-stream.js';
import { nameLimits } from './wire.js';

const OFFERED = ['Bash', 'Read', 'ReadFile', 'Now', 'calculate', 'patch'];

function names(textCalls = false): ToolNames {
  const made = new ToolNames(nameLimits(64));
  for (const name of OFFERED) made.offer(name);
  made.textCalls = textCalls;
  return made;
}

function decode(events: readonly ServerSentEvent[], textCalls = false): ModelEvent[] {
  const decoder = createStreamDecoder(names(textCalls));
  const out: ModelEvent[] = [];
  for (const event of events) decoder.push(event, out);
  decoder.end(out);
  return out;
}

const data = (value: unknown): ServerSentEvent => ({
  event: '',
  data: typeof value === 'string' ? value : JSON.stringify(value),
});

function asJson(events: readonly ModelEvent[]): unknown {
  return events.map((event) =>
    event.type === 'error'
      ? { type: 'error', code: event.error.code, message: event.error.message }
      : JSON.parse(JSON.stringify(event)),
  );
}

const fixtures = streamFixtures(import.meta.url);

describe('captured streams', () => {
  it.each(fixtures)('$name', ({ name, events, expected }) => {
    expect(asJson(decode(events, name.startsWith('text-tool-call')))).toEqual(expected);
  });

  it.each(fixtures)('$name becomes a valid stream', ({ events }) => {
    checkStream(throughLifecycle(decode(events)));
  });
});

describe('the end', () => {
  it('is known from [DONE], with white space around it', () => {
    for (const done of ['[DONE]', '[DONE] ', ' [DONE]']) {
      const decoder = createStreamDecoder(names());
      const out: ModelEvent[] = [];
      decoder.push(data({ choices: [{ delta: { content: 'a' } }] }), out);
      expect(decoder.done).toBe(false);
      decoder.push(data(done), out);
      expect(decoder.done).toBe(true);
      expect(out.at(-1)).toEqual({ type: 'stop', reason: 'end_turn' });
    }
  });

  it('without a reason and without [DONE] is a failure that may be retried', () => {
    const error = decode([data({ choices: [{ delta: { content: 'a' } }] })]).at(-1);
    expect(error).toMatchObject({ type: 'error', error: { code: 'upstream_failed', retryable: true } });
  });

  it('comes once, however often the connection says so', () => {
    const decoder = createStreamDecoder(names());
    const out: ModelEvent[] = [];
    decoder.end(out);
    decoder.end(out);
    decoder.push(data({ choices: [{ delta: { content: 'late' } }] }), out);
    expect(out).toHaveLength(1);
  });

  it('an empty event is nothing', () => {
    const events = [data(''), data('  '), data({ choices: [{ delta: {}, finish_reason: 'stop' }] })];
    expect(decode(events).map(({ type }) => type)).toEqual(['start', 'stop']);
  });
});

describe('a hostile upstream', () => {
  const pieces = fixtures.flatMap(({ events }) => events);
  const corrupted = fc
    .tuple(fc.constantFrom(...pieces), fc.nat(), fc.string({ maxLength: 3 }))
    .map(([{ event, data: text }, at, junk]): ServerSentEvent => {
      const cut = at % (text.length + 1);
      return { event, data: text.slice(0, cut) + junk + text.slice(cut) };
    });
  const scalar = fc.constantFrom<unknown>(null, '', 'x', '<think>', '{', 0, 1, -1, true, false);
  const wrong = fc.oneof(
    scalar,
    fc.array(scalar, { maxLength: 2 }),
    fc
      .tuple(fc.constantFrom('index', 'id', 'type', 'function', 'name', 'arguments', 'text'), scalar, scalar)
      .map(([key, value, name]) => ({ [key]: value, function: { name, arguments: value } })),
  );
  const FIELDS = [
    'content',
    'tool_calls',
    'reasoning',
    'reasoning_details',
    'refusal',
    'audio',
    'function_call',
  ];
  const wrongTypes = fc
    .tuple(fc.constantFrom(...FIELDS), wrong, fc.boolean(), wrong, wrong)
    .map(([field, value, listed, index, other]) =>
      data({
        id: other,
        choices: [
          {
            index,
            delta: { [field]: listed ? [value, other] : value },
            finish_reason: other,
            logprobs: value,
          },
        ],
        usage: value,
        error: index === true ? value : null,
      }),
    );

  it('does not make it throw with values nested deeper than the stack', () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const call = `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"Bash","arguments":${deep}}}]}}]}`;
    for (const chunk of [call, `{"error":{"x":${deep}}}`, `{"choices":${deep}}`, `{"usage":${deep}}`, deep]) {
      expect(decode([data(chunk)]).at(-1)?.type).toBe('error');
    }
  });

  it('never makes it throw, nor the client stream invalid', () => {
    const anyEvent = fc.oneof(fc.constantFrom(...pieces), corrupted, wrongTypes);
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 12 }), fc.boolean(), (events, textCalls) => {
        checkStream(throughLifecycle(decode(events, textCalls)));
      }),
      { numRuns: 1_500 },
    );
  });
});

function throughLifecycle(events: readonly ModelEvent[]): AnswerEvent[] {
  const lifecycle = new StreamLifecycle({ id: 'x', model: 'm' });
  return [...lifecycle.push(events), ...lifecycle.end()];
}

function checkStream(events: readonly AnswerEvent[]): void {
  expect(events[0]?.type).toBe('message-start');
  expect(['message-stop', 'error']).toContain(events.at(-1)?.type);
  let open: number | undefined;
  let next = 0;
  for (const event of events) {
    if (event.type === 'block-start') {
      expect([open, event.index]).toEqual([undefined, next]);
      open = event.index;
      if (event.block.type === 'tool_use') expect([event.block.id, event.block.name]).not.toContain('');
    } else if (event.type === 'block-delta') expect(event.index).toBe(open);
    else if (event.type === 'block-stop') {
      expect(event.index).toBe(open);
      open = undefined;
      next += 1;
    }
  }
}
