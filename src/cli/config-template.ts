/** The commented toolgate.yaml that `init` writes. Holds names of variables, never their values. */
import { DEFAULTS } from '../config/defaults.js';
import { type Connected, defaultModels, type FoundUpstream, TIER_GLOBS } from '../config/from-environment.js';
import { ADD_COMMAND } from '../engines/claude-code/processes/load-sdk.js';
import type { FoundServer } from '../upstreams/local-servers.js';

interface Findings {
  environment: readonly FoundUpstream[];
  servers: readonly FoundServer[];
  /** Whether the Agent SDK is there, which the engine claude-code needs. */
  claudeCode: boolean;
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
# telemetry: { collector: "http://127.0.0.1:4318" }

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

/** Before the name that begins a group. */
const GROUPS: Readonly<Record<string, string>> = {
  agent: 'Agents: they use the tools of the gateway, in the folder that it is started in.',
  [TIER_GLOBS[0][0]]: 'The names that Claude Code asks for, on models of another provider.',
  demo: 'The demo model answers to this name alone while another upstream is connected.',
};

function modelLines({ environment, servers, claudeCode }: Findings): string[] {
  const connected = [...environment, ...servers.map(localModels)];
  const models = defaultModels(connected, { claudeCode: true });
  const lines: string[] = [];
  for (const [name, model] of Object.entries(models)) {
    const comment = connected.length === 0 && name === 'demo' ? undefined : GROUPS[name];
    if (comment !== undefined) lines.push(`  # ${comment}`);
    const line = entry(name, model);
    const off = name === 'claude-code' && !claudeCode;
    lines.push(off ? `  # ${line}  # needs the Agent SDK: ${ADD_COMMAND}` : `  ${line}`);
  }
  for (const { name, models: listed } of servers) {
    const left = usableNames(listed).length - MOST_MODELS;
    if (left > 0) lines.push(`  # and ${left} more on ${name}`);
  }
  const coder = { tools: '[Read, Grep, Glob]', cwd: '.', max_turns: DEFAULTS.agent.max_turns };
  lines.push(`  # ${entry('coder', { ...models['agent'], ...coder })}  # with a folder and tools of its own`);
  return lines;
}

function entry(name: string, model: object): string {
  const parts = Object.entries(model).map(([key, value]) => `${key}: ${scalar(literal(String(value)))}`);
  return `${scalar(name)}: { ${parts.join(', ')} }`;
}

/** Its first model stands in for every tier: which of them is the strong one, no list says. */
function localModels({ name, models }: FoundServer): Connected {
  const usable = usableNames(models).slice(0, MOST_MODELS);
  const [first] = usable;
  if (first === undefined) return { name, models: usable };
  return { name, models: usable, tiers: { opus: first, sonnet: first, haiku: first } };
}

/** A star or a context suffix in a listed name would be read as something else. */
function usableNames(models: readonly string[]): string[] {
  return models.filter((model) => !/\*|\[1m\]$/i.test(model));
}

function reference(variable: string): string {
  return `\${${variable}}`;
}

/** A name of a model is no reference to a variable, whatever it looks like. */
function literal(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/** A JSON string is a YAML string. */
function quote(text: string): string {
  return JSON.stringify(text);
}

const PLAIN = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)(?:[a-z][\w./-]*|\d+|\.|\[[\w, ]+\])$/i;

/** Quoted where YAML would read it as something else. */
function scalar(text: string): string {
  return PLAIN.test(text) ? text : quote(text);
}
