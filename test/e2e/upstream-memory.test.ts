/** Connections to an upstream: used again after a stream, wherever the network cut its end. */
import { describe, expect, it } from 'vitest';
import { startTestGateway } from '../support/gateway.js';
import { type Piece, sse, startUpstream } from '../support/scripted-upstream.js';
import { anthropicClient } from '../support/sdk.js';
import { callAnswer, chatStream, textAnswer } from '../support/wire.js';

const STREAM = chatStream(textAnswer('hello'));

async function ask(url: string): Promise<void> {
  const stream = anthropicClient(url).messages.stream({
    model: 'm',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'hi' }],
  });
  await stream.finalMessage();
}

describe('a connection to an upstream', () => {
  it.each<[string, Piece[]]>([
    ['ends with the last event', [STREAM]],
    ['ends one write later', [STREAM, '']],
    ['has comments behind the last event', [STREAM, ': bye\n\n']],
  ])('is used again when the answer %s', async (_name, pieces) => {
    const upstream = await startUpstream(() => sse(pieces));
    const gateway = await startTestGateway({
      config: {
        upstreams: { up: upstream.config('openai-chat') },
        models: { '*': { upstream: 'up' } },
      },
    });
    for (let i = 0; i < 6; i++) {
      await ask(gateway.url);
      await upstream.whenIdle();
    }
    // The end of an answer may still be on its way when the next question comes.
    expect(upstream.connections).toBeLessThan(4);
  });

  it('does not keep the client waiting for an upstream that never ends its answer', async () => {
    const upstream = await startUpstream(() => sse([STREAM], { end: 'hang' }));
    const gateway = await startTestGateway({
      config: {
        upstreams: { up: upstream.config('openai-chat') },
        models: { '*': { upstream: 'up' } },
      },
    });
    await ask(gateway.url);
    expect(upstream.openRequests).toBe(1);
    await upstream.whenDisconnected();
  });
});

describe('a thought signature', () => {
  it('comes back on its call although the client could not carry it', async () => {
    const signed = chatStream(callAnswer('Read', { path: 'a' })).replace(
      '"type":"function"',
      '"type":"function","extra_content":{"google":{"thought_signature":"SIG"}}',
    );
    const upstream = await startUpstream([sse([signed]), sse([STREAM])]);
    const { dialect, base_url } = upstream.config('openai-chat');
    const gateway = await startTestGateway({
      config: {
        upstreams: { up: { dialect, base_url, profile: 'gemini' } },
        models: { '*': { upstream: 'up' } },
      },
    });
    const client = anthropicClient(gateway.url);
    const request = { model: 'm', max_tokens: 10, messages: [{ role: 'user' as const, content: 'read a' }] };
    const first = await client.messages.stream(request).finalMessage();
    const [call] = first.content;
    if (call?.type !== 'tool_use') throw new Error('no call');
    await client.messages
      .stream({
        ...request,
        messages: [
          ...request.messages,
          { role: 'assistant', content: first.content },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: 'x' }] },
        ],
      })
      .finalMessage();
    expect(upstream.requests[1]?.json).toMatchObject({
      messages: [
        {},
        { tool_calls: [{ id: call.id, extra_content: { google: { thought_signature: 'SIG' } } }] },
        { role: 'tool' },
      ],
    });
  });
});
