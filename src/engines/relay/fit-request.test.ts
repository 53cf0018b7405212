import { describe, expect, it } from 'vitest';
import type { ConversationRequest } from '../../core/conversation.js';
import type { ModelRule } from '../../routing/model-router.js';
import { fitRequest } from './fit-request.js';

const request: ConversationRequest = {
  model: 'm',
  system: [],
  messages: [],
  tools: [],
  serverTools: [],
  stopSequences: [],
  stream: false,
  maxTokens: 100,
  effort: 'max',
  extensions: {},
};
const rule: ModelRule = { engine: 'relay', upstreams: ['u'] };

describe('fitRequest', () => {
  it('is the request itself where nothing has to change', () => {
    const fitted = fitRequest(request, rule, {});
    expect(fitted.request).toBe(request);
    expect(fitted).toMatchObject({ changed: false, losses: [] });
  });

  it('cuts the length and the effort to what is configured, and says so', () => {
    const fitted = fitRequest(request, { ...rule, maxOutputTokens: 50, efforts: ['low', 'high'] }, {});
    expect(fitted.request).toMatchObject({ maxTokens: 50, effort: 'high' });
    expect(fitted.losses.map(({ path }) => path)).toEqual(['max_tokens', 'effort']);
    expect(fitted.changed).toBe(true);
  });

  it.each(['x-claude-code-session-id', 'session-id', 'x-session-id'])(
    'takes the cache key from %s',
    (name) => {
      const fitted = fitRequest(request, rule, { [name]: 'abc' });
      expect(fitted.request.cacheKey).toBe('abc');
      expect(fitted.changed).toBe(false);
    },
  );

  it('keeps the key that the client gave', () => {
    const given = { ...request, cacheKey: 'own' };
    expect(fitRequest(given, rule, { 'session-id': 'abc' }).request).toBe(given);
  });
});
