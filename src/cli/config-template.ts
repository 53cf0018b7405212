/** The commented toolgate.yaml that `init` writes. Holds names of variables, never their values. */
import { DEFAULTS } from '../config/defaults.js';
import type { FoundUpstream } from '../config/from-environment.js';
import type { FoundServer } from './local-servers.js';

export interface Findings {
  environment: readonly FoundUpstream[];
  servers: readonly FoundServer[];
  /** Path of the JSON Schema. */
  schema: string | undefined;
}

/** A server with hundreds of models would bury the rest of the file. */
const MOST_MODELS = 20;

export function renderConfig(findings: Findings): string {
  const { server, permissions, sessions, tools, traces } = DEFAULTS;
  return `${findings.schema === undefined ? '' : `# yaml-language-server: $schema=${findings.schema}\n`}\
# Configuration of Toolgate. \${NAME} takes an environment variable, $\${ stands for the characters themselves.
# What is commented out shows the default or an example.

server:
  host: ${server.host}
  port: ${server.port}
  # Without keys the gateway listens on loopback only and takes any credential.
  # keys:
  #   - { key: "\${TOOLGATE_KEY}", name: alice, scopes: [call, approve, admin], models: ["*"], rpm: 600 }
  # body_limit_mb: ${server.body_limit_mb}
  # drain_s: ${server.drain_s}
  # public_hosts: [gateway.example.com]

# Who answers. base_url is what the official SDK of the dialect takes.
# Dialects: anthropic-messages, openai-chat, openai-responses, demo.
upstreams:
${upstreamLines(findings).join('\n')}

# Model names of clients: an exact name first, then the most specific glob.
# \`model\` is the name upstream where it differs; a list of upstreams is a fallback order.
models:
${modelLines(findings).join('\n')}

# Which tool calls run on the server. deny is stronger than ask, ask than allow; mode is for the rest.
permissions:
  mode: ${permissions.mode}
  # allow: ["Read", "Grep", "Glob", "LS", "Bash(git diff:*)", "mcp__docs__*"]
  # ask: []
  # deny: ["Read(./.env)", "Bash(curl:*)"]
  # approval_timeout_s: ${permissions.approval_timeout_s}
  # unattended: ${permissions.unattended}

# mcp_servers:
#   docs: { type: stdio, command: npx, args: ["-y", "some-server"], env: {} }
#   web:  { type: http, url: "https://example.com/mcp", headers: {} }

# sessions: { ttl_s: ${sessions.ttl_s}, tool_timeout_s: ${sessions.tool_timeout_s}, on_tool_timeout: ${sessions.on_tool_timeout}, max_live: ${sessions.max_live} }
# tools: { paths: [], memory: ${tools.memory}, architect: ${tools.architect}, sticker: ${tools.sticker} }
# traces: { bodies: ${traces.bodies}, max_age_s: ${traces.max_age_s}, max_mb: ${traces.max_mb} }

store: ${DEFAULTS.store}
sandbox: ${DEFAULTS.sandbox}
`;
}

function upstreamLines({ environment, servers }: Findings): string[] {
  const lines: string[] = [];
  for (const { name, dialect, keyVariable, baseUrlVariable, baseUrl } of environment) {
    const address = baseUrlVariable === undefined ? baseUrl : reference(baseUrlVariable);
    lines.push(
      `  ${name}: { dialect: ${dialect}, base_url: ${quote(address)}, api_key: ${quote(reference(keyVariable))} }`,
    );
  }
  for (const { name, baseUrl, title } of servers) {
    lines.push(`  ${name}: { dialect: openai-chat, base_url: ${quote(baseUrl)} }  # ${title}`);
  }
  if (environment.length === 0) {
    lines.push(
      `  # anthropic: { dialect: anthropic-messages, base_url: "https://api.anthropic.com", api_key: "${reference('ANTHROPIC_API_KEY')}" }`,
      `  # openai: { dialect: openai-responses, base_url: "https://api.openai.com/v1", api_key: "${reference('OPENAI_API_KEY')}" }`,
    );
  }
  if (servers.length === 0) {
    lines.push('  # local: { dialect: openai-chat, base_url: "http://127.0.0.1:11434/v1" }');
  }
  lines.push('  demo: { dialect: demo }  # always there, rule-based, needs no key');
  return lines;
}

function modelLines({ environment, servers }: Findings): string[] {
  const lines: string[] = [];
  const taken = new Set<string>();
  const add = (name: string, upstream: string): void => {
    if (taken.has(name)) return;
    taken.add(name);
    lines.push(`  ${quote(name)}: { upstream: ${upstream} }`);
  };
  for (const { name, models } of environment) for (const glob of models) add(glob, name);
  for (const { name, models } of servers) {
    // A star or a context suffix in a listed name would be read as something else.
    const usable = models.filter((model) => !/\*|\[1m\]$/i.test(model));
    for (const model of usable.slice(0, MOST_MODELS)) add(model, name);
    if (usable.length > MOST_MODELS) lines.push(`  # and ${usable.length - MOST_MODELS} more on ${name}`);
  }
  const example = environment[0]?.name ?? servers[0]?.name ?? 'demo';
  const fallback = example === 'demo' ? example : `[${example}, demo]`;
  lines.push(
    `  # "claude-*": { upstream: ${fallback}, model: some-model }  # any name on any model, with a fallback`,
    `  # coder: { engine: native, upstream: ${example}, tools: all, cwd: ., max_turns: ${DEFAULTS.agent.max_turns} }`,
    '  "*": { upstream: demo }',
  );
  return lines;
}

function reference(variable: string): string {
  return `\${${variable}}`;
}

/** A JSON string is a YAML string. */
function quote(text: string): string {
  return JSON.stringify(text);
}
