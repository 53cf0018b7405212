/** Turns that outlive the process that began them, and figures of single sessions without a scan. */
export const SCHEMA_3 = `
CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  principal TEXT NOT NULL,
  session TEXT REFERENCES sessions (id) ON DELETE CASCADE,
  state TEXT NOT NULL CHECK (state IN ('running', 'interrupted')),
  attempts INTEGER NOT NULL,
  owner TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  request TEXT NOT NULL
) STRICT;
CREATE INDEX runs_by_session ON runs (session);
CREATE INDEX runs_by_state ON runs (state, started_at);

CREATE INDEX usage_by_session ON usage (session, at);
CREATE INDEX approvals_by_session ON approvals (session, state);
`;
