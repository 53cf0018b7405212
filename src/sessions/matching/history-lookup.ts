/** Finds the sessions that a request may belong to, and the position in one where its history ends. */
import type { Message } from '../../core/conversation.js';
import type { PendingToolCall } from '../../store/sessions.js';
import {
  type FingerprintedRequest,
  HistoryFingerprint,
  isRepeat,
  type Link,
  unansweredKey,
} from '../history/history-fingerprint.js';
import { toolCallKey, toolCallsIn } from '../history/visible-history.js';
import type { PendingToolCalls } from '../persistence/pending-tool-calls.js';
import { hasSessionForm } from '../persistence/session-factory.js';
import type { LoadedSession, SessionHead, SessionReader, TurnEnds } from '../persistence/session-reader.js';
import type { SessionRow, TurnEndEntry } from '../persistence/session-row.js';
import { ambiguousToolCalls, otherPlace, unknownSession, unknownToolCall } from '../refusals.js';
import { LIMITS, type SessionsStore } from '../session-parts.js';
import type { AttachRequest } from '../sessions.js';
import type { Deliveries, TurnReaders } from '../turns/deliveries.js';

/** A session that a request may belong to, and what it was found by. */
export interface SessionCandidate {
  by: 'name' | 'request' | 'unanswered-request' | 'history' | 'calls';
  id: string;
}

export interface FoundPosition {
  position: 'head' | 'earlier';
  /** Read for an earlier position; undefined for the beginning of the session. */
  turnEnd: TurnEndEntry | undefined;
  /** Present where the lookup had to read them. */
  turnEnds: TurnEnds | undefined;
  pending: PendingToolCalls | undefined;
  /** The request's messages after that position. */
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

  /** False for an id that the client made up. An id in the store was issued, whatever its form. */
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

  /** The end user that a session belongs to. */
  async userOf(id: string): Promise<string | undefined> {
    return (await this.#reader.head(id))?.record.user;
  }

  /** The session of this very request; else, with `histories`, those that share the longest part of its history. */
  async bySaid(
    request: FingerprintedRequest,
    key: string,
    histories: boolean,
  ): Promise<readonly SessionCandidate[]> {
    const { index } = this.#store;
    const { principal } = request;
    const hashes = histories ? request.positions.map(({ hash }) => hash) : [];
    // Both are looked for at once: mostly no session was created for this very request.
    let match = await index.longestPrefix(principal, [...hashes, key]);
    if (match?.hash === key) {
      const begun = await this.#begun(request, key);
      if (begun !== undefined) return [{ by: 'request', id: begun }];
      match = await index.longestPrefix(principal, hashes);
    }
    return histories ? this.#byHistory(request, key, match?.hash) : [];
  }

  /**
   * A session that was created for this very request and whose answer is not delivered. Without a
   * common answer only the system prompt distinguishes the conversations.
   */
  async #begun(request: FingerprintedRequest, key: string): Promise<string | undefined> {
    for (const head of await this.#knowing(request, key)) {
      if (isPromptOf(head, request) && (await this.#hasTurn(head, key, request))) return head.session.id;
    }
    return undefined;
  }

  /**
   * The sessions that share the history up to `longest`. Before them come sessions whose first turn
   * broke off after a longer part: they have no answer in the index.
   */
  async #byHistory(
    request: FingerprintedRequest,
    key: string,
    longest: string | undefined,
  ): Promise<SessionCandidate[]> {
    const { positions, ends } = request;
    const known = positions.findLastIndex(({ hash }) => hash === longest);
    const broken = await this.#brokenOff(request, ends.slice(known + 1, -1));
    const sharing = longest === undefined ? [] : await this.#sharing(request, longest, key);
    return [
      ...broken.map((id): SessionCandidate => ({ by: 'unanswered-request', id })),
      ...sharing.map((id): SessionCandidate => ({ by: 'history', id })),
    ];
  }

  /** The session of this very request; else sessions whose head is at that position, then the others. */
  async #sharing(request: FingerprintedRequest, hash: string, key: string): Promise<string[]> {
    const heads: string[] = [];
    const others: string[] = [];
    for (const head of sessionsMeant(await this.#knowing(request, hash), request)) {
      const { id } = head.session;
      if (await this.#hasTurn(head, key, request)) return [id];
      (isHead(head.record, hash) ? heads : others).push(id);
    }
    if (request.results.length > 0) return [...heads, ...others];
    // New words continue a head or fork: any session that shares the position will do.
    return heads.length > 0 ? heads : others.slice(0, 1);
  }

  async #brokenOff(request: FingerprintedRequest, ends: readonly Link[]): Promise<string[]> {
    const near = ends
      .slice(-LIMITS.unansweredRequests)
      .map(({ hash }) => ({ hash, key: unansweredKey(hash) }));
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

  /** Sessions in the index under this hash, those with the request's system prompt first. */
  async #knowing({ principal, prompt }: FingerprintedRequest, hash: string): Promise<SessionHead[]> {
    const limit = LIMITS.candidates;
    const heads: SessionHead[] = [];
    for (const { session } of await this.#store.index.find(principal, hash, { limit, prompt })) {
      const head = await this.#reader.head(session);
      if (head !== undefined) heads.push(head);
    }
    return heads;
  }

  /** For a request with results alone: the session that waits for them, or that had them. */
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
    if (sessions.size > 1) throw ambiguousToolCalls([...new Set(ids)]);
    const [session] = sessions;
    return session;
  }

  /** `named`: the request has the session's id, so it may send only new messages. */
  async locate(loaded: LoadedSession, request: FingerprintedRequest, named: boolean): Promise<FoundPosition> {
    const found = request.hasHistory
      ? await this.#byPositions(loaded, request)
      : await this.#withoutHistory(loaded, request);
    if (found !== undefined) return found;
    const pending = named ? await this.#reader.pending(loaded) : undefined;
    if (pending !== undefined && repeatsCallsOf(request, pending)) return this.#new(loaded, request, pending);
    const turnEnds = await this.#reader.turnEnds(loaded.session.id);
    return {
      // A session without an answer has no position but its beginning.
      position: turnEnds.byHash.size === 0 ? 'head' : 'earlier',
      turnEnd: undefined,
      turnEnds,
      pending: undefined,
      rest: [...request.messages],
      fingerprint: request.fingerprint,
    };
  }

  async #byPositions(
    loaded: LoadedSession,
    request: FingerprintedRequest,
  ): Promise<FoundPosition | undefined> {
    const { record, session } = loaded;
    const { fingerprint } = request;
    let turnEnds: TurnEnds | undefined;
    for (const position of request.positions.toReversed()) {
      if (isHead(record, position.hash)) {
        const pending = await this.#reader.pending(loaded);
        return {
          position: 'head',
          turnEnd: undefined,
          turnEnds,
          pending,
          rest: position.rest(),
          fingerprint,
        };
      }
      turnEnds ??= await this.#reader.turnEnds(session.id);
      const turnEnd = turnEnds.byHash.get(position.hash);
      if (turnEnd === undefined) continue;
      const isLast = turnEnd === turnEnds.last;
      const pending = await (isLast
        ? this.#reader.pending(loaded)
        : this.#reader.pendingAfter(loaded, turnEnd));
      return {
        position: isLast ? 'head' : 'earlier',
        turnEnd,
        turnEnds,
        pending,
        rest: position.rest(),
        fingerprint,
      };
    }
    return undefined;
  }

  /** For a request with only new messages. Its results find their calls at any position. */
  async #withoutHistory(loaded: LoadedSession, request: FingerprintedRequest): Promise<FoundPosition> {
    const pending = await this.#reader.pending(loaded);
    const ids = request.results.map(({ toolUseId }) => toolUseId);
    const isFor = (open: readonly string[]) => ids.every((id) => open.includes(id));
    if (ids.length === 0 || (pending !== undefined && isFor(pending.turnEnd.open)))
      return this.#new(loaded, request, pending);
    const turnEnds = await this.#reader.turnEnds(loaded.session.id);
    const turnEnd = [...turnEnds.byHash.values()].findLast(({ open }) => isFor(open));
    if (turnEnd === undefined)
      throw unknownToolCall(ids.find((id) => !pending?.turnEnd.open.includes(id)) ?? '');
    const { hash, position } = turnEnd;
    return {
      position: 'earlier',
      turnEnd,
      turnEnds,
      pending: await this.#reader.pendingAfter(loaded, turnEnd),
      rest: [...request.messages],
      fingerprint: HistoryFingerprint.from({ hash, position }, request.messages),
    };
  }

  /** The session has this turn, running, broken or undelivered, and the request may share its answer. */
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
    pending: PendingToolCalls | undefined,
  ): FoundPosition {
    const fingerprint = HistoryFingerprint.from(record.head, incoming);
    return {
      position: 'head',
      turnEnd: undefined,
      turnEnds: undefined,
      pending,
      rest: [...incoming],
      fingerprint,
    };
  }
}

/**
 * Of sessions with the same history: those with the request's system prompt; else all of them where
 * they are forks of one conversation, whose prompt has changed since; else none, because the request
 * is ambiguous.
 */
function sessionsMeant(known: readonly SessionHead[], request: FingerprintedRequest): readonly SessionHead[] {
  const same = known.filter((head) => isPromptOf(head, request));
  if (same.length > 0) return same;
  const families = new Set(known.map(({ session, record }) => record.family ?? session.id));
  return families.size === 1 ? known : [];
}

function isPromptOf({ record: { prompt, setup } }: SessionHead, request: FingerprintedRequest): boolean {
  // A session that an earlier version wrote has no digest of its prompt.
  if (prompt === undefined && setup.system !== undefined) return false;
  return (prompt ?? '') === request.prompt;
}

function isHead({ head, pending }: SessionRow, hash: string): boolean {
  return head.hash === hash || pending?.tellings.includes(hash) === true;
}

/** Some clients that send only new messages repeat the calls before their results. */
function repeatsCallsOf({ messages }: FingerprintedRequest, { clients }: PendingToolCalls): boolean {
  const known = new Set(clients.map(toolCallKey));
  const sent = messages.flatMap(toolCallsIn);
  return sent.length > 0 && sent.every((call) => known.has(toolCallKey(call)));
}
