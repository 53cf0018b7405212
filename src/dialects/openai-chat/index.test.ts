import { createServer, type Server } from 'node:http';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AnswerCollector } from '../../core/answer-collector.js';
import type { ConversationRequest } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import { StreamLifecycle } from '../../core/lifecycle.js';
import { LossLog } from '../../core/losses.js';
import { openaiChat } from './index.js';

/** The official client against a server that is nothing but this dialect. */
let server: Server;
let client: OpenAI;
let script: (request: ConversationRequest) => ModelEvent[];
let seen: ConversationRequest[];

beforeEach(async () => {
  seen = [];
  server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { ingress } = openaiChat;
      try {
        const request = ingress.decodeRequest(JSON.parse(Buffer.concat(chunks).toString()));
        seen.push(request);
        const form = ingress.answerForm?.(request);
        const context = { model: request.model, requestId: 'req_1', created: 1, ...(form ? { form } : {}) };
        const lifecycle = new StreamLifecycle({ id: 'msg_1', model: request.model });
        const events = [...lifecycle.push(script(request)), ...lifecycle.end()];
        if (request.stream) {
          outgoing.setHeader('content-type', 'text/event-stream');
          const encoder = ingress.createStreamEncoder(request, context);
          for (const event of events) outgoing.write(encoder.encode([event]));
          outgoing.end();
        } else {
          const collector = new AnswerCollector();
          collector.push(events);
          outgoing.setHeader('content-type', 'application/json');
          outgoing.end(JSON.stringify(ingress.encodeResponse(collector.finish(), context, new LossLog())));
        }
      } catch (error) {
        const known = error instanceof GatewayError ? error : new GatewayError('internal', String(error));
        outgoing.statusCode = known.status;
        outgoing.setHeader('content-type', 'application/json');
        outgoing.end(JSON.stringify(ingress.encodeError(known, 'req_1')));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  client = new OpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 });
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const TOOLS = [
  {
    type: 'function' as const,
    function: {
      name: 'calculate',
      parameters: {
        type: 'object',
        properties: { expression: { type: 'string' } },
        required: ['expression'],
      },
    },
  },
];
const QUESTION = [{ role: 'user' as const, content: '123 + 456?' }];

const CALL: ModelEvent[] = [
  { type: 'thinking', text: 'hm' },
  { type: 'signature', signature: 'c2ln' },
  { type: 'text', text: 'Let me see. ' },
  { type: 'tool', key: 0, id: 'call_1', name: 'calculate' },
  { type: 'tool-input', key: 0, json: '{"expression":' },
  { type: 'ping' },
  { type: 'tool-input', key: 0, json: '"123 + 456"}' },
  { type: 'usage', usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 90 } },
  { type: 'stop', reason: 'tool_use' },
];
const ANSWER: ModelEvent[] = [
  { type: 'text', text: 'It is 579.' },
  { type: 'stop', reason: 'end_turn' },
];

describe('the official client', () => {
  it('reads a whole answer', async () => {
    script = () => CALL;
    const completion = await client.chat.completions.create({ model: 'm', messages: QUESTION, tools: TOOLS });
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'Let me see. ',
        tool_calls: [
          { id: 'call_1', function: { name: 'calculate', arguments: '{"expression":"123 + 456"}' } },
        ],
      },
    });
    expect(completion.usage).toMatchObject({
      prompt_tokens: 100,
      prompt_tokens_details: { cached_tokens: 90 },
    });
  });

  it('reads a stream with its own helper, and echoes it so that nothing is lost', async () => {
    script = () => CALL;
    const stream = client.chat.completions.stream({
      model: 'm',
      messages: QUESTION,
      tools: TOOLS,
      stream_options: { include_usage: true },
    });
    const completion = await stream.finalChatCompletion();
    const message = completion.choices[0]?.message;
    expect(message).toMatchObject({
      role: 'assistant',
      content: 'Let me see. ',
      tool_calls: [{ id: 'call_1', type: 'function', function: { arguments: '{"expression":"123 + 456"}' } }],
    });
    expect(completion.usage?.total_tokens).toBe(105);
    if (message === undefined) return;
    script = () => ANSWER;
    await client.chat.completions.create({
      model: 'm',
      messages: [...QUESTION, message, { role: 'tool', tool_call_id: 'call_1', content: '579' }],
    });
    expect(seen[1]?.messages[1]?.content).toEqual([
      { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
      { type: 'text', text: 'Let me see. ' },
      { type: 'tool_use', id: 'call_1', name: 'calculate', input: { expression: '123 + 456' } },
    ]);
  });

  it('runs tools in a loop of its own', async () => {
    script = (request) => (request.messages.length === 1 ? CALL : ANSWER);
    const runner = client.chat.completions.runTools({
      model: 'm',
      stream: true,
      messages: QUESTION,
      tools: [
        {
          type: 'function',
          function: {
            name: 'calculate',
            description: 'Adds.',
            parameters: { type: 'object', properties: {} },
            parse: JSON.parse,
            function: ({ expression }: { expression: string }) => `${expression} = 579`,
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe('It is 579.');
    expect(seen[1]?.messages.at(-1)?.content).toMatchObject([
      { type: 'tool_result', toolUseId: 'call_1', content: [{ text: '123 + 456 = 579' }] },
    ]);
  });

  it('sees an error in the middle of a stream', async () => {
    script = () => [
      { type: 'text', text: 'a' },
      { type: 'error', error: new GatewayError('overloaded', 'The upstream is busy. Retry later.') },
    ];
    const stream = await client.chat.completions.create({ model: 'm', messages: QUESTION, stream: true });
    const read = async () => {
      let text = '';
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
      return text;
    };
    await expect(read()).rejects.toThrow('The upstream is busy. Retry later.');
  });

  it('sees what is wrong with a request', async () => {
    const wrong = client.chat.completions.create({ model: 'm', messages: QUESTION, temperature: 3 });
    await expect(wrong).rejects.toMatchObject({
      status: 400,
      param: 'temperature',
      type: 'invalid_request_error',
    });
  });
});
