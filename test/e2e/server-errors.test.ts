/** Every failure, byte for byte, in the dialect of its route. */
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/core/errors.js';
import { openRaw, type RawResponse, requestBytes, sendRaw } from '../support/raw-http.js';
import { CHAT, JSON_HEADERS, MESSAGES, startServer } from './server-harness.js';

type Wire = 'anthropic' | 'openai' | 'api';

interface Expected {
  status: number;
  message: string;
  /** The words for it in each dialect: OpenAI has a type and a code. */
  type: { anthropic: string; openai: readonly [type: string, code: string | null]; api: string };
  param?: string;
  /** A finer code, where the error itself has one. */
  detail?: string;
}

/** The exact bytes that a client of the dialect must get. */
function bodyOf(wire: Wire, { message, type, param, detail }: Expected, id: string): string {
  switch (wire) {
    case 'anthropic':
      return JSON.stringify({
        type: 'error',
        error: {
          type: type.anthropic,
          message,
          ...(detail === undefined ? {} : { details: { error_code: detail } }),
        },
        request_id: id,
      });
    case 'openai':
      return JSON.stringify({
        error: { message, type: type.openai[0], param: param ?? null, code: detail ?? type.openai[1] },
      });
    case 'api':
      return JSON.stringify({
        error: { type: type.api, message, param: param ?? null, code: detail ?? null },
        request_id: id,
      });
  }
}

function expectError(response: RawResponse, wire: Wire, expected: Expected): void {
  const id = response.headers['request-id'] ?? '';
  expect(id).toMatch(/^req_[0-9a-f]{32}$/);
  expect(response.headers['x-request-id']).toBe(id);
  expect(response.headers['content-type']).toBe('application/json');
  expect(response.status).toBe(expected.status);
  expect(response.text).toBe(bodyOf(wire, expected, id));
}

/** The words of each dialect, by what went wrong. */
const WORDS = {
  invalid: {
    anthropic: 'invalid_request_error',
    openai: ['invalid_request_error', null],
    api: 'invalid_request',
  },
  mediaType: {
    anthropic: 'invalid_request_error',
    openai: ['invalid_request_error', 'unsupported_media_type'],
    api: 'unsupported_media_type',
  },
  method: {
    anthropic: 'invalid_request_error',
    openai: ['invalid_request_error', 'method_not_supported'],
    api: 'method_not_allowed',
  },
  notFound: {
    anthropic: 'not_found_error',
    openai: ['invalid_request_error', 'not_found'],
    api: 'not_found',
  },
  upstream: { anthropic: 'api_error', openai: ['server_error', 'upstream_error'], api: 'upstream_failed' },
  internal: { anthropic: 'api_error', openai: ['server_error', 'internal_error'], api: 'internal' },
} as const;

const TURNS: readonly (readonly [Wire, string, object])[] = [
  ['anthropic', '/v1/messages', MESSAGES],
  ['anthropic', '/v1/messages?beta=true', MESSAGES],
  ['openai', '/v1/chat/completions', CHAT],
  ['openai', '/v1/responses', { model: 'm', input: 'hi' }],
];

describe.each(TURNS)('%s errors on %s', (wire, path, good) => {
  const post = (url: string, body: string | Uint8Array, headers: Record<string, string> = JSON_HEADERS) =>
    sendRaw(url, requestBytes(url, { path, headers, body }));

  it.each([
    [
      'bad JSON',
      '{"model": "m",\n "messages": [}',
      'The body is not valid JSON at line 2, column 15 (offset 29): expected a value or "]".',
    ],
    ['an empty body', '', 'The body is empty. Send a JSON object.'],
    ['a body of spaces', ' \r\n ', 'The body is empty. Send a JSON object.'],
    [
      'deep nesting',
      '['.repeat(100_000) + ']'.repeat(100_000),
      'The body nests deeper than 200 levels. Flatten it.',
    ],
  ])('%s', async (_what, body, message) => {
    const { url } = await startServer();
    expectError(await post(url, body), wire, { status: 400, message, type: WORDS.invalid });
  });

  it('a body that is not UTF-8', async () => {
    const { url } = await startServer();
    expectError(await post(url, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])), wire, {
      status: 400,
      message: 'The body is not valid UTF-8. Encode it as UTF-8.',
      type: WORDS.invalid,
    });
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'json'])(
    'the content type %s',
    async (type) => {
      const { url } = await startServer();
      expectError(await post(url, JSON.stringify(good), { 'content-type': type }), wire, {
        status: 415,
        message: 'The content type is not JSON. Send "content-type: application/json".',
        type: WORDS.mediaType,
      });
    },
  );

  it('another charset', async () => {
    const { url } = await startServer();
    const headers = { 'content-type': 'application/json; charset=latin1' };
    expectError(await post(url, JSON.stringify(good), headers), wire, {
      status: 415,
      message: 'The charset is not UTF-8. Send the body as UTF-8.',
      type: WORDS.mediaType,
    });
  });

  it.each([
    {},
    { 'content-type': 'application/json; charset=UTF-8' },
    { 'content-type': 'APPLICATION/JSON' },
  ])('but takes JSON with the headers %j', async (headers) => {
    const { url } = await startServer();
    expect((await post(url, JSON.stringify(good), headers)).status).toBe(200);
  });

  it('an encoding that is not known', async () => {
    const { url } = await startServer();
    const headers = { ...JSON_HEADERS, 'content-encoding': 'zstd' };
    expectError(await post(url, JSON.stringify(good), headers), wire, {
      status: 415,
      message: 'The content encoding is not one of gzip, deflate, br. Send the body without one.',
      type: WORDS.mediaType,
    });
  });

  it('a method that the route does not take', async () => {
    const { url } = await startServer();
    const response = await sendRaw(url, requestBytes(url, { method: 'PUT', path }));
    const bare = path.split('?')[0];
    expect(response.headers['allow']).toBe('POST');
    expectError(response, wire, {
      status: 405,
      message: `${bare} does not take PUT. Use POST.`,
      type: WORDS.method,
    });
  });

  it('a model that nothing routes', async () => {
    const { url } = await startServer({
      run: async () => {
        throw new GatewayError('not_found', 'No model m.', { param: 'model', detail: 'model_not_found' });
      },
    });
    expectError(await post(url, JSON.stringify(good)), wire, {
      status: 404,
      message: 'No model m.',
      type: WORDS.notFound,
      param: 'model',
      detail: 'model_not_found',
    });
  });

  it('an upstream that is down, with its retry-after', async () => {
    const { url } = await startServer({
      run: async () => {
        throw new GatewayError('upstream_failed', 'Nobody answers.', { retryAfter: 2.2 });
      },
    });
    const response = await post(url, JSON.stringify(good));
    expect(response.headers['retry-after']).toBe('3');
    expectError(response, wire, {
      status: 502,
      message: 'Nobody answers.',
      type: WORDS.upstream,
    });
  });

  it('a bug: logged whole, shown without its message', async () => {
    const { url, lines } = await startServer({
      run: async () => {
        throw new TypeError('secret detail');
      },
    });
    expectError(await post(url, JSON.stringify(good)), wire, {
      status: 500,
      message: 'Internal error in the gateway. The request id identifies it in the gateway log.',
      type: WORDS.internal,
    });
    const bug = lines.find((line) => line.message === 'bug');
    expect(bug?.level).toBe('error');
    expect(bug?.facts['err']).toMatchObject({ message: 'secret detail' });
  });

  it('an answer that fails before a client without a stream saw anything of it', async () => {
    const { url } = await startServer({
      run: async () => ({
        upstream: 'fake',
        losses: [],
        headers: {},
        body: {
          kind: 'events',
          batches: (async function* () {
            yield [{ type: 'text' as const, text: 'half' }];
            yield [{ type: 'error' as const, error: new GatewayError('overloaded', 'Too busy.') }];
          })(),
        },
      }),
    });
    const response = await post(url, JSON.stringify(good));
    expect(response.status).toBe(529);
    expect(response.json()).toMatchObject({ error: { message: 'Too busy.' } });
  });
});

describe('routes that do not exist', () => {
  const message = (path: string) =>
    `There is no POST ${path}. The gateway serves /v1/messages, /v1/chat/completions, /v1/responses and /v1/models.`;

  it.each<[string, Wire, Record<string, string>]>([
    ['/v1/messages/nothing', 'anthropic', {}],
    ['/v1/nothing', 'openai', {}],
    ['/v1', 'openai', {}],
    ['/v1/nothing', 'anthropic', { 'anthropic-version': '2023-06-01' }],
    ['/v1/v1/messages', 'openai', {}],
    ['/api/nothing', 'api', {}],
    ['/nothing', 'api', {}],
    ['/v1x', 'api', {}],
  ])('%s answers as %s', async (path, wire, headers) => {
    const { url } = await startServer();
    const response = await sendRaw(url, requestBytes(url, { method: 'POST', path, headers, body: '{}' }));
    expectError(response, wire, { status: 404, message: message(path), type: WORDS.notFound });
  });

  it('has no path outside of the server', async () => {
    const { url } = await startServer();
    const bytes = Buffer.from(
      `GET http://127.0.0.1/v1/models HTTP/1.1\r\nhost: ${new URL(url).host}\r\n\r\n`,
    );
    expectError(await sendRaw(url, bytes), 'api', {
      status: 400,
      message: 'The request names a whole address. Send the path alone.',
      type: WORDS.invalid,
    });
  });
});

describe('what is not HTTP', () => {
  const MALFORMED: Expected = {
    status: 400,
    message: 'This is not a valid HTTP request.',
    type: WORDS.invalid,
  };

  it.each<[string, string, Wire]>([
    ['random bytes', '\u0016\u0003\u0001 hello\r\n\r\n', 'api'],
    ['a header that is none', 'POST /v1/messages HTTP/1.1\r\nbroken\r\n\r\n', 'anthropic'],
    [
      'two lengths',
      'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
      'openai',
    ],
    [
      'length and chunks',
      'POST /v1/x HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
      'openai',
    ],
  ])('%s', async (_what, bytes, wire) => {
    const { url } = await startServer();
    const connection = await openRaw(url);
    await connection.send(Buffer.from(bytes, 'latin1'));
    const response = await connection.response();
    expectError(response, wire, MALFORMED);
    expect(response.headers['connection']).toBe('close');
    await connection.until(() => false);
    expect(connection.ended).toBe('closed');
  });

  it('headers that are too large', async () => {
    const { url } = await startServer();
    const bytes = Buffer.from(`GET / HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(64 * 1024)}\r\n\r\n`);
    const response = await sendRaw(url, bytes);
    expect(response.status).toBe(431);
    expect(response.json()).toMatchObject({
      error: { message: 'The headers are too large. Send fewer or shorter ones.' },
    });
  });

  it('a broken chunk inside a body answers in the dialect of the request', async () => {
    const { url } = await startServer();
    const head = requestBytes(url, {
      method: 'POST',
      path: '/v1/messages',
      headers: { ...JSON_HEADERS, 'transfer-encoding': 'chunked' },
    });
    expectError(await sendRaw(url, head, '2\r\n{"\r\n', 'nonsense\r\n'), 'anthropic', MALFORMED);
  });

  it('a body that is shorter than its length, from a client that waits for the answer', async () => {
    const { url } = await startServer();
    const connection = await openRaw(url);
    const headers = { ...JSON_HEADERS, 'content-length': '100' };
    await connection.send(requestBytes(url, { path: '/v1/chat/completions', headers, body: '{"model"' }));
    connection.end();
    expectError(await connection.response(), 'openai', {
      status: 400,
      message: 'The request ended before it was whole. Send all of it.',
      type: WORDS.invalid,
    });
    await connection.until(() => false);
    expect(connection.ended).toBe('closed');
  });

  it('garbage behind a good request waits for the answer of that request', async () => {
    const { url } = await startServer();
    const connection = await openRaw(url);
    const good = requestBytes(url, { path: '/healthz' });
    await connection.send(Buffer.concat([good, Buffer.from('garbage\r\n\r\n')]));
    expect((await connection.response()).text).toBe('{"status":"ok"}');
    expectError(await connection.response(), 'api', MALFORMED);
  });

  it('CONNECT is refused', async () => {
    const { url } = await startServer();
    const response = await sendRaw(url, 'CONNECT evil.example:443 HTTP/1.1\r\nhost: evil.example\r\n\r\n');
    expect(response.status).toBe(405);
  });

  it('an expectation that is not known', async () => {
    const { url } = await startServer();
    const headers = { ...JSON_HEADERS, expect: 'the-impossible' };
    const response = await sendRaw(url, requestBytes(url, { path: '/v1/messages', headers, body: '{}' }));
    expect(response.status).toBe(417);
  });
});
