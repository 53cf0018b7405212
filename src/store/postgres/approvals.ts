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
import { newRule } from '../sql/rules.js';
import type { Page } from '../store.js';
import { insertAudit } from './audit.js';
import type { Context } from './context.js';
import { insertRows, type Queries } from './database.js';
import { insertRules } from './rules.js';

export class PostgresApprovals implements ApprovalStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  async create(approval: NewApproval): Promise<{ created: boolean; approval: Approval }> {
    const { database, notifier, now } = this.#context;
    const { session, agent = '', toolUseId } = approval;
    const once = 'ON CONFLICT (session, agent, tool_use_id) DO NOTHING RETURNING *';
    const values = approvalValues(approval, now());
    const [made] = await insertRows(database, `approvals (${APPROVAL_COLUMNS})`, [values], once);
    if (made !== undefined) {
      notifier.wake();
      return { created: true, approval: readApproval(made) };
    }
    const sql = 'SELECT * FROM approvals WHERE session = ? AND agent = ? AND tool_use_id = ?';
    const row = await database.get(sql, [session, agent, toolUseId]);
    return { created: false, approval: readApproval(row ?? {}) };
  }

  async get(id: string): Promise<Approval | undefined> {
    const row = await this.#context.database.get('SELECT * FROM approvals WHERE id = ?', [id]);
    return row && readApproval(row);
  }

  async list(query: ApprovalQuery): Promise<Page<Approval>> {
    const where = new Conditions();
    where.add('number < ?', numberCursor(query.cursor));
    where.equal('principal', query.principal);
    where.equal('session', query.session);
    where.equal('state', query.state);
    const sql = `SELECT * FROM approvals WHERE ${where} ORDER BY number DESC LIMIT ?`;
    const rows = await this.#context.database.all(sql, [...where.params, pageSize(query.limit) + 1]);
    return toPage(rows, query.limit, readApproval, (row) => String(number(row, 'number')));
  }

  async waiting(sessions: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const sql = `SELECT session, count(*) AS waiting FROM approvals
      WHERE session = ANY(?::text[]) AND state = 'pending' GROUP BY session`;
    const rows = await this.#context.database.all(sql, [sessions]);
    return new Map(rows.map((row) => [text(row, 'session'), number(row, 'waiting')]));
  }

  decide(id: string, verdict: ApprovalVerdict): Promise<DecideOutcome> {
    const made = 'rules' in verdict ? (verdict.rules ?? []) : [];
    const rules = made.map((rule) => newRule(rule, this.#context.now()));
    return this.#change(async (queries): Promise<DecideOutcome> => {
      const approval = await lockApproval(queries, id);
      if (approval === undefined) return { outcome: 'unknown' };
      const over = await this.#over(queries, approval);
      if (over !== undefined) return over;
      if ('digest' in verdict && verdict.digest !== approval.digest) return { outcome: 'mismatch', approval };
      await insertRules(this.#context, queries, rules);
      const after = await settle(this.#context, queries, approval, settlementOf(verdict, rules));
      return { outcome: 'decided', approval: after, rules };
    });
  }

  extend(id: string, expiresAt: number, by: string): Promise<ExtendOutcome> {
    return this.#change(async (queries): Promise<ExtendOutcome> => {
      const approval = await lockApproval(queries, id);
      if (approval === undefined) return { outcome: 'unknown' };
      const over = await this.#over(queries, approval);
      if (over !== undefined) return over;
      const extended = extension(approval, expiresAt, by);
      if (extended === undefined) return { outcome: 'extended', approval };
      const { until, entry } = extended;
      await queries.run('UPDATE approvals SET expires_at = ? WHERE id = ?', [until, id]);
      await insertAudit(this.#context, queries, [entry]);
      return { outcome: 'extended', approval: { ...approval, expiresAt: until } };
    });
  }

  async expireDue(): Promise<Approval[]> {
    const { database, now } = this.#context;
    const due = `FROM approvals WHERE state = 'pending' AND expires_at <= ?`;
    // Skips a question that another transaction decides now.
    const sql = `SELECT * ${due} ORDER BY number LIMIT ${EXPIRE_BATCH} FOR UPDATE SKIP LOCKED`;
    const expired: Approval[] = [];
    // Read without a transaction first: mostly nothing is due.
    while ((await database.get(`SELECT 1 AS due ${due} LIMIT 1`, [whole(now())])) !== undefined) {
      const batch = await this.#change(async (queries) => {
        const rows = await queries.all(sql, [whole(now())]);
        const settling = rows.map((row) =>
          settle(this.#context, queries, readApproval(row), { state: 'expired', ...UNANSWERED }),
        );
        return Promise.all(settling);
      });
      if (batch.length === 0) break;
      expired.push(...batch);
    }
    return expired;
  }

  async use(id: string): Promise<boolean> {
    const { database, now } = this.#context;
    const sql = `UPDATE approvals SET used_at = ?
      WHERE id = ? AND state IN ('allowed', 'covered') AND used_at IS NULL`;
    return (await database.run(sql, [whole(now()), id])) === 1;
  }

  async #change<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    const result = await this.#context.database.transaction(work);
    this.#context.notifier.wake();
    return result;
  }

  /** Why the question can no longer be changed; an overdue one expires here. */
  async #over(
    queries: Queries,
    approval: Approval,
  ): Promise<{ outcome: 'already' | 'expired'; approval: Approval } | undefined> {
    if (approval.state === 'expired') return { outcome: 'expired', approval };
    if (approval.state !== 'pending') return { outcome: 'already', approval };
    if (approval.expiresAt === undefined || approval.expiresAt > this.#context.now()) return undefined;
    const expired = await settle(this.#context, queries, approval, { state: 'expired', ...UNANSWERED });
    return { outcome: 'expired', approval: expired };
  }
}

/** Locks the question until the transaction ends. */
async function lockApproval(queries: Queries, id: string): Promise<Approval | undefined> {
  const row = await queries.get('SELECT * FROM approvals WHERE id = ? FOR UPDATE', [id]);
  return row && readApproval(row);
}

/** Inside a transaction: cancels all open questions of a session. */
export async function cancelPending(
  context: Context,
  queries: Queries,
  session: string,
  decision: Omit<ApprovalDecision, 'at'>,
): Promise<void> {
  const sql = `SELECT * FROM approvals WHERE session = ? AND state = 'pending' ORDER BY number FOR UPDATE`;
  for (const row of await queries.all(sql, [session])) {
    await settle(context, queries, readApproval(row), { state: 'cancelled', ...decision });
  }
}

/** Inside a transaction that has locked it pending. */
async function settle(
  context: Context,
  queries: Queries,
  approval: Approval,
  settlement: Settlement,
): Promise<Approval> {
  const { after, decision, entry } = settled(approval, settlement, context.now());
  const sql = `UPDATE approvals SET state = ?, decided_at = ?, decision = ? WHERE id = ? AND state = 'pending'`;
  await Promise.all([
    queries.run(sql, [after.state, decision.at, toJson(decision), approval.id]),
    insertAudit(context, queries, [entry]),
  ]);
  return after;
}
