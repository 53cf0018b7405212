/**
 * Numbered, forward only, all that are missing in one transaction. A migration that has been released
 * is never edited: the next one corrects it. Several nodes may start at once: one of them migrates, the
 * others wait for it.
 */
import { GatewayError } from '../../core/errors.js';
import { number, text } from '../sql/rows.js';
import type { Database, Queries } from './database.js';
import { SCHEMA_1 } from './schema-1.js';
import { SCHEMA_CHANGES } from './schema-changes.js';

export interface Migration {
  version: number;
  sql: string;
}

/** Nodes that share the database. */
const SCHEMA_2 = `
CREATE TABLE nodes (
  name TEXT COLLATE "C" PRIMARY KEY,
  instance TEXT NOT NULL,
  address TEXT NOT NULL,
  secret_check TEXT NOT NULL,
  version TEXT NOT NULL,
  workspaces TEXT NOT NULL,
  beat_at BIGINT NOT NULL
);
`;

/** Tools of MCP servers as they were approved, and servers that were added at run time. */
const SCHEMA_3 = `
CREATE TABLE tool_pins (
  subject TEXT COLLATE "C" NOT NULL,
  tool TEXT COLLATE "C" NOT NULL,
  digest TEXT NOT NULL,
  summary TEXT NOT NULL,
  pinned_at BIGINT NOT NULL,
  PRIMARY KEY (subject, tool)
);
CREATE TABLE mcp_servers (
  name TEXT COLLATE "C" PRIMARY KEY,
  config TEXT NOT NULL,
  added_at BIGINT NOT NULL
);
`;

/** Messages to people and programs outside, and secrets that the gateway makes for them. */
const SCHEMA_4 = `
CREATE TABLE outbox (
  number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id TEXT COLLATE "C" NOT NULL UNIQUE,
  target TEXT COLLATE "C" NOT NULL,
  event TEXT NOT NULL,
  subject TEXT COLLATE "C" NOT NULL,
  principal TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'failed', 'dropped')),
  attempts BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  due_at BIGINT NOT NULL,
  claimed_by TEXT,
  claimed_until BIGINT NOT NULL DEFAULT 0,
  ended_at BIGINT,
  error TEXT,
  reference TEXT,
  payload TEXT NOT NULL
);
CREATE INDEX outbox_by_due ON outbox (due_at) WHERE state = 'waiting';
CREATE INDEX outbox_by_subject ON outbox (subject, target);
CREATE TABLE secrets (
  name TEXT COLLATE "C" PRIMARY KEY,
  value TEXT NOT NULL
);
`;

/** Browsers that are sent notifications while no page is open. */
const SCHEMA_6 = `
CREATE TABLE push_subscriptions (
  id TEXT COLLATE "C" PRIMARY KEY,
  principal TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  p256dh TEXT NOT NULL,
  auth TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX push_by_principal ON push_subscriptions (principal);
`;

/** Of the key that subscribed a browser. Those of before have none, and subscribe again. */
const SCHEMA_7 = `
ALTER TABLE push_subscriptions ADD COLUMN credential TEXT NOT NULL DEFAULT '';
`;

/** What people call a session, and where they keep it: other nodes hear of it as of any other change. */
const SCHEMA_8 = `
ALTER TABLE sessions ADD COLUMN given_title TEXT;
ALTER TABLE sessions ADD COLUMN pinned_at BIGINT;
ALTER TABLE sessions ADD COLUMN archived_at BIGINT;
CREATE INDEX sessions_pinned ON sessions (updated_at, id) WHERE pinned_at IS NOT NULL;
DROP TRIGGER sessions_changed ON sessions;
CREATE TRIGGER sessions_changed AFTER UPDATE ON sessions FOR EACH ROW
  WHEN (OLD.state <> NEW.state OR OLD.turn_open <> NEW.turn_open OR OLD.model <> NEW.model
    OR OLD.title IS DISTINCT FROM NEW.title OR NEW.expires_at < OLD.expires_at
    OR OLD.given_title IS DISTINCT FROM NEW.given_title OR OLD.pinned_at IS DISTINCT FROM NEW.pinned_at
    OR OLD.archived_at IS DISTINCT FROM NEW.archived_at)
  EXECUTE FUNCTION toolgate_note_session();
`;

/** Upstreams that were connected at run time. */
const SCHEMA_9 = `
CREATE TABLE upstreams (
  number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id TEXT COLLATE "C" NOT NULL UNIQUE,
  name TEXT COLLATE "C" NOT NULL UNIQUE,
  settings TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE TRIGGER upstreams_changed AFTER INSERT OR DELETE ON upstreams FOR EACH ROW
  EXECUTE FUNCTION toolgate_note('upstream');
`;

/** The team that a key belonged to when it asked. What was used before belongs to none, nor does what older nodes write. */
const SCHEMA_10 = `
ALTER TABLE usage ADD COLUMN team TEXT COLLATE "C" NOT NULL DEFAULT '';
`;

/** What each node may use of limits that all share. A crash of the server empties it: nodes claim again within a second. */
const SCHEMA_11 = `
CREATE UNLOGGED TABLE limit_claims (
  name TEXT COLLATE "C" NOT NULL,
  node TEXT COLLATE "C" NOT NULL,
  claimed BIGINT NOT NULL,
  until BIGINT NOT NULL,
  PRIMARY KEY (name, node)
);
`;

/** How a person wants the calls of a session to be decided, and how before it was to plan. Other nodes hear of it. */
const SCHEMA_12 = `
ALTER TABLE sessions ADD COLUMN mode TEXT COLLATE "C";
ALTER TABLE sessions ADD COLUMN mode_before_plan TEXT COLLATE "C";
DROP TRIGGER sessions_changed ON sessions;
CREATE TRIGGER sessions_changed AFTER UPDATE ON sessions FOR EACH ROW
  WHEN (OLD.state <> NEW.state OR OLD.turn_open <> NEW.turn_open OR OLD.model <> NEW.model
    OR OLD.title IS DISTINCT FROM NEW.title OR NEW.expires_at < OLD.expires_at
    OR OLD.given_title IS DISTINCT FROM NEW.given_title OR OLD.pinned_at IS DISTINCT FROM NEW.pinned_at
    OR OLD.archived_at IS DISTINCT FROM NEW.archived_at OR OLD.mode IS DISTINCT FROM NEW.mode)
  EXECUTE FUNCTION toolgate_note_session();
`;

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, sql: SCHEMA_1 },
  { version: 2, sql: SCHEMA_2 },
  { version: 3, sql: SCHEMA_3 },
  { version: 4, sql: SCHEMA_4 },
  { version: 5, sql: SCHEMA_CHANGES },
  { version: 6, sql: SCHEMA_6 },
  { version: 7, sql: SCHEMA_7 },
  { version: 8, sql: SCHEMA_8 },
  { version: 9, sql: SCHEMA_9 },
  { version: 10, sql: SCHEMA_10 },
  { version: 11, sql: SCHEMA_11 },
  { version: 12, sql: SCHEMA_12 },
];

/** `TGAT`: the advisory lock of this program's migrations. */
const LOCK = 0x54474154;
/** What the tests run on begins here. */
const OLDEST_SERVER = 140_000;

/** Rejects with GatewayError `unavailable` for a database that is not ours, too new or too old. */
export function migrate(database: Database, migrations: readonly Migration[]): Promise<number> {
  const target = migrations.at(-1)?.version ?? 0;
  return database.transaction(async (queries) => {
    await checkServer(queries, database.subject);
    await queries.run('SELECT pg_advisory_xact_lock(?)', [LOCK]);
    const version = await versionOf(queries, database.subject);
    if (version > target) {
      throw refused(
        `${database.subject} was written by a newer version of the gateway (schema ${version}, this one knows ${target}). Update the gateway, or name another database in \`store\`.`,
      );
    }
    for (const migration of migrations) {
      if (migration.version <= version) continue;
      await queries.run(migration.sql);
      await queries.run('UPDATE toolgate_schema SET version = ?', [migration.version]);
    }
    return target;
  }, 'unhurried');
}

async function checkServer(queries: Queries, subject: string): Promise<void> {
  const sql = `SELECT current_setting('server_version_num')::int AS server, current_setting('server_version') AS name,
    current_setting('server_encoding') AS encoding`;
  const row = (await queries.get(sql)) ?? {};
  if (number(row, 'server') < OLDEST_SERVER) {
    throw refused(
      `${subject} runs PostgreSQL ${text(row, 'name')}. The gateway needs 14 or newer: update it.`,
    );
  }
  if (text(row, 'encoding') !== 'UTF8') {
    throw refused(
      `${subject} has the encoding ${text(row, 'encoding')}. Create one with ENCODING 'UTF8', and name it in \`store\`.`,
    );
  }
}

/** Under the lock. Makes the table of the version where the database is empty. */
async function versionOf(queries: Queries, subject: string): Promise<number> {
  const found = await queries.get(`SELECT to_regclass('toolgate_schema')::text AS name`);
  if (found?.['name'] !== null) {
    const row = await queries.get('SELECT version FROM toolgate_schema');
    return number(row ?? {}, 'version');
  }
  const tables = 'SELECT count(*) AS tables FROM pg_tables WHERE schemaname = current_schema()';
  if (number((await queries.get(tables)) ?? {}, 'tables') > 0) {
    throw refused(`${subject} has tables of another program. Name an empty database in \`store\`.`);
  }
  await queries.run('CREATE TABLE toolgate_schema (version BIGINT NOT NULL)');
  await queries.run('INSERT INTO toolgate_schema VALUES (0)');
  return 0;
}

function refused(message: string): GatewayError {
  return new GatewayError('unavailable', message, { param: 'store', detail: 'store_unavailable' });
}
