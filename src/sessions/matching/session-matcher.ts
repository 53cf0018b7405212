/** Matches a request with its session: finds candidates, decides, records results, and starts the turn. */
import type { Message } from '../../core/conversation.js';
import {
  type FingerprintedRequest,
  fingerprintRequest,
  isRepeat,
  requestKey,
} from '../history/history-fingerprint.js';
import { repairHistory, splitAtLastAnswer } from '../history/repair-history.js';
import { resultsIn } from '../history/visible-history.js';
import { checkHome } from '../persistence/home.js';
import type { LeaseKeeper, Mutex } from '../persistence/lease-keeper.js';
import { LeasedSession, SessionChanged } from '../persistence/leased-session.js';
import { type ReviewedResults, reviewResults } from '../persistence/pending-tool-calls.js';
import { type SessionFactory, titleOf } from '../persistence/session-factory.js';
import type { LoadedSession, SessionReader } from '../persistence/session-reader.js';
import { busy, busyElsewhere, ended, unknownToolCall } from '../refusals.js';
import { LIMITS, type SessionParts } from '../session-parts.js';
import type { AttachKind, Attachment, AttachRequest, NotedAttachment } from '../sessions.js';
import type { Deliveries, TurnReaders } from '../turns/deliveries.js';
import type { LeasedTurn } from '../turns/leased-turn.js';
import type { TurnStarter } from '../turns/turn-starter.js';
import {
  type Evidence,
  factsOf,
  gatherEvidence,
  refuseDuplicateToolCalls,
  resultsWithoutToolCall,
} from './gather-facts.js';
import type { FoundPosition, HistoryLookup, SessionCandidate } from './history-lookup.js';
import { decideMatch, type MatchDecision } from './match-decision.js';

interface SessionMatcherOptions {
  parts: SessionParts;
  reader: SessionReader;
  lookup: HistoryLookup;
  factory: SessionFactory;
  starter: TurnStarter;
  deliveries: Deliveries;
  keeper: LeaseKeeper;
  mutex: Mutex;
  /** Turns that run in this process, by session. */
  running: ReadonlyMap<string, LeasedTurn>;
  readers: TurnReaders;
  /** Records error results for overdue calls, where the configuration says so. True when it did. */
  settleLate(loaded: LoadedSession): Promise<boolean>;
  onLost(session: string): void;
}

/** Another request changed the session meanwhile: the matching starts over. */
const AGAIN = Symbol('again');
/** This session is not the request's; the next candidate may be. */
const NEXT = Symbol('next');
/** The same, and without another candidate the client has to wait for this session. */
const BUSY = Symbol('busy');
/** Only the request of a turn is answered so. */
const OF_A_TURN: ReadonlySet<MatchDecision> = new Set(['join', 'resume', 'repeat']);
/** These need no folder. */
const ANYWHERE: ReadonlySet<MatchDecision> = new Set(['join', 'repeat', 'busy']);
const NOT_WRITING: ReadonlySet<MatchDecision> = new Set(['join', 'repeat', 'busy', 'fork']);

export class SessionMatcher {
  readonly #options: SessionMatcherOptions;

  constructor(options: SessionMatcherOptions) {
    this.#options = options;
  }

  async attach(from: AttachRequest): Promise<NotedAttachment> {
    refuseDuplicateToolCalls(from.request.messages);
    const { lookup } = this.#options;
    if (from.id === undefined || (await lookup.gaveOut(from.id))) return this.#attach(from);
    return { ...(await this.#attach({ ...from, id: undefined })), note: 'foreign-session-id' };
  }

  async #attach(asked: AttachRequest): Promise<Attachment> {
    const named = asked.anyUser === true ? (asked.id ?? asked.parent) : undefined;
    const user = named === undefined ? asked.user : await this.#options.lookup.userOf(named);
    const from = { ...asked, user };
    const request = fingerprintRequest(from);
    const kept = await this.#options.deliveries.underKey(from, request);
    if (kept !== undefined) {
      const { session, turn, answer } = kept;
      return { kind: 'answered', session, how: turn.how, key: turn.key, answer, losses: [] };
    }
    const key = requestKey(request.fingerprint.end.hash, request.asks);
    for (let reads = 0; reads < LIMITS.rereads; reads += 1) {
      const attached = await this.#try(from, request, key);
      if (attached !== AGAIN) return attached;
    }
    throw busy(from.id ?? 'of this request');
  }

  async #try(
    from: AttachRequest,
    request: FingerprintedRequest,
    key: string,
  ): Promise<Attachment | typeof AGAIN> {
    const { mutex } = this.#options;
    const candidates = await this.#find(from, request, key);
    let occupied: string | undefined;
    // Several sessions share a position: one is forked only where none of them has the request.
    for (const mayFork of candidates.length > 1 ? [false, true] : [true]) {
      for (const { id, by } of candidates) {
        const attached = await mutex.run(id, () => this.#toSession(id, from, request, { mayFork, by }));
        if (attached === BUSY) occupied ??= id;
        else if (attached !== NEXT) return attached;
      }
    }
    if (occupied !== undefined) throw busy(occupied);
    // Of two requests that may share an answer, the second finds the session that the first created.
    return mutex.run(`${request.principal} ${key}`, async () => {
      const known = new Set(candidates.map(({ id }) => id));
      const isBegun = (await this.#find(from, request, key)).some(({ id }) => !known.has(id));
      return isBegun ? AGAIN : this.#create(from, request);
    });
  }

  /** Sessions that the request may belong to, the best first. */
  async #find(
    from: AttachRequest,
    request: FingerprintedRequest,
    key: string,
  ): Promise<readonly SessionCandidate[]> {
    const { lookup, running, readers } = this.#options;
    if (from.id !== undefined) return [{ by: 'name', id: await lookup.named(from.id, from) }];
    for (const { id, principal, prompt, key: other, record } of running.values()) {
      const isSame = principal === request.principal && prompt === request.prompt && other === key;
      if (isSame && (!readers.has(id, key) || isRepeat(request, record))) return [{ by: 'request', id }];
    }
    const known = await lookup.bySaid(request, key, from.parent === undefined);
    if (known.length > 0 || from.parent !== undefined) return known;
    const waiting = await lookup.byCalls(request, from);
    return waiting === undefined ? [] : [{ by: 'calls', id: waiting }];
  }

  async #toSession(
    id: string,
    from: AttachRequest,
    request: FingerprintedRequest,
    { mayFork, by }: { mayFork: boolean; by: SessionCandidate['by'] },
  ): Promise<Attachment | typeof AGAIN | typeof NEXT | typeof BUSY> {
    const { reader, settleLate } = this.#options;
    const loaded = await reader.take(id);
    if (loaded === undefined) {
      if (from.id === undefined) return AGAIN;
      throw ended(id);
    }
    if (await settleLate(loaded)) return AGAIN;
    const sources = { ...this.#options, store: this.#options.parts.store };
    const evidence = await gatherEvidence(sources, loaded, from, request);
    const decision = decideMatch(factsOf(evidence, sources));
    // Nothing of this decision writes to the transcript, and until it is carried out nobody takes it.
    if (NOT_WRITING.has(decision)) reader.giveBack(loaded);
    if (!OF_A_TURN.has(decision)) {
      // The turn that the session was found by ended meanwhile, or its answer was delivered.
      if (by === 'request') return AGAIN;
      if (by === 'unanswered-request' && decision !== 'continue-broken') return NEXT;
    }
    if (!ANYWHERE.has(decision)) checkHome(this.#options.parts.place, id, loaded.record);
    switch (decision) {
      case 'join':
        return this.#join(evidence);
      case 'repeat':
        return this.#repeat(evidence);
      case 'busy':
        // Before its first answer no client can know this session.
        return from.id === undefined && loaded.record.turn?.how !== 'continue' ? NEXT : BUSY;
      case 'fork':
        if (!mayFork) return NEXT;
        return this.#fork(evidence);
      default:
        return this.#continue(evidence, decision);
    }
  }

  #join({ loaded: { session }, found, from }: Evidence): Attachment {
    const turn = this.#options.running.get(session.id);
    if (turn === undefined) throw busy(session.id);
    turn.join(found.fingerprint);
    this.#options.readers.enter(session.id, turn.key, from.signal);
    return { kind: 'running', session: session.id, how: turn.how, key: turn.key };
  }

  #repeat({ loaded: { session }, undelivered, answer, reviewed }: Evidence): Attachment {
    const given = undelivered ?? answer;
    if (given === undefined) throw busy(session.id);
    return {
      kind: 'answered',
      session: session.id,
      how: undelivered === undefined ? 'continue' : undelivered.turn.how,
      key: given.turn.key,
      answer: given.answer,
      losses: this.#options.starter.lossesOf(reviewed),
    };
  }

  async #continue(evidence: Evidence, decision: MatchDecision): Promise<Attachment | typeof AGAIN> {
    const { starter } = this.#options;
    const { from, request, found, incoming, reviewed, afterBrokenTurn = [] } = evidence;
    const { id } = evidence.loaded.session;
    // It has written its end, and is about to tell it.
    if (this.#options.running.has(id)) throw busy(id);
    const leased = await this.#lease(evidence);
    if (leased === undefined) return AGAIN;
    try {
      if (!(await this.#record(id, request.principal, reviewed))) {
        await leased.release();
        return AGAIN;
      }
      const { fingerprint } = found;
      const common = { leased, from, request, fingerprint, reviewed, created: false } as const;
      switch (decision) {
        case 'resume':
          return await starter.resume(common);
        case 'continue-broken':
          return await starter.continueBroken({ ...common, rest: afterBrokenTurn });
        default:
          return await starter.proceed({ ...common, incoming, how: 'continue' });
      }
    } catch (error) {
      if (error instanceof SessionChanged) return AGAIN;
      await leased.release();
      throw error;
    }
  }

  /** Undefined when another request changed the session meanwhile. */
  async #lease({ loaded, reviewed }: Evidence): Promise<LeasedSession | undefined> {
    const { parts, keeper, reader, onLost } = this.#options;
    const { session, record } = loaded;
    const { id, metadata } = session;
    const ofLost = () => onLost(id);
    // Results are recorded before the first step, and by the holder of the lease.
    const recordsResults = reviewed.fresh.length > 0 || record.pending !== undefined;
    if (!recordsResults) {
      return new LeasedSession({ parts, keeper, ...loaded, lease: { metadata, onLost: ofLost } });
    }
    const grant = await keeper.acquire(id, ofLost);
    if (!grant.granted) throw keeper.isOwn(grant) ? busy(id) : busyElsewhere(id, grant.owner);
    const { lease } = grant;
    const leased = new LeasedSession({ parts, keeper, ...loaded, lease });
    const now = await reader.head(id);
    if (now !== undefined && JSON.stringify(now.record) === JSON.stringify(record)) return leased;
    await leased.release();
    return undefined;
  }

  /** False when another request recorded a result meanwhile. */
  async #record(session: string, principal: string, { fresh }: ReviewedResults): Promise<boolean> {
    if (fresh.length === 0) return true;
    const results = fresh.map(({ toolUseId: id, content, isError }) => ({ id, content, isError }));
    const { conflicts, unknown } = await this.#options.parts.store.toolCalls.record(
      session,
      results,
      principal,
    );
    return conflicts.length === 0 && unknown.length === 0;
  }

  async #fork({ loaded, from, request, found, foreign, incoming }: Evidence): Promise<Attachment> {
    const { reader } = this.#options;
    const turnEnds = found.turnEnds ?? (await reader.turnEnds(loaded.session.id));
    const turnEnd = found.position === 'head' ? turnEnds.last : found.turnEnd;
    const [setup, records] = await Promise.all([reader.setup(loaded), reader.records(loaded.session.id)]);
    const origin = { parent: loaded, turnEnds, turnEnd, setup, records };
    const base = repairHistory(
      foreign,
      found.pending && {
        calls: found.pending.calls,
        results: new Map(found.pending.turnEnd.results.map((result) => [result.toolUseId, result])),
      },
    );
    return this.#make(from, request, {
      how: 'fork',
      origin,
      base,
      newMessages: found.rest.length - foreign.length,
      incoming,
      fingerprint: found.fingerprint,
    });
  }

  async #create(from: AttachRequest, request: FingerprintedRequest): Promise<Attachment> {
    const [unknown] = resultsWithoutToolCall(request.messages);
    if (unknown !== undefined) throw unknownToolCall(unknown.toolUseId);
    const { base, incoming } = splitAtLastAnswer(request.messages);
    return this.#make(from, request, {
      how: request.hasHistory ? 'import' : 'new',
      base: repairHistory(base),
      newMessages: request.messages.length - base.length,
      incoming,
      fingerprint: request.fingerprint,
    });
  }

  async #make(from: AttachRequest, request: FingerprintedRequest, plan: MakePlan): Promise<Attachment> {
    const { parts, factory, starter, reader, mutex, onLost } = this.#options;
    const { how, origin, base, newMessages, incoming, fingerprint } = plan;
    const last = request.messages.length - newMessages - 1;
    const { hash, position } = request.ends.findLast(({ message }) => message <= last) ?? request.seed;
    const leased = await factory.make({
      how,
      by: from,
      seed: request.seed,
      title: titleOf(request.messages),
      mode: from.mode,
      ...(origin === undefined ? from.parent !== undefined && { parent: from.parent } : { origin }),
      base,
      end: { hash, position },
      onLost: () => onLost(leased.id),
      indexed: true,
    });
    const { id, principal } = leased;
    try {
      return await mutex.run(id, async () => {
        const { record, log } = leased;
        const pending = await reader.pending({ session: { id, principal }, record, log });
        const reviewed = reviewResults(pending, resultsIn(incoming), principal);
        if (!(await this.#record(id, principal, reviewed))) throw ended(id);
        return starter.proceed({
          leased,
          from,
          request,
          fingerprint,
          reviewed,
          incoming,
          how,
          created: true,
        });
      });
    } catch (error) {
      await leased.release();
      await parts.store.sessions.delete(id, parts.node);
      parts.emit({ type: 'ended', session: id, principal, why: 'deleted' });
      throw error;
    }
  }
}

interface MakePlan {
  how: Exclude<AttachKind, 'continue'>;
  origin?: Parameters<SessionFactory['make']>[0]['origin'];
  base: Message[];
  /** How many messages of the request come after the base. */
  newMessages: number;
  incoming: Message[];
  fingerprint: FoundPosition['fingerprint'];
}
