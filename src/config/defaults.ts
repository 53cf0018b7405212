/** Every default of toolgate.yaml, in the shape of the file. The schema, the docs and `init` read it from here. */
export const DEFAULTS = {
  server: {
    host: '127.0.0.1',
    port: 3000,
    body_limit_mb: 32,
    drain_s: 30,
  },
  /** A key that names no scopes can call models and nothing else. */
  key: {
    scopes: ['call'],
    models: ['*'],
  },
  upstream: {
    timeout_s: 600,
    weight: 1,
  },
  model: {
    engine: 'relay',
  },
  /** On the `native` and `claude-code` engines. */
  agent: {
    tools: 'all',
    system: 'append',
    max_turns: 10,
  },
  permissions: {
    mode: 'ask',
    approval_timeout_s: 1800,
    unattended: 'deny',
  },
  mcp_server: {
    shared: true,
    timeout_s: 120,
  },
  sessions: {
    ttl_s: 86_400,
    tool_timeout_s: 120,
    on_tool_timeout: 'hibernate',
    max_live: 8,
  },
  tools: {
    memory: true,
    architect: false,
    sticker: false,
  },
  web_search: {
    provider: 'none',
  },
  web_fetch: {
    allow_private: [],
  },
  telemetry: { content: false },
  traces: {
    bodies: true,
    max_age_s: 604_800,
    max_mb: 256,
  },
  retention: {
    sessions: 20_000,
    sessions_mb: 2048,
    usage_days: 400,
    audit_days: 365,
    approvals_days: 30,
  },
  store: 'sqlite:./.toolgate/toolgate.db',
  sandbox: 'auto',
} as const;
