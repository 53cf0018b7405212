/** Where in which session a request's history ends. */
import type { Message } from '../../core/conversation.js';
import type { PendingToolCall } from '../../store/tool-calls.js';
import { LIMITS } from '../limits.js';
import type {
  LoadedSession,
  SessionHead,
  SessionReader,
  TurnEndMarks,
} from '../persistence/session-reader.js';
import type { SessionRow, TurnEndMark } from '../persistence/session-row.js';
import { ambiguousCalls, otherPlace, unknownCall, unknownSession } from '../refusals.js';
import type { SessionsStore } from '../session-parts.js';
import type { AttachRequest } from '../sessions.js';
import type { Deliveries } from '../turns/deliveries.js';
import type { Batch } from '../turns/pending-tool-calls.js';
import type { TurnReaders } from '../turns/turn-readers.js';
import type { Link } from './hash-chain.js';
import {
  type FingerprintedRequest,
  HistoryFingerprint,
  isRepeat,
  requestFingerprint,
} from './history-fingerprint.js';
import { hasSessionForm } from './session-id.js';
import { callKey, callsIn } from './visible-history.js';

/** A session that a request may belong to, and what it was found by. */
export interface SessionCandidate {
  by: 'name' | 'request' | 'tail' | 'history' | 'calls';
  id: string;
}

export interface FoundPosition {
  place: 'head' | 'earlier';
  /** Read for an earlier place; undefined for the very beginning. */
  mark: TurnEndMark | undefined;
  /** Read where it was needed. */
  marks: TurnEndMarks | undefined;
  batch: Batch | undefined;
  /** What the request says behind that place. */
  rest: Message[];
  fingerprint: HistoryFingerprint;
}

export class HistoryLookup {
  readonly #store: SessionsStore;
  readonly #reader: SessionReader;
  readonly #deliveries: Deliveries;
  readonly #readers: TurnReaders;

  constructor(store: SessionsStore, reader: SessionReader, deliveries: Deliveries, readers: TurnReaders) {
    this.#readers = readers;
    this.#store = store;
    this.#reader = reader;
    this.#deliveries = deliveries;
  }

  /** False for a name of the client's own. Whatever the store holds was given out, in whichever form. */
  async gaveOut(id: string): Promise<boolean> {
    return hasSessionForm(id) || (await this.#store.sessions.get(id)) !== undefined;
  }

  /** Throws GatewayError for an id that the request cannot use. */
  async named(id: string, { principal, user, engine, root }: AttachRequest): Promise<string> {
    const head = await this.#reader.head(id);
    if (head === undefined || head.session.principal !== principal) throw unknownSession(id);
    if (head.record.user !== user) throw unknownSession(id);
    if (head.session.engine !== engine) throw otherPlace(id, 'engine');
    if (head.record.root !== root) throw otherPlace(id, 'folder');
    return id;
  }

  /** The end user of a session of the key. */
  async userOf(id: string): Promise<string | undefined> {
    return (await this.#reader.head(id))?.record.user;
  }

  /**
   * A session that was made for this very request, whose turn's answer nobody has. Without an answer
   * in common, only the system prompt tells who began it.
   */
  async begun(request: FingerprintedRequest, key: string): Promise<string | undefined> {
    for (const head of await this.#knowing(request, key)) {
      if (isPromptOf(head, request) && (await this.#hasTurn(head, key, request))) return head.session.id;
    }
    return undefined;
  }

  /**
   * Those that know the most of the history. In front of them, sessions whose first turn broke off
   * behind more of it than that: they have no answer that they could be known by.
   */
  async byHistory(request: FingerprintedRequest, key: string): Promise<SessionCandidate[]> {
    const { principal, places, ends } = request;
    const { index } = this.#store;
    const match = await index.longestPrefix(
      principal,
      places.map(({ hash }) => hash),
    );
    const known = places.findLastIndex(({ hash }) => hash === match?.hash);
    const broken = await this.#brokenOff(request, ends.slice(known + 1, -1));
    const sharing = match === undefined ? [] : await this.#sharing(request, match.hash, key);
    return [
      ...broken.map((id): SessionCandidate => ({ by: 'tail', id })),
      ...sharing.map((id): SessionCandidate => ({ by: 'history', id })),
    ];
  }

  /** The session of this very request; else those that end at the point before the others. */
  async #sharing(request: FingerprintedRequest, hash: string, key: string): Promise<string[]> {
    const heads: string[] = [];
    const others: string[] = [];
    for (const head of meant(await this.#knowing(request, hash), request)) {
      const { id } = head.session;
      if (await this.#hasTurn(head, key, request)) return [id];
      (isHead(head.record, hash) ? heads : others).push(id);
    }
    if (request.results.length > 0) return [...heads, ...others];
    // Words are answered where they were said last, or forked: any of those that share the point will do.
    return heads.length > 0 ? heads : others.slice(0, 1);
  }

  async #brokenOff(request: FingerprintedRequest, ends: readonly Link[]): Promise<string[]> {
    const near = ends.slice(-LIMITS.tails).map(({ hash }) => ({ hash, key: requestFingerprint(hash) }));
    if (near.length === 0) return [];
    const longest = await this.#store.index.longestPrefix(
      request.principal,
      near.map(({ key }) => key),
    );
    if (longest === undefined) return [];
    const sessions: string[] = [];
    for (const { hash, key } of near.toReversed()) {
      for (const head of await this.#knowing(request, key)) {
        if (isPromptOf(head, request) && head.record.turn?.tail === hash) sessions.push(head.session.id);
      }
    }
    return sessions;
  }

  /** Those with the request's system prompt first. */
  async #knowing({ principal, prompt }: FingerprintedRequest, hash: string): Promise<SessionHead[]> {
    const limit = LIMITS.candidates;
    const heads: SessionHead[] = [];
    for (const { session } of await this.#store.index.find(principal, hash, { limit, prompt })) {
      const head = await this.#reader.head(session);
      if (head !== undefined) heads.push(head);
    }
    return heads;
  }

  /** For results that come alone: the session that waits for them, or that had them. */
  async byCalls(request: FingerprintedRequest, { engine, root }: AttachRequest): Promise<string | undefined> {
    const ids = request.results.map(({ toolUseId }) => toolUseId);
    if (ids.length === 0 || request.hasHistory) return undefined;
    const calls = (await this.#store.toolCalls.find(request.principal, ids)).filter(
      ({ runBy }) => runBy === 'client',
    );
    const mine: PendingToolCall[] = [];
    for (const call of calls) {
      const head = await this.#reader.head(call.session);
      if (head?.session.engine !== engine || head.record.root !== root) continue;
      if (head.record.user === request.user) mine.push(call);
    }
    const waiting = mine.filter(({ state }) => state === 'open');
    const sessions = new Set((waiting.length > 0 ? waiting : mine).map(({ session }) => session));
    if (sessions.size > 1) throw ambiguousCalls([...new Set(ids)]);
    const [session] = sessions;
    return session;
  }

  /** `named`: the request has the session's id, so that its messages may be the new ones alone. */
  async place(loaded: LoadedSession, request: FingerprintedRequest, named: boolean): Promise<FoundPosition> {
    const found = request.hasHistory
      ? await this.#byPlaces(loaded, request)
      : await this.#withoutHistory(loaded, request);
    if (found !== undefined) return found;
    const batch = named ? await this.#reader.pending(loaded) : undefined;
    if (batch !== undefined && tellsCallsOf(request, batch)) return this.#new(loaded, request, batch);
    const marks = await this.#reader.marks(loaded.session.id);
    return {
      // Where nothing was answered yet, the beginning is all there is.
      place: marks.byHash.size === 0 ? 'head' : 'earlier',
      mark: undefined,
      marks,
      batch: undefined,
      rest: [...request.messages],
      fingerprint: request.fingerprint,
    };
  }

  async #byPlaces(loaded: LoadedSession, request: FingerprintedRequest): Promise<FoundPosition | undefined> {
    const { record, session } = loaded;
    const { fingerprint } = request;
    let marks: TurnEndMarks | undefined;
    for (const place of request.places.toReversed()) {
      if (isHead(record, place.hash)) {
        const batch = await this.#reader.pending(loaded);
        return { place: 'head', mark: undefined, marks, batch, rest: place.rest(), fingerprint };
      }
      marks ??= await this.#reader.marks(session.id);
      const mark = marks.byHash.get(place.hash);
      if (mark === undefined) continue;
      const isLast = mark === marks.last;
      const batch = await (isLast ? this.#reader.pending(loaded) : this.#reader.batch(loaded, mark));
      return { place: isLast ? 'head' : 'earlier', mark, marks, batch, rest: place.rest(), fingerprint };
    }
    return undefined;
  }

  /** New messages alone. Results find the calls they are for, wherever those are. */
  async #withoutHistory(loaded: LoadedSession, request: FingerprintedRequest): Promise<FoundPosition> {
    const batch = await this.#reader.pending(loaded);
    const ids = request.results.map(({ toolUseId }) => toolUseId);
    const isFor = (open: readonly string[]) => ids.every((id) => open.includes(id));
    if (ids.length === 0 || (batch !== undefined && isFor(batch.mark.open)))
      return this.#new(loaded, request, batch);
    const marks = await this.#reader.marks(loaded.session.id);
    const mark = [...marks.byHash.values()].findLast(({ open }) => isFor(open));
    if (mark === undefined) throw unknownCall(ids.find((id) => !batch?.mark.open.includes(id)) ?? '');
    const { hash, position } = mark;
    return {
      place: 'earlier',
      mark,
      marks,
      batch: await this.#reader.batch(loaded, mark),
      rest: [...request.messages],
      fingerprint: HistoryFingerprint.from({ hash, position }, request.messages),
    };
  }

  /** One that has not come to its end, or whose end its client may not have heard, and that the request may share. */
  async #hasTurn(
    { session, record }: SessionHead,
    key: string,
    request: FingerprintedRequest,
  ): Promise<boolean> {
    const turn = record.turn ?? record.undelivered?.turn;
    if (this.#readers.has(session.id, key) && !isRepeat(request, turn)) return false;
    return record.turn?.key === key || this.#deliveries.isOpen(session, record, key);
  }

  #new(
    { record }: LoadedSession,
    { incoming }: FingerprintedRequest,
    batch: Batch | undefined,
  ): FoundPosition {
    const fingerprint = HistoryFingerprint.from(record.head, incoming);
    return { place: 'head', mark: undefined, marks: undefined, batch, rest: [...incoming], fingerprint };
  }
}

/**
 * Of sessions in which the same was said: those with the request's system prompt; else all of them
 * where they are forks of one conversation, whose prompt has changed since; else none, for nobody can
 * tell which is meant.
 */
function meant(known: readonly SessionHead[], request: FingerprintedRequest): readonly SessionHead[] {
  const same = known.filter((head) => isPromptOf(head, request));
  if (same.length > 0) return same;
  const families = new Set(known.map(({ session, record }) => record.family ?? session.id));
  return families.size === 1 ? known : [];
}

function isPromptOf({ record: { prompt, setup } }: SessionHead, request: FingerprintedRequest): boolean {
  // Of a session that an earlier version wrote, the prompt is not known by this digest.
  if (prompt === undefined && setup.system !== undefined) return false;
  return (prompt ?? '') === request.prompt;
}

function isHead({ head, pending }: SessionRow, hash: string): boolean {
  return head.hash === hash || pending?.tellings.includes(hash) === true;
}

/** A client that sends new messages alone may have to put the calls in front of their results. */
function tellsCallsOf({ messages }: FingerprintedRequest, { clients }: Batch): boolean {
  const known = new Set(clients.map(callKey));
  const told = messages.flatMap(callsIn);
  return told.length > 0 && told.every((call) => known.has(callKey(call)));
}
