import { describe, expect, it } from 'vitest';
import { telemetrySettings } from './telemetry-settings.js';

const OFF = { headers: {}, content: false };
const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };
const of = (env: Record<string, string>, telemetry: Parameters<typeof telemetrySettings>[0] = OFF) =>
  telemetrySettings(telemetry, env);

describe('telemetry of the gateway', () => {
  it('is off without a collector, and where it is switched off', () => {
    expect(of({}).settings).toBeUndefined();
    expect(of({ ...ENDPOINT, OTEL_SDK_DISABLED: 'true' }).settings).toBeUndefined();
    expect(
      of({ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }).settings,
    ).toBeUndefined();
  });

  it('goes where the variables of OpenTelemetry say', () => {
    const { settings, problems } = of({
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'https://metrics.example.com/in',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20token,x-a=1',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-a=2',
      OTEL_SERVICE_NAME: 'gate',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=prod,service.name=other',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      OTEL_BSP_MAX_QUEUE_SIZE: '100',
    });
    expect(problems).toEqual([]);
    expect(settings).toMatchObject({
      traces: {
        url: 'http://collector:4318/v1/traces',
        headers: { authorization: 'Bearer token', 'x-a': '2' },
      },
      metrics: {
        url: 'https://metrics.example.com/in',
        headers: { authorization: 'Bearer token', 'x-a': '1' },
      },
      resource: { 'service.name': 'gate', 'deployment.environment.name': 'prod' },
      sampler: { ratio: 0.25, byParent: true },
      content: false,
      propagate: true,
      queueSpans: 100,
      batchSpans: 100,
    });
  });

  it('goes where the configuration says, which wins', () => {
    const telemetry = { collector: 'http://here:4318', headers: { 'x-b': '3' }, content: true };
    expect(of(ENDPOINT, telemetry).settings).toMatchObject({
      traces: { url: 'http://here:4318/v1/traces', headers: { 'x-b': '3' } },
      content: true,
    });
  });

  it('has content where the variable asks for it, and no context where no propagator is wanted', () => {
    const env = {
      ...ENDPOINT,
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
      OTEL_PROPAGATORS: 'none',
    };
    expect(of(env).settings).toMatchObject({ content: true, propagate: false });
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', { ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }],
    ['OTEL_TRACES_SAMPLER', { ...ENDPOINT, OTEL_TRACES_SAMPLER: 'jaeger' }],
    ['OTEL_BSP_MAX_QUEUE_SIZE', { ...ENDPOINT, OTEL_BSP_MAX_QUEUE_SIZE: 'many' }],
  ])('says what is wrong with %s', (name, env) => {
    expect(of(env).problems.join('\n')).toContain(name);
  });

  it('takes no header that would be two', () => {
    const env = { ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'x-a=1%0d%0ax-b: 2' };
    expect(of(env).settings?.traces?.headers).toEqual({});
  });
});
