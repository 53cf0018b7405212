import { expect, it } from 'vitest';
import { DIALECT_NAMES } from '../../src/core/conversation.js';
import { startTestGateway } from '../support/gateway.js';
import { answer } from '../support/replies.js';
import { startUpstream } from '../support/scripted-upstream.js';

/** Parsed without trouble, but too deep for anything that writes it again by recursion. */
const DEPTH = 50_000;
const nested = `${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`;

const ANSWERS = {
  'anthropic-messages': `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"toolu_1","name":"look","input":{"at":${nested}}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`,
  'openai-chat': `{"id":"c","object":"chat.completion","created":1,"model":"m","deep":${nested},"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}`,
  'openai-responses': `{"id":"resp_1","object":"response","created_at":1,"model":"m","status":"completed","output":[{"type":"odd","deep":${nested}}]}`,
} as const;

const REQUESTS = [
  ['/v1/messages', { max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] }],
  ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] }],
  ['/v1/responses', { input: 'Hi' }],
] as const;

it.each(DIALECT_NAMES)(
  'an answer of %s that nests too deep is the error of the upstream',
  async (dialect) => {
    const upstream = await startUpstream(() =>
      answer(ANSWERS[dialect], { framing: 'length', headers: { 'content-type': 'application/json' } }),
    );
    const gateway = await startTestGateway({
      config: { upstreams: { deep: upstream.config(dialect) }, models: { model: { upstream: 'deep' } } },
    });
    for (const [path, body] of REQUESTS) {
      const response = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'model', ...body }),
      });
      expect([path, response.status, await response.text()]).toEqual([
        path,
        502,
        expect.stringContaining('error'),
      ]);
    }
  },
);
