import { describe, expect, it } from 'vitest';
import { requestDigest } from './answer-once.js';

const BODY = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };

describe('the digest of a request', () => {
  it('is the same for streamed and whole answers', () => {
    const digest = requestDigest('openai-chat', BODY);
    expect(requestDigest('openai-chat', { ...BODY, stream: true })).toBe(digest);
    expect(requestDigest('openai-chat', { ...BODY, stream: false, stream_options: {} })).toBe(digest);
  });

  it('differs with the content, the dialect and the session id', () => {
    const digest = requestDigest('openai-chat', BODY);
    expect(requestDigest('openai-chat', { ...BODY, temperature: 0 })).not.toBe(digest);
    expect(requestDigest('anthropic-messages', BODY)).not.toBe(digest);
    expect(requestDigest('openai-chat', BODY, 'ses_1')).not.toBe(digest);
  });
});
