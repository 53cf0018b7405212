/** A collector of OTLP/HTTP in JSON on loopback that takes nothing but what the protocol allows, field by field. */
import * as z from 'zod';
import { type Handler, startSite, type TestSite } from './loopback-site.js';

const int64 = z.string().regex(/^-?\d+$/);
const value = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: int64 }),
  z.strictObject({ doubleValue: z.number() }),
  z.strictObject({
    arrayValue: z.strictObject({ values: z.array(z.strictObject({ stringValue: z.string() })) }),
  }),
]);
const attributes = z
  .array(z.strictObject({ key: z.string().min(1), value }))
  .refine((list) => new Set(list.map(({ key }) => key)).size === list.length, 'an attribute comes twice');
const resource = z.strictObject({ attributes });
const scope = z.strictObject({ name: z.string().min(1), version: z.string() });
const traceId = z.string().regex(/^(?!0{32})[0-9a-f]{32}$/);
const spanId = z.string().regex(/^(?!0{16})[0-9a-f]{16}$/);

const span = z
  .strictObject({
    traceId,
    spanId,
    parentSpanId: spanId.optional(),
    traceState: z.string().optional(),
    flags: z.int(),
    name: z.string().min(1),
    kind: z.int().min(1).max(5),
    startTimeUnixNano: int64,
    endTimeUnixNano: int64,
    attributes,
    events: z.array(z.strictObject({ timeUnixNano: int64, name: z.string().min(1), attributes })),
    links: z.array(z.strictObject({ traceId, spanId })).min(1).optional(),
    droppedEventsCount: z.int().optional(),
    status: z.strictObject({ code: z.int().min(0).max(2).optional(), message: z.string().optional() }),
  })
  .refine(
    (each) => BigInt(each.endTimeUnixNano) >= BigInt(each.startTimeUnixNano),
    'it ends before it begins',
  );

const traces = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({ resource, scopeSpans: z.array(z.strictObject({ scope, spans: z.array(span).min(1) })) }),
  ),
});

const point = { attributes, startTimeUnixNano: int64, timeUnixNano: int64 };
const numbers = z.array(z.strictObject({ ...point, asDouble: z.number() })).min(1);
const buckets = z
  .strictObject({
    ...point,
    count: int64,
    sum: z.number(),
    bucketCounts: z.array(int64),
    explicitBounds: z.array(z.number()),
  })
  .refine((each) => each.bucketCounts.length === each.explicitBounds.length + 1, 'a bucket is missing')
  .refine(
    (each) => each.bucketCounts.reduce((sum, count) => sum + Number(count), 0) === Number(each.count),
    'the buckets are not the count',
  );
const cumulative = z.literal(2);
const described = { name: z.string().min(1), description: z.string(), unit: z.string() };
const metric = z.union([
  z.strictObject({ ...described, gauge: z.strictObject({ dataPoints: numbers }) }),
  z.strictObject({
    ...described,
    sum: z.strictObject({
      aggregationTemporality: cumulative,
      isMonotonic: z.literal(true),
      dataPoints: numbers,
    }),
  }),
  z.strictObject({
    ...described,
    histogram: z.strictObject({ aggregationTemporality: cumulative, dataPoints: z.array(buckets).min(1) }),
  }),
]);
const metrics = z.strictObject({
  resourceMetrics: z.array(
    z.strictObject({ resource, scopeMetrics: z.array(z.strictObject({ scope, metrics: z.array(metric) })) }),
  ),
});

type Attributes = Record<string, string | number | boolean | string[]>;

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parent: string | undefined;
  tracestate: string | undefined;
  name: string;
  kind: number;
  attributes: Attributes;
  events: string[];
  failed: boolean;
  links: readonly { traceId: string; spanId: string }[];
}

export class OtlpCollector {
  readonly site: TestSite;
  readonly spans: CollectedSpan[] = [];
  readonly resources: Attributes[] = [];
  readonly metrics: z.infer<typeof metric>[] = [];
  /** Everything that came, as text. */
  text = '';
  readonly problems: string[] = [];
  /** Of the next answers, in place of 200. */
  readonly statuses: number[] = [];

  static async start(): Promise<OtlpCollector> {
    let collector: OtlpCollector | undefined;
    const site = await startSite((request, response) => collector?.handle(request, response));
    collector = new OtlpCollector(site);
    return collector;
  }

  private constructor(site: TestSite) {
    this.site = site;
  }

  handle: Handler = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const status = this.statuses.shift() ?? 200;
      if (status === 200) this.#take(request.url ?? '', Buffer.concat(chunks).toString('utf8'));
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  };

  span(name: string): CollectedSpan {
    const found = this.spans.filter((each) => each.name === name);
    if (found.length !== 1) throw new Error(`${found.length} spans are named ${name}: ${this.names()}`);
    return found[0] as CollectedSpan;
  }

  names(): string {
    return this.spans.map(({ name }) => name).join(', ');
  }

  #take(path: string, text: string): void {
    this.text += text;
    const body: unknown = JSON.parse(text);
    if (path.endsWith('/v1/traces')) this.#takeTraces(body);
    else if (path.endsWith('/v1/metrics')) this.#takeMetrics(body);
    else this.problems.push(`nothing is collected at ${path}`);
  }

  #takeTraces(body: unknown): void {
    const read = traces.safeParse(body);
    if (!read.success) {
      this.problems.push(z.prettifyError(read.error));
      return;
    }
    for (const { resource: of, scopeSpans } of read.data.resourceSpans) {
      this.resources.push(plain(of.attributes));
      for (const each of scopeSpans.flatMap(({ spans }) => spans)) {
        this.spans.push({
          traceId: each.traceId,
          spanId: each.spanId,
          parent: each.parentSpanId,
          tracestate: each.traceState,
          name: each.name,
          kind: each.kind,
          attributes: plain(each.attributes),
          events: each.events.map(({ name }) => name),
          links: each.links ?? [],
          failed: each.status.code === 2,
        });
      }
    }
  }

  #takeMetrics(body: unknown): void {
    const read = metrics.safeParse(body);
    if (!read.success) {
      this.problems.push(z.prettifyError(read.error));
      return;
    }
    const all = read.data.resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics);
    this.metrics.push(...all.flatMap((each) => each.metrics));
  }
}

function plain(list: z.infer<typeof attributes>): Attributes {
  return Object.fromEntries(
    list.map(({ key, value: given }) => {
      if ('stringValue' in given) return [key, given.stringValue];
      if ('boolValue' in given) return [key, given.boolValue];
      if ('intValue' in given) return [key, Number(given.intValue)];
      if ('doubleValue' in given) return [key, given.doubleValue];
      return [key, given.arrayValue.values.map((each) => each.stringValue)];
    }),
  );
}
