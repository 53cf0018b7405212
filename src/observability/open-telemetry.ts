/**
 * The gateway's own telemetry over OTLP/HTTP in JSON. Loaded only where the operator names a collector.
 * Decision 0023 says why it is written here and not taken from the OpenTelemetry SDK.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { atMost } from '../core/deferred.js';
import { type Attributes, readRemoteContext, type Span, type SpanKind } from '../core/span.js';
import { HttpClient, readAll } from '../transport/http-client/http-client.js';
import type { Log } from './log.js';
import type { Metrics } from './metrics.js';
import { type ExportAnswer, SpanExporter } from './otlp-exporter.js';
import { type EndedSpan, type OtlpSource, seriesToJson, spansToJson } from './otlp-json.js';
import { BoundedLabel, Histogram, type SeriesData } from './series.js';
import { nano, openSpan } from './spans.js';

/** Begins traces. `headers` are the client's. */
export interface Tracer {
  begin(span: {
    name: string;
    kind: SpanKind;
    attributes: Attributes;
    /** Where a client may have named a trace. */
    headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
    /** `performance.now()`. */
    startedAt?: number;
    /** A span that it belongs to as well, perhaps of another trace. */
    link?: Span | undefined;
  }): Span;
}

export interface Telemetry extends Tracer {
  /** Sends what is left, for a moment. */
  close(): Promise<void>;
}

interface Target {
  url: string;
  headers: Readonly<Record<string, string>>;
}

interface TelemetryOptions {
  traces?: Target;
  metrics?: Target;
  resource: Readonly<Record<string, string>>;
  content: boolean;
  propagate: boolean;
  sampler: { ratio: number; byParent: boolean };
  timeoutMs: number;
  spansEveryMs: number;
  metricsEveryMs: number;
  queueSpans: number;
  batchSpans: number;
  version: string;
  node?: string | undefined;
  figures: Metrics;
  /** Of the store; empty while it does not answer. */
  storeFigures(): Promise<readonly SeriesData[]>;
  redact(text: string): string;
  log: Log;
}

const CLOSE_MS = 2000;
const ANSWER_BYTES = 64 * 1024;
/** Names of models come from clients. */
const LABEL_LIMIT = 100;
/** As the conventions give them. */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304];
const UNITS = { 'gen_ai.client.token.usage': '{token}', 'gen_ai.client.operation.duration': 's' };

export function openTelemetry(options: TelemetryOptions): Telemetry {
  const { log, figures, timeoutMs } = options;
  const client = new HttpClient();
  const ended = new AbortController();
  const source: OtlpSource = {
    version: options.version,
    redact: options.redact,
    resource: {
      'service.name': 'toolgate',
      'service.version': options.version,
      'service.instance.id': options.node ?? randomUUID(),
      'host.name': hostname(),
      ...options.resource,
    },
  };
  const genAi = new GenAiFigures();

  async function post({ url, headers }: Target, body: string): Promise<ExportAnswer> {
    const answer = await client.request({
      method: 'POST',
      url: new URL(url),
      headers: { 'content-type': 'application/json', ...headers },
      body,
      signal: ended.signal,
      connectTimeoutMs: timeoutMs,
      headersTimeoutMs: timeoutMs,
      idleTimeoutMs: timeoutMs,
    });
    const text = (await readAll(answer.body, ANSWER_BYTES)).toString('utf8');
    const retryAfter = Number(answer.headers['retry-after']);
    return {
      status: answer.status,
      ...(retryAfter > 0 ? { retryAfter } : {}),
      ...rejectedOf(text),
    };
  }

  const { traces, metrics } = options;
  const exporter =
    traces === undefined
      ? undefined
      : new SpanExporter({
          send: (spans) => post(traces, spansToJson(spans, source)),
          onDropped: (count) => figures.telemetryDropped('traces', count),
          onProblem: (error) => log.warn({ err: error }, 'spans were not collected and are tried again'),
          queueSpans: options.queueSpans,
          batchSpans: options.batchSpans,
          everyMs: options.spansEveryMs,
        });

  const startNano = nano(performance.now());
  let isFailing = false;
  let exporting: Promise<void> | undefined;
  async function exportFigures(target: Target): Promise<void> {
    try {
      const series = [...figures.collect(), ...(await options.storeFigures()), ...genAi.collect()];
      const times = { startNano, nowNano: nano(performance.now()) };
      const { status } = await post(target, seriesToJson(series, source, times, UNITS));
      if (status < 200 || status >= 300) throw new Error(`The collector answered ${status}.`);
      isFailing = false;
    } catch (error) {
      figures.telemetryDropped('metrics', 1);
      // Once for an outage: the next export has the same figures, and newer.
      if (!isFailing && !ended.signal.aborted) log.warn({ err: error }, 'metrics were not collected');
      isFailing = true;
    }
  }
  const timer =
    metrics === undefined
      ? undefined
      : setInterval(() => {
          exporting ??= exportFigures(metrics).finally(() => {
            exporting = undefined;
          });
        }, options.metricsEveryMs).unref();

  const rules = {
    content: options.content,
    propagate: options.propagate,
    sampler: options.sampler,
    onEnd(span: EndedSpan, sampled: boolean) {
      genAi.record(span);
      if (sampled) exporter?.add(span);
    },
  };
  return {
    begin: ({ headers, ...given }) =>
      openSpan(rules, { ...given, ...(headers === undefined ? {} : { remote: readRemoteContext(headers) }) }),
    async close() {
      clearInterval(timer);
      await exporter?.close(CLOSE_MS);
      if (metrics !== undefined) {
        await atMost(CLOSE_MS, exporting ?? Promise.resolve());
        await atMost(CLOSE_MS, exportFigures(metrics));
      }
      ended.abort();
      await client.close();
    },
  };
}

/** `partialSuccess` of an answer: what the collector did not want. */
function rejectedOf(text: string): { rejected?: number } {
  try {
    const rejected = Number(JSON.parse(text)?.partialSuccess?.rejectedSpans);
    return rejected > 0 ? { rejected } : {};
  } catch {
    return {};
  }
}

/** What the conventions for generative AI measure, taken from the spans. */
class GenAiFigures {
  readonly #models = new BoundedLabel(LABEL_LIMIT);
  readonly #durations = new Histogram(
    'gen_ai.client.operation.duration',
    'Time of one operation: a try at a model, a turn of an agent, a tool call.',
    ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model', 'error.type'],
    SECONDS,
  );
  readonly #tokens = new Histogram(
    'gen_ai.client.token.usage',
    'Tokens of one answer of a model.',
    ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model', 'gen_ai.token.type'],
    TOKENS,
  );

  record({ attributes, startNano, endNano }: EndedSpan): void {
    const text = (key: string): string => {
      const value = attributes.get(key);
      return typeof value === 'string' ? value : '';
    };
    const operation = text('gen_ai.operation.name');
    if (operation === '') return;
    const provider = text('gen_ai.provider.name');
    const model = text('gen_ai.request.model');
    const failure = text('error.type');
    if (model !== '' && failure === '') this.#models.admit(model);
    const known = model === '' ? '' : this.#models.of(model);
    this.#durations.observe(Number(endNano - startNano) / 1e9, operation, provider, known, failure);
    if (operation !== 'chat') return;
    for (const type of ['input', 'output']) {
      const tokens = attributes.get(`gen_ai.usage.${type}_tokens`);
      if (typeof tokens === 'number') this.#tokens.observe(tokens, operation, provider, known, type);
    }
  }

  collect(): SeriesData[] {
    return [this.#durations.collect(), this.#tokens.collect()].map((series) => ({
      ...series,
      // An attribute that is not there is left out, not empty.
      points: series.points.map((point) => ({
        ...point,
        labels: Object.fromEntries(Object.entries(point.labels).filter(([, value]) => value !== '')),
      })),
    }));
  }
}
