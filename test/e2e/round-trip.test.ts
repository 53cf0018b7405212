/**
 * The gateway as `npm start` starts it, with no configuration and no key: a tool call goes round
 * through every API and every helper of the official clients, in English and in Chinese.
 */
import { rm } from 'node:fs/promises';
import type Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway.js';
import { openRaw } from '../support/raw-http.js';
import { anthropicClient, openaiClient } from '../support/sdk.js';

let gateway: GatewayProcess;
beforeAll(async () => {
  gateway = await startGatewayProcess();
});
afterAll(async () => {
  await gateway.close();
  await rm(gateway.folder, { recursive: true, force: true });
});

const MODEL = 'custom-claude-4-sonnet';
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

interface Language {
  language: string;
  question: string;
  description: string;
  parameter: string;
}

const LANGUAGES: readonly [Language, Language] = [
  {
    language: 'English',
    question: 'Please calculate 123 + 456',
    description: 'Evaluates an arithmetic expression',
    parameter: 'The expression',
  },
  {
    language: 'Chinese',
    question: '请帮我计算 123 + 456',
    description: '执行数学计算',
    parameter: '数学表达式',
  },
];

const schemaOf = ({ parameter }: Language) =>
  ({
    type: 'object',
    properties: { expression: { type: 'string', description: parameter } },
    required: ['expression'],
  }) as const;

/** The same as a value that a client may change. */
const parametersOf = (language: Language) => {
  const { properties, required } = schemaOf(language);
  return { type: 'object' as const, properties, required: [...required] };
};

/** What the client's own function was called with; it knows one sum. */
class Calculator {
  readonly calls: unknown[] = [];

  run(input: unknown): string {
    this.calls.push(input);
    return '579';
  }
}

const CALLED = [{ expression: '123 + 456' }];

type Flow<Client> = (client: Client, language: Language, calculator: Calculator) => Promise<string>;

const textOf = (content: readonly { type: string; text?: string }[]): string =>
  content.map((block) => (block.type === 'text' ? (block.text ?? '') : '')).join('');

function anthropicTools(language: Language): Anthropic.Tool[] {
  return [{ name: 'calculate', description: language.description, input_schema: parametersOf(language) }];
}

/** Both steps by hand, as `ask` makes them. */
async function anthropicByHand(
  language: Language,
  calculator: Calculator,
  ask: (params: Anthropic.MessageCreateParamsNonStreaming) => Promise<Anthropic.Message>,
): Promise<string> {
  const base = { model: MODEL, max_tokens: 1024, tools: anthropicTools(language) };
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: language.question }];
  const asked = await ask({ ...base, messages });
  expect(asked).toMatchObject({ type: 'message', role: 'assistant', model: MODEL, stop_reason: 'tool_use' });
  const results = asked.content.flatMap((block): Anthropic.ToolResultBlockParam[] =>
    block.type === 'tool_use'
      ? [{ type: 'tool_result', tool_use_id: block.id, content: calculator.run(block.input) }]
      : [],
  );
  messages.push({ role: 'assistant', content: asked.content }, { role: 'user', content: results });
  const answered = await ask({ ...base, messages });
  expect(answered.stop_reason).toBe('end_turn');
  expect(answered.usage.input_tokens).toBeGreaterThan(0);
  expect(answered.usage.output_tokens).toBeGreaterThan(0);
  return textOf(answered.content);
}

const runnableTool = (language: Language, calculator: Calculator) =>
  betaTool({
    name: 'calculate',
    description: language.description,
    inputSchema: schemaOf(language),
    run: (input) => calculator.run(input),
  });

const ANTHROPIC: Readonly<Record<string, Flow<Anthropic>>> = {
  'messages.create': (client, language, calculator) =>
    anthropicByHand(language, calculator, (params) => client.messages.create(params)),

  'messages.create with stream': (client, language, calculator) =>
    anthropicByHand(language, calculator, async (params) => {
      const events: Anthropic.MessageStreamEvent[] = [];
      const stream = await client.messages.create({ ...params, stream: true });
      for await (const event of stream) events.push(event);
      expect(events.at(0)?.type).toBe('message_start');
      expect(events.at(-1)?.type).toBe('message_stop');
      // The same once more through the helper that puts events together.
      return client.messages.stream(params).finalMessage();
    }),

  'messages.stream': (client, language, calculator) =>
    anthropicByHand(language, calculator, (params) => client.messages.stream(params).finalMessage()),

  'beta.messages.toolRunner': async (client, language, calculator) => {
    const message = await client.beta.messages.toolRunner({
      model: MODEL,
      max_tokens: 1024,
      messages: [{ role: 'user', content: language.question }],
      tools: [runnableTool(language, calculator)],
    });
    return textOf(message.content);
  },

  'beta.messages.toolRunner with stream': async (client, language, calculator) => {
    const runner = client.beta.messages.toolRunner({
      model: MODEL,
      max_tokens: 1024,
      messages: [{ role: 'user', content: language.question }],
      tools: [runnableTool(language, calculator)],
      stream: true,
    });
    let said = '';
    for await (const stream of runner) said = textOf((await stream.finalMessage()).content);
    return said;
  },
};

function openaiTools(language: Language): OpenAI.ChatCompletionFunctionTool[] {
  const parameters = parametersOf(language);
  return [
    { type: 'function', function: { name: 'calculate', description: language.description, parameters } },
  ];
}

async function openaiByHand(
  language: Language,
  calculator: Calculator,
  ask: (params: OpenAI.ChatCompletionCreateParamsNonStreaming) => Promise<OpenAI.ChatCompletion>,
): Promise<string> {
  const base = { model: MODEL, tools: openaiTools(language) };
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: language.question }];
  const asked = await ask({ ...base, messages });
  const [choice] = asked.choices;
  if (choice === undefined) throw new Error('There is no choice');
  expect(asked).toMatchObject({ object: 'chat.completion', model: MODEL });
  expect(choice.finish_reason).toBe('tool_calls');
  messages.push(choice.message);
  for (const call of choice.message.tool_calls ?? []) {
    if (call.type !== 'function') continue;
    const content = calculator.run(JSON.parse(call.function.arguments));
    messages.push({ role: 'tool', tool_call_id: call.id, content });
  }
  const answered = await ask({ ...base, messages });
  expect(answered.choices[0]?.finish_reason).toBe('stop');
  return answered.choices[0]?.message.content ?? '';
}

const runnableFunction = (language: Language, calculator: Calculator) => ({
  type: 'function' as const,
  function: {
    name: 'calculate',
    description: language.description,
    parameters: parametersOf(language),
    parse: (text: string): object => JSON.parse(text),
    function: (input: object) => calculator.run(input),
  },
});

function responsesTools(language: Language): OpenAI.Responses.FunctionTool[] {
  const parameters = parametersOf(language);
  const { description } = language;
  return [{ type: 'function', name: 'calculate', description, parameters, strict: false }];
}

interface ResponsesAsk {
  model: string;
  tools: OpenAI.Responses.FunctionTool[];
  store: boolean;
  input: OpenAI.Responses.ResponseInput;
}

async function responsesByHand(
  language: Language,
  calculator: Calculator,
  ask: (params: ResponsesAsk) => Promise<OpenAI.Responses.Response>,
): Promise<string> {
  const base = { model: MODEL, tools: responsesTools(language), store: false };
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: language.question }];
  const asked = await ask({ ...base, input });
  expect(asked).toMatchObject({ object: 'response', model: MODEL, status: 'completed' });
  for (const item of asked.output) {
    if (item.type !== 'function_call') continue;
    const output = calculator.run(JSON.parse(item.arguments));
    input.push(item, { type: 'function_call_output', call_id: item.call_id, output });
  }
  const answered = await ask({ ...base, input });
  expect(answered.usage?.input_tokens).toBeGreaterThan(0);
  return answered.output_text;
}

const OPENAI: Readonly<Record<string, Flow<OpenAI>>> = {
  'chat.completions.create': (client, language, calculator) =>
    openaiByHand(language, calculator, (params) => client.chat.completions.create(params)),

  'chat.completions.create with stream': (client, language, calculator) =>
    openaiByHand(language, calculator, async (params) => {
      const options = { include_usage: true };
      const stream = await client.chat.completions.create({
        ...params,
        stream: true,
        stream_options: options,
      });
      const chunks: OpenAI.ChatCompletionChunk[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      expect(chunks.at(-1)?.usage?.total_tokens).toBeGreaterThan(0);
      return client.chat.completions.stream({ ...params, stream: true }).finalChatCompletion();
    }),

  'chat.completions.stream': (client, language, calculator) =>
    openaiByHand(language, calculator, (params) =>
      client.chat.completions.stream({ ...params, stream: true }).finalChatCompletion(),
    ),

  'chat.completions.runTools': async (client, language, calculator) => {
    const runner = client.chat.completions.runTools({
      model: MODEL,
      messages: [{ role: 'user', content: language.question }],
      tools: [runnableFunction(language, calculator)],
    });
    return (await runner.finalContent()) ?? '';
  },

  'chat.completions.runTools with stream': async (client, language, calculator) => {
    const runner = client.chat.completions.runTools({
      model: MODEL,
      messages: [{ role: 'user', content: language.question }],
      tools: [runnableFunction(language, calculator)],
      stream: true,
    });
    return (await runner.finalContent()) ?? '';
  },

  'responses.create': (client, language, calculator) =>
    responsesByHand(language, calculator, (params) => client.responses.create(params)),

  'responses.stream': (client, language, calculator) =>
    responsesByHand(language, calculator, (params) => client.responses.stream(params).finalResponse()),
};

describe.each(LANGUAGES)('a tool call in $language goes round', (language) => {
  it.each(Object.keys(ANTHROPIC))('anthropic %s', async (name) => {
    const calculator = new Calculator();
    const said = await ANTHROPIC[name]?.(anthropicClient(gateway.url), language, calculator);
    expect(calculator.calls).toEqual(CALLED);
    expect(said).toContain('579');
  });

  it.each(Object.keys(OPENAI))('openai %s', async (name) => {
    const calculator = new Calculator();
    const said = await OPENAI[name]?.(openaiClient(gateway.url), language, calculator);
    expect(calculator.calls).toEqual(CALLED);
    expect(said).toContain('579');
  });
});

/** Two requests as people paste them into a shell, byte for byte. */
const CURL_FIRST = `{
    "model": "custom-claude-4-sonnet",
    "messages": [
      {
        "role": "user",
        "content": "请帮我计算 123 + 456"
      }
    ],
    "tools": [{
      "type": "function",
      "function": {
        "name": "calculate",
        "description": "执行数学计算",
        "parameters": {
          "type": "object",
          "properties": {
            "expression": {
              "type": "string",
              "description": "数学表达式"
            }
          },
          "required": ["expression"]
        }
      }
    }]
  }`;

/** It offers no tools, and its session header is a placeholder that nobody filled in. */
const CURL_SECOND = `{
    "model": "custom-claude-4-sonnet",
    "messages": [
      {
        "role": "user",
        "content": "请帮我计算 123 + 456"
      },
      {
        "role": "assistant",
        "content": null,
        "tool_calls": [{
          "id": "call_abc123",
          "type": "function",
          "function": {
            "name": "calculate",
            "arguments": "{\\"expression\\": \\"123 + 456\\"}"
          }
        }]
      },
      {
        "role": "tool",
        "content": "579",
        "tool_call_id": "call_abc123"
      }
    ]
  }`;

async function curl(path: string, body: string, headers: readonly string[] = []): Promise<unknown> {
  const { host } = new URL(gateway.url);
  const lines = [
    `POST ${path} HTTP/1.1`,
    `Host: ${host}`,
    'User-Agent: curl/8.5.0',
    'Accept: */*',
    'Content-Type: application/json',
    ...headers,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  const connection = await openRaw(gateway.url);
  await connection.send(`${lines.join('\r\n')}\r\n\r\n${body}`);
  const response = await connection.response();
  expect(response.status, response.text).toBe(200);
  return response.json();
}

describe('requests as they are pasted', () => {
  it('call a tool on /v1/chat/completions, and answer from its result without tools', async () => {
    expect(await curl('/v1/chat/completions', CURL_FIRST)).toMatchObject({
      object: 'chat.completion',
      model: 'custom-claude-4-sonnet',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [
              { type: 'function', function: { name: 'calculate', arguments: '{"expression":"123 + 456"}' } },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
    });
    const answered = await curl('/v1/chat/completions', CURL_SECOND, ['X-Session-ID: <会话ID>']);
    expect(answered).toMatchObject({
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: expect.stringContaining('579') },
          finish_reason: 'stop',
        },
      ],
    });
  });

  it('do the same on /v1/messages, where the history alone says what went before', async () => {
    const user = { role: 'user', content: 'What is the weather in Paris?' };
    const tools = [
      {
        name: 'get_weather',
        description: 'The weather of a city',
        input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    ];
    const base = { model: 'claude-code-opus', max_tokens: 1024 };
    const asked = await curl('/v1/messages', JSON.stringify({ ...base, messages: [user], tools }));
    expect(asked).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: 'claude-code-opus',
      content: [{ type: 'tool_use', id: expect.any(String), name: 'get_weather', input: { city: 'Paris' } }],
      stop_reason: 'tool_use',
      usage: { input_tokens: expect.any(Number), output_tokens: expect.any(Number) },
    });
    const call = { type: 'tool_use', id: 'toolu_01abc', name: 'get_weather', input: { city: 'Paris' } };
    const result = { type: 'tool_result', tool_use_id: 'toolu_01abc', content: 'Sunny, 21 °C' };
    const messages = [user, { role: 'assistant', content: [call] }, { role: 'user', content: [result] }];
    expect(await curl('/v1/messages', JSON.stringify({ ...base, messages }))).toMatchObject({
      content: [{ type: 'text', text: expect.stringContaining('21') }],
      stop_reason: 'end_turn',
    });
  });
});

describe('what the official clients ask for besides', () => {
  it('lists models in the shape of each', async () => {
    const anthropic = anthropicClient(gateway.url);
    const openai = openaiClient(gateway.url);
    const first = (await anthropic.models.list()).data.find(({ id }) => id === 'demo');
    expect(first).toMatchObject({ type: 'model', id: 'demo', display_name: expect.any(String) });
    expect(await anthropic.models.retrieve('demo')).toMatchObject({ type: 'model', id: 'demo' });
    const other = (await openai.models.list()).data.find(({ id }) => id === 'demo');
    expect(other).toMatchObject({ object: 'model', id: 'demo', owned_by: expect.any(String) });
    expect(await openai.models.retrieve('demo')).toMatchObject({ object: 'model', id: 'demo' });
  });

  it('counts tokens', async () => {
    const { input_tokens: tokens } = await anthropicClient(gateway.url).messages.countTokens({
      model: MODEL,
      messages: [{ role: 'user', content: 'Hello there' }],
    });
    expect(tokens).toBeGreaterThan(0);
  });

  it('takes images and a system prompt on /v1/messages', async () => {
    const message = await anthropicClient(gateway.url).messages.create({
      model: MODEL,
      max_tokens: 1024,
      system: [{ type: 'text', text: 'You are brief.', cache_control: { type: 'ephemeral' } }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
            { type: 'text', text: 'What is this?' },
          ],
        },
      ],
    });
    expect(message.stop_reason).toBe('end_turn');
    expect(textOf(message.content)).not.toBe('');
  });

  it('takes images and a system prompt on /v1/chat/completions', async () => {
    const completion = await openaiClient(gateway.url).chat.completions.create({
      model: MODEL,
      messages: [
        { role: 'system', content: 'You are brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
          ],
        },
      ],
    });
    expect(completion.choices[0]?.finish_reason).toBe('stop');
    expect(completion.choices[0]?.message.content).toBeTruthy();
  });

  it('takes images and instructions on /v1/responses', async () => {
    const response = await openaiClient(gateway.url).responses.create({
      model: MODEL,
      instructions: 'You are brief.',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is this?' },
            { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}`, detail: 'auto' },
          ],
        },
      ],
    });
    expect(response.status).toBe('completed');
    expect(response.output_text).not.toBe('');
  });

  it('still speaks of functions to clients that do', async () => {
    const [language] = LANGUAGES;
    const params = {
      model: MODEL,
      messages: [{ role: 'user' as const, content: language.question }],
      functions: [
        { name: 'calculate', description: language.description, parameters: parametersOf(language) },
      ],
    };
    const client = openaiClient(gateway.url);
    const whole = await client.chat.completions.create(params);
    const streamed = await client.chat.completions.stream({ ...params, stream: true }).finalChatCompletion();
    for (const { choices } of [whole, streamed]) {
      expect(choices[0]?.finish_reason).toBe('function_call');
      expect(choices[0]?.message.function_call?.name).toBe('calculate');
      expect(choices[0]?.message.tool_calls ?? []).toEqual([]);
    }
  });

  it('turns an error into the exception that the client has for it', async () => {
    const anthropic = anthropicClient(gateway.url);
    const openai = openaiClient(gateway.url);
    await expect(
      anthropic.messages.create({ model: MODEL, max_tokens: -1, messages: [{ role: 'user', content: 'x' }] }),
    ).rejects.toMatchObject({
      status: 400,
      error: { type: 'error', error: { type: 'invalid_request_error' } },
    });
    await expect(openai.chat.completions.create({ model: '', messages: [] })).rejects.toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      param: 'model',
    });
  });
});
