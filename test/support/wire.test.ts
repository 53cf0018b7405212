/** The builders are right when the official clients read them. */
import { describe, expect, it } from 'vitest';
import { errorInDialect, inDialect } from './scripted-answers.js';
import { byteByByte, startUpstream } from './scripted-upstream.js';
import { anthropicClient, openaiClient } from './sdk.js';
import { call, callsAnswer, cut, textAnswer, thinkingAnswer } from './wire.js';

const user = [{ role: 'user' as const, content: 'hi' }];
const calls = callsAnswer(call('read', { path: 'a b' }, 'call_1'), call('write', { path: 'ü' }, 'call_2'));

describe('scripted messages', () => {
  const request = { model: 'm', max_tokens: 10, messages: user };

  it('are read by the official client, whole and streamed', async () => {
    const upstream = await startUpstream(inDialect(calls));
    const client = anthropicClient(upstream.url);
    const whole = await client.messages.create(request);
    const streamed = await client.messages.stream(request).finalMessage();
    expect(whole.content).toMatchObject([
      { type: 'tool_use', id: 'call_1', name: 'read', input: { path: 'a b' } },
      { type: 'tool_use', id: 'call_2', name: 'write', input: { path: 'ü' } },
    ]);
    expect(streamed.content).toMatchObject(whole.content);
    expect(streamed.stop_reason).toBe('tool_use');
    expect(streamed.usage).toMatchObject({ input_tokens: 20, output_tokens: 10 });
    expect(upstream.requests[0]?.headers['authorization']).toBe('Bearer client-key');
  });

  it('carry thinking and its signature', async () => {
    const upstream = await startUpstream(
      inDialect(thinkingAnswer(['a', 'b'], 'c', 'sig'), { pieces: byteByByte }),
    );
    const message = await anthropicClient(upstream.url).messages.stream(request).finalMessage();
    expect(message.content).toMatchObject([
      { type: 'thinking', thinking: 'ab', signature: 'sig' },
      { type: 'text', text: 'c' },
    ]);
  });

  it('carry errors', async () => {
    const upstream = await startUpstream([errorInDialect(529, 'overloaded_error', 'Overloaded')]);
    await expect(anthropicClient(upstream.url).messages.create(request)).rejects.toMatchObject({
      status: 529,
      error: { error: { type: 'overloaded_error' } },
    });
  });
});

describe('scripted chat completions', () => {
  const request = { model: 'm', messages: user };

  it('are read by the official client, whole and streamed', async () => {
    const upstream = await startUpstream(inDialect(calls, { interleave: true }));
    const client = openaiClient(upstream.url);
    const whole = await client.chat.completions.create(request);
    const streamed = await client.chat.completions
      .stream({ ...request, stream_options: { include_usage: true } })
      .finalChatCompletion();
    expect(whole.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: null,
        tool_calls: [
          { id: 'call_1', function: { name: 'read', arguments: '{"path":"a b"}' } },
          { id: 'call_2', function: { name: 'write', arguments: '{"path":"ü"}' } },
        ],
      },
    });
    expect(streamed.choices[0]?.message.tool_calls).toMatchObject(whole.choices[0]?.message.tool_calls ?? []);
    expect(streamed.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 });
  });

  it('carry errors', async () => {
    const upstream = await startUpstream([errorInDialect(429, 'rate_limit_error', 'Slow down')]);
    await expect(openaiClient(upstream.url).chat.completions.create(request)).rejects.toMatchObject({
      status: 429,
      type: 'rate_limit_error',
    });
  });
});

describe('scripted responses', () => {
  const request = { model: 'm', input: 'hi' };

  it('are read by the official client, whole and streamed', async () => {
    const upstream = await startUpstream(inDialect(calls));
    const client = openaiClient(upstream.url);
    const whole = await client.responses.create(request);
    const streamed = await client.responses.stream(request).finalResponse();
    expect(whole.output).toMatchObject([
      { type: 'function_call', call_id: 'call_1', arguments: '{"path":"a b"}' },
      { type: 'function_call', call_id: 'call_2', arguments: '{"path":"ü"}' },
    ]);
    expect(streamed.output).toMatchObject(whole.output);
    expect(streamed.usage).toMatchObject({ input_tokens: 20, output_tokens: 10, total_tokens: 30 });
  });

  it('carry reasoning and text', async () => {
    const upstream = await startUpstream(inDialect(thinkingAnswer('why', ['b', 'c'], 'encrypted')));
    const response = await openaiClient(upstream.url).responses.stream(request).finalResponse();
    expect(response.output_text).toBe('bc');
    expect(response.output[0]).toMatchObject({ type: 'reasoning', summary: [{ text: 'why' }] });
  });

  it('are incomplete when cut off', async () => {
    const upstream = await startUpstream(inDialect(textAnswer('x', { stop: 'max_tokens' })));
    const response = await openaiClient(upstream.url).responses.create(request);
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
  });
});

it('text is cut without splitting a character', () => {
  expect(cut('a😀b', 1)).toEqual(['a', '😀', 'b']);
});
