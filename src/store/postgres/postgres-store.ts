/** The PostgreSQL store: one database, shared by several nodes. */
import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '../../core/errors.js';
import { resolveLimits } from '../limits.js';
import { number } from '../sql/rows.js';
import { APPROVALS_WAITING, figuresOf, SESSION_STATES } from '../sql/sessions.js';
import type { PruneReport, Store, StoreFigures, StoreInfo, StoreOptions } from '../store.js';
import { PostgresAnswers } from './answers.js';
import { PostgresApprovals } from './approvals.js';
import { PostgresAudit } from './audit.js';
import { type BusLimits, PostgresBus } from './bus.js';
import type { Context } from './context.js';
import { Database, type DatabaseLimits } from './database.js';
import { PostgresHistoryIndex } from './history.js';
import { PostgresKeys } from './keys.js';
import { PostgresLeases } from './leases.js';
import { PostgresLimitClaims } from './limit-claims.js';
import { describeLocation, type PostgresLocation } from './location.js';
import { PostgresMcp } from './mcp.js';
import { MIGRATIONS, migrate } from './migrations.js';
import { PostgresNodes } from './nodes.js';
import { Notifier } from './notifier.js';
import { PostgresOutbox, PostgresSecrets } from './outbox.js';
import { PostgresPresence } from './presence.js';
import { prune } from './prune.js';
import { PostgresPush } from './push.js';
import { PostgresQuirks } from './quirks.js';
import { PostgresRules } from './rules.js';
import { PostgresRuns } from './runs.js';
import { PostgresSessions } from './sessions.js';
import { PostgresSignIns } from './sign-ins.js';
import { PostgresToolCalls } from './tool-calls.js';
import { PostgresTraces } from './traces.js';
import { PostgresTranscripts } from './transcripts.js';
import { PostgresTransfer } from './transfer.js';
import { PostgresUpstreams } from './upstreams.js';
import { PostgresUsage } from './usage.js';

interface PostgresOptions extends StoreOptions {
  database?: Partial<DatabaseLimits>;
  bus?: Partial<BusLimits>;
  /** The clock of leases: the database's, unless a test has its own time (`now`). */
  leaseClock?: 'database' | 'now';
}

const DATABASE_LIMITS: DatabaseLimits = {
  connections: 10,
  connectMs: 5000,
  statementMs: 30_000,
  lockMs: 5000,
  idleInTransactionMs: 30_000,
};

/** Between two tries at the start. */
const START_PAUSE_MS = 500;

class PostgresStore implements Store {
  readonly leases: PostgresLeases;
  readonly sessions: PostgresSessions;
  readonly transcripts: PostgresTranscripts;
  readonly index: PostgresHistoryIndex;
  readonly toolCalls: PostgresToolCalls;
  readonly answers: PostgresAnswers;
  readonly approvals: PostgresApprovals;
  readonly rules: PostgresRules;
  readonly audit: PostgresAudit;
  readonly traces: PostgresTraces;
  readonly quirks: PostgresQuirks;
  readonly usage: PostgresUsage;
  readonly runs: PostgresRuns;
  readonly signIns: PostgresSignIns;
  readonly keys: PostgresKeys;
  readonly mcp: PostgresMcp;
  readonly outbox: PostgresOutbox;
  readonly secrets: PostgresSecrets;
  readonly push: PostgresPush;
  readonly upstreams: PostgresUpstreams;
  readonly transfer: PostgresTransfer;
  readonly nodes: PostgresNodes;
  readonly bus: PostgresBus;
  readonly presence: PostgresPresence;
  readonly limitClaims: PostgresLimitClaims;
  readonly #context: Context;
  readonly #location: string;
  readonly #schemaVersion: number;
  #pruning: Promise<PruneReport> | undefined;
  #closing: Promise<void> | undefined;

  constructor(context: Context, location: string, schemaVersion: number, bus?: Partial<BusLimits>) {
    this.#context = context;
    this.#location = location;
    this.#schemaVersion = schemaVersion;
    this.leases = new PostgresLeases(context);
    this.sessions = new PostgresSessions(context);
    this.transcripts = new PostgresTranscripts(context);
    this.index = new PostgresHistoryIndex(context);
    this.toolCalls = new PostgresToolCalls(context);
    this.answers = new PostgresAnswers(context);
    this.approvals = new PostgresApprovals(context);
    this.rules = new PostgresRules(context);
    this.audit = new PostgresAudit(context);
    this.traces = new PostgresTraces(context);
    this.quirks = new PostgresQuirks(context);
    this.usage = new PostgresUsage(context);
    this.runs = new PostgresRuns(context);
    this.signIns = new PostgresSignIns(context);
    this.keys = new PostgresKeys(context);
    this.mcp = new PostgresMcp(context);
    this.outbox = new PostgresOutbox(context);
    this.secrets = new PostgresSecrets(context);
    this.push = new PostgresPush(context);
    this.upstreams = new PostgresUpstreams(context);
    this.transfer = new PostgresTransfer(context, () => this.usage.flush());
    this.nodes = new PostgresNodes(context);
    this.bus = new PostgresBus(context, bus);
    this.presence = new PostgresPresence(context);
    this.limitClaims = new PostgresLimitClaims(context);
  }

  prune(now = this.#context.now()): Promise<PruneReport> {
    this.#pruning ??= prune(this.#context, now).finally(() => {
      this.#pruning = undefined;
    });
    return this.#pruning;
  }

  async probe(): Promise<void> {
    const sql = `INSERT INTO counters (name, value) VALUES ('probe', ?)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
    await this.#context.database.run(sql, [Math.round(this.#context.now())]);
  }

  async figures(): Promise<StoreFigures> {
    const { database } = this.#context;
    const held = 'SELECT count(*) AS n FROM leases WHERE until > extract(epoch FROM now()) * 1000';
    return {
      ...figuresOf(await database.all(SESSION_STATES)),
      approvalsWaiting: number((await database.get(APPROVALS_WAITING)) ?? {}, 'n'),
      leases: number((await database.get(held)) ?? {}, 'n'),
    };
  }

  async info(): Promise<StoreInfo> {
    const row = await this.#context.database.get('SELECT pg_database_size(current_database()) AS size');
    return {
      kind: 'postgres',
      location: this.#location,
      schemaVersion: this.#schemaVersion,
      sizeBytes: number(row ?? {}, 'size'),
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // A prune that runs finds the store closed at its next step.
    await Promise.all([this.traces.flush(), this.usage.flush(), this.audit.flush(), this.bus.close()]);
    await this.#context.notifier.close();
    await this.#context.database.close();
  }
}

/**
 * Rejects with GatewayError `unavailable` that names the host and what to do about it. What may pass
 * (nothing listens yet, the server is starting) is tried again for `limits.startWaitMs`.
 */
export async function openPostgres(location: PostgresLocation, options: PostgresOptions): Promise<Store> {
  const limits = resolveLimits(options.limits);
  const database = await Database.create(location, { ...DATABASE_LIMITS, ...options.database });
  const now = options.now ?? Date.now;
  try {
    const version = await migrateWhenThere(database, limits.startWaitMs, options.onWait ?? (() => {}));
    database.serve();
    const context: Context = {
      database,
      notifier: new Notifier(database),
      limits,
      now,
      leaseNow: () => (options.leaseClock === 'now' ? Math.round(now()) : null),
      redact: options.redact ?? ((text) => text),
      isClean: options.isClean ?? (() => options.redact === undefined),
      onError: options.onError ?? (() => {}),
    };
    return new PostgresStore(context, describeLocation(location), version, options.bus);
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function migrateWhenThere(
  database: Database,
  waitMs: number,
  onWait: (error: GatewayError) => void,
): Promise<number> {
  const end = performance.now() + waitMs;
  for (let first = true; ; first = false) {
    try {
      database.forgetFailures();
      return await migrate(database, MIGRATIONS);
    } catch (error) {
      const passes = error instanceof GatewayError && error.retryable;
      if (!passes || performance.now() + START_PAUSE_MS > end) throw error;
      if (first) onWait(error);
    }
    await delay(START_PAUSE_MS);
  }
}
