import type {
  Approval,
  ApprovalDecision,
  ApprovalQuery,
  ApprovalStore,
  ApprovalVerdict,
  DecideOutcome,
  ExtendOutcome,
  NewApproval,
} from '../approvals.js';
import { pageSize } from '../pages.js';
import {
  APPROVAL_COLUMNS,
  approvalValues,
  EXPIRE_BATCH,
  extension,
  readApproval,
  type Settlement,
  settled,
  settlementOf,
  UNANSWERED,
} from '../sql/approvals.js';
import { Conditions, numberCursor, toPage } from '../sql/paging.js';
import { number, text, toJson, whole } from '../sql/rows.js';
import type { Page } from '../store.js';
import { insertAudit } from './audit.js';
import type { Context } from './context.js';
import { insertRule } from './rules.js';

export class SqliteApprovals implements ApprovalStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  create(approval: NewApproval): Promise<{ created: boolean; approval: Approval }> {
    const { database, now } = this.#context;
    return database.write(() => {
      const { session, agent = '', toolUseId } = approval;
      const sql = `INSERT INTO approvals (${APPROVAL_COLUMNS})
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (session, agent, tool_use_id) DO NOTHING`;
      const created = database.run(sql, approvalValues(approval, now()));
      const row = database.get(
        'SELECT * FROM approvals WHERE session = ? AND agent = ? AND tool_use_id = ?',
        [session, agent, toolUseId],
      );
      return { created: created === 1, approval: readApproval(row ?? {}) };
    });
  }

  get(id: string): Promise<Approval | undefined> {
    return this.#context.database.read(() => this.#find(id));
  }

  async list(query: ApprovalQuery): Promise<Page<Approval>> {
    const { database } = this.#context;
    const where = new Conditions();
    where.add('number < ?', numberCursor(query.cursor));
    where.equal('principal', query.principal);
    where.equal('session', query.session);
    where.equal('state', query.state);
    const sql = `SELECT * FROM approvals WHERE ${where} ORDER BY number DESC LIMIT ?`;
    const rows = await database.read(() => database.all(sql, [...where.params, pageSize(query.limit) + 1]));
    return toPage(rows, query.limit, readApproval, (row) => String(number(row, 'number')));
  }

  waiting(sessions: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const { database } = this.#context;
    const sql = `SELECT session, count(*) AS waiting FROM approvals
      WHERE session IN (SELECT value FROM json_each(?)) AND state = 'pending' GROUP BY session`;
    return database.read(() => {
      const rows = database.all(sql, [JSON.stringify(sessions)]);
      return new Map(rows.map((row) => [text(row, 'session'), number(row, 'waiting')]));
    });
  }

  decide(id: string, verdict: ApprovalVerdict): Promise<DecideOutcome> {
    return this.#context.database.write((): DecideOutcome => {
      const approval = this.#find(id);
      if (approval === undefined) return { outcome: 'unknown' };
      const settled = this.#settled(approval);
      if (settled !== undefined) return settled;
      if ('digest' in verdict && verdict.digest !== approval.digest) return { outcome: 'mismatch', approval };
      const made = 'rules' in verdict ? (verdict.rules ?? []) : [];
      const rules = made.map((rule) => insertRule(this.#context, rule));
      const after = settle(this.#context, approval, settlementOf(verdict, rules));
      return { outcome: 'decided', approval: after, rules };
    });
  }

  extend(id: string, expiresAt: number, by: string): Promise<ExtendOutcome> {
    const { database } = this.#context;
    return database.write((): ExtendOutcome => {
      const approval = this.#find(id);
      if (approval === undefined) return { outcome: 'unknown' };
      const settled = this.#settled(approval);
      if (settled !== undefined) return settled;
      const extended = extension(approval, expiresAt, by);
      if (extended === undefined) return { outcome: 'extended', approval };
      const { until, entry } = extended;
      database.run('UPDATE approvals SET expires_at = ? WHERE id = ?', [until, id]);
      insertAudit(this.#context, entry);
      return { outcome: 'extended', approval: { ...approval, expiresAt: until } };
    });
  }

  async expireDue(): Promise<Approval[]> {
    const { database, now } = this.#context;
    const sql = `SELECT * FROM approvals WHERE state = 'pending' AND expires_at <= ? LIMIT ${EXPIRE_BATCH}`;
    const expired: Approval[] = [];
    // Looked at first without the write lock: mostly nothing is due.
    while (await database.read(() => database.get(sql, [now()]) !== undefined)) {
      const batch = await database.write(() =>
        database
          .all(sql, [now()])
          .map((row) => settle(this.#context, readApproval(row), { state: 'expired', ...UNANSWERED })),
      );
      expired.push(...batch);
    }
    return expired;
  }

  use(id: string): Promise<boolean> {
    const { database, now } = this.#context;
    const sql = `UPDATE approvals SET used_at = ?
      WHERE id = ? AND state IN ('allowed', 'covered') AND used_at IS NULL`;
    return database.write(() => database.run(sql, [whole(now()), id]) === 1);
  }

  #find(id: string): Approval | undefined {
    const row = this.#context.database.get('SELECT * FROM approvals WHERE id = ?', [id]);
    return row && readApproval(row);
  }

  /** Why it can no longer be changed; one that is overdue is expired on the spot. */
  #settled(approval: Approval): { outcome: 'already' | 'expired'; approval: Approval } | undefined {
    if (approval.state === 'expired') return { outcome: 'expired', approval };
    if (approval.state !== 'pending') return { outcome: 'already', approval };
    if (approval.expiresAt === undefined || approval.expiresAt > this.#context.now()) return undefined;
    const expired = settle(this.#context, approval, { state: 'expired', ...UNANSWERED });
    return { outcome: 'expired', approval: expired };
  }
}

/** Inside a transaction: cancels whatever waits in a session. */
export function cancelPending(
  context: Context,
  session: string,
  decision: Omit<ApprovalDecision, 'at'>,
): void {
  const sql = `SELECT * FROM approvals WHERE session = ? AND state = 'pending'`;
  for (const row of context.database.all(sql, [session])) {
    settle(context, readApproval(row), { state: 'cancelled', ...decision });
  }
}

/** Inside a transaction that has seen it pending. */
function settle(context: Context, approval: Approval, settlement: Settlement): Approval {
  const { after, decision, entry } = settled(approval, settlement, context.now());
  context.database.run(
    `UPDATE approvals SET state = ?, decided_at = ?, decision = ? WHERE id = ? AND state = 'pending'`,
    [after.state, decision.at, toJson(decision), approval.id],
  );
  insertAudit(context, entry);
  return after;
}
