import { describe, expect, it } from 'vitest';
import { callOf, userSays } from '../../../../test/support/native-engine-bench.js';
import type { ConversationRequest, Message } from '../../../core/conversation.js';
import { stepRequest } from './model-step.js';

const MARK = { 'anthropic-messages': { cache_control: { type: 'ephemeral' } } };
const marks = (value: unknown): number => JSON.stringify(value).split('cache_control').length - 1;

const made = (messages: Message[], request: Partial<ConversationRequest> = {}) => {
  const { request: base } = callOf(messages, request);
  return stepRequest(base, {
    system: [
      { type: 'text', text: 'own' },
      { type: 'text', text: "the client's", extensions: MARK },
    ],
    messages,
    tools: [{ name: 'f', extensions: MARK }],
    cacheKey: 'ses_1',
  });
};

describe('the request of a model call', () => {
  it('is marked for prompt caches where the next call can use it, at most four times', () => {
    const marked: Message = { role: 'assistant', content: [{ type: 'text', text: 'b', extensions: MARK }] };
    const request = made([userSays('a'), marked, userSays('c'), marked, userSays('d')], {
      extensions: { 'anthropic-messages': { cache_control: { type: 'ephemeral' }, container: 'x' } },
    });
    expect(request.system.map(marks)).toEqual([1, 1]);
    expect(request.tools.map(marks)).toEqual([0]);
    expect(request.messages.map(marks)).toEqual([0, 0, 1, 0, 1]);
    expect(request.extensions).toEqual({ 'anthropic-messages': { container: 'x' } });
  });

  it('leaves the transcript as it is', () => {
    const messages = [userSays('a')];
    made(messages);
    expect(marks(messages)).toBe(0);
  });

  it('is streamed, keeps a cache key of the client, and says nothing of what an upstream keeps', () => {
    const request = made([userSays('a')], {
      stream: false,
      cacheKey: 'own',
      continues: { dialect: 'openai-responses', id: 'resp_1', param: 'previous_response_id' },
      toolChoice: { type: 'any' },
    });
    expect(request).toMatchObject({ stream: true, cacheKey: 'own' });
    expect(request).not.toHaveProperty('continues');
    expect(request).not.toHaveProperty('toolChoice');
    expect(made([userSays('a')]).cacheKey).toBe('ses_1');
  });
});
