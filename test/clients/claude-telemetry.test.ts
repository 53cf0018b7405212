import { expect, it } from 'vitest';
import { startSite } from '../support/loopback-site.js';
import { until } from '../support/until.js';
import { ClaudeRun } from './claude-code.js';
import { openLane } from './lanes.js';
import { say } from './scripted-model.js';
import { makeWorkspace } from './workspace.js';

it('Claude Code reports to the collector through the gateway, with its key, and logs no trouble', async () => {
  const collector = await startSite((request, response) => {
    request.resume();
    request.on('end', () => response.end('{}'));
  });
  const lane = await openLane(
    'openai-chat',
    { 'Say hello': [say('Hello.')] },
    { config: { telemetry: { collector: collector.url('') }, server: { keys: [{ key: 'client-key' }] } } },
  );
  const run = new ClaudeRun(lane, await makeWorkspace(), {
    prompt: 'Say hello',
    env: {
      CLAUDE_CODE_ENABLE_TELEMETRY: '1',
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_LOGS_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_ENDPOINT: lane.gateway.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer client-key',
    },
  });
  expect(await run.ends()).toMatchObject({ result: 'Hello.' });
  // It flushes before it ends, and each flush is answered before it is sent on.
  await until(() => ['metrics', 'logs'].every((signal) => collector.seen.includes(`POST /v1/${signal}`)));
  expect(JSON.stringify(collector.headers)).not.toContain('client-key');
  const exports = (await run.debugLog())
    .split('\n')
    .flatMap((line) => /First (\w+ export: .*)/.exec(line)?.[1] ?? []);
  expect(exports.sort()).toEqual(['logs export: SUCCESS', 'metrics export: SUCCESS']);
});
