/** What of an answer does not reach the client is named: in the header of a whole one, in the trace of a stream. */
import { describe, expect, it } from 'vitest';
import { command } from '../../src/cli/trace.js';
import { captureIo } from '../support/captured-io.js';
import { startTestGateway } from '../support/gateway.js';
import { json, sse, startUpstream } from '../support/scripted-upstream.js';
import { anthropicEvents, anthropicMessage, anthropicSse, textAnswer } from '../support/wire.js';

const CITATION = {
  type: 'char_location',
  cited_text: 'x',
  document_index: 0,
  start_char_index: 0,
  end_char_index: 1,
};

async function ask(stream: boolean, reply: ReturnType<typeof json>) {
  const upstream = await startUpstream([reply]);
  const gateway = await startTestGateway({
    config: { upstreams: { up: upstream.config('anthropic-messages') }, models: { '*': { upstream: 'up' } } },
  });
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: 'hi' }] }),
  });
  await response.text();
  await gateway.close();
  const io = captureIo({ cwd: gateway.folder });
  await command.run(
    { positionals: [], values: { config: 'toolgate.yaml' }, switches: new Set(), rest: [] },
    io,
  );
  return { header: response.headers.get('x-toolgate-losses') ?? '', trace: io.lines.join('\n') };
}

describe('citations for a client of another wire', () => {
  it('are named in the header of a whole answer', async () => {
    const whole = anthropicMessage(textAnswer('hello'));
    const content = [{ type: 'text', text: 'hello', citations: [CITATION] }];
    const { header } = await ask(false, json({ ...whole, content }));
    expect(header).toContain('citations');
  });

  it('are named in the trace of a streamed one', async () => {
    const events = anthropicEvents(textAnswer('hello'));
    const at = events.findIndex((event) => event['type'] === 'content_block_stop');
    const delta = {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'citations_delta', citation: CITATION },
    };
    const { trace } = await ask(true, sse(anthropicSse(events.toSpliced(at, 0, delta))));
    expect(trace).toContain('1 loss');
  });
});
