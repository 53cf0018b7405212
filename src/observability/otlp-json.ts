/** Spans and figures in the JSON of OTLP/HTTP: ids in hex, 64-bit numbers as text, enums as numbers. */
import type { AttributeValue, SpanKind } from '../core/span.js';
import type { SeriesData } from './series.js';

/** A span that is over. Times are nanoseconds of Unix time. */
export interface EndedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  tracestate?: string;
  name: string;
  kind: SpanKind;
  startNano: bigint;
  endNano: bigint;
  attributes: ReadonlyMap<string, AttributeValue>;
  events: readonly { name: string; nano: bigint; attributes: ReadonlyMap<string, AttributeValue> }[];
  droppedEvents: number;
  /** Spans of other traces that it belongs to as well. */
  links: readonly { traceId: string; spanId: string }[];
  /** Why it failed; undefined where it did not. */
  failure?: string;
}

export interface OtlpSource {
  resource: Readonly<Record<string, string>>;
  version: string;
  redact(text: string): string;
}

const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
const STATUS_ERROR = 2;
const CUMULATIVE = 2;
/** The trace is sampled; where its parent stands is known, and it is another process for a server's span. */
const FLAGS_SAMPLED = 0x01;
const FLAGS_HAS_REMOTE = 0x100;
const FLAGS_REMOTE = 0x200;
const SCOPE = 'toolgate';

export function spansToJson(spans: readonly EndedSpan[], source: OtlpSource): string {
  const { redact } = source;
  return JSON.stringify({
    resourceSpans: [
      {
        resource: resourceOf(source),
        scopeSpans: [
          {
            scope: { name: SCOPE, version: source.version },
            spans: spans.map((span) => ({
              traceId: span.traceId,
              spanId: span.spanId,
              ...(span.parentSpanId === undefined ? {} : { parentSpanId: span.parentSpanId }),
              ...(span.tracestate === undefined ? {} : { traceState: span.tracestate }),
              flags: FLAGS_SAMPLED | FLAGS_HAS_REMOTE | (span.kind === 'server' ? FLAGS_REMOTE : 0),
              name: redact(span.name),
              kind: KINDS[span.kind],
              startTimeUnixNano: String(span.startNano),
              endTimeUnixNano: String(span.endNano),
              attributes: attributesToJson(span.attributes, redact),
              events: span.events.map(({ name, nano, attributes }) => ({
                timeUnixNano: String(nano),
                name: redact(name),
                attributes: attributesToJson(attributes, redact),
              })),
              ...(span.links.length === 0 ? {} : { links: span.links }),
              ...(span.droppedEvents === 0 ? {} : { droppedEventsCount: span.droppedEvents }),
              status: span.failure === undefined ? {} : { code: STATUS_ERROR, message: redact(span.failure) },
            })),
          },
        ],
      },
    ],
  });
}

interface MetricTimes {
  startNano: bigint;
  nowNano: bigint;
}

/** `units` by name, in UCUM. */
export function seriesToJson(
  series: readonly SeriesData[],
  source: OtlpSource,
  { startNano, nowNano }: MetricTimes,
  units: Readonly<Record<string, string>> = {},
): string {
  const times = { startTimeUnixNano: String(startNano), timeUnixNano: String(nowNano) };
  const metrics = series
    .filter(({ points }) => points.length > 0)
    .map((each) => ({
      name: each.name,
      description: each.help,
      unit: units[each.name] ?? (each.name.endsWith('_seconds') ? 's' : '1'),
      ...pointsToJson(each, times, source.redact),
    }));
  return JSON.stringify({
    resourceMetrics: [
      {
        resource: resourceOf(source),
        scopeMetrics: [{ scope: { name: SCOPE, version: source.version }, metrics }],
      },
    ],
  });
}

function pointsToJson(
  { type, points, bounds = [] }: SeriesData,
  times: { startTimeUnixNano: string; timeUnixNano: string },
  redact: (text: string) => string,
): object {
  if (type === 'histogram') {
    const dataPoints = points.map(({ labels, value, counts = [] }) => ({
      attributes: attributesToJson(new Map(Object.entries(labels)), redact),
      ...times,
      count: String(counts.reduce((sum, count) => sum + count, 0)),
      sum: value,
      bucketCounts: counts.map(String),
      explicitBounds: bounds,
    }));
    return { histogram: { aggregationTemporality: CUMULATIVE, dataPoints } };
  }
  const dataPoints = points.map(({ labels, value }) => ({
    attributes: attributesToJson(new Map(Object.entries(labels)), redact),
    ...times,
    asDouble: value,
  }));
  if (type === 'gauge') return { gauge: { dataPoints } };
  return { sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints } };
}

function resourceOf({ resource, redact }: OtlpSource): object {
  return { attributes: attributesToJson(new Map(Object.entries(resource)), redact) };
}

function attributesToJson(
  attributes: ReadonlyMap<string, AttributeValue>,
  redact: (text: string) => string,
): { key: string; value: object }[] {
  return [...attributes].map(([key, value]) => ({ key, value: valueToJson(value, redact) }));
}

function valueToJson(value: AttributeValue, redact: (text: string) => string): object {
  switch (typeof value) {
    case 'string':
      return { stringValue: redact(value) };
    case 'boolean':
      return { boolValue: value };
    case 'number':
      return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
    default:
      return { arrayValue: { values: value.map((each) => ({ stringValue: redact(each) })) } };
  }
}
