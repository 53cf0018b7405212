/** Creates sessions: empty, from an imported history, or as a fork of another session. */
import { createHash, randomBytes } from 'node:crypto';
import type { Message } from '../../core/conversation.js';
import { inheritedMode, type SessionMode } from '../../store/sessions.js';
import { type Ground, HistoryFingerprint, type Link, seedOf } from '../history/history-fingerprint.js';
import { toolCallsIn } from '../history/visible-history.js';
import { LIMITS, type SessionParts } from '../session-parts.js';
import type { AttachKind } from '../sessions.js';
import type { LeaseKeeper } from './lease-keeper.js';
import { LeasedSession, type SessionWrite } from './leased-session.js';
import type { LoadedSession, SessionSetup, TurnEnds } from './session-reader.js';
import type { LogEntry, SessionRow, SetupEntry, TurnEndEntry, TurnEntry } from './session-row.js';
import { TranscriptLog } from './transcript-log.js';

interface Origin {
  parent: LoadedSession;
  turnEnds: TurnEnds;
  setup: SessionSetup;
  /** What people were shown of the parent's turns. */
  records: NonNullable<SessionWrite['records']>;
  /** Undefined: from the beginning. */
  turnEnd: TurnEndEntry | undefined;
}

interface MakeOptions {
  how: Exclude<AttachKind, 'continue'>;
  by: Ground & { principal: string; model: string };
  seed: Link;
  title: string | undefined;
  origin?: Origin;
  /** The session that the messages were copied from, without an origin. */
  parent?: string;
  /** Of the origin, where nothing is said. */
  mode?: SessionMode | undefined;
  /** Messages after the origin up to the last answer, and the link of that. */
  base: readonly Message[];
  end: Link;
  onLost(): void;
  /** The index finds it too at the positions that it shares with its origin. */
  indexed: boolean;
}

const EMPTY = { version: 1, step: 0, marks: 0, turns: 0, setup: { count: 0 }, records: 0 } as const;

export class SessionFactory {
  readonly #parts: SessionParts;
  readonly #keeper: LeaseKeeper;

  constructor(parts: SessionParts, keeper: LeaseKeeper) {
    this.#parts = parts;
    this.#keeper = keeper;
  }

  async make(options: MakeOptions): Promise<LeasedSession> {
    const { by, origin, title, onLost } = options;
    const parent = origin?.parent.session.id ?? options.parent;
    const parentMode = origin?.parent.session.mode;
    const mode = options.mode ?? (parentMode && inheritedMode(parentMode));
    const { store, now, ttlMs, emit } = this.#parts;
    const id = newSessionId();
    const record: SessionRow = {
      ...EMPTY,
      root: by.root,
      ...(by.user !== undefined && { user: by.user }),
      ...(origin === undefined ? { forkNumber: 0 } : inherited(origin.parent)),
      head: options.seed,
    };
    const { principal, model, engine } = by;
    const created = await store.sessions.create({
      id,
      principal,
      model,
      engine,
      state: 'live',
      expiresAt: now() + ttlMs,
      metadata: record,
      ...(title !== undefined && { title }),
      ...(parent !== undefined && { parent }),
      ...(mode !== undefined && { mode }),
    });
    if (!created) throw new Error('An id of 16 random bytes was given twice.');
    const leased = new LeasedSession({
      parts: this.#parts,
      keeper: this.#keeper,
      session: { id, principal },
      record,
      log: new TranscriptLog(),
      lease: { metadata: record, onLost },
    });
    try {
      await this.#fill(leased, options);
    } catch (error) {
      await leased.release();
      await store.sessions.delete(id, this.#parts.node);
      throw error;
    }
    emit({ type: 'created', session: id, principal, how: options.how });
    return leased;
  }

  async #fill(leased: LeasedSession, { origin, base, end, indexed }: MakeOptions): Promise<void> {
    const shared = sharedEntries(origin);
    const main: LogEntry[] = [
      ...(origin?.parent.log.entries(origin.turnEnd?.step ?? 0) ?? []),
      ...base.map((message): LogEntry => ({ kind: 'message', message })),
    ];
    if (main.length === 0 && shared.length === 0) return;
    const marks = 1 + Math.max(-1, ...shared.map(({ mark }) => mark));
    const calls = toolCallsIn(base.at(-1));
    const own: TurnEndEntry = {
      kind: 'mark',
      mark: marks,
      ...end,
      step: main.length,
      open: calls.map(({ id }) => id),
      results: [],
    };
    const last = base.length === 0 ? origin?.turnEnd : own;
    const turns: TurnEntry[] = base.length === 0 ? shared : [...shared, own];
    const { setup, entries } = setupOf(origin?.setup);
    const waits = last !== undefined && last.open.length > 0;
    const clients = toolCallsIn(lastMessage(main)).filter(({ id }) => last?.open.includes(id) === true);
    await leased.write({
      state: waits ? 'parked' : 'live',
      main,
      turns,
      setup: entries,
      records: origin?.records.filter(({ step }) => step < (origin.turnEnd?.step ?? 0)) ?? [],
      open: clients.map(({ id, name, input }) => ({ id, name, input, runBy: 'client' })),
      index: indexed ? positions(turns) : [],
      record: {
        head: last === undefined ? leased.record.head : { hash: last.hash, position: last.position },
        step: main.length,
        marks: base.length === 0 ? marks : marks + 1,
        setup,
        ...(waits && {
          pending: {
            mark: last.mark,
            entry: 1 + turns.findIndex((entry) => entry.kind === 'mark' && entry.mark === last.mark),
            tellings: [last.hash],
            until: this.#parts.now() + this.#parts.toolTimeoutMs,
            said: [],
          },
        }),
        ...(base.length === 0 && last?.state !== undefined && { state: last.state }),
      },
    });
  }
}

function inherited({
  session,
  record: { prompt, family = session.id, forkNumber, home },
}: LoadedSession): Pick<SessionRow, 'prompt' | 'family' | 'forkNumber' | 'home'> {
  return {
    ...(prompt !== undefined && { prompt }),
    ...(home !== undefined && { home }),
    family,
    forkNumber: forkNumber + 1,
  };
}

type PositionedEntry = Exclude<TurnEntry, { kind: 'said' }>;

function sharedEntries(origin: Origin | undefined): PositionedEntry[] {
  const last = origin?.turnEnd?.mark;
  if (origin === undefined || last === undefined) return [];
  return origin.turnEnds.entries.flatMap((entry) =>
    entry.kind !== 'said' && entry.mark <= last ? [entry] : [],
  );
}

function positions(entries: readonly TurnEntry[]): Link[] {
  const at = new Map<number, number>();
  return entries.flatMap((entry) => {
    if (entry.kind === 'said') return [];
    if (entry.kind === 'mark') at.set(entry.mark, entry.position);
    return [{ hash: entry.hash, position: at.get(entry.mark) ?? 0 }];
  });
}

function setupOf(setup: SessionSetup | undefined): { setup: SessionRow['setup']; entries: SetupEntry[] } {
  const entries: SetupEntry[] = [];
  const made: SessionRow['setup'] = { count: 0 };
  if (setup !== undefined && setup.tools.length > 0) {
    entries.push({ kind: 'tools', tools: [...setup.tools] });
    // No request has an empty digest: the next request's own tools and prompt are written.
    made.tools = { digest: '', seq: entries.length };
  }
  if (setup !== undefined && setup.system.length > 0) {
    entries.push({ kind: 'system', system: [...setup.system] });
    made.system = { digest: '', seq: entries.length };
  }
  made.count = entries.length;
  return { setup: made, entries };
}

function lastMessage(entries: readonly LogEntry[]): Message | undefined {
  const log = new TranscriptLog();
  log.push(entries);
  return log.messages.at(-1);
}

interface ForkPoint {
  /** The last turn end that is kept; undefined: from the beginning. */
  turnEnd: TurnEndEntry | undefined;
  /** Kept messages after it, and the link of all that is kept. */
  base: readonly Message[];
  end: Link;
}

/** Throws `invalid_request` where there are fewer turns. */
export function forkPoint(
  parent: LoadedSession,
  turnEnds: TurnEnds,
  keep: number,
  engine: string,
): ForkPoint {
  const { before } = parent.log.turnStart(keep);
  const turnEnd = turnEnds.entries.findLast((entry): entry is TurnEndEntry => {
    return entry.kind === 'mark' && isBeginningOf(parent.log.asOf(entry.step), before);
  });
  const kept = turnEnd === undefined ? 0 : parent.log.asOf(turnEnd.step).length;
  const start: Link =
    turnEnd === undefined
      ? seedOf({ ...parent.record, engine })
      : { hash: turnEnd.hash, position: turnEnd.position };
  const base = before.slice(kept);
  return { turnEnd, base, end: HistoryFingerprint.from(start, base).end };
}

/** A compaction may have replaced messages since. */
function isBeginningOf(then: readonly Message[], now: readonly Message[]): boolean {
  return then.length <= now.length && then.every((message, index) => message === now[index]);
}

/** For people: the beginning of the user's first text. */
export function titleOf(messages: readonly Message[]): string | undefined {
  for (const { role, content } of messages) {
    if (role !== 'user') continue;
    for (const block of content) {
      if (block.type !== 'text') continue;
      const text = block.text.replace(/\s+/g, ' ').trim();
      if (text.length > LIMITS.titleChars)
        return `${text.slice(0, LIMITS.titleChars - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
      if (text !== '') return text;
    }
  }
  return undefined;
}

const NUMBERED = /^(.*) \((\d{1,6})\)$/s;

/** The next number behind a title: "a" is followed by "a (2)", and so is every other fork of either. */
export function numberedTitle(title: string, others: readonly string[]): string {
  const base = NUMBERED.exec(title)?.[1] ?? title;
  const numbers = others.flatMap((other) => {
    if (other === base) return [1];
    const [, words, number] = NUMBERED.exec(other) ?? [];
    return words === base ? [Number(number)] : [];
  });
  return `${base} (${1 + Math.max(1, ...numbers)})`;
}

/**
 * Ids of sessions have a checksum, which distinguishes them from ids that clients make up: some send
 * one of their own in `X-Session-ID` with every request.
 */
const PREFIX = 'ses_';
const RANDOM_BYTES = 16;
const CHECK_BYTES = 4;

/** Ids without a checksum, as earlier versions gave them out: 16 bytes, which end in one of four letters. */
const UNCHECKED = /^ses_[A-Za-z0-9_-]{21}[AQgw]$/;

export function newSessionId(): string {
  const random = randomBytes(RANDOM_BYTES);
  return PREFIX + Buffer.concat([random, checkOf(random)]).toString('base64url');
}

/** It has the form of an issued id; whether the session still exists, the store knows. */
export function hasSessionForm(id: string): boolean {
  if (!id.startsWith(PREFIX)) return false;
  if (UNCHECKED.test(id)) return true;
  const text = id.slice(PREFIX.length);
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== RANDOM_BYTES + CHECK_BYTES || bytes.toString('base64url') !== text) return false;
  return checkOf(bytes.subarray(0, RANDOM_BYTES)).equals(bytes.subarray(RANDOM_BYTES));
}

function checkOf(random: Uint8Array): Buffer {
  return createHash('sha256').update('toolgate session').update(random).digest().subarray(0, CHECK_BYTES);
}
