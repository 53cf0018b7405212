/** A thousand broken requests: each is told so, and the gateway is as well as before. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openRaw, type RawConnection, requestBytes, sendRaw } from '../support/raw-http.js';
import { CHAT, JSON_HEADERS, MESSAGES, startServer, turnBytes } from './server-harness.js';

const PATHS = ['/v1/messages', '/v1/chat/completions', '/v1/messages/count_tokens'] as const;

const broken = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc.string({ maxLength: 300 }).map((text) => Buffer.from(text)),
  fc.integer({ min: 1, max: 60 }).map((cut) => Buffer.from(JSON.stringify(MESSAGES).slice(0, -cut))),
  fc.integer({ min: 201, max: 20_000 }).map((depth) => Buffer.from('[{"a":'.repeat(depth))),
  fc.constantFrom('null', '1', '"x"', '[]', '{}', 'true').map((text) => Buffer.from(text)),
);

/** A good body with one field of the wrong type. */
const mistyped = fc
  .tuple(
    fc.constantFrom(MESSAGES, CHAT),
    fc.constantFrom('model', 'messages'),
    fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.object({ maxDepth: 2 }), fc.constant('')),
  )
  .map(([body, field, value]) => Buffer.from(JSON.stringify({ ...body, [field]: value })));

/** HTTP lets blank lines stand before a request; alone they ask for nothing. */
const isMoreThanBlank = (bytes: Uint8Array): boolean => bytes.some((byte) => byte !== 10 && byte !== 13);

describe('broken requests', () => {
  it('are answered with a 4xx in their dialect, one after the other', async () => {
    const { url, calls } = await startServer();
    let connection: RawConnection = await openRaw(url);
    await fc.assert(
      fc.asyncProperty(fc.oneof(broken, mistyped), fc.constantFrom(...PATHS), async (body, path) => {
        if (connection.ended !== 'no') connection = await openRaw(url);
        await connection.send(requestBytes(url, { path, headers: JSON_HEADERS, body }));
        const response = await connection.response();
        expect(response.status).toBe(400);
        expect(response.json()).toMatchObject(
          path.startsWith('/v1/messages')
            ? { type: 'error', error: { type: 'invalid_request_error', message: expect.any(String) } }
            : { error: { type: 'invalid_request_error', message: expect.any(String) } },
        );
      }),
      { numRuns: 1000 },
    );
    expect(calls).toHaveLength(0);
    expect((await sendRaw(url, turnBytes(url))).status).toBe(200);
  });

  it('are answered or ended when they are not even HTTP', async () => {
    const { url } = await startServer({ limits: { lingerMs: 10 } });
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 200 }).filter(isMoreThanBlank),
        async (bytes) => {
          const connection = await openRaw(url);
          await connection.send(Buffer.concat([bytes, Buffer.from('\r\n\r\n')]));
          connection.end();
          const response = await connection.response();
          expect(response.status).toBe(400);
          await connection.leave('close');
        },
      ),
      { numRuns: 100 },
    );
    expect((await sendRaw(url, turnBytes(url))).status).toBe(200);
  });

  it('are ended without an answer when they are blank lines alone', async () => {
    const { url } = await startServer({ limits: { headersMs: 50, checkMs: 10, lingerMs: 10 } });
    const connection = await openRaw(url);
    await connection.send(Buffer.from('\n\r\n\r\n'));
    connection.end();
    await connection.until(() => false);
    expect(connection.ended).toBe('closed');
    expect(connection.received.length).toBe(0);
  });
});
