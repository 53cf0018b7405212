// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are what is tested
import { describe, expect, it } from 'vitest';
import { ConfigError } from './config-error.js';
import { loadConfigText } from './load.js';

const ENV = { SECRET: 'sk-live-0123456789abcdef', PORT: '4000', WORD: 'hello', EMPTY: '' };

async function problemsOf(source: string): Promise<string[]> {
  try {
    await loadConfigText(source, { file: '/etc/toolgate.yaml', baseDir: '/etc', env: ENV });
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
  return [];
}

/** Input, and the whole message: file, place, key path, what was expected, the nearest known. */
const CASES: readonly { title: string; source: string; problems: readonly string[] }[] = [
  {
    title: 'an unknown key with a near one',
    source: 'server:\n  prot: 3000\n',
    problems: ['/etc/toolgate.yaml:2:3  server.prot: unknown key. Did you mean `port`?'],
  },
  {
    title: 'an unknown key that belongs to a section',
    source: 'port: 3000\n',
    problems: ['/etc/toolgate.yaml:1:1  port: unknown key here. Did you mean `server.port`?'],
  },
  {
    title: 'an unknown key near nothing',
    source: 'sessions: { frobnicate: 1 }\n',
    problems: [
      '/etc/toolgate.yaml:1:13  sessions.frobnicate: unknown key. Known keys: ttl_s, tool_timeout_s, on_tool_timeout, max_live',
    ],
  },
  {
    title: 'a top-level key with a typo',
    source: 'upstream: {}\n',
    problems: ['/etc/toolgate.yaml:1:1  upstream: unknown key. Did you mean `upstreams`?'],
  },
  {
    title: 'a wrong type',
    source: 'server:\n  port: "3000"\n',
    problems: ['/etc/toolgate.yaml:2:3  server.port: expected a number, got a text'],
  },
  {
    title: 'a number out of range',
    source: 'server: { port: 70000, body_limit_mb: 0 }\n',
    problems: [
      '/etc/toolgate.yaml:1:11  server.port: expected a number of at most 65535',
      '/etc/toolgate.yaml:1:24  server.body_limit_mb: expected a number above 0',
    ],
  },
  {
    title: 'a word that is not one of the known ones',
    source: 'permissions:\n  mode: aks\n',
    problems: [
      '/etc/toolgate.yaml:2:3  permissions.mode: expected one of ask, allow, deny, read-only, got `aks`. Did you mean `ask`?',
    ],
  },
  {
    title: 'an unknown dialect',
    source: 'upstreams:\n  a: { dialect: openai, base_url: "https://a" }\n',
    problems: [
      '/etc/toolgate.yaml:2:8  upstreams.a.dialect: expected one of anthropic-messages, openai-chat, openai-responses, demo, got `openai`. Did you mean `openai-chat`?',
    ],
  },
  {
    title: 'a missing dialect and a missing address',
    source: 'upstreams:\n  a: { base_url: "https://a" }\n  b: { dialect: openai-chat }\n',
    problems: [
      '/etc/toolgate.yaml:2:3  upstreams.a.dialect: missing; expected one of anthropic-messages, openai-chat, openai-responses, demo',
      '/etc/toolgate.yaml:3:3  upstreams.b.base_url: missing; expected a text',
    ],
  },
  {
    title: 'an address that is none',
    source: 'upstreams:\n  a: { dialect: openai-chat, base_url: api.openai.com }\n',
    problems: [
      '/etc/toolgate.yaml:2:30  upstreams.a.base_url: expected an address that starts with http:// or https://',
    ],
  },
  {
    title: 'a model on an unknown upstream',
    source:
      'upstreams:\n  claude: { dialect: demo }\nmodels:\n  "gpt-5.4": { upstream: [claude, cluade] }\n  x: { upstream: zzz }\n',
    problems: [
      '/etc/toolgate.yaml:4:35  models."gpt-5.4".upstream[1]: expected the name of an upstream, got `cluade`. Did you mean `claude`?',
      '/etc/toolgate.yaml:5:8  models.x.upstream: expected the name of an upstream, got `zzz`. Known: claude, demo',
    ],
  },
  {
    title: 'a model without an upstream',
    source: 'models:\n  x: {}\n  y:\n',
    problems: [
      '/etc/toolgate.yaml:2:3  models.x.upstream: missing; expected the name of an upstream, or a list of names as a fallback order',
      '/etc/toolgate.yaml:3:3  models.y: expected a section with keys, got nothing',
    ],
  },
  {
    title: 'a key of agents on a relay model',
    source: 'models:\n  x: { upstream: demo, tools: all }\n',
    problems: [
      '/etc/toolgate.yaml:2:24  models.x.tools: only agents have this key; add `engine: native` or `engine: claude-code`, or leave it out',
    ],
  },
  {
    title: 'a model name with a context suffix',
    source: 'models:\n  "opus[1m]": { upstream: demo }\n',
    problems: [
      '/etc/toolgate.yaml:2:3  models."opus[1m]": a [1m] suffix is not part of the name; expected `opus`',
    ],
  },
  {
    title: 'rules that cannot be read',
    source:
      'permissions:\n  allow: ["Bash(git log:*", "Bash()", " Read", "B*sh", "mcp__docs(x)", "mcp__", "Read*(x)", "Bash(a) b"]\n',
    problems: [
      '/etc/toolgate.yaml:2:11  permissions.allow[0]: expected the specifier to end with `)`',
      '/etc/toolgate.yaml:2:29  permissions.allow[1]: expected a specifier between the parentheses, or `Bash` alone',
      '/etc/toolgate.yaml:2:39  permissions.allow[2]: expected a rule without spaces around it',
      '/etc/toolgate.yaml:2:48  permissions.allow[3]: expected `*` only at the end of the name',
      '/etc/toolgate.yaml:2:56  permissions.allow[4]: expected an MCP rule without a specifier in parentheses',
      '/etc/toolgate.yaml:2:72  permissions.allow[5]: expected `mcp__server`, `mcp__server__tool` or `mcp__server__*`',
      '/etc/toolgate.yaml:2:81  permissions.allow[6]: expected either `*` or a specifier in parentheses, not both',
      '/etc/toolgate.yaml:2:93  permissions.allow[7]: expected the specifier to end with `)`',
    ],
  },
  {
    title: 'a PostgreSQL URL without a database',
    source: 'store: postgres://user:hunter22@db\n',
    problems: ['/etc/toolgate.yaml:1:1  store: expected postgres://USER@HOST/DATABASE, got no database'],
  },
  {
    title: 'a cluster without PostgreSQL',
    source: 'cluster:\n  advertise: http://a:1\n  secret: 0123456789abcdef\n',
    problems: [
      '/etc/toolgate.yaml:1:1  cluster: nodes share a PostgreSQL database; expected `store: postgres://…` beside it, or no `cluster`',
    ],
  },
  {
    title: 'a cluster with an address that is none, a secret that is short and a name that is none',
    source: 'store: postgres://h/d\ncluster: { node: "a b", advertise: "10.0.0.3:3000", secret: short }\n',
    problems: [
      '/etc/toolgate.yaml:2:12  cluster.node: expected a name of letters, digits and . _ : -',
      '/etc/toolgate.yaml:2:25  cluster.advertise: expected an address such as http://10.0.0.3:3000, without a path',
      '/etc/toolgate.yaml:2:53  cluster.secret: expected at least 16 characters',
    ],
  },
  {
    title: 'a store that is none',
    source: 'store: ./x.db\n',
    problems: [
      '/etc/toolgate.yaml:1:1  store: expected sqlite:PATH (for example sqlite:./.toolgate/toolgate.db) or postgres://USER@HOST/DATABASE',
    ],
  },
  {
    title: 'a store with a host',
    source: 'store: sqlite://host/x.db\n',
    problems: [
      '/etc/toolgate.yaml:1:1  store: expected sqlite:PATH (for example sqlite:./.toolgate/toolgate.db) or postgres://USER@HOST/DATABASE; behind sqlite:// would stand a host',
    ],
  },
  {
    title: 'a store in the home folder by a shell abbreviation',
    source: 'store: sqlite:~/x.db\n',
    problems: [
      '/etc/toolgate.yaml:1:1  store: expected sqlite:PATH (for example sqlite:./.toolgate/toolgate.db) or postgres://USER@HOST/DATABASE; ~ is not replaced here, ${HOME} is',
    ],
  },
  {
    title: 'an address that others reach, without keys',
    source: 'server: { host: 0.0.0.0 }\n',
    problems: [
      '/etc/toolgate.yaml:1:11  server.host: without `server.keys` the gateway listens on loopback only; expected 127.0.0.1, ::1 or localhost, got `0.0.0.0`. Add a key, or listen on 127.0.0.1',
    ],
  },
  {
    title: 'the same key or name twice',
    source:
      'server:\n  keys:\n    - { key: aaaaaaaa, name: a }\n    - { key: aaaaaaaa, name: b }\n    - { key: bbbbbbbb, name: a }\n',
    problems: [
      '/etc/toolgate.yaml:4:9  server.keys[1].key: the same key is there twice; keep one',
      '/etc/toolgate.yaml:5:24  server.keys[2].name: expected a name that no other key has (sessions belong to it), got `a` again',
    ],
  },
  {
    title: 'two targets of one name, or the gateway as one of them',
    source:
      'upstreams:\n  a:\n    dialect: openai-chat\n    base_url: https://a.example/v1\n    targets:\n      - { name: "2" }\n      - { api_key: k }\n      - { base_url: "http://localhost:3000/v1" }\n',
    problems: [
      '/etc/toolgate.yaml:7:9  upstreams.a.targets[1]: expected a name that no other target has (one without a name has its position), got `2` again',
      '/etc/toolgate.yaml:8:11  upstreams.a.targets[2].base_url: this is the address of the gateway itself, so a request would go round for ever',
    ],
  },
  {
    title: 'the gateway as its own upstream',
    source: 'upstreams:\n  a: { dialect: openai-chat, base_url: "http://localhost:3000/v1" }\n',
    problems: [
      '/etc/toolgate.yaml:2:30  upstreams.a.base_url: this is the address of the gateway itself, so a request would go round for ever',
    ],
  },
  {
    title: 'another upstream in the name of demo',
    source: 'upstreams:\n  demo: { dialect: openai-chat, base_url: "https://a" }\n',
    problems: [
      '/etc/toolgate.yaml:2:11  upstreams.demo.dialect: the name `demo` is the embedded demo model; expected `demo`, or another name for this one',
    ],
  },
  {
    title: 'MCP servers with a reserved name, a wrong type, a wrong header',
    source:
      'mcp_servers:\n  a__b: { type: sse, url: "https://a" }\n  c: { type: streamable_http, url: "https://a" }\n  d: { type: http, url: "https://a", headers: { "a b": c } }\n',
    problems: [
      '/etc/toolgate.yaml:2:3  mcp_servers.a__b: expected a name of letters, digits, - and single _ between them (at most 64) as the key',
      '/etc/toolgate.yaml:3:8  mcp_servers.c.type: expected one of stdio, http, streamable-http, sse, got `streamable_http`. Did you mean `streamable-http`?',
      '/etc/toolgate.yaml:4:49  mcp_servers.d.headers."a b": expected a header name as the key',
    ],
  },
  {
    title: 'an MCP server in the name of the gateway itself',
    source: 'mcp_servers:\n  gateway: { type: sse, url: "https://a" }\n',
    problems: [
      "/etc/toolgate.yaml:2:3  mcp_servers.gateway: the name `gateway` is taken by the gateway's own MCP server; expected another one",
    ],
  },
  {
    title: 'a variable that is not set',
    source: 'upstreams:\n  a:\n    dialect: openai-chat\n    base_url: https://a\n    api_key: ${NOPE}\n',
    problems: ['/etc/toolgate.yaml:5:5  upstreams.a.api_key: the environment variable NOPE is not set'],
  },
  {
    title: 'several variables that are not set, all at once',
    source: 'server:\n  keys: [{ key: "${NOPE_1}" }, { key: "${NOPE_2}" }]\n',
    problems: [
      '/etc/toolgate.yaml:2:12  server.keys[0].key: the environment variable NOPE_1 is not set',
      '/etc/toolgate.yaml:2:34  server.keys[1].key: the environment variable NOPE_2 is not set',
    ],
  },
  {
    title: 'a reference with more than a name',
    source: 'store: "sqlite:${DIR:-x}"\n',
    problems: [
      '/etc/toolgate.yaml:1:1  store: expected ${NAME} with the name of an environment variable (write $${ for the text ${)',
    ],
  },
  {
    title: 'a reference without an end',
    source: 'store: "sqlite:${DIR"\n',
    problems: [
      '/etc/toolgate.yaml:1:1  store: expected ${NAME} with the name of an environment variable (write $${ for the text ${)',
    ],
  },
  {
    title: 'a variable with the wrong kind of value, without showing it',
    source: 'server:\n  port: ${SECRET}\npermissions:\n  mode: ${SECRET}\n',
    problems: [
      '/etc/toolgate.yaml:2:3  server.port: expected a number, got a text (the value comes from ${SECRET})',
      '/etc/toolgate.yaml:4:3  permissions.mode: expected one of ask, allow, deny, read-only (the value comes from ${SECRET})',
    ],
  },
  {
    title: 'a variable that is set to nothing',
    source: 'upstreams:\n  a: { dialect: openai-chat, base_url: "https://a", api_key: "${EMPTY}" }\n',
    problems: [
      '/etc/toolgate.yaml:2:53  upstreams.a.api_key: expected a text, got an empty one (the value comes from ${EMPTY})',
    ],
  },
  {
    title: 'a reference without quotes inside braces',
    source: 'upstreams:\n  a: { dialect: openai-chat, api_key: ${SECRET}, base_url: "https://a" }\n',
    problems: ['/etc/toolgate.yaml:2:39: inside { } or [ ] a ${NAME} needs quotes: "${NAME}"'],
  },
  {
    title: 'a key that is there twice',
    source: 'store: sqlite:a\nstore: sqlite:b\n',
    problems: ['/etc/toolgate.yaml:2:1: not valid YAML: this key is there twice; keep one of them'],
  },
  {
    title: 'tabs',
    source: 'server:\n\tport: 1\n',
    problems: ['/etc/toolgate.yaml:2:1: not valid YAML: indent with spaces, not with tabs'],
  },
  {
    title: 'a bracket that is not closed',
    source: 'permissions:\n  allow: ["Read"\n',
    problems: [
      '/etc/toolgate.yaml:3:1: not valid YAML: the indentation does not fit, or a bracket or brace is not closed',
    ],
  },
  {
    title: 'an alias without an anchor',
    source: 'server: *base\n',
    problems: ['/etc/toolgate.yaml:1:9: not valid YAML: this alias (*name) has no anchor (&name) before it'],
  },
  {
    title: 'a tag',
    source: 'store: !env X\n',
    problems: [
      '/etc/toolgate.yaml:1:8: not valid YAML: tags (!name) have no meaning here; put the text in quotes',
    ],
  },
  {
    title: 'two documents',
    source: 'store: sqlite:a\n---\nstore: sqlite:b\n',
    problems: ['/etc/toolgate.yaml:2:1: not valid YAML: expected one document, without a further ---'],
  },
  {
    title: 'a list instead of sections',
    source: '- server\n',
    problems: ['/etc/toolgate.yaml: expected sections with keys (server, upstreams, models, …)'],
  },
  {
    title: 'a key named __proto__',
    source: '__proto__: { x: 1 }\n',
    problems: [
      '/etc/toolgate.yaml:1:1  __proto__: unknown key. Known keys: server, teams, upstreams, models, permissions, mcp_servers, sessions, tools, traces, retention, telemetry, store, notify, cluster, sandbox',
    ],
  },
  {
    title: 'credentials and headers that no request can carry',
    source:
      'upstreams:\n  a: { dialect: openai-chat, base_url: "https://a", api_key: "a b", headers: { x: "a\\nb" } }\n',
    problems: [
      '/etc/toolgate.yaml:2:53  upstreams.a.api_key: expected a credential of visible ASCII characters without spaces',
      '/etc/toolgate.yaml:2:80  upstreams.a.headers.x: expected a header value of one line',
    ],
  },
];

describe('errors in the configuration', () => {
  it.each(CASES)('$title', async ({ source, problems }) => {
    expect(await problemsOf(source)).toEqual(problems);
  });

  it('never quotes a value that is a syntax error', async () => {
    const problems = await problemsOf('upstreams:\n  a: { api_key: "x" sk-live-0123456789abcdef }\n');
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.join('\n')).not.toContain('sk-live');
  });

  it('takes a secret in the wrong place out of the message', async () => {
    const problems = await problemsOf('permissions: { mode: sk-live-0123456789abcdef }\n');
    expect(problems.join('\n')).toContain('[redacted]');
    expect(problems.join('\n')).not.toContain('sk-live');
  });

  it('carries file, place and path apart from the message', async () => {
    const error = await loadConfigText('server: { prot: 1 }', {
      file: 'a.yaml',
      baseDir: '/',
      env: {},
    }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({
      file: 'a.yaml',
      problems: [{ path: 'server.prot', line: 1, column: 11, message: 'unknown key. Did you mean `port`?' }],
    });
  });
});
