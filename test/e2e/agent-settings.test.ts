/** What a configuration says about an agent, as its clients and its model notice it. */
import { describe, expect, it } from 'vitest';
import { IDENTITY } from '../../src/engines/agent/loop/system-prompt.js';
import { readRequest } from '../clients/read-request.js';
import { openWorld, says, user } from '../support/claude-world.js';
import type { TestGateway } from '../support/gateway.js';
import type { RecordedRequest } from '../support/scripted-upstream.js';
import { anthropicClient } from '../support/sdk.js';
import { until } from '../support/until.js';
import { call, callsAnswer, textAnswer } from '../support/wire.js';
import { repository, resultsOf, startAgent } from './native-agent-harness.js';

const LOOKUP = {
  name: 'lookup',
  description: 'Looks a city up',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
};

/** How the session is kept, once that is so. */
async function stateIs({ url, consoleUrl }: TestGateway, session: string, state: string): Promise<void> {
  const token = new URL(consoleUrl).hash.replace('#token=', '');
  await until(async () => {
    const response = await fetch(`${url}/api/sessions/${session}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const told: { state?: unknown } = JSON.parse(await response.text());
    return told.state === state;
  });
}

/** The client asks, gets a call to run, and sends its result when the time for it is over. */
async function resultComesLate(onToolTimeout: 'hibernate' | 'fail') {
  const repo = await repository({ a: 'a' });
  const { gateway } = await startAgent(
    'openai-chat',
    repo.root,
    [
      callsAnswer(call('lookup', { city: 'Bern' }, 'c1')),
      (request) => textAnswer(`I was told: ${resultsOf(request).join(' and ')}`),
    ],
    { rest: { sessions: { tool_timeout_s: 0.05, on_tool_timeout: onToolTimeout } } },
  );
  const client = anthropicClient(gateway.url);
  const body = { model: 'coder', max_tokens: 1000, tools: [LOOKUP] };
  const question = { role: 'user' as const, content: 'How is it in Bern?' };
  const first = await client.messages.create({ ...body, messages: [question] }).withResponse();
  expect(first.data.content).toMatchObject([{ type: 'tool_use', id: 'c1', name: 'lookup' }]);
  const session = first.response.headers.get('x-session-id') ?? '';
  await stateIs(gateway, session, 'hibernated');
  const result = { type: 'tool_result' as const, tool_use_id: 'c1', content: 'sunny' };
  const { data, response } = await client.messages
    .create({
      ...body,
      messages: [
        question,
        { role: 'assistant', content: first.data.content },
        { role: 'user', content: [result] },
      ],
    })
    .withResponse();
  expect(response.headers.get('x-session-id')).toBe(session);
  return { content: data.content, losses: response.headers.get('x-toolgate-losses') };
}

describe('sessions.on_tool_timeout', () => {
  it('hibernate: a result that comes late is used', async () => {
    expect(await resultComesLate('hibernate')).toMatchObject({
      content: [{ type: 'text', text: 'I was told: sunny' }],
      losses: null,
    });
  });

  it('fail: the model is told that none came in time, and the client that its result was not used', async () => {
    expect(await resultComesLate('fail')).toMatchObject({
      content: [{ type: 'text', text: 'I was told: Error: No result: the client did not send one in time.' }],
      losses: expect.stringMatching(/tool_result c1: .*after its time was over/),
    });
  });
});

const POET = 'You are a poet.';
const OWN = IDENTITY.slice(0, IDENTITY.indexOf('\n'));

const instructionsOf = (request: RecordedRequest | undefined): string => {
  if (request === undefined) throw new Error('The upstream was not asked');
  return readRequest(request).instructions;
};

describe('the system setting of a native model', () => {
  async function start() {
    const repo = await repository({ 'AGENTS.md': 'Amounts are in cents.\n' });
    const model = { engine: 'native', upstream: 'scripted', model: 'm', cwd: repo.root };
    const { gateway, upstream } = await startAgent('openai-chat', repo.root, [textAnswer('Yes.')], {
      rest: {
        models: {
          unsaid: model,
          appending: { ...model, system: 'append' },
          replacing: { ...model, system: 'replace' },
        },
      },
    });
    const client = anthropicClient(gateway.url);
    const messages = [{ role: 'user' as const, content: 'hi' }];
    return {
      async told(name: string, system = POET): Promise<string> {
        await client.messages.create({ model: name, max_tokens: 1000, system, messages });
        return instructionsOf(upstream.requests.at(-1));
      },
      async counted(name: string): Promise<number> {
        const { input_tokens } = await client.messages.countTokens({ model: name, system: POET, messages });
        return input_tokens;
      },
    };
  }

  it.each(['unsaid', 'appending'])('%s: the client’s prompt goes behind the agent’s own', async (name) => {
    const told = await (await start()).told(name);
    expect(told).toContain(OWN);
    expect(told).toContain('Amounts are in cents.');
    expect(told.endsWith(POET)).toBe(true);
  });

  it('replacing: the client’s prompt is all there is', async () => {
    expect(await (await start()).told('replacing')).toBe(POET);
  });

  it('replacing, for a client that has none: the agent’s own stays', async () => {
    expect(await (await start()).told('replacing', ' ')).toContain(OWN);
  });

  it('holds for the count of tokens', async () => {
    const { counted } = await start();
    const appending = await counted('appending');
    expect(await counted('unsaid')).toBe(appending);
    expect(await counted('replacing')).toBeLessThan(appending);
  });
});

describe('the system setting of a Claude Code model', { timeout: 60_000 }, () => {
  it.each([
    ['append', true],
    ['replace', false],
  ])('%s: Claude Code’s own prompt is there: %s', async (system, own) => {
    const world = await openWorld({ model: { system } });
    world.script(says('A poem.'));
    await world.post({ system: POET, messages: [user('hi')] });
    const told = instructionsOf(world.upstream.requests[0]);
    expect(told).toContain(POET);
    expect(told.includes('You are Claude Code')).toBe(own);
  });
});
