import { describe, expect, it } from 'vitest';
import { deferred } from '../core/deferred.js';
import { type ExportAnswer, SpanExporter } from './otlp-exporter.js';
import type { EndedSpan } from './otlp-json.js';

const span = (name: string, text = ''): EndedSpan => ({
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  name,
  kind: 'internal',
  startNano: 0n,
  endNano: 0n,
  attributes: new Map([['text', text]]),
  events: [],
  droppedEvents: 0,
  links: [],
});

interface World {
  exporter: SpanExporter;
  /** The names of each batch that was sent. */
  sent: string[][];
  dropped(): number;
  problems: unknown[];
}

function world(
  answer: (batch: number) => ExportAnswer | Promise<ExportAnswer>,
  options: Partial<ConstructorParameters<typeof SpanExporter>[0]> = {},
): World {
  const sent: string[][] = [];
  const problems: unknown[] = [];
  let dropped = 0;
  const exporter = new SpanExporter({
    send: async (spans) => {
      sent.push(spans.map(({ name }) => name));
      return answer(sent.length);
    },
    onDropped: (count) => {
      dropped += count;
    },
    onProblem: (problem) => problems.push(problem),
    queueSpans: 4,
    batchSpans: 2,
    everyMs: 60_000,
    backOffMs: 1,
    ...options,
  });
  return { exporter, sent, dropped: () => dropped, problems };
}

describe('spans for the collector', () => {
  it('go out in batches, and all of them when the gateway stops', async () => {
    const { exporter, sent, dropped } = world(() => ({ status: 200 }));
    for (const name of ['a', 'b', 'c']) exporter.add(span(name));
    await exporter.close(1000);
    expect(sent).toEqual([['a', 'b'], ['c']]);
    expect(dropped()).toBe(0);
  });

  it('are dropped and counted where the queue is full, while the collector takes its time', async () => {
    const taken = deferred();
    const { exporter, sent, dropped } = world(async () => {
      await taken.promise;
      return { status: 200 };
    });
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) exporter.add(span(name));
    expect(dropped()).toBe(2);
    taken.resolve();
    await exporter.close(1000);
    expect(sent.flat()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('are bounded by what is written in them too', async () => {
    const { exporter, dropped } = world(() => ({ status: 200 }), { batchSpans: 100, queueSpans: 100 });
    for (const name of ['a', 'b']) exporter.add(span(name, 'x'.repeat(9 * 1024 * 1024)));
    expect(dropped()).toBe(1);
    await exporter.close(1000);
  });

  it.each([429, 502, 503, 504])('are sent again after %d, and the trouble is said once', async (status) => {
    const again = deferred();
    const { exporter, sent, dropped, problems } = world((batch) => {
      if (batch < 3) return { status };
      again.resolve();
      return { status: 200 };
    });
    for (const name of ['a', 'b']) exporter.add(span(name));
    await again.promise;
    await exporter.close(1000);
    expect(sent).toEqual([
      ['a', 'b'],
      ['a', 'b'],
      ['a', 'b'],
    ]);
    expect(dropped()).toBe(0);
    expect(problems).toHaveLength(1);
  });

  it('are given up after some tries, so that newer ones have room', async () => {
    const over = deferred();
    let lost = 0;
    const { exporter, sent } = world(
      () => {
        throw new Error('away');
      },
      {
        tries: 3,
        onDropped: (count) => {
          lost += count;
          over.resolve();
        },
      },
    );
    for (const name of ['a', 'b']) exporter.add(span(name));
    await over.promise;
    expect([lost, sent.length]).toEqual([2, 3]);
    await exporter.close(0);
  });

  it('are not sent again where the collector does not want them', async () => {
    const { exporter, sent, dropped } = world(() => ({ status: 400 }));
    for (const name of ['a', 'b']) exporter.add(span(name));
    await exporter.close(1000);
    expect(sent).toHaveLength(1);
    expect(dropped()).toBe(2);
  });

  it('that the collector takes only in part are counted', async () => {
    const { exporter, dropped } = world(() => ({ status: 200, rejected: 1 }));
    for (const name of ['a', 'b']) exporter.add(span(name));
    await exporter.close(1000);
    expect(dropped()).toBe(1);
  });

  it('hold up no stop: what is not taken then is counted', async () => {
    const { exporter, dropped } = world(() => new Promise(() => {}));
    for (const name of ['a', 'b', 'c']) exporter.add(span(name));
    await exporter.close(1);
    expect(dropped()).toBe(3);
  });
});
