import { describe, expect, it } from 'vitest';
import { startTestGateway } from '../support/gateway.js';
import { openaiClient } from '../support/sdk.js';

describe('the official OpenAI client on /v1/responses', () => {
  it('gets a whole answer', async () => {
    const gateway = await startTestGateway();
    const client = openaiClient(gateway.url);
    const response = await client.responses.create({ model: 'demo', input: 'Say hello' });
    expect(response.status).toBe('completed');
    expect(response.output_text).not.toBe('');
  });
  it('streams', async () => {
    const gateway = await startTestGateway();
    const client = openaiClient(gateway.url);
    const stream = client.responses.stream({ model: 'demo', input: 'Say hello' });
    let text = '';
    stream.on('response.output_text.delta', (event) => {
      text += event.delta;
    });
    const response = await stream.finalResponse();
    expect(response.status).toBe('completed');
    expect(response.output_text).toBe(text);
  });
});
