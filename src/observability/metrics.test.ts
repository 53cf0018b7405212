import { describe, expect, it } from 'vitest';
import { Metrics, type RequestFacts } from './metrics.js';

const FACTS: RequestFacts = {
  route: '/v1/messages',
  method: 'POST',
  status: 200,
  seconds: 0.2,
  losses: [],
  repairs: new Map(),
};

describe('Metrics', () => {
  it('tells Prometheus what it counted, and the process too', async () => {
    const metrics = new Metrics();
    metrics.record({
      ...FACTS,
      model: 'gpt-5',
      upstream: 'openai',
      firstTokenSeconds: 0.05,
      usage: { inputTokens: 10, outputTokens: 3, cacheReadTokens: 7, cacheWriteTokens: 0 },
      losses: [{ path: 'messages.3.content.0', reason: 'x' }],
      repairs: new Map([['stop-reason', 2]]),
    });
    metrics.record({ ...FACTS, model: 'gpt-5', upstream: 'openai', errorCode: 'upstream_failed' });
    metrics.upstreamFailed('local', 'overloaded');
    metrics.openStreams.add(2);
    const lines = (await metrics.render()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        '# TYPE toolgate_requests_total counter',
        'toolgate_requests_total{route="/v1/messages",method="POST",status="200",model="gpt-5"} 2',
        'toolgate_request_duration_seconds_bucket{route="/v1/messages",le="0.1"} 0',
        'toolgate_request_duration_seconds_bucket{route="/v1/messages",le="0.25"} 2',
        'toolgate_request_duration_seconds_bucket{route="/v1/messages",le="+Inf"} 2',
        'toolgate_request_duration_seconds_count{route="/v1/messages"} 2',
        'toolgate_first_token_seconds_bucket{route="/v1/messages",le="0.05"} 1',
        'toolgate_tokens_total{model="gpt-5",kind="input"} 10',
        'toolgate_tokens_total{model="gpt-5",kind="cache_read"} 7',
        'toolgate_losses_total{part="messages"} 1',
        'toolgate_stream_repairs_total{kind="stop-reason"} 2',
        'toolgate_upstream_errors_total{upstream="openai",code="upstream_failed"} 1',
        'toolgate_upstream_errors_total{upstream="local",code="overloaded"} 1',
        'toolgate_errors_total{route="/v1/messages",code="upstream_failed"} 1',
        'toolgate_open_streams 2',
      ]),
    );
    expect(lines.some((line) => line.startsWith('process_resident_memory_bytes '))).toBe(true);
  });

  it('gives names that clients invent no series of their own', async () => {
    const metrics = new Metrics();
    for (let index = 0; index < 500; index++) {
      metrics.record({ ...FACTS, status: 404, model: `invented-${index}`, method: `M${index}` });
    }
    for (let index = 0; index < 300; index++) metrics.record({ ...FACTS, model: `model-${index}` });
    const series = (await metrics.render())
      .split('\n')
      .filter((line) => line.startsWith('toolgate_requests_total{'));
    expect(series).toHaveLength(102);
    expect(series).toContain(
      'toolgate_requests_total{route="/v1/messages",method="other",status="404",model="other"} 500',
    );
  });

  it('does not blame an upstream for a client that left', async () => {
    const metrics = new Metrics();
    metrics.record({ ...FACTS, upstream: 'openai', errorCode: 'client_closed' });
    expect(await metrics.render()).not.toContain('toolgate_upstream_errors_total{');
  });

  it('counts for upstreams and teams, and gives no more than 200 teams a series', async () => {
    const metrics = new Metrics();
    const usage = { inputTokens: 10, outputTokens: 3, cacheReadTokens: 7, cacheWriteTokens: 0 };
    metrics.record({ ...FACTS, upstream: 'openai', team: 'web', usage, costUsd: 0.5 });
    for (let index = 0; index < 300; index++) metrics.record({ ...FACTS, team: `team-${index}` });
    const lines = (await metrics.render()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'toolgate_upstream_requests_total{upstream="openai",status="200"} 1',
        'toolgate_upstream_duration_seconds_count{upstream="openai"} 1',
        'toolgate_team_requests_total{team="web",status="200"} 1',
        'toolgate_team_tokens_total{team="web",kind="input"} 17',
        'toolgate_team_cost_usd_total{team="web"} 0.5',
        'toolgate_team_requests_total{team="other",status="200"} 101',
      ]),
    );
    expect(lines.filter((line) => line.startsWith('toolgate_team_requests_total{'))).toHaveLength(201);
  });

  it('says which upstream answered last, and which is not asked any more', async () => {
    const metrics = new Metrics();
    metrics.upstreamFailed('down', 'overloaded');
    metrics.upstreamRefused('down');
    metrics.record({ ...FACTS, upstream: 'up' });
    const lines = (await metrics.render()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'toolgate_upstream_up{upstream="down"} 0',
        'toolgate_breaker_open{upstream="down"} 1',
        'toolgate_upstream_up{upstream="up"} 1',
        'toolgate_breaker_open{upstream="up"} 0',
      ]),
    );
  });

  it('escapes label values', async () => {
    const metrics = new Metrics();
    metrics.record({ ...FACTS, model: 'a"b\\c\nd' });
    expect(await metrics.render()).toContain('model="a\\"b\\\\c\\nd"} 1');
  });
});
