import { expect, it } from 'vitest';
import { FEW_PROCESSES, openWorld, says, user } from '../../support/claude-world.js';
import { closeSitesAfterEach } from '../../support/loopback-site.js';
import { OtlpCollector } from '../../support/otlp-collector.js';
import { call, callsAnswer } from '../../support/wire.js';

closeSitesAfterEach();

it('model requests of Claude Code and its tools are spans below the turn that makes them', async () => {
  const collector = await OtlpCollector.start();
  const world = await openWorld({
    sessions: FEW_PROCESSES,
    config: { telemetry: { collector: collector.site.url('') } },
  });
  world.script(callsAnswer(call('LS', { path: world.root }, 'c-list')), says('Listed.'));
  const answer = await world.post({ messages: [user('List it')] });
  expect(answer.status).toBe(200);
  await world.gateway.close();
  expect(collector.problems).toEqual([]);
  const turns = collector.spans.filter(({ name }) => name.startsWith('invoke_agent '));
  expect(turns).toHaveLength(1);
  const [turn] = turns;
  const inner = collector.spans.filter(
    ({ name, parent }) => name === 'POST /v1/messages' && parent === turn?.spanId,
  );
  const chats = collector.spans.filter(({ name }) => name.startsWith('chat '));
  const owners = new Set(inner.map(({ spanId }) => spanId));
  expect(chats.length).toBeGreaterThanOrEqual(2);
  expect(chats.filter(({ parent }) => !owners.has(parent ?? ''))).toEqual([]);
  const tool = collector.spans.find(({ name }) => name.startsWith('execute_tool '));
  expect([tool?.parent, tool?.attributes['toolgate.tool.outcome']]).toEqual([turn?.spanId, 'done']);
  expect(new Set(collector.spans.map(({ traceId }) => traceId)).size).toBe(1);
});
