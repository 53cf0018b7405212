/** The official OpenAI client on `/v1/responses`, through a real gateway on the demo model. */
import type OpenAI from 'openai';
import { NotFoundError } from 'openai';
import type {
  Response,
  ResponseInputItem,
  ResponseStreamEvent,
  Tool,
} from 'openai/resources/responses/responses.js';
import { describe, expect, it } from 'vitest';
import { startTestGateway } from '../support/gateway.js';
import { openaiClient } from '../support/sdk.js';

const WEATHER: Tool = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather in a city',
  strict: true,
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
};
const ASK = 'What is the weather in Paris?';

async function client(): Promise<OpenAI> {
  return openaiClient((await startTestGateway()).url);
}

describe('answers', () => {
  it('come whole', async () => {
    const openai = await client();
    const response = await openai.responses.create({
      model: 'demo',
      input: 'Say hello',
      metadata: { run: '7' },
      temperature: 0.5,
    });
    expect(response).toMatchObject({
      object: 'response',
      status: 'completed',
      model: 'demo',
      metadata: { run: '7' },
      temperature: 0.5,
      error: null,
    });
    expect(response.id).toMatch(/^resp_/);
    expect(response.output_text).not.toBe('');
    expect(response.usage?.total_tokens).toBe(
      (response.usage?.input_tokens ?? 0) + (response.usage?.output_tokens ?? 0),
    );
  });

  it('stream, and the stream says the same as the whole', async () => {
    const openai = await client();
    const events: ResponseStreamEvent[] = [];
    const stream = openai.responses.stream({ model: 'demo', input: 'Say hello' });
    let text = '';
    stream.on('event', (event) => events.push(event));
    stream.on('response.output_text.delta', (event) => {
      text += event.delta;
      expect(event.snapshot).toBe(text);
    });
    const streamed = await stream.finalResponse();
    expect(streamed.status).toBe('completed');
    expect(streamed.output_text).toBe(text);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    const whole = await openai.responses.create({ model: 'demo', input: 'Say hello' });
    expect(streamed.output_text).toBe(whole.output_text);
  });

  it('parse into the schema that was asked for', async () => {
    const openai = await client();
    const response = await openai.responses.parse({
      model: 'demo',
      input: 'A number, please',
      text: {
        format: {
          type: 'json_schema',
          name: 'n',
          strict: true,
          schema: {
            type: 'object',
            properties: { n: { type: 'integer' } },
            required: ['n'],
            additionalProperties: false,
          },
        },
      },
    });
    expect(JSON.parse(response.output_text)).toHaveProperty('n');
  });
});

describe('tool calls', () => {
  it('make the round whole', async () => {
    const openai = await client();
    const first = await openai.responses.create({
      model: 'demo',
      input: ASK,
      tools: [WEATHER],
      store: false,
    });
    const call = first.output.find((item) => item.type === 'function_call');
    expect(call).toMatchObject({ name: 'get_weather', status: 'completed' });
    expect(JSON.parse(call?.arguments ?? '')).toEqual({ city: 'Paris' });
    const second = await openai.responses.create({
      model: 'demo',
      tools: [WEATHER],
      store: false,
      input: [
        { role: 'user', content: ASK },
        ...first.output.filter((item) => item.type === 'function_call'),
        { type: 'function_call_output', call_id: call?.call_id ?? '', output: 'Sunny, 21 degrees' },
      ],
    });
    expect(second.output_text).toContain('Sunny, 21 degrees');
  });

  it('stream, with arguments that the client parses', async () => {
    const openai = await client();
    const stream = openai.responses.stream({ model: 'demo', input: ASK, tools: [WEATHER] });
    let json = '';
    stream.on('response.function_call_arguments.delta', (event) => {
      json += event.delta;
      expect(event.snapshot).toBe(json);
    });
    const { output } = await stream.finalResponse();
    const call = output.find((item) => item.type === 'function_call');
    expect(call?.arguments).toBe(json);
    expect(call?.parsed_arguments).toEqual({ city: 'Paris' });
  });

  it('go to the tool of a namespace by its own name', async () => {
    const openai = await client();
    const { type: _type, ...weather } = WEATHER;
    const { output } = await openai.responses.create({
      model: 'demo',
      input: ASK,
      tools: [
        {
          type: 'namespace',
          name: 'sky',
          description: 'All about the sky',
          tools: [{ type: 'function', ...weather }],
        },
      ],
    });
    expect(output.find((item) => item.type === 'function_call')).toMatchObject({
      name: 'get_weather',
      namespace: 'sky',
    });
  });

  it('give a custom tool its free text', async () => {
    const openai = await client();
    const request = {
      model: 'demo',
      input: 'Use the shout tool with the input "hello there"',
      tools: [{ type: 'custom', name: 'shout', description: 'Shouts the input' }],
      tool_choice: { type: 'custom', name: 'shout' },
    } as const;
    const whole = await openai.responses.create({ ...request, tools: [...request.tools] });
    const call = whole.output.find((item) => item.type === 'custom_tool_call');
    expect(call?.name).toBe('shout');
    expect(call?.input).not.toBe('');
    const stream = openai.responses.stream({ ...request, tools: [...request.tools] });
    let text = '';
    stream.on('response.custom_tool_call_input.delta', (event) => {
      text += event.delta;
    });
    const streamed = (await stream.finalResponse()).output.find((item) => item.type === 'custom_tool_call');
    expect(streamed?.input).toBe(text);
    expect(streamed?.input).toBe(call?.input);
  });
});

describe('stored responses', () => {
  it.each([false, true])('go on by their id (streamed: %s)', async (streamed) => {
    const openai = await client();
    const ask = async (params: {
      input: string | ResponseInputItem[];
      previous_response_id?: string;
    }): Promise<Response> => {
      const request = { model: 'demo', tools: [WEATHER], ...params };
      return streamed ? openai.responses.stream(request).finalResponse() : openai.responses.create(request);
    };
    const first = await ask({ input: ASK });
    const call = first.output.find((item) => item.type === 'function_call');
    const second = await ask({
      previous_response_id: first.id,
      input: [{ type: 'function_call_output', call_id: call?.call_id ?? '', output: 'Sunny, 21 degrees' }],
    });
    expect(second.output_text).toContain('Sunny, 21 degrees');
    expect(second.previous_response_id).toBe(first.id);
    const third = await ask({ previous_response_id: second.id, input: 'Thanks' });
    const items = await openai.responses.inputItems.list(third.id, { order: 'asc' });
    expect(items.data.map(({ type }) => type)).toEqual([
      'message',
      'function_call',
      'function_call_output',
      'message',
      'message',
    ]);
  });

  it('are shown, listed and deleted', async () => {
    const openai = await client();
    const made = await openai.responses.create({ model: 'demo', input: 'Say hello' });
    expect(await openai.responses.retrieve(made.id)).toEqual(made);
    const page = await openai.responses.inputItems.list(made.id);
    expect(page.data).toMatchObject([{ role: 'user', content: [{ type: 'input_text', text: 'Say hello' }] }]);
    await openai.responses.delete(made.id);
    await expect(openai.responses.retrieve(made.id)).rejects.toThrow(NotFoundError);
    await expect(openai.responses.delete(made.id)).rejects.toThrow(NotFoundError);
    await expect(openai.responses.inputItems.list(made.id)).rejects.toThrow(NotFoundError);
  });

  it('page through what led to them', async () => {
    const openai = await client();
    const input = ['one', 'two', 'three'].map((content) => ({ role: 'user' as const, content }));
    const { id } = await openai.responses.create({ model: 'demo', input });
    const seen: unknown[] = [];
    for await (const item of openai.responses.inputItems.list(id, { limit: 2 })) {
      seen.push('content' in item ? item.content : undefined);
    }
    expect(seen).toEqual(['three', 'two', 'one']);
  });

  it('are unknown when they were not to be stored, or never were', async () => {
    const openai = await client();
    const { id } = await openai.responses.create({ model: 'demo', input: 'Say hello', store: false });
    await expect(openai.responses.retrieve(id)).rejects.toThrow(NotFoundError);
    const failure = await openai.responses
      .create({ model: 'demo', input: 'And?', previous_response_id: id })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NotFoundError);
    expect(failure).toMatchObject({
      code: 'previous_response_not_found',
      param: 'previous_response_id',
      type: 'invalid_request_error',
    });
  });

  it("are another key's secret", async () => {
    const gateway = await startTestGateway({
      config: {
        server: {
          keys: ['alice', 'bob'].map((name) => ({
            key: `key-of-${name}-0123456789`,
            name,
            scopes: ['call'],
          })),
        },
        models: { '*': { upstream: 'demo' } },
      },
    });
    const [alice, bob] = ['alice', 'bob'].map((name) =>
      openaiClient(gateway.url, { apiKey: `key-of-${name}-0123456789` }),
    );
    const made = await alice?.responses.create({ model: 'demo', input: 'Say hello' });
    const id = made?.id ?? '';
    await expect(alice?.responses.retrieve(id)).resolves.toMatchObject({ id });
    await expect(bob?.responses.retrieve(id)).rejects.toThrow(NotFoundError);
    await expect(
      bob?.responses.create({ model: 'demo', input: 'And?', previous_response_id: id }),
    ).rejects.toThrow(NotFoundError);
  });

  it('outlive a restart', async () => {
    const first = await startTestGateway();
    const made = await openaiClient(first.url).responses.create({ model: 'demo', input: 'Say hello' });
    await first.close();
    const second = await startTestGateway({ folder: first.folder });
    expect(await openaiClient(second.url).responses.retrieve(made.id)).toEqual(made);
  });
});
