/**
 * Bulky columns come last or have a table of their own, so that lists never read them. `size`
 * columns are what the caps add up. Nothing refers to a session by key that can exist without one
 * (approvals of a client that only asks for permission, answers of the relay).
 */
export const SCHEMA_1 = `
CREATE TABLE counters (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counters VALUES ('lease', 0), ('rules', 0);

CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  token INTEGER NOT NULL,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX leases_by_owner ON leases (owner);

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  principal TEXT NOT NULL,
  model TEXT NOT NULL,
  engine TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('live', 'parked', 'hibernated')),
  title TEXT,
  parent TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  size INTEGER NOT NULL DEFAULT 0,
  metadata TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_by_use ON sessions (updated_at, id);
CREATE INDEX sessions_by_principal ON sessions (principal, updated_at, id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

CREATE TABLE transcript (
  session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  channel TEXT NOT NULL,
  seq INTEGER NOT NULL,
  uuid TEXT NOT NULL,
  at INTEGER NOT NULL,
  meta TEXT,
  message TEXT NOT NULL,
  PRIMARY KEY (session, channel, seq),
  UNIQUE (session, channel, uuid)
) STRICT;

CREATE TABLE history (
  principal TEXT NOT NULL,
  hash TEXT NOT NULL,
  session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  PRIMARY KEY (principal, hash, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX history_by_session ON history (session, position);

CREATE TABLE calls (
  number INTEGER PRIMARY KEY,
  session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  run_by TEXT NOT NULL CHECK (run_by IN ('client', 'server')),
  opened_at INTEGER NOT NULL,
  recorded_at INTEGER,
  recorded_by TEXT,
  used_at INTEGER,
  result_digest TEXT,
  input TEXT NOT NULL,
  result TEXT,
  UNIQUE (session, id)
) STRICT;
CREATE INDEX calls_by_id ON calls (id);

CREATE TABLE answers (
  number INTEGER PRIMARY KEY,
  principal TEXT NOT NULL,
  key TEXT NOT NULL,
  digest TEXT NOT NULL,
  session TEXT REFERENCES sessions (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  size INTEGER NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (principal, key)
) STRICT;
CREATE INDEX answers_by_session ON answers (session);
CREATE INDEX answers_by_expiry ON answers (expires_at);

CREATE TABLE approvals (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  session TEXT NOT NULL,
  principal TEXT NOT NULL,
  agent TEXT NOT NULL,
  tool_use_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  digest TEXT NOT NULL,
  state TEXT NOT NULL
    CHECK (state IN ('pending', 'allowed', 'denied', 'expired', 'cancelled', 'covered')),
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  decided_at INTEGER,
  used_at INTEGER,
  decision TEXT,
  input TEXT NOT NULL,
  describe TEXT NOT NULL,
  suggestions TEXT NOT NULL,
  UNIQUE (session, agent, tool_use_id)
) STRICT;
CREATE INDEX approvals_by_state ON approvals (state, expires_at);
CREATE INDEX approvals_by_principal ON approvals (principal, number);
CREATE INDEX approvals_by_decision ON approvals (decided_at);

CREATE TABLE rules (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  rule TEXT NOT NULL,
  behaviour TEXT NOT NULL CHECK (behaviour IN ('allow', 'ask', 'deny')),
  scope TEXT NOT NULL CHECK (scope IN ('once', 'session', 'project', 'everywhere')),
  session TEXT,
  project TEXT,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX rules_by_session ON rules (session);

CREATE TABLE audit (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  event TEXT NOT NULL,
  actor TEXT NOT NULL,
  principal TEXT NOT NULL,
  session TEXT,
  tool TEXT,
  tool_use_id TEXT,
  size INTEGER NOT NULL,
  what TEXT,
  why TEXT,
  rule TEXT
) STRICT;
CREATE INDEX audit_by_time ON audit (at);
CREATE INDEX audit_by_principal ON audit (principal, seq);
CREATE INDEX audit_by_session ON audit (session, seq);

CREATE TABLE traces (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  principal TEXT NOT NULL,
  at INTEGER NOT NULL,
  model TEXT NOT NULL,
  upstream TEXT,
  status INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  payload_size INTEGER NOT NULL,
  size INTEGER NOT NULL,
  losses TEXT NOT NULL,
  repairs TEXT NOT NULL,
  summary TEXT NOT NULL
) STRICT;
CREATE INDEX traces_by_time ON traces (at);
CREATE INDEX traces_by_principal ON traces (principal, seq);

CREATE TABLE trace_payloads (
  seq INTEGER PRIMARY KEY REFERENCES traces (seq) ON DELETE CASCADE,
  body BLOB NOT NULL
) STRICT;

CREATE TABLE quirks (
  upstream TEXT NOT NULL,
  model TEXT NOT NULL,
  key TEXT NOT NULL,
  learned_at INTEGER NOT NULL,
  value TEXT NOT NULL,
  evidence TEXT NOT NULL,
  PRIMARY KEY (upstream, model, key)
) STRICT;

CREATE TABLE usage (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  principal TEXT NOT NULL,
  model TEXT NOT NULL,
  upstream TEXT NOT NULL,
  session TEXT NOT NULL,
  status INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cost_usd REAL,
  latency_ms INTEGER NOT NULL,
  first_token_ms INTEGER
) STRICT;
CREATE INDEX usage_by_time ON usage (at);
`;
