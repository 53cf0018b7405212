/** The SQLite store: one file, or memory for tests. */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { GatewayError } from '../../core/errors.js';
import { LocalBus } from '../bus.js';
import { redactJson } from '../json.js';
import { resolveLimits } from '../limits.js';
import {
  type HistoryIndex,
  type HistoryMatch,
  MAIN_CHANNEL,
  type TranscriptEntry,
  type TranscriptRange,
  type TranscriptStore,
} from '../sessions.js';
import { PROBE, readMatch } from '../sql/history.js';
import { readQuirk } from '../sql/quirks.js';
import { number, text, toJson, whole } from '../sql/rows.js';
import { APPROVALS_WAITING, figuresOf, SESSION_STATES } from '../sql/sessions.js';
import { readTranscriptEntry } from '../sql/transcripts.js';
import type {
  LearnedQuirk,
  PruneReport,
  QuirkStore,
  Store,
  StoreFigures,
  StoreInfo,
  StoreOptions,
} from '../store.js';
import { SqliteAnswers } from './answers.js';
import { SqliteApprovals } from './approvals.js';
import { SqliteAudit } from './audit.js';
import type { Context } from './context.js';
import { Database } from './database.js';
import { storeError } from './errors.js';
import { SqliteKeys } from './keys.js';
import { SqliteLeases } from './leases.js';
import { SqliteMcp } from './mcp.js';
import { MIGRATIONS, migrate } from './migrations.js';
import { SqliteOutbox, SqliteSecrets } from './outbox.js';
import { probe, type StoreFile, storeFile } from './probe.js';
import { prune } from './prune.js';
import { SqlitePush } from './push.js';
import { SqliteRules } from './rules.js';
import { SqliteRuns } from './runs.js';
import { SqliteSessions } from './sessions.js';
import { SqliteSignIns } from './sign-ins.js';
import { SqliteToolCalls } from './tool-calls.js';
import { SqliteTraces } from './traces.js';
import { SqliteTransfer } from './transfer.js';
import { SqliteUpstreams } from './upstreams.js';
import { SqliteUsage } from './usage.js';

const PROMPT = `coalesce(json_extract(sessions.metadata, '$.prompt'), '')`;

const matching = (before: string): string => `
  SELECT history.hash, history.session, history.position,
    history.position = (SELECT max(position) FROM history AS own WHERE own.session = history.session) AS head
  FROM json_each(?) AS chain
  CROSS JOIN history ON history.principal = ? AND history.hash = chain.value
  CROSS JOIN sessions ON sessions.id = history.session AND sessions.expires_at > ?
  ORDER BY chain.key DESC,${before} head DESC, sessions.updated_at DESC, sessions.id DESC
  LIMIT ?`;

const LONGEST = matching('');
const ALL = matching(` ${PROMPT} = ? DESC,`);

class SqliteHistoryIndex implements HistoryIndex {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  longestPrefix(principal: string, chain: readonly string[]): Promise<HistoryMatch | undefined> {
    const { database, now } = this.#context;
    return database.read(() => {
      for (let end = chain.length; end > 0; end -= PROBE) {
        const part = JSON.stringify(chain.slice(Math.max(0, end - PROBE), end));
        const row = database.get(LONGEST, [part, principal, now(), 1]);
        if (row !== undefined) return readMatch(row);
      }
      return undefined;
    });
  }

  find(
    principal: string,
    hash: string,
    { limit, prompt }: { limit: number; prompt: string },
  ): Promise<HistoryMatch[]> {
    const { database, now } = this.#context;
    const params = [JSON.stringify([hash]), principal, now(), prompt, limit];
    return database.read(() => database.all(ALL, params).map(readMatch));
  }
}

class SqliteTranscripts implements TranscriptStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  read(session: string, range: TranscriptRange = {}): Promise<TranscriptEntry[]> {
    const { database } = this.#context;
    // A negative LIMIT is none.
    const sql = `SELECT seq, uuid, at, message, meta FROM transcript
      WHERE session = ? AND channel = ? AND seq > ? ORDER BY seq LIMIT ?`;
    const params = [session, range.channel ?? MAIN_CHANNEL, range.after ?? 0, range.limit ?? -1];
    return database.read(() => database.all(sql, params).map(readTranscriptEntry));
  }

  channels(session: string): Promise<string[]> {
    const { database } = this.#context;
    const sql = 'SELECT DISTINCT channel FROM transcript WHERE session = ? ORDER BY channel';
    return database.read(() => database.all(sql, [session]).map((row) => text(row, 'channel')));
  }
}

class SqliteQuirks implements QuirkStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  put(quirk: Omit<LearnedQuirk, 'learnedAt'>): Promise<void> {
    const { database, now, redact } = this.#context;
    return database.write(() => {
      const sql = `INSERT OR REPLACE INTO quirks (upstream, model, key, learned_at, value, evidence)
        VALUES (?, ?, ?, ?, ?, ?)`;
      const value = toJson(redactJson(quirk.value, redact));
      const evidence = redact(quirk.evidence);
      database.run(sql, [quirk.upstream, quirk.model, quirk.key, whole(now()), value, evidence]);
    }, 'relaxed');
  }

  list(): Promise<LearnedQuirk[]> {
    const { database } = this.#context;
    const sql = 'SELECT * FROM quirks ORDER BY upstream, model, key';
    return database.read(() => database.all(sql).map(readQuirk));
  }
}

export type SqliteLocation = { kind: 'memory' } | { kind: 'file'; path: string };

class SqliteStore implements Store {
  readonly leases: SqliteLeases;
  readonly sessions: SqliteSessions;
  readonly transcripts: SqliteTranscripts;
  readonly index: SqliteHistoryIndex;
  readonly toolCalls: SqliteToolCalls;
  readonly answers: SqliteAnswers;
  readonly approvals: SqliteApprovals;
  readonly rules: SqliteRules;
  readonly audit: SqliteAudit;
  readonly traces: SqliteTraces;
  readonly quirks: SqliteQuirks;
  readonly usage: SqliteUsage;
  readonly runs: SqliteRuns;
  readonly signIns: SqliteSignIns;
  readonly keys: SqliteKeys;
  readonly mcp: SqliteMcp;
  readonly outbox: SqliteOutbox;
  readonly secrets: SqliteSecrets;
  readonly bus = new LocalBus();
  readonly push: SqlitePush;
  readonly upstreams: SqliteUpstreams;
  readonly transfer: SqliteTransfer;
  readonly #context: Context;
  readonly #location: string;
  readonly #file: StoreFile | undefined;
  readonly #schemaVersion: number;
  #pruning: Promise<PruneReport> | undefined;
  #closing: Promise<void> | undefined;

  constructor(context: Context, location: string, schemaVersion: number, file: StoreFile | undefined) {
    this.#context = context;
    this.#file = file;
    this.#location = location;
    this.#schemaVersion = schemaVersion;
    this.leases = new SqliteLeases(context);
    this.sessions = new SqliteSessions(context);
    this.transcripts = new SqliteTranscripts(context);
    this.index = new SqliteHistoryIndex(context);
    this.toolCalls = new SqliteToolCalls(context);
    this.answers = new SqliteAnswers(context);
    this.approvals = new SqliteApprovals(context);
    this.rules = new SqliteRules(context);
    this.audit = new SqliteAudit(context);
    this.traces = new SqliteTraces(context);
    this.quirks = new SqliteQuirks(context);
    this.usage = new SqliteUsage(context);
    this.runs = new SqliteRuns(context);
    this.signIns = new SqliteSignIns(context);
    this.keys = new SqliteKeys(context);
    this.mcp = new SqliteMcp(context);
    this.outbox = new SqliteOutbox(context);
    this.secrets = new SqliteSecrets(context);
    this.push = new SqlitePush(context);
    this.upstreams = new SqliteUpstreams(context);
    this.transfer = new SqliteTransfer(context, () => this.usage.flush());
  }

  prune(now = this.#context.now()): Promise<PruneReport> {
    this.#pruning ??= prune(this.#context, now).finally(() => {
      this.#pruning = undefined;
    });
    return this.#pruning;
  }

  /** A plain copy of the file would lack what is in its log. */
  async backup(file: string): Promise<void> {
    const { database } = this.#context;
    await Promise.all([this.traces.flush(), this.usage.flush(), this.audit.flush()]);
    await database.read(() => database.run('VACUUM INTO ?', [file]));
  }

  probe(): Promise<void> {
    return probe(this.#context, this.#file);
  }

  figures(): Promise<StoreFigures> {
    const { database, now } = this.#context;
    return database.read(() => ({
      ...figuresOf(database.all(SESSION_STATES)),
      approvalsWaiting: number(database.get(APPROVALS_WAITING) ?? {}, 'n'),
      leases: number(database.get('SELECT count(*) AS n FROM leases WHERE until > ?', [now()]) ?? {}, 'n'),
    }));
  }

  info(): Promise<StoreInfo> {
    const { database } = this.#context;
    const pragma = (name: string) => number(database.get(`PRAGMA ${name}`) ?? {}, name);
    return database.read(() => ({
      kind: 'sqlite',
      location: this.#location,
      schemaVersion: this.#schemaVersion,
      sizeBytes: pragma('page_count') * pragma('page_size'),
    }));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // A prune that runs finds the store closed at its next step.
    await Promise.all([this.traces.flush(), this.usage.flush(), this.audit.flush()]);
    this.#context.database.close();
  }
}

/** Rejects with GatewayError `unavailable` that names the file and what to do about it. */
export async function openSqlite(location: SqliteLocation, options: StoreOptions): Promise<Store> {
  const memory = location.kind === 'memory';
  const path = memory ? ':memory:' : location.path;
  const limits = resolveLimits(options.limits);
  if (!memory) createFile(path);
  let database: Database | undefined;
  try {
    database = await Database.open({ path, memory, lockWaitMs: limits.lockWaitMs });
    const version = await migrate(database, MIGRATIONS);
    const context: Context = {
      database,
      limits,
      now: options.now ?? Date.now,
      redact: options.redact ?? ((text) => text),
      isClean: options.isClean ?? (() => options.redact === undefined),
      onError: options.onError ?? (() => {}),
    };
    return new SqliteStore(context, path, version, await storeFile(path, memory));
  } catch (error) {
    database?.close();
    throw openError(error, path);
  }
}

/**
 * With its mode from the first moment; SQLite gives its log the same. A file that exists is not
 * touched: opening and closing it here would drop the locks this process has on it.
 */
function createFile(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST') return;
    throw new GatewayError(
      'unavailable',
      `The store ${path} cannot be created (${String(code)}). Check that the gateway may write its folder, or name another file in \`store\`.`,
      { param: 'store', detail: 'store_unavailable', cause: error },
    );
  }
}

function openError(error: unknown, path: string): unknown {
  const subject = `The store ${path}`;
  if (!(error instanceof GatewayError)) return storeError(error, subject);
  if (error.cause !== undefined) return storeError(error.cause, subject);
  const { code, param, detail } = error;
  return new GatewayError(code, `${subject} cannot be used. ${error.message}`, {
    ...(param !== undefined && { param }),
    ...(detail !== undefined && { detail }),
  });
}
