/** Where the gateway's own telemetry goes: `telemetry` of the configuration, and the variables of OpenTelemetry. */
import type { Environment } from './environment-references.js';
import type { Config } from './schema.js';

interface TelemetryTarget {
  url: string;
  headers: Readonly<Record<string, string>>;
}

export interface TelemetrySettings {
  traces?: TelemetryTarget;
  metrics?: TelemetryTarget;
  /** Further attributes of the resource; `service.name` is among them. */
  resource: Readonly<Record<string, string>>;
  /** What people said and tools gave is written into spans. */
  content: boolean;
  /** `traceparent` is taken from clients and given to upstreams and MCP servers. */
  propagate: boolean;
  sampler: { ratio: number; byParent: boolean };
  timeoutMs: number;
  /** Between two exports of spans, and of metrics. */
  spansEveryMs: number;
  metricsEveryMs: number;
  /** Spans that wait at most, and in one export. */
  queueSpans: number;
  batchSpans: number;
}

interface Found {
  /** Undefined where nothing is exported. */
  settings: TelemetrySettings | undefined;
  /** Of the environment: said in the log, and left out. */
  problems: readonly string[];
}

const SAMPLERS: Readonly<Record<string, { byParent: boolean; ratio: 0 | 1 | 'argument' }>> = {
  always_on: { byParent: false, ratio: 1 },
  always_off: { byParent: false, ratio: 0 },
  traceidratio: { byParent: false, ratio: 'argument' },
  parentbased_always_on: { byParent: true, ratio: 1 },
  parentbased_always_off: { byParent: true, ratio: 0 },
  parentbased_traceidratio: { byParent: true, ratio: 'argument' },
};

type Telemetry = Config['telemetry'];

export function telemetrySettings(telemetry: Telemetry, env: Environment): Found {
  const problems: string[] = [];
  if (isTrue(env['OTEL_SDK_DISABLED'])) return { settings: undefined, problems };
  const traces = targetOf('traces', telemetry, env, problems);
  const metrics = targetOf('metrics', telemetry, env, problems);
  if (traces === undefined && metrics === undefined) return { settings: undefined, problems };
  const number = (name: string, otherwise: number, most: number): number => {
    const text = env[name];
    if (text === undefined || text === '') return otherwise;
    const value = Number(text);
    if (Number.isSafeInteger(value) && value >= 1 && value <= most) return value;
    problems.push(`${name}: expected a whole number from 1 to ${most}; ${otherwise} is used.`);
    return otherwise;
  };
  const queueSpans = number('OTEL_BSP_MAX_QUEUE_SIZE', 2048, 65_536);
  return {
    settings: {
      ...(traces === undefined ? {} : { traces }),
      ...(metrics === undefined ? {} : { metrics }),
      resource: {
        ...pairs(env['OTEL_RESOURCE_ATTRIBUTES']),
        ...(env['OTEL_SERVICE_NAME'] ? { 'service.name': env['OTEL_SERVICE_NAME'] } : {}),
      },
      content: telemetry.content || isTrue(env['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT']),
      propagate: (env['OTEL_PROPAGATORS'] || 'tracecontext')
        .split(',')
        .some((each) => each.trim() === 'tracecontext'),
      sampler: samplerOf(env, problems),
      timeoutMs: number('OTEL_EXPORTER_OTLP_TIMEOUT', 10_000, 600_000),
      spansEveryMs: number('OTEL_BSP_SCHEDULE_DELAY', 5000, 600_000),
      metricsEveryMs: number('OTEL_METRIC_EXPORT_INTERVAL', 60_000, 86_400_000),
      queueSpans,
      batchSpans: Math.min(queueSpans, number('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512, 65_536)),
    },
    problems,
  };
}

/** A signal's own variables win over those of all signals, and the configuration over both. */
function targetOf(
  signal: 'traces' | 'metrics',
  telemetry: Telemetry,
  env: Environment,
  problems: string[],
): TelemetryTarget | undefined {
  const upper = signal.toUpperCase();
  const exporter = env[`OTEL_${upper}_EXPORTER`];
  if (exporter !== undefined && exporter !== '' && exporter !== 'otlp') {
    if (exporter !== 'none')
      problems.push(`OTEL_${upper}_EXPORTER: otlp and none are known; nothing is sent.`);
    return undefined;
  }
  const { collector, headers } = telemetry;
  if (collector !== undefined) return { url: `${collector.replace(/\/+$/, '')}/v1/${signal}`, headers };
  const own = env[`OTEL_EXPORTER_OTLP_${upper}_ENDPOINT`];
  const all = env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  const url = own || (all ? `${all.replace(/\/+$/, '')}/v1/${signal}` : undefined);
  if (url === undefined) return undefined;
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    problems.push(
      `${own ? `OTEL_EXPORTER_OTLP_${upper}_ENDPOINT` : 'OTEL_EXPORTER_OTLP_ENDPOINT'}: expected an http or https address; no ${signal} are sent.`,
    );
    return undefined;
  }
  const protocol = env[`OTEL_EXPORTER_OTLP_${upper}_PROTOCOL`] || env['OTEL_EXPORTER_OTLP_PROTOCOL'] || '';
  if (protocol === 'grpc') {
    problems.push(
      `OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not spoken; name the collector's HTTP port and http/json. No ${signal} are sent.`,
    );
    return undefined;
  }
  return {
    url,
    headers: {
      ...pairs(env['OTEL_EXPORTER_OTLP_HEADERS']),
      ...pairs(env[`OTEL_EXPORTER_OTLP_${upper}_HEADERS`]),
    },
  };
}

function samplerOf(env: Environment, problems: string[]): TelemetrySettings['sampler'] {
  const name = env['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on';
  const found = SAMPLERS[name];
  if (found === undefined) {
    problems.push(
      `OTEL_TRACES_SAMPLER: expected one of ${Object.keys(SAMPLERS).join(', ')}; every request is traced.`,
    );
    return { ratio: 1, byParent: true };
  }
  if (found.ratio !== 'argument') return { ratio: found.ratio, byParent: found.byParent };
  const ratio = Number(env['OTEL_TRACES_SAMPLER_ARG'] || '1');
  if (ratio >= 0 && ratio <= 1) return { ratio, byParent: found.byParent };
  problems.push('OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1; every request is traced.');
  return { ratio: 1, byParent: found.byParent };
}

/** `key=value,key=value`, percent-encoded as W3C Baggage is. What is no pair is left out. */
function pairs(text: string | undefined): Record<string, string> {
  const found: Record<string, string> = {};
  for (const pair of (text ?? '').split(',')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at).trim();
    if (at < 1 || !/^[\w.-]+$/.test(name)) continue;
    const value = decoded(pair.slice(at + 1).trim());
    // They go into headers as they are.
    if (/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) found[name] = value;
  }
  return found;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isTrue(text: string | undefined): boolean {
  return /^(?:true|1|span_only|span_and_event)$/i.test(text ?? '');
}
