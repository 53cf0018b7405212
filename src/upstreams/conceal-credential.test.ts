import { describe, expect, it } from 'vitest';
import { GatewayError } from '../core/errors.js';
import type { ModelEvent } from '../core/events.js';
import { CredentialConcealer } from './conceal-credential.js';

const concealer = new CredentialConcealer({
  baseUrl: 'http://127.0.0.1',
  apiKey: 'a-key-of-ours',
  headers: { 'x-auth': 'Bearer another-secret', 'x-short': 'no' },
});

describe('CredentialConcealer', () => {
  it('takes every credential that was sent out of an error and keeps the rest of it', () => {
    const said = new GatewayError('unauthenticated', 'wrong: a-key-of-ours, another-secret, no', {
      status: 403,
      retryable: true,
      retryAfter: 3,
      param: 'a-key-of-ours',
      detail: 'd',
    });
    expect(concealer.error(said)).toMatchObject({
      code: 'unauthenticated',
      message: 'wrong: [redacted], [redacted], no',
      status: 403,
      retryable: true,
      retryAfter: 3,
      param: '[redacted]',
      detail: 'd',
    });
  });

  it('takes what stands in the address out, as it is and as it is sent, and leaves what it asks for', () => {
    const inAddress = new CredentialConcealer({
      baseUrl:
        'https://me:pass%20word@example.com/v1?code=gateway%2Bcode&tenant=quiet-value&api-version=2024-10-21',
    });
    const said = new GatewayError(
      'upstream_failed',
      'POST /v1/x?code=gateway%2Bcode&tenant=quiet-value&api-version=2024-10-21: gateway+code, pass%20word',
    );
    expect(inAddress.error(said).message).toBe(
      'POST /v1/x?code=[redacted]&tenant=[redacted]&api-version=2024-10-21: [redacted], [redacted]',
    );
  });

  it('is the error itself where there is nothing to conceal', () => {
    const said = new GatewayError('invalid_request', 'no such field');
    expect(concealer.error(said)).toBe(said);
  });

  it('looks at the errors of a stream and at nothing else of it', () => {
    const error = new GatewayError('upstream_failed', 'key a-key-of-ours is bad');
    const events: ModelEvent[] = [
      { type: 'text', text: 'a-key-of-ours' },
      { type: 'error', error },
    ];
    concealer.errorsIn(events);
    expect(events).toMatchObject([
      { type: 'text', text: 'a-key-of-ours' },
      { error: { message: 'key [redacted] is bad' } },
    ]);
  });

  it('takes it out of bytes, and copies none without it', () => {
    const bytes = Buffer.from('data: é a-key-of-ours\n\n');
    expect(concealer.bytes(bytes).toString()).toBe('data: é [redacted]\n\n');
    const plain = Buffer.from('data: {}\n\n');
    expect(concealer.bytes(plain)).toBe(plain);
  });
});
