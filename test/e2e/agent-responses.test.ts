/** The official OpenAI client on `/v1/responses`, with an agent behind it that keeps the conversation. */
import type OpenAI from 'openai';
import type { FunctionTool, Response, ResponseInputItem } from 'openai/resources/responses/responses.js';
import { describe, expect, it } from 'vitest';
import { startTestGateway } from '../support/gateway.js';
import { openaiClient } from '../support/sdk.js';
import { call, callsAnswer, textAnswer } from '../support/wire.js';
import { repository, resultsOf, type Step, startAgent } from './native-agent-harness.js';

const LOOKUP: FunctionTool = {
  type: 'function',
  name: 'lookup',
  description: 'Looks a city up',
  strict: false,
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};

const lookup = (city: string, id: string) => call('lookup', { city }, id);
const output = (callId: string, text: string): ResponseInputItem => ({
  type: 'function_call_output',
  call_id: callId,
  output: text,
});
const toolCallsIn = (response: Response): string[] =>
  response.output.flatMap((item) => (item.type === 'function_call' ? item.call_id : []));

/** What a client without a store sends back. */
const echo = (response: Response): ResponseInputItem[] =>
  response.output.flatMap((item) => (item.type === 'message' || item.type === 'function_call' ? item : []));

type Body = OpenAI.Responses.ResponseCreateParamsNonStreaming;

interface Agent {
  openai: OpenAI;
  /** Whole or streamed: the same. */
  ask(body: Omit<Body, 'model' | 'tools'>): Promise<{ response: Response; session: string; attach: string }>;
  upstream: Awaited<ReturnType<typeof startAgent>>['upstream'];
}

async function agent(steps: readonly Step[], stream: boolean, config: object = {}): Promise<Agent> {
  const repo = await repository({ 'notes.txt': 'the answer is 42' });
  const given = steps.map((step) => step);
  const { gateway, upstream } = await startAgent('openai-chat', repo.root, given, config);
  const openai = openaiClient(gateway.url);
  return {
    openai,
    upstream,
    async ask(body) {
      const whole = { model: 'coder', tools: [LOOKUP], ...body };
      const { data, response } = stream
        ? await openai.responses.create({ ...whole, stream: true }).withResponse()
        : await openai.responses.create({ ...whole, stream: false }).withResponse();
      const header = (name: string) => response.headers.get(name) ?? '';
      return {
        response: 'output' in data ? data : await lastOf(data),
        session: header('x-session-id'),
        attach: header('x-toolgate-attach'),
      };
    },
  };
}

async function lastOf(events: AsyncIterable<OpenAI.Responses.ResponseStreamEvent>): Promise<Response> {
  let last: Response | undefined;
  for await (const event of events) if (event.type === 'response.completed') last = event.response;
  if (last === undefined) throw new Error('The stream had no end');
  return { ...last, output_text: textOf(last) };
}

const textOf = ({ output: items }: Response): string =>
  items
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => (part.type === 'output_text' ? part.text : ''))
    .join('');

describe.each([
  ['whole', false],
  ['streamed', true],
] as const)('a conversation with an agent, %s', (_name, stream) => {
  it('goes on by the id of its last response', async () => {
    const { ask, upstream, openai } = await agent(
      [
        callsAnswer(call('Bash', { command: 'cat notes.txt', description: 'x' }, 'b1')),
        callsAnswer(lookup('Bern', 'c1')),
        textAnswer('Bern has 42.'),
        textAnswer('I am sure.'),
      ],
      stream,
    );
    const first = await ask({ input: 'How many has Bern?' });
    expect(toolCallsIn(first.response)).toHaveLength(1);
    expect(first.attach).toBe('new');
    const [id = ''] = toolCallsIn(first.response);
    const second = await ask({
      input: [output(id, '42 and more')],
      previous_response_id: first.response.id,
    });
    expect(second.response.output_text).toBe('Bern has 42.');
    expect(second).toMatchObject({ session: first.session, attach: 'continue' });
    expect(second.response.previous_response_id).toBe(first.response.id);
    const third = await ask({ input: 'Sure?', previous_response_id: second.response.id });
    expect(third.response.output_text).toBe('I am sure.');
    expect(third).toMatchObject({ session: first.session, attach: 'continue' });
    // What ran on the server is still there, though no client has ever seen it.
    const last = upstream.requests[3];
    expect(last && resultsOf(last)).toEqual([expect.stringContaining('the answer is 42'), '42 and more']);
    expect((await openai.responses.retrieve(second.response.id)).output_text).toBe('Bern has 42.');
    expect(toolCallsIn(await openai.responses.retrieve(first.response.id))).toEqual([id]);
  });

  it('goes on by its history alone where nothing is stored', async () => {
    const { ask, upstream, openai } = await agent(
      [
        callsAnswer(call('Bash', { command: 'cat notes.txt', description: 'x' }, 'b1')),
        callsAnswer(lookup('Bern', 'c1')),
        textAnswer('Bern has 42.'),
        textAnswer('I am sure.'),
      ],
      stream,
    );
    const input: ResponseInputItem[] = [{ role: 'user', content: 'How many has Bern?' }];
    const first = await ask({ input, store: false });
    const [id = ''] = toolCallsIn(first.response);
    input.push(...echo(first.response), output(id, '42 and more'));
    const second = await ask({ input, store: false });
    expect(second).toMatchObject({ session: first.session, attach: 'continue' });
    input.push(...echo(second.response), { role: 'user', content: 'Sure?' });
    const third = await ask({ input, store: false });
    expect(third.response.output_text).toBe('I am sure.');
    expect(third).toMatchObject({ session: first.session, attach: 'continue' });
    const last = upstream.requests[3];
    expect(last && resultsOf(last)).toEqual([expect.stringContaining('the answer is 42'), '42 and more']);
    await expect(openai.responses.retrieve(first.response.id)).rejects.toMatchObject({ status: 404 });
  });

  it('takes results one by one, each answer a response of its own', async () => {
    const { ask, upstream, openai } = await agent(
      [
        callsAnswer(lookup('Bern', 'c1'), lookup('Basel', 'c2'), lookup('Zug', 'c3')),
        textAnswer('All three.'),
      ],
      stream,
    );
    const first = await ask({ input: 'How many have they?' });
    const ids = toolCallsIn(first.response);
    expect(ids).toHaveLength(3);
    const [one = '', two = '', three = ''] = ids;
    const second = await ask({ input: [output(two, 'two')], previous_response_id: first.response.id });
    expect(toolCallsIn(second.response)).toEqual([one, three]);
    expect(second.response.id).not.toBe(first.response.id);
    const third = await ask({ input: [output(three, 'three')], previous_response_id: second.response.id });
    expect(toolCallsIn(third.response)).toEqual([one]);
    expect(toolCallsIn(await openai.responses.retrieve(second.response.id))).toEqual([one, three]);
    const fourth = await ask({ input: [output(one, 'one')], previous_response_id: third.response.id });
    expect(fourth.response.output_text).toBe('All three.');
    expect([second, third, fourth].map(({ session }) => session)).toEqual(Array(3).fill(first.session));
    const last = upstream.requests[1];
    expect(last && resultsOf(last)).toEqual(['one', 'two', 'three']);
    expect(upstream.requests).toHaveLength(2);
  });

  it('gives the recorded answer, in the same session, when results are sent again', async () => {
    const { ask, upstream } = await agent(
      [callsAnswer(lookup('Bern', 'c1')), textAnswer('Bern has 42.')],
      stream,
    );
    const first = await ask({ input: 'How many has Bern?' });
    const [id = ''] = toolCallsIn(first.response);
    const body = { input: [output(id, '42')], previous_response_id: first.response.id };
    const [answered, again] = [await ask(body), await ask(body)];
    expect(again.response.output_text).toBe(answered.response.output_text);
    expect(again.session).toBe(first.session);
    expect(upstream.requests).toHaveLength(2);
  });

  it('hands out one call at a time where the client wants no parallel ones', async () => {
    const { ask, upstream } = await agent(
      [callsAnswer(lookup('Bern', 'c1'), lookup('Basel', 'c2')), textAnswer('Both.')],
      stream,
    );
    const first = await ask({ input: 'How many have they?', parallel_tool_calls: false });
    const [one = '', ...others] = toolCallsIn(first.response);
    expect(others).toEqual([]);
    const second = await ask({
      input: [output(one, 'one')],
      previous_response_id: first.response.id,
      parallel_tool_calls: false,
    });
    const [two = ''] = toolCallsIn(second.response);
    expect(two).not.toBe(one);
    const third = await ask({
      input: [output(two, 'two')],
      previous_response_id: second.response.id,
      parallel_tool_calls: false,
    });
    expect(third.response.output_text).toBe('Both.');
    const last = upstream.requests[1];
    expect(last && resultsOf(last)).toEqual(['one', 'two']);
  });
});

describe('a response that is not there', () => {
  it('is a 404 that names it: unknown, deleted, and another key’s', async () => {
    const keys = ['alice', 'bob'].map((name) => ({ key: `secret-of-${name}`, name, scopes: ['call'] }));
    const repo = await repository({ a: 'a' });
    const steps = [textAnswer('One.'), textAnswer('Two.')];
    const { gateway, upstream } = await startAgent('openai-chat', repo.root, steps, {
      rest: { server: { keys } },
    });
    const [alice, bob] = ['alice', 'bob'].map((name) =>
      openaiClient(gateway.url, { apiKey: `secret-of-${name}` }),
    );
    if (alice === undefined || bob === undefined) throw new Error('There are two keys');
    const first = await alice.responses.create({ model: 'coder', input: 'One' });
    const second = await alice.responses.create({ model: 'coder', input: 'Two' });
    await alice.responses.delete(second.id);
    for (const [client, id] of [
      [alice, 'resp_unknown'],
      [alice, second.id],
      [bob, first.id],
    ] as const) {
      const asked = client.responses.create({ model: 'coder', input: 'more', previous_response_id: id });
      await expect(asked).rejects.toMatchObject({
        status: 404,
        code: 'previous_response_not_found',
        param: 'previous_response_id',
        message: expect.stringContaining(id),
      });
    }
    expect(upstream.requests).toHaveLength(2);
  });
});

describe('a gateway that starts again', () => {
  it('goes on by the id of a response that its former process gave', async () => {
    const repo = await repository({ a: 'a' });
    const { gateway, upstream } = await startAgent('openai-chat', repo.root, [
      callsAnswer(lookup('Bern', 'c1')),
      textAnswer('Bern has 42.'),
    ]);
    const before = openaiClient(gateway.url);
    const first = await before.responses
      .create({ model: 'coder', input: 'How many?', tools: [LOOKUP] })
      .withResponse();
    await gateway.close();
    const again = await startTestGateway({ folder: gateway.folder });
    const [id = ''] = toolCallsIn(first.data);
    const second = await openaiClient(again.url)
      .responses.create({
        model: 'coder',
        input: [output(id, '42')],
        previous_response_id: first.data.id,
      })
      .withResponse();
    expect(second.data.output_text).toBe('Bern has 42.');
    expect(second.response.headers.get('x-session-id')).toBe(first.response.headers.get('x-session-id'));
    expect(upstream.requests).toHaveLength(2);
  });
});
