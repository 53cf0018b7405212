/** One step of a session in one transaction: all of it, or nothing and the reason. */
import type { JsonObject } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
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
import type { Queries } from './database.js';
import { dropLease, takeLease } from './leases.js';

type Refusal = Extract<ClaimOutcome, { ok: false }>;
type StepRefusal = Extract<CheckpointOutcome, { ok: false }>;

/** Thrown to roll back; never leaves this file. */
class Refused<Outcome extends Refusal> extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super('refused');
    this.outcome = outcome;
  }
}

/**
 * The lease is read and locked with the session in one statement: who takes it over waits for the end
 * of this step, and sees what it wrote. Whether it has lapsed does not matter while nobody took it.
 */
const GUARD = `SELECT sessions.principal FROM sessions JOIN leases ON leases.name = 'session:' || sessions.id
  WHERE sessions.id = ? AND sessions.expires_at > ? AND leases.name = ? AND leases.token = ?
    AND leases.owner = ?
  FOR NO KEY UPDATE OF sessions FOR SHARE OF leases`;
const THERE = 'SELECT 1 AS there FROM sessions WHERE id = ? AND expires_at > ?';

export async function checkpoint(
  context: Context,
  id: string,
  lease: Lease,
  change: Checkpoint,
): Promise<CheckpointOutcome> {
  try {
    const outcome = await context.database.transaction(async (queries): Promise<CheckpointOutcome> => {
      const now = whole(context.now());
      const held = await queries.get(GUARD, [id, now, lease.name, lease.token, lease.owner]);
      if (held === undefined) {
        const isThere = (await queries.get(THERE, [id, now])) !== undefined;
        throw new Refused<StepRefusal>({ ok: false, reason: isThere ? 'fenced' : 'gone' });
      }
      await apply(context, queries, { id, principal: text(held, 'principal') }, lease, change);
      return { ok: true };
    });
    // Steps between do not change how the session is shown.
    if (change.state !== undefined || change.title !== undefined) context.notifier.wake();
    return outcome;
  } catch (error) {
    if (error instanceof Refused) return error.outcome;
    throw error;
  }
}

export async function claim(
  context: Context,
  id: string,
  { owner, ttlMs, metadata }: Claim,
  step: (lease: Lease) => Checkpoint,
): Promise<ClaimOutcome> {
  const find = `SELECT principal, metadata FROM sessions WHERE id = ? AND expires_at > ? FOR NO KEY UPDATE`;
  try {
    const outcome = await context.database.transaction(async (queries): Promise<ClaimOutcome> => {
      const row = await queries.get(find, [id, whole(context.now())]);
      if (row === undefined) throw new Refused<StepRefusal>({ ok: false, reason: 'gone' });
      const grant = await takeLease(context, queries, sessionLease(id), owner, ttlMs);
      if (!grant.granted) return { ok: false, reason: 'held', owner: grant.owner };
      if (!hasMetadata(row, metadata)) throw new Refused<Refusal>({ ok: false, reason: 'changed' });
      const session = { id, principal: text(row, 'principal') };
      await apply(context, queries, session, grant.lease, step(grant.lease));
      return { ok: true, lease: grant.lease };
    });
    context.notifier.wake();
    return outcome;
  } catch (error) {
    if (error instanceof Refused) return error.outcome;
    throw error;
  }
}

/** Written by another version, the same JSON may be another text. */
function hasMetadata(session: Row, expected: JsonObject): boolean {
  const wanted = toJson(expected);
  return text(session, 'metadata') === wanted || toJson(json(session, 'metadata')) === wanted;
}

/** What a session is found by in its metadata, as columns: its system prompt, and whether a turn is open. */
export function foundBy(metadata: JsonObject): { prompt: string; turnOpen: boolean } {
  const { prompt, turn } = metadata;
  const stopped = isObject(turn) && turn['stopped'] === true;
  return {
    prompt: typeof prompt === 'string' ? prompt : '',
    turnOpen: turn !== undefined && turn !== null && !stopped,
  };
}

interface LockedSession {
  id: string;
  principal: string;
}

/** Its statements are sent together; the first refusal in the order of the step is the one that counts. */
async function apply(
  context: Context,
  queries: Queries,
  session: LockedSession,
  lease: Lease,
  change: Checkpoint,
): Promise<void> {
  const { id, principal } = session;
  const at = whole(context.now());
  const appends = (change.append ?? []).map((append) => prepareAppend(context, append));
  const inputs = (change.open ?? []).map((call) => toJson(call.input));
  const sizes = [...appends.map(({ size }) => size), ...inputs.map((input) => input.length)];
  const [appended, opened, used, , answered] = await Promise.all([
    Promise.all(appends.map((append) => appendEntries(queries, id, append, at))),
    openCalls(queries, id, change, inputs, at),
    useResults(queries, id, change, at),
    change.dropAnswer === undefined ? undefined : dropAnswer(queries, principal, change.dropAnswer),
    change.answer === undefined
      ? true
      : insertAnswer(context, queries, { ...change.answer, principal, session: id }),
    indexHistory(queries, session, change),
    updateSession(
      context,
      queries,
      id,
      change,
      sizes.reduce((sum, size) => sum + size, 0),
    ),
    change.release ? dropLease(queries, lease) : undefined,
  ]);
  for (const [index, { last }] of appended.entries()) {
    const { after, channel } = appends[index] ?? {};
    if (after === undefined || channel === undefined || after === last) continue;
    throw new Refused<StepRefusal>({ ok: false, reason: 'moved', channel, last });
  }
  if (opened.length > 0) throw new Refused<StepRefusal>({ ok: false, reason: 'reopened', ids: opened });
  if (used.length > 0) throw new Refused<StepRefusal>({ ok: false, reason: 'unusable', ids: used });
  if (!answered) throw new Refused<StepRefusal>({ ok: false, reason: 'answered' });
  const skipped = appended.reduce((sum, each) => sum + each.skipped, 0);
  if (skipped > 0) await queries.run('UPDATE sessions SET size = size - ? WHERE id = ?', [skipped, id]);
}

async function updateSession(
  { now, redact }: Context,
  queries: Queries,
  id: string,
  change: Checkpoint,
  size: number,
): Promise<void> {
  const { state, title, model, metadata, expiresAt } = change;
  const found = metadata && foundBy(metadata);
  const sql = `UPDATE sessions SET
      state = coalesce(?, state), title = coalesce(?, title), model = coalesce(?, model),
      metadata = coalesce(?, metadata), prompt = coalesce(?, prompt), turn_open = coalesce(?, turn_open),
      expires_at = coalesce(?, expires_at), updated_at = ?, size = size + ? WHERE id = ?`;
  await queries.run(sql, [
    state ?? null,
    title === undefined ? null : redact(title),
    model ?? null,
    metadata === undefined ? null : toJson(metadata),
    found?.prompt ?? null,
    found?.turnOpen ?? null,
    expiresAt === undefined ? null : whole(expiresAt),
    whole(now()),
    size,
    id,
  ]);
}

interface PreparedAppend {
  channel: string;
  after: number | undefined;
  entries: Map<string, { message: string; meta: string | null }>;
  size: number;
}

function prepareAppend({ redact }: Context, { channel, after, entries }: TranscriptAppend): PreparedAppend {
  const prepared: PreparedAppend['entries'] = new Map();
  let size = 0;
  for (const { uuid, message, meta } of entries) {
    if (prepared.has(uuid)) continue;
    const entry = {
      message: toJson(message),
      meta: meta === undefined ? null : toJson(redactJson(meta, redact)),
    };
    prepared.set(uuid, entry);
    size += weightOf(entry);
  }
  return { channel: channel ?? MAIN_CHANNEL, after, entries: prepared, size };
}

function weightOf({ message, meta }: { message: string; meta: string | null }): number {
  return message.length + (meta?.length ?? 0);
}

/** Entries whose uuid is there are skipped, and the others are numbered without a gap. */
const APPEND = `WITH last AS (SELECT coalesce(max(seq), 0) AS seq FROM transcript WHERE session = ? AND channel = ?),
  fresh AS (
    SELECT given.*, row_number() OVER (ORDER BY place) AS step
    FROM unnest(?::text[], ?::text[], ?::text[]) WITH ORDINALITY AS given (uuid, message, meta, place)
    WHERE NOT EXISTS (SELECT 1 FROM transcript AS own
      WHERE own.session = ? AND own.channel = ? AND own.uuid = given.uuid)
  ),
  written AS (
    INSERT INTO transcript (session, channel, seq, uuid, at, meta, message)
    SELECT ?, ?, last.seq + fresh.step, fresh.uuid, ?, fresh.meta, fresh.message FROM fresh, last
    RETURNING uuid
  )
  SELECT (SELECT seq FROM last) AS last, (SELECT coalesce(array_agg(uuid), '{}') FROM written) AS written`;

/** `last` is where the channel ended before; `skipped` is what of its size was not added. */
async function appendEntries(
  queries: Queries,
  session: string,
  { channel, entries, size }: PreparedAppend,
  at: number,
): Promise<{ last: number; skipped: number }> {
  const bodies = [...entries.values()];
  const place = [session, channel];
  const row = await queries.get(APPEND, [
    ...place,
    [...entries.keys()],
    bodies.map(({ message }) => message),
    bodies.map(({ meta }) => meta),
    ...place,
    ...place,
    at,
  ]);
  const { written } = row ?? {};
  let added = 0;
  for (const uuid of Array.isArray(written) ? written : []) {
    const entry = entries.get(String(uuid));
    if (entry !== undefined) added += weightOf(entry);
  }
  return { last: number(row ?? {}, 'last'), skipped: size - added };
}

async function indexHistory(queries: Queries, session: LockedSession, { index }: Checkpoint): Promise<void> {
  if (index === undefined || index.length === 0) return;
  const sql = `INSERT INTO history (principal, hash, session, position)
    SELECT ?, hash, ?, position FROM unnest(?::text[], ?::bigint[]) AS given (hash, position)
    ON CONFLICT DO NOTHING`;
  const hashes = index.map(({ hash }) => hash);
  const positions = index.map(({ position }) => position);
  await queries.run(sql, [session.principal, session.id, hashes, positions]);
}

/** Those that were opened before. */
async function openCalls(
  queries: Queries,
  session: string,
  { open }: Checkpoint,
  inputs: readonly string[],
  at: number,
): Promise<string[]> {
  if (open === undefined || open.length === 0) return [];
  const sql = `INSERT INTO calls (session, id, name, run_by, opened_at, input)
    SELECT ?, id, name, run_by, ?, input
    FROM unnest(?::text[], ?::text[], ?::text[], ?::text[]) WITH ORDINALITY AS given (id, name, run_by, input, place)
    ORDER BY place ON CONFLICT (session, id) DO NOTHING RETURNING id`;
  const ids = open.map(({ id }) => id);
  const names = open.map(({ name }) => name);
  const runBy = open.map((call) => call.runBy);
  return without(ids, await queries.all(sql, [session, at, ids, names, runBy, inputs]));
}

/** Those that cannot be used. */
async function useResults(
  queries: Queries,
  session: string,
  { use }: Checkpoint,
  at: number,
): Promise<string[]> {
  if (use === undefined || use.length === 0) return [];
  const sql = `UPDATE calls SET used_at = ?
    WHERE session = ? AND id = ANY(?::text[]) AND recorded_at IS NOT NULL AND used_at IS NULL RETURNING id`;
  return without(use, await queries.all(sql, [at, session, use]));
}

/** The ids that the rows do not have; one that is given twice counts once. */
function without(ids: readonly string[], rows: readonly Row[]): string[] {
  const done = new Set(rows.map((row) => text(row, 'id')));
  return ids.filter((id) => !done.delete(id));
}
