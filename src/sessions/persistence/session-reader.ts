/** Reads sessions from the store. */
import type { Block, Message, TextBlock, ToolDefinition } from '../../core/conversation.js';
import type { Session } from '../../store/sessions.js';
import { answerOf, NO_RESULT } from '../history/repair-history.js';
import { turnsOf } from '../history/user-turns.js';
import { toolCallsIn } from '../history/visible-history.js';
import { LIMITS, type SessionsStore } from '../session-parts.js';
import type { ShownRecord } from '../sessions.js';
import { HeldTranscripts } from './held-transcripts.js';
import {
  outstandingOf,
  type PendingToolCalls,
  readPendingToolCalls,
  recordedToolCalls,
  settled,
} from './pending-tool-calls.js';
import {
  RECORD_CHANNEL,
  type RecordEntry,
  readRecordEntry,
  readSessionRow,
  readSetupEntry,
  readTurnEntry,
  SETUP_CHANNEL,
  type SessionRow,
  TURNS_CHANNEL,
  type TurnEndEntry,
  type TurnEntry,
} from './session-row.js';
import { TranscriptLog } from './transcript-log.js';

export interface SessionHead {
  session: Session;
  record: SessionRow;
}

export interface LoadedSession {
  session: Pick<Session, 'id' | 'principal' | 'mode'>;
  record: SessionRow;
  log: TranscriptLog;
}

export interface SessionSetup {
  tools: readonly ToolDefinition[];
  system: readonly TextBlock[];
}

/** The turn ends of a session, by their hashes and those of their aliases. */
export interface TurnEnds {
  entries: readonly TurnEntry[];
  byHash: ReadonlyMap<string, TurnEndEntry>;
  /** The head. */
  last: TurnEndEntry | undefined;
}

export class SessionReader {
  readonly #store: SessionsStore;
  readonly #held: HeldTranscripts;

  constructor(store: SessionsStore, held = new HeldTranscripts(LIMITS.heldTranscriptBytes)) {
    this.#store = store;
    this.#held = held;
  }

  /** Undefined for a session that does not exist, has expired or is of another kind. */
  async head(id: string): Promise<SessionHead | undefined> {
    const session = await this.#store.sessions.get(id);
    if (session === undefined || session.state === 'expired') return undefined;
    const record = readSessionRow(session);
    return record && { session, record };
  }

  async load(id: string): Promise<(LoadedSession & { session: Session }) | undefined> {
    const head = await this.head(id);
    if (head === undefined) return undefined;
    return { ...head, log: TranscriptLog.read(await this.#store.transcripts.read(id)) };
  }

  /**
   * Like `load`, from what this process has of it. The transcript is the caller's alone: call under the
   * session's mutex, and `giveBack` when nobody uses it any more.
   */
  async take(id: string): Promise<(LoadedSession & { session: Session }) | undefined> {
    const head = await this.head(id);
    if (head === undefined) return undefined;
    const known = this.#held.take(head.session);
    if (known !== undefined) {
      const rows = await this.#store.transcripts.read(id, { after: Math.max(0, known.length - 1) });
      if (known.extend(rows)) return { ...head, log: known };
    }
    return { ...head, log: TranscriptLog.read(await this.#store.transcripts.read(id)) };
  }

  giveBack({ session, log }: Pick<LoadedSession, 'session' | 'log'>): void {
    this.#held.put(session, log);
  }

  /** The session is over. */
  forget(id: string): void {
    this.#held.forget(id);
  }

  async turnEnds(id: string): Promise<TurnEnds> {
    const rows = await this.#store.transcripts.read(id, { channel: TURNS_CHANNEL });
    const entries = rows.map(({ message }) => readTurnEntry(message));
    const turnEnds = new Map<number, TurnEndEntry>();
    const byHash = new Map<string, TurnEndEntry>();
    for (const entry of entries) {
      if (entry.kind === 'mark') turnEnds.set(entry.mark, entry);
      const turnEnd = entry.kind === 'said' ? undefined : turnEnds.get(entry.mark);
      if (turnEnd !== undefined && entry.kind !== 'said') byHash.set(entry.hash, turnEnd);
    }
    return { entries, byHash, last: [...turnEnds.values()].at(-1) };
  }

  /** What people were shown: of all turns, or in the last entries from the number that the session had. */
  async records(id: string, after = 0): Promise<(RecordEntry & { shown: unknown })[]> {
    const rows = await this.#store.transcripts.read(id, { channel: RECORD_CHANNEL, after });
    return rows.map(({ message, meta }) => ({ ...readRecordEntry(message), shown: meta }));
  }

  /** What people were shown of the turns of the conversation, in about the last `latest` writes. */
  async shown({ session, record, log }: LoadedSession, latest: number): Promise<ShownRecord[]> {
    const entries = await this.records(session.id, Math.max(0, record.records - latest));
    const messages = log.readable();
    const turns = turnsOf(messages);
    return entries.flatMap(({ step, shown }) => {
      // A turn that was left is not read any more.
      const turn = turns[messages.findLastIndex((message) => log.stepOf(message) <= step)];
      return turn === undefined ? [] : [{ turn, shown }];
    });
  }

  /** The calls that are pending at the client. */
  async pending({ session, record, log }: LoadedSession): Promise<PendingToolCalls | undefined> {
    if (record.pending === undefined) return undefined;
    const turnEnd = await this.#turnEntry(session.id, record.pending.entry);
    if (turnEnd?.kind !== 'mark') return undefined;
    return this.pendingAfter({ session, log }, turnEnd);
  }

  pendingAfter(
    { session, log }: Pick<LoadedSession, 'session' | 'log'>,
    turnEnd: TurnEndEntry | undefined,
  ): Promise<PendingToolCalls | undefined> {
    return readPendingToolCalls(this.#store, session, turnEnd, turnEnd && log.asOf(turnEnd.step).at(-1));
  }

  /** What the user said while calls were pending. */
  async saidMeanwhile({ session, record }: Pick<LoadedSession, 'session' | 'record'>): Promise<Block[]> {
    const blocks: Block[] = [];
    for (const seq of record.pending?.said ?? []) {
      const entry = await this.#turnEntry(session.id, seq);
      if (entry?.kind === 'said') blocks.push(...entry.blocks);
    }
    return blocks;
  }

  /** For a session that ends with calls: a message of results, so that a copy can continue without them. */
  async settledEnd(loaded: LoadedSession): Promise<Message | undefined> {
    const { session, record, log } = loaded;
    const calls = toolCallsIn(log.messages.at(-1));
    if (calls.length === 0) return undefined;
    const pending = await this.pending(loaded);
    if (pending !== undefined && record.turn === undefined) {
      return answerOf(pending, NO_RESULT.wentOn, await this.saidMeanwhile(loaded));
    }
    const recorded = await recordedToolCalls(this.#store, session, calls);
    const outstanding = outstandingOf(calls, recorded, pending?.results);
    return outstanding && settled(outstanding);
  }

  /** Tools and system prompt: those of `own` where it has them, else the stored ones. */
  async setup(
    { session, record }: Pick<LoadedSession, 'session' | 'record'>,
    own: SessionSetup = { tools: [], system: [] },
  ): Promise<SessionSetup> {
    const { tools, system } = record.setup;
    const kept = async (seq: number | undefined) => this.#setupEntry(session.id, seq);
    const keptTools = own.tools.length > 0 ? undefined : await kept(tools?.seq);
    const keptSystem = own.system.length > 0 ? undefined : await kept(system?.seq);
    return {
      tools: keptTools?.kind === 'tools' ? keptTools.tools : own.tools,
      system: keptSystem?.kind === 'system' ? keptSystem.system : own.system,
    };
  }

  async #turnEntry(id: string, seq: number): Promise<TurnEntry | undefined> {
    const row = await this.#row(id, TURNS_CHANNEL, seq);
    return row === undefined ? undefined : readTurnEntry(row.message);
  }

  async #setupEntry(id: string, seq: number | undefined) {
    const row = seq === undefined ? undefined : await this.#row(id, SETUP_CHANNEL, seq);
    return row === undefined ? undefined : readSetupEntry(row.message);
  }

  async #row(id: string, channel: string, seq: number) {
    const [row] = await this.#store.transcripts.read(id, { channel, after: seq - 1, limit: 1 });
    return row;
  }
}
