/**
 * The whole of toolgate.yaml. Objects are strict: an unknown key is an error. Texts given to
 * `error` complete the line "key path: …" of a ConfigError, so they say what was expected.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Effort } from '../core/conversation.js';
import { isPostgresUrl, readPostgresUrl } from '../core/postgres-url.js';
import { DEFAULTS } from './defaults.js';
import { budget, KEY_GRANTS, keyName, teamName } from './key-schema.js';
import { notify } from './notify-schema.js';
import { ruleProblem } from './rule-syntax.js';
import { count, credential, flag, headers, hosts, httpUrl, seconds, text } from './schema-fields.js';
import { upstream } from './upstream-schema.js';

const EFFORTS = [
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
] as const satisfies readonly Effort[];

const rules = (description: string) =>
  z
    .array(
      z.string().superRefine((rule, context) => {
        const problem = ruleProblem(rule);
        if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
      }),
    )
    .default([])
    .meta({ description });

const key = z
  .strictObject({
    key: credential(`The key itself. Take it from the environment: "\${TOOLGATE_KEY}".`),
    name: keyName.exactOptional().meta({
      description:
        'Names the key in logs, sessions and usage. Unique. Left out: made from a fingerprint of the key.',
    }),
    ...KEY_GRANTS,
  })
  .transform((given) => ({ ...given, name: given.name ?? fingerprint(given.key) }))
  .meta({ description: 'An API key of a client.' });

const server = z.strictObject({
  host: z
    .string()
    .regex(/^[0-9A-Za-z_.:%[\]-]+$/, {
      error: 'expected an IP address or a host name',
    })
    .transform((host) => host.replace(/^\[|\]$/g, ''))
    .prefault(DEFAULTS.server.host)
    .meta({ description: 'Address to listen on. Anything but loopback needs `keys`.' }),
  port: z
    .int()
    .min(0)
    .max(65_535)
    .default(DEFAULTS.server.port)
    .meta({ description: 'Port to listen on; 0 takes a free one.' }),
  keys: z
    .array(key)
    .prefault([])
    .meta({ description: 'API keys of clients. None: loopback only, and any credential is taken.' }),
  body_limit_mb: z
    .number()
    .positive()
    .max(1024)
    .default(DEFAULTS.server.body_limit_mb)
    .meta({ description: 'Largest request body, in MiB.' }),
  drain_s: z
    .number()
    .nonnegative()
    .default(DEFAULTS.server.drain_s)
    .meta({ description: 'How long running answers may go on after SIGTERM.' }),
  public_hosts: z
    .array(
      z.string().regex(/^[0-9A-Za-z_.-]+(?::\d{1,5})?$|^\[[0-9A-Fa-f:.]+\](?::\d{1,5})?$/, {
        error: 'expected a host name, with a port where it is not the usual one',
      }),
    )
    .default([])
    .meta({ description: 'Further names in the Host header that are answered, for a proxy in front.' }),
});

const teamLimit = (description: string) => z.int().min(1).exactOptional().meta({ description });

const team = z.strictObject({
  budget: budget.exactOptional().meta({
    description: 'What its keys may spend together, beside what each may spend itself. Left out: no limit.',
  }),
  rpm: teamLimit('Requests to models a minute, of all its keys together.'),
  tpm: teamLimit('Tokens a minute, of all its keys together, without those that a prompt cache gave.'),
  max_streams: teamLimit('Answers that its keys may have open at once, together.'),
  max_agents: teamLimit('Answers of agents that its keys may have open at once, together.'),
});

const dollars = (description: string) => z.number().nonnegative().meta({ description });

const price = z
  .strictObject({
    input: dollars('Of the prompt.'),
    output: dollars('Of the answer, reasoning included.'),
    cache_read: dollars('Of what the upstream had in its cache. Left out: as input.').exactOptional(),
    cache_write: dollars('Of what it put into its cache. Left out: as input.').exactOptional(),
  })
  .meta({ description: 'US dollars for a million tokens.' });

const priceOrNone = z
  .union([price, z.literal('none')], { error: 'expected input and output in US dollars, or none' })
  .meta({
    description:
      'What it costs, for usage and budgets. Left out: what the provider lists, at its own address; none: unknown.',
  });

const routed = {
  upstream: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1)], {
      error: 'expected the name of an upstream, or a list of names as a fallback order',
    })
    .meta({ description: 'Who answers. A list is a fallback order.' }),
  model: text('The name upstream. Left out: the name that the client asked for.').exactOptional(),
  display_name: text('Shown in model lists.').exactOptional(),
  context_window: count('Tokens that fit into the model, prompt and answer.').exactOptional(),
  max_output_tokens: count('Longest answer; a longer wish is cut to it.').exactOptional(),
  effort: z
    .array(z.enum(EFFORTS))
    .min(1)
    .exactOptional()
    .meta({ description: 'Efforts that the model takes; another one becomes the nearest.' }),
  price: priceOrNone.exactOptional(),
  tool_search: z.enum(['auto', 'on', 'off']).exactOptional().meta({
    description:
      'Tools are kept back behind a search: above 40 tools or 10 % of the context (auto, the default), always (on) or never (off).',
  }),
};

const agentOf = <const E extends 'native' | 'claude-code'>(engine: E, description: string) =>
  z.strictObject({
    engine: z.literal(engine).meta({ description }),
    ...routed,
    tools: z
      .union(
        [
          z.enum(['all', 'none', 'requested']),
          z.array(
            z.string().regex(/^[A-Za-z][A-Za-z0-9_-]*$/, { error: 'expected the name of a built-in tool' }),
          ),
        ],
        { error: 'expected all, none, requested, or a list of tool names' },
      )
      .default(DEFAULTS.agent.tools)
      .meta({
        description:
          'Built-in tools on offer: all, none, a list, or those that the request itself names (requested).',
      }),
    cwd: text("The agent's folder. Left out: the folder that `start` ran in.").exactOptional(),
    max_turns: count('Model calls in one answer before it pauses.').default(DEFAULTS.agent.max_turns),
    system: z.enum(['append', 'replace']).default(DEFAULTS.agent.system).meta({
      description:
        "The request's system prompt goes after the agent's own (append) or in its place (replace).",
    }),
  });

const model = z.discriminatedUnion('engine', [
  z.strictObject({
    engine: z
      .literal('relay')
      .default(DEFAULTS.model.engine)
      .meta({ description: 'One call to an upstream model, translated.' }),
    ...routed,
    server_tools: z
      .array(z.enum(['web_search', 'web_fetch']))
      .exactOptional()
      .meta({
        description:
          'Tools that clients ask of their provider and the gateway runs where the upstream does not have them.',
      }),
  }),
  agentOf('native', "The gateway's own agent loop on any upstream."),
  agentOf('claude-code', 'The Claude Agent SDK.'),
]);

const permissions = z.strictObject({
  mode: z
    .enum(['ask', 'allow', 'deny', 'read-only'])
    .default(DEFAULTS.permissions.mode)
    .meta({ description: 'For what no rule matches.' }),
  allow: rules('Rules for what runs without asking.'),
  ask: rules('Rules for what a person must approve. Stronger than allow.'),
  deny: rules('Rules for what never runs. Stronger than ask and allow.'),
  approval_timeout_s: seconds('How long an approval waits; then it is denied as unanswered.').default(
    DEFAULTS.permissions.approval_timeout_s,
  ),
  unattended: z
    .enum(['deny', 'wait'])
    .default(DEFAULTS.permissions.unattended)
    .meta({ description: 'When nobody is connected who could answer an approval.' }),
});

/** On every MCP server, whatever its transport. */
const mcpCommon = {
  shared: flag('One connection for all sessions; false gives each session one of its own.').default(
    DEFAULTS.mcp_server.shared,
  ),
  timeout_s: seconds(
    'Longest silence of a tool call before it is cancelled; progress counts as a sign of life.',
  ).default(DEFAULTS.mcp_server.timeout_s),
};

const mcpServer = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('stdio').meta({ description: 'A program started by the gateway.' }),
    command: text('The program.'),
    args: z.array(z.string()).default([]).meta({ description: 'Its arguments.' }),
    env: z
      .record(z.string().regex(/^[^=\0]+$/, { error: 'expected the name of a variable' }), z.string())
      .default({})
      .meta({ description: 'Environment variables that it gets.' }),
    ...mcpCommon,
  }),
  z.strictObject({
    type: z
      .enum(['http', 'streamable-http'])
      .transform(() => 'http' as const)
      .meta({ description: 'Streamable HTTP; streamable-http is the same.' }),
    url: httpUrl('Address of the MCP endpoint.'),
    headers: headers('Headers on every request to it.').default({}),
    ...mcpCommon,
  }),
  z.strictObject({
    type: z.literal('sse').meta({ description: 'HTTP with SSE, the older transport.' }),
    url: httpUrl('Address of the SSE endpoint.'),
    headers: headers('Headers on every request to it.').default({}),
    ...mcpCommon,
  }),
]);

const sessions = z.strictObject({
  ttl_s: seconds('An agent session that nobody used for this long expires.').default(DEFAULTS.sessions.ttl_s),
  tool_timeout_s: seconds("How long a turn waits in memory for the client's tool results.").default(
    DEFAULTS.sessions.tool_timeout_s,
  ),
  on_tool_timeout: z
    .enum(['hibernate', 'fail'])
    .default(DEFAULTS.sessions.on_tool_timeout)
    .meta({ description: 'Then: sleep until a result comes, or answer the calls with a time-out error.' }),
  max_live: count('Sessions kept in memory at once; others hibernate.').default(DEFAULTS.sessions.max_live),
});

const webSearch = z.discriminatedUnion('provider', [
  z.strictObject({
    provider: z
      .literal('none')
      .default(DEFAULTS.web_search.provider)
      .meta({ description: 'Who searches the web; none leaves the tool out.' }),
  }),
  z.strictObject({
    provider: z.literal('searxng').meta({ description: 'A SearXNG server that offers the JSON format.' }),
    base_url: httpUrl('Address of the server.'),
  }),
  z.strictObject({
    provider: z.literal('brave').meta({ description: 'The Brave Search API.' }),
    api_key: credential('Subscription token of the Brave Search API.'),
    base_url: httpUrl('Another address than the official one.').exactOptional(),
  }),
  z.strictObject({
    provider: z.literal('tavily').meta({ description: 'The Tavily Search API.' }),
    api_key: credential('Key of the Tavily API.'),
    base_url: httpUrl('Another address than the official one.').exactOptional(),
  }),
]);

const tools = z.strictObject({
  paths: z.array(z.string().min(1)).default([]).meta({ description: 'Folders with tools of your own.' }),
  web_search: webSearch.prefault({}).meta({ description: 'The web search tool.' }),
  web_fetch: z
    .strictObject({
      allow_private: hosts(
        'Hosts (host or host:port) that WebFetch may reach although their addresses are private or loopback.',
      ).default([...DEFAULTS.web_fetch.allow_private]),
    })
    .prefault({})
    .meta({ description: 'The tool that fetches web pages.' }),
  memory: flag('The memory tools.').default(DEFAULTS.tools.memory),
  architect: flag('The architect tool.').default(DEFAULTS.tools.architect),
  sticker: flag('The sticker request tool.').default(DEFAULTS.tools.sticker),
});

const traces = z.strictObject({
  bodies: flag('Keep what was sent and received, with secrets redacted; false keeps only the facts.').default(
    DEFAULTS.traces.bodies,
  ),
  max_age_s: seconds('Older traces are deleted.').default(DEFAULTS.traces.max_age_s),
  max_mb: z
    .number()
    .positive()
    .default(DEFAULTS.traces.max_mb)
    .meta({ description: 'The oldest traces are deleted above this size, in MiB.' }),
});

const retention = z.strictObject({
  sessions: count(
    'Sessions that are kept. Beyond, those unused for longest end before their time, but none that waits.',
  ).default(DEFAULTS.retention.sessions),
  sessions_mb: count('The same by what was said in them, in MiB.').default(DEFAULTS.retention.sessions_mb),
  usage_days: count('Older usage is deleted.').default(DEFAULTS.retention.usage_days),
  audit_days: count('Older lines of the audit log are deleted.').default(DEFAULTS.retention.audit_days),
  approvals_days: count('Approvals that were decided longer ago are deleted.').default(
    DEFAULTS.retention.approvals_days,
  ),
});

const telemetry = z.strictObject({
  collector: httpUrl(
    'Where telemetry is sent over OTLP/HTTP, to /v1/metrics, /v1/logs and /v1/traces behind it: that of the gateway, and that of clients. Left out: OTEL_EXPORTER_OTLP_ENDPOINT for that of the gateway; that of clients is thrown away.',
  ).exactOptional(),
  headers: headers('Further headers on every request to it.').default({}),
  content: flag(
    "Write what was said and what tools gave into the gateway's spans, with secrets redacted.",
  ).default(DEFAULTS.telemetry.content),
});

const store = z
  .string()
  .superRefine((url, context) => {
    const problem = storeProblem(url);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  })
  .default(DEFAULTS.store)
  .meta({
    description:
      'Where sessions, approvals, rules and traces are kept: sqlite:PATH, or postgres://USER@HOST/DATABASE.',
  });

const cluster = z.strictObject({
  node: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$/, { error: 'expected a name of letters, digits and . _ : -' })
    .meta({ description: 'The name of this node, which no other has. Default: its host name and port.' })
    .exactOptional(),
  advertise: z
    .string()
    .refine(isOrigin, { error: 'expected an address such as http://10.0.0.3:3000, without a path' })
    .meta({ description: 'Where other nodes reach this one.' }),
  secret: credential('What nodes know each other by, the same on all of them.').min(16, {
    error: 'expected at least 16 characters',
  }),
  workspaces: z
    .array(z.string().min(1))
    .default([])
    .meta({ description: 'Folders that other nodes have as well, at the same path.' }),
});

export const configSchema = z.strictObject({
  server: server.prefault({}).meta({ description: 'How clients reach the gateway.' }),
  teams: z
    .record(teamName, team)
    .default({})
    .meta({ description: 'Limits that the keys of a team share, by the `team` of the keys.' }),
  upstreams: z
    .record(
      z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, {
        error: 'expected a name of letters, digits and . _ -',
      }),
      upstream,
    )
    .default({})
    .meta({ description: 'Who answers, by a name of your choice. `demo` is always there.' }),
  models: z
    .record(z.string().min(1), model)
    .default({})
    .meta({ description: 'Model names of clients: an exact name first, then the most specific glob.' }),
  permissions: permissions.prefault({}).meta({ description: 'Which tool calls run on the server.' }),
  mcp_servers: z
    .record(
      // Neither `__` nor `_` at the end: server and tool must be separable in mcp__NAME__TOOL.
      z.string().regex(/^(?!.*__)(?!.*_$)[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, {
        error: 'expected a name of letters, digits, - and single _ between them (at most 64)',
      }),
      mcpServer,
    )
    .prefault({})
    .meta({ description: 'MCP servers whose tools the agents have, as mcp__NAME__TOOL.' }),
  sessions: sessions.prefault({}).meta({ description: 'Conversations with agents.' }),
  tools: tools.prefault({}).meta({ description: 'Built-in tools and tools of your own.' }),
  traces: traces.prefault({}).meta({ description: 'What `toolgate trace` can show.' }),
  retention: retention.prefault({}).meta({ description: 'How much the store keeps.' }),
  telemetry: telemetry
    .prefault({})
    .meta({ description: 'What the gateway and its clients report of themselves.' }),
  store,
  notify: notify.exactOptional().meta({ description: 'Who outside is told and asked.' }),
  cluster: cluster
    .meta({ description: 'This gateway as one of several nodes on one PostgreSQL store.' })
    .exactOptional(),
  sandbox: z
    .enum(['auto', 'required', 'off'])
    .default(DEFAULTS.sandbox)
    .meta({ description: 'OS sandbox around commands: where it works, always or the call fails, or never.' }),
});

export type Config = z.output<typeof configSchema>;
/** What the file may say: everything with a default can be left out. */
export type ConfigInput = z.input<typeof configSchema>;
export type UpstreamConfig = Config['upstreams'][string];
export type RemoteUpstreamConfig = Exclude<UpstreamConfig, { dialect: 'demo' }>;
export type ModelConfig = Config['models'][string];
export type McpServerConfig = Config['mcp_servers'][string];

/** Stays the same when keys are reordered: sessions belong to the name. */
function fingerprint(key: string): string {
  return `key-${createHash('sha256').update(`toolgate key name ${key}`).digest('hex').slice(0, 8)}`;
}

function isOrigin(value: string): boolean {
  if (!/^https?:\/\/[^/?#@]+\/?$/i.test(value) || !URL.canParse(value)) return false;
  return new URL(value).hostname !== '';
}

/** The forms that the store itself would refuse, said with their place in the file. */
function storeProblem(url: string): string | undefined {
  if (isPostgresUrl(url)) {
    const read = readPostgresUrl(url);
    return 'problem' in read ? read.problem : undefined;
  }
  const expected =
    'expected sqlite:PATH (for example sqlite:./.toolgate/toolgate.db) or postgres://USER@HOST/DATABASE';
  const path = /^sqlite:(.+)$/is.exec(url)?.[1];
  if (path === undefined) return expected;
  if (/[/\\]$/.test(path)) return `${expected}, got the path of a folder`;
  if (/^\/\/(?!\/)/.test(path)) return `${expected}; behind sqlite:// would stand a host`;
  if (path.startsWith('~')) return `${expected}; ~ is not replaced here, \${HOME} is`;
  return undefined;
}
