import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { streamFixtures } from '../../../test/support/dialect-fixtures.js';
import { AnswerCollector } from '../../core/answer-collector.js';
import type { AnswerEvent, ModelEvent } from '../../core/events.js';
import { StreamLifecycle } from '../../core/lifecycle.js';
import type { ServerSentEvent } from '../../core/server-sent-event.js';
import { ToolNames } from '../shared/tool-names.js';
import { decodeResponse } from './decode-response.js';
import { createStreamDecoder } from './decode-stream.js';
import { nameLimits } from './wire.js';

const names = (): ToolNames => new ToolNames(nameLimits(64));

function decode(events: readonly ServerSentEvent[]): ModelEvent[] {
  const decoder = createStreamDecoder(names());
  const out: ModelEvent[] = [];
  for (const event of events) decoder.push(event, out);
  decoder.end(out);
  return out;
}

const data = (value: unknown, event = ''): ServerSentEvent => ({
  event,
  data: typeof value === 'string' ? value : JSON.stringify(value),
});

function asJson(events: readonly ModelEvent[]): unknown {
  return events.map((event) =>
    event.type === 'error'
      ? { type: 'error', code: event.error.code, message: event.error.message }
      : JSON.parse(JSON.stringify(event)),
  );
}

function throughLifecycle(events: readonly ModelEvent[]): AnswerEvent[] {
  const lifecycle = new StreamLifecycle({ id: 'resp_test', model: 'm' });
  return [...lifecycle.push(events), ...lifecycle.end()];
}

const fixtures = streamFixtures(import.meta.url);

describe('streams', () => {
  it.each(fixtures)('$name', ({ events, expected }) => {
    expect(asJson(decode(events))).toEqual(expected);
  });

  /** The last event of a stream is the whole answer; where it is complete, both say the same. */
  const complete = fixtures.filter(({ name }) =>
    ['text', 'thinking-text-and-call', 'parallel-calls-interleaved', 'custom-call', 'refusal'].includes(name),
  );
  it.each(complete)('$name is the same message as the whole answer', ({ events }) => {
    const collect = (turn: readonly ModelEvent[]) => {
      const collector = new AnswerCollector();
      collector.push(throughLifecycle(turn));
      return collector.finish();
    };
    const last: unknown = JSON.parse(events.at(-1)?.data ?? '');
    const whole = typeof last === 'object' && last !== null && 'response' in last ? last.response : undefined;
    expect(collect(decode(events))).toEqual(collect(decodeResponse(whole, names())));
  });
});

describe('the end', () => {
  it.each(['response.completed', 'response.incomplete', 'response.failed', 'error'])(
    'is known from %s',
    (type) => {
      const decoder = createStreamDecoder(names());
      const out: ModelEvent[] = [];
      decoder.push(data({ type: 'response.created', response: {} }), out);
      expect(decoder.done).toBe(false);
      decoder.push(data({ type, message: 'no', response: { output: [], error: null } }), out);
      expect(decoder.done).toBe(true);
    },
  );

  it('comes once, however often the connection says so', () => {
    const decoder = createStreamDecoder(names());
    const out: ModelEvent[] = [];
    decoder.end(out);
    decoder.end(out);
    decoder.push(data({ type: 'response.output_text.delta', delta: 'late' }), out);
    expect(out).toMatchObject([{ type: 'error', error: { retryable: true } }]);
  });

  it('takes the type from the name of the event where the data has none', () => {
    const events = [data({ delta: 'Hi' }, 'response.output_text.delta'), data({}, 'response.completed')];
    expect(decode(events).map(({ type }) => type)).toEqual(['text', 'stop']);
  });

  it('leaves a call that the limit cut as it is', () => {
    const { events } = fixtures.find(({ name }) => name === 'call-cut-by-the-limit') ?? { events: [] };
    const strict = throughLifecycle(decode(events));
    expect(strict.filter(({ type }) => type === 'block-delta')).toMatchObject([
      { delta: { type: 'input', json: '{"file_path":"/t' } },
    ]);
    expect(strict.at(-2)).toMatchObject({ type: 'message-delta', stopReason: 'max_tokens' });
  });
});

describe('names', () => {
  it('come back as the client knows them', () => {
    const own = names();
    const long = 'x'.repeat(80);
    const wire = own.offer(long);
    const decoder = createStreamDecoder(own);
    const out: ModelEvent[] = [];
    const item = { type: 'function_call', call_id: 'c', name: wire, arguments: '{}' };
    decoder.push(data({ type: 'response.output_item.done', output_index: 0, item }), out);
    expect(out[0]).toMatchObject({ type: 'tool', name: long });
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
  const anyType = fc.constantFrom(...new Set(pieces.map(({ event }) => event)));
  const anything = fc
    .tuple(anyType, fc.jsonValue({ maxDepth: 3 }), fc.jsonValue({ maxDepth: 3 }))
    .map(([type, item, response]) => data({ type, item, response, delta: item, output_index: 0 }, type));

  it('never throws, and never makes an invalid stream', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constantFrom(...pieces), corrupted, anything), { maxLength: 30 }),
        (events) => {
          const strict = throughLifecycle(decode(events));
          expect(strict[0]?.type).toBe('message-start');
          expect(['message-stop', 'error']).toContain(strict.at(-1)?.type);
          let open: number | undefined;
          let next = 0;
          for (const event of strict) {
            if (event.type === 'block-start') {
              expect(open).toBeUndefined();
              expect(event.index).toBe(next);
              open = event.index;
            } else if (event.type === 'block-delta') expect(event.index).toBe(open);
            else if (event.type === 'block-stop') {
              expect(event.index).toBe(open);
              open = undefined;
              next += 1;
            }
          }
          expect(open).toBeUndefined();
        },
      ),
      { numRuns: 300 },
    );
  });
});
