/** `tool_addition` and `tool_removal` of the Messages API, on upstreams and agents that have one list of tools. */
import { expect, it } from 'vitest';
import { startTestGateway } from '../support/gateway.js';
import { inDialect } from '../support/scripted-answers.js';
import { startUpstream } from '../support/scripted-upstream.js';
import { call, textAnswer } from '../support/wire.js';

const tool = (name: string) => ({ name, description: `The ${name}`, input_schema: { type: 'object' } });
const MESSAGES = [
  { role: 'user', content: 'hi' },
  { role: 'assistant', content: 'hello' },
  {
    role: 'system',
    content: [
      { type: 'tool_addition', tool: { type: 'tool_definition', definition: tool('late') } },
      { type: 'tool_removal', tool: { type: 'tool_reference', name: 'early' } },
    ],
  },
  { role: 'user', content: 'go on' },
];

const namesIn = (tools: unknown): unknown[] =>
  (Array.isArray(tools) ? tools : []).map(
    (each: { name?: string; function?: { name?: string } }) => each.name ?? each.function?.name,
  );

async function ask(url: string, model: string) {
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      max_tokens: 100,
      tools: [tool('early'), tool('kept')],
      messages: MESSAGES,
    }),
  });
  return { response, json: (await response.json()) as { content: unknown } };
}

it.each(['openai-chat', 'openai-responses'] as const)(
  'reach a model on %s, and nothing is lost',
  async (dialect) => {
    const upstream = await startUpstream(inDialect({ parts: [call('late', { a: 1 })] }));
    const gateway = await startTestGateway({
      config: { upstreams: { theirs: upstream.config(dialect) }, models: { m: { upstream: 'theirs' } } },
    });
    const { response, json } = await ask(gateway.url, 'm');
    expect(namesIn(upstream.requests[0]?.json['tools'])).toEqual(['kept', 'late']);
    expect(response.headers.get('x-toolgate-losses')).toBeNull();
    expect(json.content).toMatchObject([{ type: 'tool_use', name: 'late', input: { a: 1 } }]);
  },
);

it('are handed on as they are to an upstream of the same wire', async () => {
  const upstream = await startUpstream(inDialect(textAnswer('yes')));
  const gateway = await startTestGateway({
    config: {
      upstreams: { theirs: upstream.config('anthropic-messages') },
      models: { m: { upstream: 'theirs' } },
    },
  });
  await ask(gateway.url, 'm');
  expect(upstream.requests[0]?.json).toMatchObject({ messages: MESSAGES });
  expect(namesIn(upstream.requests[0]?.json['tools'])).toEqual(['early', 'kept']);
});

it('are the tools of the client that an agent has', async () => {
  const upstream = await startUpstream(inDialect({ parts: [call('late', { a: 1 })] }));
  const gateway = await startTestGateway({
    config: {
      upstreams: { theirs: upstream.config('openai-chat') },
      models: { agent: { engine: 'native', upstream: 'theirs', tools: 'none' } },
    },
  });
  const { json } = await ask(gateway.url, 'agent');
  expect(namesIn(upstream.requests[0]?.json['tools'])).toEqual(['kept', 'late']);
  expect(json.content).toMatchObject([{ type: 'tool_use', name: 'late' }]);
});
