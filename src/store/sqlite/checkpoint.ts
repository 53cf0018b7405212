/** One step of a session in one transaction: all of it, or nothing and the reason. */
import type { JsonObject } from '../../core/conversation.js';
import { redactJson } from '../json.js';
import { type Lease, sessionLease } from '../leases.js';
import {
  type Checkpoint,
  type CheckpointOutcome,
  type Claim,
  type ClaimOutcome,
  MAIN_CHANNEL,
  type TranscriptAppend,
} from '../sessions.js';
import { json, number, type Row, text, toJson, whole } from '../sql/rows.js';
import { dropAnswer, insertAnswer } from './answers.js';
import type { Context } from './context.js';
import { dropLease, takeLease } from './leases.js';

type Refusal = Extract<CheckpointOutcome, { ok: false }>;

/** Thrown to roll back; never leaves this file. */
class Refused extends Error {
  readonly outcome: Refusal;

  constructor(outcome: Refusal) {
    super('refused');
    this.outcome = outcome;
  }
}

export function checkpoint(
  context: Context,
  id: string,
  lease: Lease,
  change: Checkpoint,
): Promise<CheckpointOutcome> {
  const { database } = context;
  return orRefusal(
    database.write((): CheckpointOutcome => {
      const session = findSession(context, id, HOLDER);
      if (lease.name !== sessionLease(id) || session['holder'] !== `${lease.token} ${lease.owner}`) {
        throw new Refused({ ok: false, reason: 'fenced' });
      }
      apply(context, session, lease, change);
      return { ok: true };
    }),
  );
}

export function claim(
  context: Context,
  id: string,
  { owner, ttlMs, metadata }: Claim,
  step: (lease: Lease) => Checkpoint,
): Promise<ClaimOutcome> {
  const { database } = context;
  return orRefusal(
    database.write((): ClaimOutcome => {
      const session = findSession(context, id, 'metadata');
      const grant = takeLease(context, sessionLease(id), owner, ttlMs);
      if (!grant.granted) return { ok: false, reason: 'held', owner: grant.owner };
      if (!hasMetadata(session, metadata)) {
        dropLease(database, grant.lease);
        return { ok: false, reason: 'changed' };
      }
      apply(context, session, grant.lease, step(grant.lease));
      return { ok: true, lease: grant.lease };
    }),
  );
}

async function orRefusal<Outcome>(written: Promise<Outcome>): Promise<Outcome | Refusal> {
  try {
    return await written;
  } catch (error) {
    if (error instanceof Refused) return error.outcome;
    throw error;
  }
}

/** Token and owner of the lease that is there, whether or not it has lapsed: nobody else took it. */
const HOLDER = `(SELECT token || ' ' || owner FROM leases WHERE name = 'session:' || sessions.id) AS holder`;

function findSession({ database, now }: Context, id: string, more: typeof HOLDER | 'metadata'): Row {
  const session = database.get(`SELECT id, principal, expires_at, ${more} FROM sessions WHERE id = ?`, [id]);
  if (session === undefined || number(session, 'expires_at') <= now()) {
    throw new Refused({ ok: false, reason: 'gone' });
  }
  return session;
}

/** Written by another version, the same JSON may be another text. */
function hasMetadata(session: Row, expected: JsonObject): boolean {
  const wanted = toJson(expected);
  return text(session, 'metadata') === wanted || toJson(json(session, 'metadata')) === wanted;
}

function apply(context: Context, session: Row, lease: Lease, change: Checkpoint): void {
  const { database, redact } = context;
  const at = whole(context.now());
  const id = text(session, 'id');
  const principal = text(session, 'principal');
  let size = 0;
  for (const append of change.append ?? []) size += appendEntries(context, id, append, at);
  for (const entry of change.index ?? []) {
    const sql =
      'INSERT INTO history (principal, hash, session, position) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING';
    database.run(sql, [principal, entry.hash, id, entry.position]);
  }
  size += openCalls(context, id, change, at);
  useResults(context, id, change, at);
  if (change.dropAnswer !== undefined) dropAnswer(database, principal, change.dropAnswer);
  if (change.answer !== undefined) {
    const answer = { ...change.answer, principal, session: id };
    if (!insertAnswer(context, answer)) throw new Refused({ ok: false, reason: 'answered' });
  }
  const metadata = change.metadata === undefined ? null : toJson(change.metadata);
  const sql = `UPDATE sessions SET
      state = coalesce(?, state), title = coalesce(?, title), model = coalesce(?, model),
      metadata = coalesce(?, metadata),
      expires_at = coalesce(?, expires_at), updated_at = ?, size = size + ? WHERE id = ?`;
  database.run(sql, [
    change.state ?? null,
    change.title === undefined ? null : redact(change.title),
    change.model ?? null,
    metadata,
    change.expiresAt === undefined ? null : whole(change.expiresAt),
    at,
    size,
    id,
  ]);
  if (change.release) dropLease(database, lease);
}

/** Characters added. */
function appendEntries(context: Context, session: string, append: TranscriptAppend, at: number): number {
  const { database, redact } = context;
  const channel = append.channel ?? MAIN_CHANNEL;
  const lastSql = 'SELECT coalesce(max(seq), 0) AS last FROM transcript WHERE session = ? AND channel = ?';
  let last = number(database.get(lastSql, [session, channel]) ?? {}, 'last');
  if (append.after !== undefined && append.after !== last) {
    throw new Refused({ ok: false, reason: 'moved', channel, last });
  }
  let size = 0;
  const sql = `INSERT INTO transcript (session, channel, seq, uuid, at, meta, message)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session, channel, uuid) DO NOTHING`;
  for (const { uuid, message, meta } of append.entries) {
    const body = toJson(message);
    const notes = meta === undefined ? null : toJson(redactJson(meta, redact));
    if (database.run(sql, [session, channel, last + 1, uuid, at, notes, body]) === 0) continue;
    last += 1;
    size += body.length + (notes?.length ?? 0);
  }
  return size;
}

/** Characters added. */
function openCalls({ database }: Context, session: string, change: Checkpoint, at: number): number {
  let size = 0;
  const reopened: string[] = [];
  const sql = `INSERT INTO calls (session, id, name, run_by, opened_at, input) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (session, id) DO NOTHING`;
  for (const call of change.open ?? []) {
    const input = toJson(call.input);
    if (database.run(sql, [session, call.id, call.name, call.runBy, at, input]) === 0) reopened.push(call.id);
    size += input.length;
  }
  if (reopened.length > 0) throw new Refused({ ok: false, reason: 'reopened', ids: reopened });
  return size;
}

function useResults({ database }: Context, session: string, change: Checkpoint, at: number): void {
  const sql = `UPDATE calls SET used_at = ?
    WHERE session = ? AND id = ? AND recorded_at IS NOT NULL AND used_at IS NULL`;
  const unusable = (change.use ?? []).filter((id) => database.run(sql, [at, session, id]) === 0);
  if (unusable.length > 0) throw new Refused({ ok: false, reason: 'unusable', ids: unusable });
}
