// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a reference is one of the harmless texts
import { describe, expect, it } from 'vitest';
import { loadConfigText } from './load.js';
import { createCleanCheck, createRedactor, environmentSecrets, maskUrl } from './redact.js';

const SHAPED: readonly [string, string][] = [
  ['key sk-ant-api03-abcdefghijklmnop_1234 end', 'key [redacted] end'],
  ['sk-proj-ABCDEFGHIJKLMNOP0123', '[redacted]'],
  ['"\\nsk-or-v1-0123456789abcdef0123"', '"\\n[redacted]"'],
  ['AIzaSyA0123456789abcdefghijklmnopqrstuv', '[redacted]'],
  ['gsk_0123456789abcdefghijABCDEFGHIJ', '[redacted]'],
  ['xai-0123456789abcdefghijABCDEFGHIJ', '[redacted]'],
  ['ghp_0123456789abcdefghijABCDEFGHIJ012345', '[redacted]'],
  ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN', '[redacted]'],
  ['Authorization: Bearer abcdef123456', 'Authorization: Bearer [redacted]'],
  ['authorization: Basic dXNlcjpwYXNz', 'authorization: Basic [redacted]'],
  ['authorization: secret-value', 'authorization: [redacted]'],
  ['{"authorization":"Bearer abc.def-123"}', '{"authorization":"Bearer [redacted]"}'],
  ['{"x-api-key":"topsecret","a":1}', '{"x-api-key":"[redacted]","a":1}'],
  ['{\\"x-api-key\\":\\"topsecret\\"}', '{\\"x-api-key\\":\\"[redacted]\\"}'],
  ['X-API-Key: topsecret', 'X-API-Key: [redacted]'],
  ['GET /v1beta/models?api_key=abcdef&alt=sse', 'GET /v1beta/models?api_key=[redacted]&alt=sse'],
  ['connect https://user:hunter22@db.example.com/x', 'connect https://[redacted]@db.example.com/x'],
  [
    '-----BEGIN PRIVATE KEY-----\nMIIE\nabc=\n-----END PRIVATE KEY-----',
    '-----BEGIN PRIVATE KEY-----[redacted]-----END PRIVATE KEY-----',
  ],
];

const HARMLESS: readonly string[] = [
  'risk-assessment-of-the-whole-project',
  'task-0123456789abcdef0123',
  'Use `Authorization: Bearer` or x-api-key.',
  'api_key: "${OPENAI_API_KEY}"',
  'http://127.0.0.1:3000/v1 answers user@example.com',
  'The bearer of bad news',
  '{"path":"/v1/messages","status":200,"ms":12}',
];

/** One for each beginning that is known, as short as it may be. */
const TOKENS: readonly string[] = [
  'sk-abcdefghij_-1234',
  `AIza${'a-_0'.repeat(8)}`,
  `gsk_${'aZ09'.repeat(5)}`,
  `xai-${'aZ09'.repeat(5)}`,
  `hf_${'aZ09'.repeat(5)}`,
  `AKIA${'Z0'.repeat(8)}`,
  ...['p', 'o', 'u', 's', 'r'].map((kind) => `gh${kind}_${'aZ0'.repeat(10)}`),
  `github_pat_${'aZ_'.repeat(10)}`,
  ...['a', 'b', 'e', 'o', 'p', 'r', 's'].map((kind) => `xox${kind}-${'aZ-0-'.repeat(2)}`),
  'eyJabcd_-01.abcd_-01.',
];

const NAMES: readonly string[] = [
  ...['api-key', 'api_key', 'apikey', 'x-api-key', 'x-goog-api-key'],
  ...['authorization', 'proxy-authorization'],
  ...['access_token', 'refresh_token', 'id_token', 'auth_token', 'client_secret'],
];

const KEY_BLOCK = '-----BEGIN EC PRIVATE KEY-----\nMIIE\n-----END EC PRIVATE KEY-----';

describe('createRedactor', () => {
  it.each(SHAPED)('takes out the secret in %j', (text, expected) => {
    expect(createRedactor([])(text)).toBe(expected);
  });

  it.each(HARMLESS)('leaves %j as it is', (text) => {
    expect(createRedactor([])(text)).toBe(text);
  });

  it.each(TOKENS)('knows a token by its beginning: %s', (token) => {
    for (const [before, after] of [
      ['', ''],
      ['key ', ' end'],
      ['{"a":"', '"}'],
      ['"\\n', '"'],
      ['修：', '。'],
    ]) {
      expect(createRedactor([])(`${before}${token}${after}`)).toBe(`${before}[redacted]${after}`);
    }
    expect(createRedactor([])(token.slice(0, 9))).toBe(token.slice(0, 9));
  });

  it.each(NAMES)('takes out what is assigned to %s, however it is written', (name) => {
    const mixed = name.replace(/.(?=.)/g, (letter, at: number) =>
      at % 2 === 0 ? letter.toUpperCase() : letter,
    );
    for (const written of [name, name.toUpperCase(), mixed]) {
      for (const sign of [':', '=', ': ', '":"', '\\":\\"', "' : '", '\u00a0:\u3000', '    =']) {
        expect(createRedactor([])(`${written}${sign}hunter22`)).toBe(`${written}${sign}[redacted]`);
      }
    }
  });

  it('takes out what is assigned together with several other secrets', () => {
    const text = `api_key=hunter22 https://a:hunter22@b sk-0123456789abcdef0 bearer hunter22 ${KEY_BLOCK}`;
    expect(createRedactor([])(text)).not.toMatch(/hunter22|0123456789|MIIE/);
  });

  it('takes out known values as text, in JSON and in an address', () => {
    const secret = 'pa"ss\\wo/rd $&';
    const redact = createRedactor([secret, 'second.value']);
    expect(redact(`a ${secret} b second.value c secondXvalue`)).toBe(
      'a [redacted] b [redacted] c secondXvalue',
    );
    expect(redact(JSON.stringify({ secret }))).toBe('{"secret":"[redacted]"}');
    expect(redact(`?q=${encodeURIComponent(secret)}`)).toBe('?q=[redacted]');
  });

  it('takes out the longer of two values of which one holds the other', () => {
    expect(createRedactor(['abcd', 'abcd-efgh'])('x abcd-efgh y abcd')).toBe('x [redacted] y [redacted]');
  });

  it('gives the same on the second pass', () => {
    const redact = createRedactor(['known-value']);
    for (const [text] of SHAPED) {
      const once = redact(`${text} known-value`);
      expect(redact(once)).toBe(once);
    }
  });

  it('reads hostile texts once, not once for every start', () => {
    const redact = createRedactor([]);
    for (const piece of [
      'eyJ',
      'eyJ-',
      'sk-',
      '://a:',
      'bearer ',
      'authorization:',
      '-----BEGIN PRIVATE KEY-----',
    ]) {
      // Quadratic reading of two million characters would run into the time limit of the test.
      expect(redact(piece.repeat(Math.ceil(2_000_000 / piece.length))).length).toBeGreaterThan(0);
    }
  });
});

describe.each([
  ['few', 0],
  ['many', 40],
])('createCleanCheck with %s known values', (_name, others) => {
  const known = ['known-value', '密码密码'];
  for (let n = 0; n < others; n++) known.push(`other-value-${n}`);
  const isClean = createCleanCheck(known);
  const redact = createRedactor(known);
  const seen = [
    ...SHAPED.map(([text]) => text),
    ...TOKENS,
    ...NAMES.flatMap((name) => [`${name}: hunter22`, `"${name.toUpperCase()}"\u00a0=\u3000'hunter22'`]),
    'a known-value here',
    '我的密码密码！',
    '密码密码',
    // No part of a character ends it.
    'https://bob:pàssà@host',
    'https://à:à@host',
    'authorization: àààà',
    KEY_BLOCK,
  ];

  it.each(seen)('sees what the redactor changes in %j, also within other text', (text) => {
    expect(redact(text)).not.toBe(text);
    for (const around of ['', '修复 "', 'x\u00a0']) {
      expect(isClean(Buffer.from(`${around}${text}${around}`))).toBe(false);
      // A view into a larger buffer, as it comes from a socket.
      const within = Buffer.from(`....${around}${text}`);
      expect(isClean(within.subarray(4))).toBe(false);
    }
  });

  it('does not mind that a character is cut in two', () => {
    const cut = Buffer.from('修 sk-0123456789abcdef0').subarray(1);
    expect(isClean(cut)).toBe(false);
  });

  it.each([
    ...HARMLESS.filter((text) => !/[:=] ?"?(?:\$|Bearer`)/.test(text)),
    '{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"修复 the bearer, a basic test"}]}',
  ])('lets %j pass', (text) => {
    expect(isClean(Buffer.from(`修复 ${text}`))).toBe(true);
  });
});

describe('secrets of a configuration', () => {
  const source = `
server:
  keys: [{ key: "\${KEY}", name: alice }, { key: abc }]
upstreams:
  a: { dialect: openai-chat, base_url: "https://bob:p%40ssw0rd@example.com/v1?token=query-token&tenant=quiet-value&api-version=2024-10-21", api_key: "\${API}", headers: { x-title: my-title, x-tag: "\${TAG}", authorization: "Bearer header-token" } }
  b: { dialect: openai-chat, base_url: "http://127.0.0.1:11434/v1", api_key: ollama }
  c: { dialect: openai-chat, base_url: "https://c.example/v1", targets: [{ api_key: target-key }, { base_url: "https://d.example/v1?code=target-code", headers: { x-token: target-token, x-mark: "\${TAG}" } }] }
mcp_servers:
  docs: { type: stdio, command: npx, args: ["-y", "some-server", "--token", "\${ARG}"], env: { NODE_ENV: production, DOCS_TOKEN: docs-token } }
  web: { type: http, url: "https://example.com/mcp", headers: { X-Api-Key: web-key } }
tools:
  web_search: { provider: brave, api_key: search-key, base_url: "https://me:search-pass@search.example.com" }
`;
  const env = { KEY: 'gateway-key', API: 'upstream-key', TAG: 'tag-value', ARG: 'arg-value' };

  it('are collected from every place that can hold one', async () => {
    const { secrets } = await loadConfigText(source, { baseDir: '/', env });
    const basic = Buffer.from('bob:p@ssw0rd').toString('base64');
    expect([...secrets].sort()).toEqual(
      [
        'gateway-key',
        'upstream-key',
        'p@ssw0rd',
        'p%40ssw0rd',
        basic,
        'query-token',
        'quiet-value',
        'tag-value',
        'Bearer header-token',
        'header-token',
        'target-key',
        'target-code',
        'target-token',
        'arg-value',
        'docs-token',
        'web-key',
        'search-key',
        'search-pass',
        Buffer.from('me:search-pass').toString('base64'),
      ].sort(),
    );
  });

  it('are known from the environment before there is a configuration', () => {
    expect(
      environmentSecrets({
        OPENAI_API_KEY: 'abcdefgh',
        PATH: '/usr/bin:/bin',
        MY_TOKEN: 'short',
        X: undefined,
      }),
    ).toEqual(['abcdefgh']);
  });
});

describe('maskUrl', () => {
  it('keeps what is not secret', () => {
    expect(maskUrl('https://u:p@h:1/v1?api-version=2&key=abc')).toBe(
      'https://[redacted]@h:1/v1?api-version=2&key=[redacted]',
    );
    expect(maskUrl('http://127.0.0.1:3000/v1')).toBe('http://127.0.0.1:3000/v1');
  });
});
