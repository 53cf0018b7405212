import { describe, expect, it } from 'vitest';
import { requestDigest } from './idempotency-key.js';

const BODY = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };

describe('two requests', () => {
  it('are the same whichever way they want their answer sent', () => {
    const digest = requestDigest('openai-chat', BODY);
    expect(requestDigest('openai-chat', { ...BODY, stream: true })).toBe(digest);
    expect(requestDigest('openai-chat', { ...BODY, stream: false, stream_options: {} })).toBe(digest);
  });

  it('differ in what they say, in the dialect that they say it in, and in the session that they name', () => {
    const digest = requestDigest('openai-chat', BODY);
    expect(requestDigest('openai-chat', { ...BODY, temperature: 0 })).not.toBe(digest);
    expect(requestDigest('anthropic-messages', BODY)).not.toBe(digest);
    expect(requestDigest('openai-chat', BODY, 'ses_1')).not.toBe(digest);
  });
});
