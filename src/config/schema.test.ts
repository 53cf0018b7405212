// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are what is tested
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { isLoopback } from './check.js';
import { configJsonSchema } from './json-schema.js';
import { loadConfigText } from './load.js';
import { nearest } from './nearest.js';
import { ruleProblem } from './rule-syntax.js';
import { configSchema } from './schema.js';

const root = new URL('../../', import.meta.url);

/** Every key there is. */
const WHOLE = `
server:
  host: 127.0.0.1
  port: 3000
  keys:
    - { key: "\${TOOLGATE_KEY}", name: alice, scopes: [call, approve, admin], models: ["*"], rpm: 600 }
  body_limit_mb: 32
  drain_s: 5
  public_hosts: [gateway.example.com, "gateway.example.com:8443"]
upstreams:
  openai:  { dialect: openai-chat, base_url: https://api.openai.com/v1, api_key: "\${OPENAI_API_KEY}", profile: openai, timeout_s: 60, headers: { x-a: b }, quirks: { stop: false } }
  gpt:     { dialect: openai-responses, base_url: https://api.openai.com/v1, api_key: "\${OPENAI_API_KEY}" }
  claude:  { dialect: anthropic-messages, base_url: https://api.anthropic.com, api_key: "\${ANTHROPIC_API_KEY}" }
  local:   { dialect: openai-chat, base_url: http://127.0.0.1:11434/v1, targets: [{ name: a, api_key: k1, weight: 2.5 }, { base_url: "http://127.0.0.1:11435/v1", headers: { x-b: c } }] }
  demo:    { dialect: demo }
models:
  "claude-*":       { upstream: [gpt, openai], model: gpt-5.4 }
  gpt-5.4:          { upstream: gpt, context_window: 400000, max_output_tokens: 128000, effort: [low, high], display_name: GPT }
  coder:            { engine: native, upstream: claude, model: claude-opus-5-5, tools: all, cwd: ./work, max_turns: 10 }
  claude-code-opus: { engine: claude-code, upstream: claude, model: opus, tools: [Read, Grep, Glob], system: append }
  "*":              { upstream: demo }
permissions:
  mode: ask
  allow: ["Read", "Grep", "Glob", "LS", "Bash(git diff:*)", "mcp__docs__*"]
  ask: []
  deny: ["Read(./.env)", "Bash(curl:*)"]
  approval_timeout_s: 1800
  unattended: deny
mcp_servers:
  docs:  { type: stdio, command: npx, args: ["-y", "some-server"], env: {} }
  web:   { type: http, url: "https://example.com/mcp", headers: {} }
  old:   { type: sse, url: "https://example.com/sse" }
  new:   { type: streamable-http, url: "https://example.com/mcp" }
sessions: { ttl_s: 86400, tool_timeout_s: 120, on_tool_timeout: hibernate, max_live: 8 }
tools:
  paths: [./tools]
  web_search: { provider: none }
  web_fetch: { allow_private: [wiki.example.com, "10.0.0.5:8080", "[::1]:80"] }
  memory: true
  architect: false
  sticker: false
traces: { bodies: false, max_age_s: 60, max_mb: 1 }
store: sqlite:./.toolgate/toolgate.db
sandbox: auto
`;

const ENV = { TOOLGATE_KEY: 'gateway-key', OPENAI_API_KEY: 'openai-key', ANTHROPIC_API_KEY: 'anthropic-key' };

describe('the schema', () => {
  it('takes a file with every key', async () => {
    const { config } = await loadConfigText(WHOLE, { baseDir: '/', env: ENV });
    expect(config.upstreams['openai']).toMatchObject({ api_key: 'openai-key', timeout_s: 60 });
    expect(config.models['claude-*']).toEqual({
      engine: 'relay',
      upstream: ['gpt', 'openai'],
      model: 'gpt-5.4',
    });
    expect(config.models['claude-code-opus']).toEqual({
      engine: 'claude-code',
      upstream: 'claude',
      model: 'opus',
      tools: ['Read', 'Grep', 'Glob'],
      system: 'append',
      max_turns: 10,
    });
    expect(config.mcp_servers['new']).toEqual({
      type: 'http',
      url: 'https://example.com/mcp',
      headers: {},
      shared: true,
      timeout_s: 120,
    });
  });

  it('has the documented defaults', () => {
    expect(configSchema.parse({})).toEqual({
      server: { host: '127.0.0.1', port: 3000, keys: [], body_limit_mb: 32, drain_s: 30, public_hosts: [] },
      teams: {},
      upstreams: {},
      models: {},
      permissions: {
        mode: 'ask',
        allow: [],
        ask: [],
        deny: [],
        approval_timeout_s: 1800,
        unattended: 'deny',
      },
      mcp_servers: {},
      sessions: { ttl_s: 86400, tool_timeout_s: 120, on_tool_timeout: 'hibernate', max_live: 8 },
      tools: {
        paths: [],
        web_search: { provider: 'none' },
        web_fetch: { allow_private: [] },
        memory: true,
        architect: false,
        sticker: false,
      },
      traces: { bodies: true, max_age_s: 604800, max_mb: 256 },
      retention: {
        sessions: 20_000,
        sessions_mb: 2048,
        usage_days: 400,
        audit_days: 365,
        approvals_days: 30,
      },
      telemetry: { headers: {}, content: false },
      store: 'sqlite:./.toolgate/toolgate.db',
      sandbox: 'auto',
    });
  });

  it('gives a key the least scope, and a name that does not depend on its place', async () => {
    const names = async (keys: string) => {
      const { config } = await loadConfigText(`server: { keys: [${keys}] }`, { baseDir: '/', env: {} });
      return config.server.keys;
    };
    const [first] = await names('{ key: aaaaaaaa }, { key: bbbbbbbb }');
    const [, second] = await names('{ key: bbbbbbbb }, { key: aaaaaaaa }');
    expect(first).toMatchObject({ scopes: ['call'], models: ['*'] });
    expect(first?.name).toMatch(/^key-[0-9a-f]{8}$/);
    expect(second?.name).toBe(first?.name);
  });
});

describe('tools of the web', () => {
  const parse = (tools: unknown) => configSchema.shape.tools.safeParse(tools);

  it.each([
    { provider: 'none' },
    { provider: 'searxng', base_url: 'http://127.0.0.1:8080' },
    { provider: 'brave', api_key: 'key' },
    { provider: 'tavily', api_key: 'key', base_url: 'https://proxy.example.com' },
  ])('take the search provider %j', (web_search) => {
    expect(parse({ web_search }).data?.web_search).toEqual(web_search);
  });

  it.each([
    { provider: 'brave' },
    { provider: 'searxng' },
    { provider: 'searxng', base_url: 'file:///x' },
    { provider: 'none', api_key: 'key' },
    { provider: 'other' },
    { provider: 'tavily', api_key: 'with space' },
  ])('refuse the search provider %j', (web_search) => {
    expect(parse({ web_search }).success).toBe(false);
  });

  it.each([
    'https://wiki.example.com',
    'wiki.example.com/path',
    'user@wiki',
    'a b',
    '',
    ':80',
    'host:port',
    '::1',
  ])('refuse the private host %j', (host) => {
    expect(parse({ web_fetch: { allow_private: [host] } }).success).toBe(false);
  });
});

describe('the JSON Schema', () => {
  const committed: unknown = JSON.parse(readFileSync(new URL('toolgate.schema.json', root), 'utf8'));

  it('in the package is made from the schema in use (node scripts/schema.mjs)', () => {
    expect(committed).toEqual(JSON.parse(JSON.stringify(configJsonSchema())));
  });

  it('accepts a file with every key and a reference where a number stands', async () => {
    const { parse } = await import('yaml');
    const schema = z.fromJSONSchema(JSON.parse(JSON.stringify(committed)));
    expect(schema.safeParse(parse(WHOLE)).error).toBeUndefined();
    expect(schema.safeParse({ server: { port: '${PORT}' }, sandbox: '${BOX}' }).success).toBe(true);
    expect(schema.safeParse({ server: { port: 'x' } }).success).toBe(false);
    expect(schema.safeParse({ server: { prot: 1 } }).success).toBe(false);
  });

  it('describes every key, and so does the guide', () => {
    const guide = readFileSync(new URL('docs/configuration.md', root), 'utf8');
    const undescribed: string[] = [];
    const visit = (node: unknown, path: string): void => {
      if (typeof node !== 'object' || node === null) return;
      for (const [key, value] of Object.entries(node)) {
        if (key !== 'properties' || typeof value !== 'object' || value === null) {
          visit(value, path);
          continue;
        }
        for (const [name, property] of Object.entries(value)) {
          const place = `${path}.${name}`;
          if (!('description' in Object(property))) undescribed.push(place);
          if (!guide.includes(`\`${name}\``)) undescribed.push(`${place} in docs/configuration.md`);
          visit(property, place);
        }
      }
    };
    visit(committed, '');
    expect(undescribed).toEqual([]);
  });
});

describe('rules', () => {
  it.each([
    'Read',
    'Notebook*',
    '*',
    'Bash(git diff:*)',
    'Bash(echo (a) b)',
    'Read(./.env)',
    'WebFetch(domain:example.com)',
    'mcp__docs',
    'mcp__docs__search',
    'mcp__docs__*',
    'mcp__my_server-2__a__b',
    'mcp__doc*',
    'my_tool',
  ])('take %s', (rule) => {
    expect(ruleProblem(rule)).toBeUndefined();
  });

  it.each([
    '',
    ' ',
    'Read ',
    'Re ad',
    'Bash(',
    'Bash()',
    'Bash( )',
    'Bash(a',
    '(a)',
    '**',
    '*Read',
    '1Read',
    'mcp__',
    'mcp____x',
    'mcp__a__',
    'mcp__a__b(c)',
    'mcp__a*b',
  ])('refuse %j', (rule) => {
    expect(ruleProblem(rule)).toMatch(/^expected /);
  });
});

describe('helpers', () => {
  it.each(['127.0.0.1', '127.9.9.9', '::1', '[::1]', 'localhost', 'LOCALHOST'])('%s is loopback', (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.each([
    '0.0.0.0',
    '::',
    '192.168.0.1',
    '127.0.0.1.example.com',
    'localhost.example.com',
    '1270.0.0.1',
    '',
  ])('%j is not loopback', (host) => {
    expect(isLoopback(host)).toBe(false);
  });

  it.each([
    ['prot', ['host', 'port'], 'port'],
    ['upstraems', ['upstreams', 'models'], 'upstreams'],
    ['openai', ['anthropic-messages', 'openai-chat'], 'openai-chat'],
    ['timeout', ['timeout_s', 'headers'], 'timeout_s'],
    ['zzz', ['host', 'port'], undefined],
    ['', ['host'], undefined],
  ])('nearest to %j in %j is %j', (word, known, expected) => {
    expect(nearest(word, known)).toBe(expected);
  });
});
