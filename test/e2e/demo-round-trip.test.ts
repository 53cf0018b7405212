/** A newcomer's first minutes: the command as it starts without a file, and a tool call round both APIs. */
import { rm } from 'node:fs/promises';
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway.js';
import { anthropicClient, openaiClient } from '../support/sdk.js';

const MODEL = 'custom-claude-4-sonnet';
const QUESTION = '请帮我计算 123 + 456';
const PARAMETERS = {
  type: 'object' as const,
  properties: { expression: { type: 'string', description: '数学表达式' } },
  required: ['expression'],
};
const NAME = 'calculate';
const DESCRIPTION = '执行数学计算';
const WEATHER: Anthropic.Tool = {
  name: 'get_weather',
  description: 'Current weather of a city',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

/** Over all tests of this file: starting it is not what they are about. */
let gateway: GatewayProcess;
beforeAll(async () => {
  gateway = await startGatewayProcess();
});
afterAll(async () => {
  await gateway.close();
  await rm(gateway.folder, { recursive: true, force: true });
});

/** Of its one call, which has to be of `calculate`. */
function argumentsOf({ message }: OpenAI.ChatCompletion.Choice): unknown {
  const [call, ...more] = message.tool_calls ?? [];
  if (call?.type !== 'function' || more.length > 0) throw new Error('Not one call of a function came');
  expect(call.function.name).toBe(NAME);
  return JSON.parse(call.function.arguments);
}

describe('by plain HTTP', () => {
  async function post(
    request: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<OpenAI.ChatCompletion.Choice> {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: request,
    });
    expect(answer.status).toBe(200);
    const body: OpenAI.ChatCompletion = JSON.parse(await answer.text());
    expect(body).toMatchObject({ object: 'chat.completion', model: MODEL });
    const [choice] = body.choices;
    if (choice === undefined) throw new Error('No choice came');
    return choice;
  }

  it('a call comes back, and its result is answered without the tools and with any session header', async () => {
    const first = await post(`{
      "model": "${MODEL}",
      "messages": [{"role": "user", "content": "${QUESTION}"}],
      "tools": [{"type": "function", "function": {"name": "${NAME}", "description": "${DESCRIPTION}",
        "parameters": ${JSON.stringify(PARAMETERS)}}}]
    }`);
    expect(first).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    expect(argumentsOf(first)).toEqual({ expression: '123 + 456' });
    const last = await post(
      `{
      "model": "${MODEL}",
      "messages": [
        {"role": "user", "content": "${QUESTION}"},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "call_abc123", "type": "function",
          "function": {"name": "${NAME}", "arguments": "{\\"expression\\": \\"123 + 456\\"}"}}]},
        {"role": "tool", "content": "579", "tool_call_id": "call_abc123"}
      ]
    }`,
      { 'X-Session-ID': 'some-session' },
    );
    expect(last.finish_reason).toBe('stop');
    expect(last.message.content).toContain('579');
  });
});

describe.each([false, true])('with the official clients, stream %s', (stream) => {
  async function message(params: Anthropic.MessageCreateParamsNonStreaming): Promise<Anthropic.Message> {
    const { messages } = anthropicClient(gateway.url);
    return stream ? messages.stream(params).finalMessage() : messages.create(params);
  }

  async function completion(
    params: Pick<OpenAI.ChatCompletionCreateParams, 'model' | 'messages' | 'tools'>,
  ): Promise<OpenAI.ChatCompletion> {
    const { completions } = openaiClient(gateway.url).chat;
    return stream ? completions.stream(params).finalChatCompletion() : completions.create(params);
  }

  it.each([
    [
      'English',
      'What is the weather in Paris?',
      WEATHER,
      { city: 'Paris' },
      '18 degrees and sunny',
      '18 degrees',
    ],
    [
      'Chinese',
      QUESTION,
      { name: NAME, description: DESCRIPTION, input_schema: PARAMETERS },
      { expression: '123 + 456' },
      '579',
      '579',
    ],
  ])('a call goes round /v1/messages in %s', async (_, question, tool, input, result, answer) => {
    const user: Anthropic.MessageParam = { role: 'user', content: question };
    const base = { model: 'claude-code-opus', max_tokens: 1000 };
    const first = await message({ ...base, messages: [user], tools: [tool] });
    expect(first.stop_reason).toBe('tool_use');
    const call = first.content.find((block) => block.type === 'tool_use');
    expect(call).toMatchObject({ name: tool.name, input });
    const last = await message({
      ...base,
      messages: [
        user,
        { role: 'assistant', content: first.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: result }] },
      ],
      tools: [tool],
    });
    expect(last.stop_reason).toBe('end_turn');
    expect(last.content).toEqual([{ type: 'text', text: expect.stringContaining(answer) }]);
  });

  it('a call goes round /v1/chat/completions', async () => {
    const user: OpenAI.ChatCompletionMessageParam = { role: 'user', content: QUESTION };
    const tools: OpenAI.ChatCompletionFunctionTool[] = [
      { type: 'function', function: { name: NAME, description: DESCRIPTION, parameters: PARAMETERS } },
    ];
    const [asked] = (await completion({ model: MODEL, messages: [user], tools })).choices;
    if (asked === undefined) throw new Error('No choice came');
    expect(asked.finish_reason).toBe('tool_calls');
    expect(argumentsOf(asked)).toEqual({ expression: '123 + 456' });
    const last = await completion({
      model: MODEL,
      messages: [
        user,
        asked.message,
        { role: 'tool', tool_call_id: asked.message.tool_calls?.[0]?.id ?? '', content: '579' },
      ],
    });
    expect(last.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: expect.stringContaining('579') },
    });
  });
});
