import { describe, expect, it } from 'vitest';
import { compareBodies, locateLoss } from './compare.js';

const ANTHROPIC = {
  model: 'claude-x',
  max_tokens: 100,
  top_k: 7,
  system: [{ type: 'text', text: 'You are brief.', cache_control: { type: 'ephemeral', ttl: 'an hour' } }],
  messages: [
    { role: 'user', content: 'read it' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'Read', input: { path: '/tmp/x' } }] },
  ],
  tools: [
    { name: 'Read', input_schema: { type: 'object' } },
    { type: 'web_search_20250305', name: 'web_search' },
  ],
};
const CHAT = {
  model: 'gpt-x',
  max_completion_tokens: 100,
  stream_options: { include_usage: true },
  messages: [
    { role: 'system', content: 'You are brief. Use the tools.' },
    { role: 'user', content: 'read it' },
    {
      role: 'assistant',
      tool_calls: [
        { id: 't1', type: 'function', function: { name: 'Read', arguments: '{"path":"/tmp/x"}' } },
      ],
    },
  ],
};

describe('differences of two bodies', () => {
  it('between dialects are values that did not arrive, and values that are new', () => {
    const { left, right } = compareBodies(ANTHROPIC, CHAT, false);
    expect([...left]).toEqual(['/model', '/top_k', '/system/0/cache_control/ttl', '/tools/1/name']);
    expect([...right]).toEqual(['/model', '/stream_options/include_usage', '/messages/0/content']);
  });

  it('within a dialect are places', () => {
    const { left, right } = compareBodies({ a: 1, b: { c: 2 } }, { a: 1, b: { c: 3, d: 4 } }, true);
    expect([...left]).toEqual(['/b/c']);
    expect([...right]).toEqual(['/b/c', '/b/d']);
  });

  it('are not looked for in bodies that are too large', () => {
    const large = Array.from({ length: 20_001 }, (_, index) => index);
    expect(compareBodies(large, [], true)).toEqual({ left: new Set(), right: new Set() });
  });
});

describe('the place of a loss', () => {
  it.each([
    ['messages.1.content.0', '/messages/1/content/0'],
    ['tools.web_search', '/tools/1'],
    ['topK', '/top_k'],
    ['messages.0.content.5.citations', '/messages/0/content'],
    ['system.0.cacheControl', '/system/0/cache_control'],
    ['thinking', undefined],
  ])('of %s is %s', (path, place) => {
    expect(locateLoss(ANTHROPIC, path)).toBe(place);
  });
});
