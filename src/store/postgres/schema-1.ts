/**
 * Texts compare by their bytes (`COLLATE "C"`): the order of a list does not depend on where the
 * database runs. JSON is text: it is kept exactly, with the characters that `jsonb` refuses; what is
 * looked for in it has a column of its own. Bulky columns are moved out of the row by the server.
 * `size` columns are what the caps add up. Nothing refers to a session by key that can exist without
 * one (approvals of a client that only asks for permission, answers of the relay).
 */
const TEXT = 'TEXT COLLATE "C"';

export const SCHEMA_1 = `
CREATE TABLE counters (
  name TEXT PRIMARY KEY,
  value BIGINT NOT NULL
);
INSERT INTO counters VALUES ('rules', 0), ('keys', 0);

CREATE SEQUENCE lease_tokens;
CREATE TABLE leases (
  name ${TEXT} PRIMARY KEY,
  owner ${TEXT} NOT NULL,
  token BIGINT NOT NULL,
  until BIGINT NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX leases_by_owner ON leases (owner);

CREATE TABLE sessions (
  id ${TEXT} PRIMARY KEY,
  principal ${TEXT} NOT NULL,
  model TEXT NOT NULL,
  engine TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('live', 'parked', 'hibernated')),
  title TEXT,
  parent TEXT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  size BIGINT NOT NULL DEFAULT 0,
  prompt ${TEXT} NOT NULL DEFAULT '',
  turn_open BOOLEAN NOT NULL DEFAULT false,
  metadata TEXT NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX sessions_by_use ON sessions (updated_at, id);
CREATE INDEX sessions_by_principal ON sessions (principal, updated_at, id);
CREATE INDEX sessions_by_open_turn ON sessions (updated_at, id) WHERE turn_open;

CREATE TABLE transcript (
  session ${TEXT} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  channel ${TEXT} NOT NULL,
  seq BIGINT NOT NULL,
  uuid ${TEXT} NOT NULL,
  at BIGINT NOT NULL,
  meta TEXT,
  message TEXT NOT NULL,
  PRIMARY KEY (session, channel, seq),
  UNIQUE (session, channel, uuid)
);

CREATE TABLE history (
  principal ${TEXT} NOT NULL,
  hash ${TEXT} NOT NULL,
  session ${TEXT} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  position BIGINT NOT NULL,
  PRIMARY KEY (principal, hash, session)
);
CREATE INDEX history_by_session ON history (session, position);

CREATE TABLE calls (
  number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session ${TEXT} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  id ${TEXT} NOT NULL,
  name TEXT NOT NULL,
  run_by TEXT NOT NULL CHECK (run_by IN ('client', 'server')),
  opened_at BIGINT NOT NULL,
  recorded_at BIGINT,
  recorded_by TEXT,
  used_at BIGINT,
  result_digest TEXT,
  input TEXT NOT NULL,
  result TEXT,
  UNIQUE (session, id)
);
CREATE INDEX calls_by_id ON calls (id);

CREATE TABLE answers (
  number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  principal ${TEXT} NOT NULL,
  key ${TEXT} NOT NULL,
  digest TEXT NOT NULL,
  session ${TEXT} REFERENCES sessions (id) ON DELETE CASCADE,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  size BIGINT NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (principal, key)
);
CREATE INDEX answers_by_session ON answers (session);

CREATE TABLE approvals (
  number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id ${TEXT} NOT NULL UNIQUE,
  session ${TEXT} NOT NULL,
  principal ${TEXT} NOT NULL,
  agent ${TEXT} NOT NULL,
  tool_use_id ${TEXT} NOT NULL,
  tool TEXT NOT NULL,
  digest TEXT NOT NULL,
  state TEXT NOT NULL
    CHECK (state IN ('pending', 'allowed', 'denied', 'expired', 'cancelled', 'covered')),
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  decided_at BIGINT,
  used_at BIGINT,
  decision TEXT,
  input TEXT NOT NULL,
  describe TEXT NOT NULL,
  suggestions TEXT NOT NULL,
  UNIQUE (session, agent, tool_use_id)
);
CREATE INDEX approvals_waiting ON approvals (expires_at) WHERE state = 'pending';
CREATE INDEX approvals_by_session ON approvals (session, state);
CREATE INDEX approvals_by_principal ON approvals (principal, number);
CREATE INDEX approvals_by_decision ON approvals (decided_at);

CREATE TABLE rules (
  number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id ${TEXT} NOT NULL UNIQUE,
  rule TEXT NOT NULL,
  behaviour TEXT NOT NULL CHECK (behaviour IN ('allow', 'ask', 'deny')),
  scope TEXT NOT NULL CHECK (scope IN ('once', 'session', 'project', 'everywhere')),
  session ${TEXT},
  project ${TEXT},
  created_by ${TEXT} NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX rules_by_session ON rules (session);

CREATE TABLE audit (
  seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at BIGINT NOT NULL,
  event TEXT NOT NULL,
  actor TEXT NOT NULL,
  principal ${TEXT} NOT NULL,
  session ${TEXT},
  tool TEXT,
  tool_use_id TEXT,
  size BIGINT NOT NULL,
  what TEXT,
  why TEXT,
  rule TEXT,
  call TEXT
);
CREATE INDEX audit_by_time ON audit (at);
CREATE INDEX audit_by_principal ON audit (principal, seq);
CREATE INDEX audit_by_session ON audit (session, seq);

CREATE TABLE traces (
  seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id ${TEXT} NOT NULL UNIQUE,
  principal ${TEXT} NOT NULL,
  at BIGINT NOT NULL,
  model TEXT NOT NULL,
  upstream TEXT,
  status BIGINT NOT NULL,
  duration_ms BIGINT NOT NULL,
  payload_size BIGINT NOT NULL,
  size BIGINT NOT NULL,
  losses TEXT NOT NULL,
  repairs TEXT NOT NULL,
  summary TEXT NOT NULL,
  session ${TEXT}
);
CREATE INDEX traces_by_time ON traces (at);
CREATE INDEX traces_by_principal ON traces (principal, seq);
CREATE INDEX traces_by_session ON traces (session, seq) WHERE session IS NOT NULL;

CREATE TABLE trace_payloads (
  seq BIGINT PRIMARY KEY REFERENCES traces (seq) ON DELETE CASCADE,
  body BYTEA NOT NULL
);
-- It is compressed before it comes.
ALTER TABLE trace_payloads ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE quirks (
  number BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,
  upstream ${TEXT} NOT NULL,
  model ${TEXT} NOT NULL,
  key ${TEXT} NOT NULL,
  learned_at BIGINT NOT NULL,
  value TEXT NOT NULL,
  evidence TEXT NOT NULL,
  PRIMARY KEY (upstream, model, key)
);

CREATE TABLE usage (
  seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at BIGINT NOT NULL,
  principal ${TEXT} NOT NULL,
  model ${TEXT} NOT NULL,
  upstream ${TEXT} NOT NULL,
  session ${TEXT} NOT NULL,
  status BIGINT NOT NULL,
  input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  cache_read_tokens BIGINT NOT NULL,
  cache_write_tokens BIGINT NOT NULL,
  reasoning_tokens BIGINT NOT NULL,
  cost_usd DOUBLE PRECISION,
  latency_ms BIGINT NOT NULL,
  first_token_ms BIGINT
);
CREATE INDEX usage_by_time ON usage (at);
CREATE INDEX usage_by_session ON usage (session, at);

CREATE TABLE runs (
  number BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,
  id ${TEXT} PRIMARY KEY,
  principal ${TEXT} NOT NULL,
  session ${TEXT} REFERENCES sessions (id) ON DELETE CASCADE,
  state TEXT NOT NULL CHECK (state IN ('running', 'interrupted')),
  attempts BIGINT NOT NULL,
  owner ${TEXT} NOT NULL,
  started_at BIGINT NOT NULL,
  request TEXT NOT NULL
);
CREATE INDEX runs_by_session ON runs (session);
CREATE INDEX runs_by_state ON runs (state, started_at);

CREATE TABLE sign_ins (
  number BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,
  id ${TEXT} PRIMARY KEY,
  name TEXT NOT NULL,
  binding TEXT NOT NULL,
  began_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);

CREATE TABLE keys (
  number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id ${TEXT} NOT NULL UNIQUE,
  name ${TEXT} NOT NULL,
  digest TEXT NOT NULL,
  start TEXT NOT NULL,
  grants TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  rotated_at BIGINT,
  previous_digest TEXT,
  previous_until BIGINT,
  revoked_at BIGINT
);
CREATE UNIQUE INDEX keys_by_name ON keys (name) WHERE revoked_at IS NULL;

-- What was said, apart from the transcript: looking for a word reads no results and images beside it.
CREATE TABLE spoken (
  session ${TEXT} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  seq BIGINT NOT NULL,
  folded ${TEXT} NOT NULL,
  PRIMARY KEY (session, seq)
);
-- The entry up to which it is there, and how many characters that are.
CREATE TABLE spoken_up_to (
  session ${TEXT} PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
  seq BIGINT NOT NULL,
  size BIGINT NOT NULL
);
`;
