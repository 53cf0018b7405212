import { describe, expect, it } from 'vitest';
import type { ConversationRequest } from '../core/conversation.js';
import { ToolExtensionCache } from './tool-extension-cache.js';

const request = (id: string): ConversationRequest => ({
  model: 'm',
  system: [],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'hi' }] },
    { role: 'assistant', content: [{ type: 'tool_use', id, name: 'A', input: {} }] },
  ],
  tools: [],
  providerTools: [],
  stopSequences: [],
  stream: true,
  extensions: {},
});

describe('ToolExtensionCache', () => {
  const extensions = { 'openai-chat': { extra_content: { google: { thought_signature: 's' } } } };

  it('puts back what the client could not carry', () => {
    const cache = new ToolExtensionCache();
    cache.remember([{ type: 'tool', key: 0, id: 'call_1', name: 'A', extensions }]);
    expect(cache.restore(request('call_1')).messages[1]?.content[0]).toMatchObject({
      id: 'call_1',
      extensions,
    });
  });

  it('leaves other requests as they are', () => {
    const cache = new ToolExtensionCache();
    const first = request('call_1');
    expect(cache.restore(first)).toBe(first);
    cache.remember([{ type: 'tool', key: 0, id: 'call_2', extensions }]);
    expect(cache.restore(first)).toBe(first);
  });

  it('does not grow without end', () => {
    const cache = new ToolExtensionCache();
    for (let i = 0; i < 5_000; i++) cache.remember([{ type: 'tool', key: 0, id: `call_${i}`, extensions }]);
    const old = request('call_1');
    expect(cache.restore(old)).toBe(old);
    expect(cache.restore(request('call_4999'))).not.toEqual(request('call_4999'));
  });
});
