/** The spans of a turn: what of the model's own words stands in them. */
import { expect, it } from 'vitest';
import { callOf, userSays } from '../../../test/support/native-engine-bench.js';
import type { EndedSpan } from '../../observability/otlp-json.js';
import { openSpan } from '../../observability/spans.js';
import { AgentTurnSpans } from './turn-spans.js';

function agentSpan(content: boolean): EndedSpan | undefined {
  const ended: EndedSpan[] = [];
  const rules = {
    content,
    propagate: false,
    sampler: { ratio: 1, byParent: false },
    onEnd: (span: EndedSpan) => void ended.push(span),
  };
  const span = openSpan(rules, { name: 'request', kind: 'server', attributes: {} });
  const spans = AgentTurnSpans.of(callOf([userSays('go')], {}, { span }), 'session-1');
  spans?.ofAgent('agent-1', 'find the secret invoice').end();
  return ended[0];
}

it("a sub-agent's label, which the model wrote, is left out where content is", () => {
  const span = agentSpan(false);
  expect([span?.name, span?.attributes.get('gen_ai.agent.name')]).toEqual([
    'invoke_agent sub-agent',
    'sub-agent',
  ]);
});

it("a sub-agent's label is its name where content is recorded", () => {
  const span = agentSpan(true);
  expect([span?.name, span?.attributes.get('gen_ai.agent.name')]).toEqual([
    'invoke_agent find the secret invoice',
    'find the secret invoice',
  ]);
});
