/**
 * Numbered, forward only, each in one transaction with its number. A migration that has been
 * released is never edited: the next one corrects it.
 */
import { GatewayError } from '../../core/errors.js';
import { number } from '../sql/rows.js';
import type { Database } from './database.js';
import { SCHEMA_1 } from './schema-1.js';

/** What a call was judged by, beside the line that says so: a rule can be tried on calls of the past. */
const SCHEMA_2 = `
ALTER TABLE audit ADD COLUMN call TEXT;
`;

/** Turns that outlive the process that began them, and figures of single sessions without a scan. */
const SCHEMA_3 = `
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

/** Sign-ins to the console that outlive the process. */
const SCHEMA_4 = `
CREATE TABLE sign_ins (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  binding TEXT NOT NULL,
  began_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
`;

/**
 * What was said, apart from the transcript, so that looking for a word does not read the results and
 * images beside it. Ordinary rows and a trigger: whatever deletes an entry deletes its words, at once
 * and whole. A full-text index was measured: FTS5 leaves the words of deleted rows in its segments;
 * its `secure-delete` takes 0.1 to 2 s a session, and fails its own integrity check in SQLite 3.45.1.
 *
 * `spoken_up_to` has the entry up to which it is there, and how many characters that are. What was
 * written since is read when a search comes to the session: no turn waits for it.
 */
const SCHEMA_5 = `
CREATE TABLE spoken (
  session TEXT NOT NULL,
  seq INTEGER NOT NULL,
  folded TEXT NOT NULL,
  PRIMARY KEY (session, seq)
) STRICT;
CREATE TABLE spoken_up_to (
  session TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  size INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER spoken_goes AFTER DELETE ON transcript WHEN old.channel = 'main' BEGIN
  DELETE FROM spoken WHERE session = old.session AND seq = old.seq;
END;
`;

/** The requests of one session, without reading the summary of every other. */
const SCHEMA_6 = `
CREATE INDEX traces_by_session ON traces (json_extract(summary, '$.session'), seq)
  WHERE json_extract(summary, '$.session') IS NOT NULL;
`;

/**
 * Indexes that every turn wrote to, for the sake of prune, which walks over these rows anyway, and of
 * one owner's leases, which are few.
 */
const SCHEMA_7 = `
DROP INDEX leases_by_owner;
DROP INDEX sessions_by_expiry;
DROP INDEX answers_by_expiry;
`;

/** Keys that were made at run time. Their revision is a counter as that of rules. */
const SCHEMA_8 = `
CREATE TABLE keys (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  digest TEXT NOT NULL,
  start TEXT NOT NULL,
  grants TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  rotated_at INTEGER,
  previous_digest TEXT,
  previous_until INTEGER,
  revoked_at INTEGER
) STRICT;
CREATE UNIQUE INDEX keys_by_name ON keys (name) WHERE revoked_at IS NULL;
INSERT INTO counters (name, value) VALUES ('keys', 0);
`;

/** Tools of MCP servers as they were approved, and servers that were added at run time. */
const SCHEMA_9 = `
CREATE TABLE tool_pins (
  subject TEXT NOT NULL,
  tool TEXT NOT NULL,
  digest TEXT NOT NULL,
  summary TEXT NOT NULL,
  pinned_at INTEGER NOT NULL,
  PRIMARY KEY (subject, tool)
) STRICT;
CREATE TABLE mcp_servers (
  name TEXT PRIMARY KEY,
  config TEXT NOT NULL,
  added_at INTEGER NOT NULL
) STRICT;
`;

/** Messages to people and programs outside, and secrets that the gateway makes for them. */
const SCHEMA_10 = `
CREATE TABLE outbox (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  target TEXT NOT NULL,
  event TEXT NOT NULL,
  subject TEXT NOT NULL,
  principal TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'failed', 'dropped')),
  attempts INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  claimed_by TEXT,
  claimed_until INTEGER NOT NULL DEFAULT 0,
  ended_at INTEGER,
  error TEXT,
  reference TEXT,
  payload TEXT NOT NULL
) STRICT;
CREATE INDEX outbox_by_due ON outbox (due_at) WHERE state = 'waiting';
CREATE INDEX outbox_by_subject ON outbox (subject, target);
CREATE TABLE secrets (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;
`;

/** Browsers that are sent notifications while no page is open. */
const SCHEMA_11 = `
CREATE TABLE push_subscriptions (
  id TEXT PRIMARY KEY,
  principal TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  p256dh TEXT NOT NULL,
  auth TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX push_by_principal ON push_subscriptions (principal);
`;

/** Of the key that subscribed a browser. Those of before have none, and subscribe again. */
const SCHEMA_12 = `
ALTER TABLE push_subscriptions ADD COLUMN credential TEXT NOT NULL DEFAULT '';
`;

/** What people call a session, and where they keep it. */
const SCHEMA_13 = `
ALTER TABLE sessions ADD COLUMN given_title TEXT;
ALTER TABLE sessions ADD COLUMN pinned_at INTEGER;
ALTER TABLE sessions ADD COLUMN archived_at INTEGER;
CREATE INDEX sessions_pinned ON sessions (updated_at, id) WHERE pinned_at IS NOT NULL;
`;

/** Upstreams that were connected at run time. */
const SCHEMA_14 = `
CREATE TABLE upstreams (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE,
  settings TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
`;

/** The team that a key belonged to when it asked. What was used before belongs to none. */
const SCHEMA_15 = `
ALTER TABLE usage ADD COLUMN team TEXT NOT NULL DEFAULT '';
`;

/** How a person wants the calls of a session to be decided, and how before it was to plan. */
const SCHEMA_16 = `
ALTER TABLE sessions ADD COLUMN mode TEXT;
ALTER TABLE sessions ADD COLUMN mode_before_plan TEXT;
`;

export interface Migration {
  version: number;
  sql: string;
}

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, sql: SCHEMA_1 },
  { version: 2, sql: SCHEMA_2 },
  { version: 3, sql: SCHEMA_3 },
  { version: 4, sql: SCHEMA_4 },
  { version: 5, sql: SCHEMA_5 },
  { version: 6, sql: SCHEMA_6 },
  { version: 7, sql: SCHEMA_7 },
  { version: 8, sql: SCHEMA_8 },
  { version: 9, sql: SCHEMA_9 },
  { version: 10, sql: SCHEMA_10 },
  { version: 11, sql: SCHEMA_11 },
  { version: 12, sql: SCHEMA_12 },
  { version: 13, sql: SCHEMA_13 },
  { version: 14, sql: SCHEMA_14 },
  { version: 15, sql: SCHEMA_15 },
  { version: 16, sql: SCHEMA_16 },
];

/** `TGAT`: distinguishes our file from any other program's database. */
const APPLICATION_ID = 0x54474154;

/**
 * Brings the database to the last of `migrations` and returns its version. Takes the write lock
 * even when there is nothing to do: that is how a read-only file is found at start.
 */
export async function migrate(database: Database, migrations: readonly Migration[]): Promise<number> {
  const target = migrations.at(-1)?.version ?? 0;
  await database.write(() => {
    const version = pragma(database, 'user_version');
    const foreign = pragma(database, 'application_id') !== APPLICATION_ID;
    if (foreign && number(database.get('SELECT count(*) AS n FROM sqlite_schema') ?? {}, 'n') > 0) {
      throw refused('It is a SQLite database of another program. Name another file in `store`.');
    }
    if (version > target) {
      throw refused(
        `It was written by a newer version of the gateway (schema ${version}, this one knows ${target}). Update the gateway, or name another file in \`store\`.`,
      );
    }
    if (foreign) database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    for (const migration of migrations) {
      if (migration.version <= version) continue;
      database.exec(migration.sql);
      database.exec(`PRAGMA user_version = ${migration.version}`);
    }
  });
  return target;
}

function pragma(database: Database, name: string): number {
  return number(database.get(`PRAGMA ${name}`) ?? {}, name);
}

function refused(message: string): GatewayError {
  return new GatewayError('unavailable', message, { param: 'store', detail: 'store_unavailable' });
}
