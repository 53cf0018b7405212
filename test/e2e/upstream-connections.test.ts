/** Connections to an upstream: used again after a stream, wherever the network cut its end. */
import { describe, expect, it } from 'vitest';
import { startTestGateway } from '../support/gateway.js';
import { type Piece, sse, startUpstream } from '../support/scripted-upstream.js';
import { anthropicClient } from '../support/sdk.js';
import { chatStream, textAnswer } from '../support/wire.js';

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
