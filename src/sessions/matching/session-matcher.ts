/** Brings a request and its session together: finds, decides, records, and begins what is to begin. */
import type { Message, ToolResultBlock } from '../../core/conversation.js';
import type { LeaseKeeper } from '../lifetime/lease-keeper.js';
import type { Mutex } from '../lifetime/mutex.js';
import { LIMITS } from '../limits.js';
import { LeasedSession } from '../persistence/leased-session.js';
import { type SessionFactory, titleOf } from '../persistence/session-factory.js';
import type { LoadedSession, SessionReader } from '../persistence/session-reader.js';
import type { TurnRow } from '../persistence/session-row.js';
import { busy, busyElsewhere, ended, otherRequest, unknownCall } from '../refusals.js';
import type { SessionParts } from '../session-parts.js';
import type { AttachKind, Attachment, AttachRequest, NotedAttachment } from '../sessions.js';
import { behindBrokenTurn, newBehindBrokenTurn } from '../turns/broken-turn.js';
import type { Deliveries } from '../turns/deliveries.js';
import {
  idempotencyDigest,
  idempotencyKey,
  type KeptAnswer,
  readAnswer,
  resultsKey,
} from '../turns/kept-answers.js';
import type { LeasedTurn } from '../turns/leased-turn.js';
import { openIn, type ReviewedResults, reviewResults } from '../turns/pending-tool-calls.js';
import { repairHistory, splitAtLastAnswer } from '../turns/repair-history.js';
import type { TurnReaders } from '../turns/turn-readers.js';
import type { TurnStarter } from '../turns/turn-starter.js';
import { refuseDuplicateToolCalls } from './duplicate-call-ids.js';
import {
  type FingerprintedRequest,
  fingerprintRequest,
  isRepeat,
  requestKey,
  saidIn,
  saidKeys,
  sameAsks,
  sameIdempotency,
} from './history-fingerprint.js';
import type { FoundPosition, HistoryLookup, SessionCandidate } from './history-lookup.js';
import { decideMatch, type MatchDecision } from './match-decision.js';
import { callsIn, resultsIn } from './visible-history.js';

export interface SessionMatcherOptions {
  parts: SessionParts;
  reader: SessionReader;
  finder: HistoryLookup;
  maker: SessionFactory;
  starter: TurnStarter;
  deliveries: Deliveries;
  keeper: LeaseKeeper;
  mutex: Mutex;
  /** Turns that run in this process, by session. */
  running: ReadonlyMap<string, LeasedTurn>;
  readers: TurnReaders;
  /** Results that did not come in time are answered for, where that is the rule. */
  settleLate(loaded: LoadedSession): Promise<boolean>;
  onLost(session: string): void;
}

/** What is known once the place is found. */
interface Judged {
  found: FoundPosition;
  decision: MatchDecision;
  incoming: Message[];
  /** Messages of an assistant that the session does not know, and what is in front of them. */
  foreign: Message[];
  /** What comes behind the turn that broke off. */
  behind: readonly Message[];
  reviewed: ReviewedResults;
  /** The answer to this request that its client may not have heard. */
  unheard: KeptAnswer | undefined;
  /** The answer to these results. */
  answer: KeptAnswer | undefined;
}

/** Somebody was faster: what was decided stands on nothing any more. */
const AGAIN = Symbol('again');
/** Another session may be the one that is meant. */
const NEXT = Symbol('next');
/** The same, and if there is none, the client has to wait for this one. */
const BUSY = Symbol('busy');
/** Only the request of a turn is answered so. */
const OF_A_TURN: ReadonlySet<MatchDecision> = new Set(['join', 'resume', 'repeat']);

export class SessionMatcher {
  readonly #options: SessionMatcherOptions;

  constructor(options: SessionMatcherOptions) {
    this.#options = options;
  }

  async attach(from: AttachRequest): Promise<NotedAttachment> {
    refuseDuplicateToolCalls(from.request.messages);
    const { finder } = this.#options;
    if (from.id === undefined || (await finder.gaveOut(from.id))) return this.#attach(from);
    return { ...(await this.#attach({ ...from, id: undefined })), note: 'foreign-session-id' };
  }

  async #attach(asked: AttachRequest): Promise<Attachment> {
    const named = asked.anyUser === true ? (asked.id ?? asked.parent) : undefined;
    const user = named === undefined ? asked.user : await this.#options.finder.userOf(named);
    const from = { ...asked, user };
    const request = fingerprintRequest(from);
    const known = await this.#byIdempotencyKey(from, request);
    if (known !== undefined) return known;
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
    // Several share a point of a conversation: it is forked only where none of them has the request.
    for (const mayFork of candidates.length > 1 ? [false, true] : [true]) {
      for (const { id, by } of candidates) {
        const attached = await mutex.run(id, () => this.#toSession(id, from, request, { mayFork, by }));
        if (attached === BUSY) occupied ??= id;
        else if (attached !== NEXT) return attached;
      }
    }
    if (occupied !== undefined) throw busy(occupied);
    // Of two requests that may share an answer, the second finds what the first has begun.
    return mutex.run(`${request.principal} ${key}`, async () => {
      const known = new Set(candidates.map(({ id }) => id));
      const isBegun = (await this.#find(from, request, key)).some(({ id }) => !known.has(id));
      return isBegun ? AGAIN : this.#create(from, request);
    });
  }

  /** Sessions that the request may belong to, the best first. */
  async #find(from: AttachRequest, request: FingerprintedRequest, key: string): Promise<SessionCandidate[]> {
    const { finder, running, readers } = this.#options;
    if (from.id !== undefined) return [{ by: 'name', id: await finder.named(from.id, from) }];
    for (const { id, principal, prompt, key: other, record } of running.values()) {
      const isSame = principal === request.principal && prompt === request.prompt && other === key;
      if (isSame && (!readers.has(id, key) || isRepeat(request, record))) return [{ by: 'request', id }];
    }
    const begun = await finder.begun(request, key);
    if (begun !== undefined) return [{ by: 'request', id: begun }];
    if (from.parent !== undefined) return [];
    const known = await finder.byHistory(request, key);
    if (known.length > 0) return known;
    const waiting = await finder.byCalls(request, from);
    return waiting === undefined ? [] : [{ by: 'calls', id: waiting }];
  }

  async #byIdempotencyKey(
    from: AttachRequest,
    request: FingerprintedRequest,
  ): Promise<Attachment | undefined> {
    if (from.idempotencyKey === undefined) return undefined;
    const { store } = this.#options.parts;
    const kept = await store.answers.get(from.principal, idempotencyKey(from.idempotencyKey));
    if (kept?.session === undefined) return undefined;
    if (kept.digest !== idempotencyDigest(from, request)) throw otherRequest();
    const { answer, turn } = readAnswer(kept.body);
    return { kind: 'answered', session: kept.session, how: turn.how, key: turn.key, answer, losses: [] };
  }

  async #toSession(
    id: string,
    from: AttachRequest,
    request: FingerprintedRequest,
    { mayFork, by }: { mayFork: boolean; by: SessionCandidate['by'] },
  ): Promise<Attachment | typeof AGAIN | typeof NEXT | typeof BUSY> {
    const { reader, settleLate } = this.#options;
    const loaded = await reader.load(id);
    if (loaded === undefined) {
      if (from.id === undefined) return AGAIN;
      throw ended(id);
    }
    if (await settleLate(loaded)) return AGAIN;
    const judged = await this.#judge(loaded, from, request);
    if (!OF_A_TURN.has(judged.decision)) {
      // The turn that it was found by came to its end meanwhile, or its answer was delivered.
      if (by === 'request') return AGAIN;
      if (by === 'tail' && judged.decision !== 'go-on-behind') return NEXT;
    }
    switch (judged.decision) {
      case 'join':
        return this.#join(loaded, judged, from.signal);
      case 'repeat':
        return this.#repeat(loaded, judged);
      case 'busy':
        // With its first answer still to come, no client can mean this one.
        return from.id === undefined && loaded.record.turn?.how !== 'continue' ? NEXT : BUSY;
      case 'fork':
        if (!mayFork) return NEXT;
        return this.#fork(loaded, from, request, judged);
      default:
        return this.#goOn(loaded, from, request, judged);
    }
  }

  async #judge(loaded: LoadedSession, from: AttachRequest, request: FingerprintedRequest): Promise<Judged> {
    const { finder, running, deliveries, readers } = this.#options;
    const { record, session } = loaded;
    const found = await finder.place(loaded, request, from.id !== undefined || !request.hasHistory);
    const { base: foreign, incoming } = splitAtLastAnswer(found.rest, found.batch?.calls);
    await this.#checkCalls(loaded, request, found);
    const reviewed = reviewResults(found.batch, resultsIn(incoming), request.principal);
    const given = reviewed.fresh.length + reviewed.repeated.length + reviewed.late.length;
    const said = saidKeys(saidIn(incoming));
    const isPart = (turn: TurnRow) =>
      found.batch !== undefined &&
      turn.batch === found.batch.mark.mark &&
      foreign.length === 0 &&
      reviewed.fresh.length === 0 &&
      reviewed.other.length === 0 &&
      said.every((each) => turn.said.includes(each)) &&
      sameAsks(request.asks, turn.asks) &&
      sameIdempotency(request.asks, turn.asks, given < found.batch.clients.length);
    const { turn } = record;
    const tails = [request.fingerprint.end.hash, found.fingerprint.end.hash];
    const keys = tails.map((tail) => requestKey(tail, request.asks));
    const unheard = await deliveries.answerTo(session, record, request, tails);
    const behind =
      turn &&
      (behindBrokenTurn(request, turn, loaded.log.saidAfter(turn.step)) ??
        (from.id === undefined ? undefined : newBehindBrokenTurn(request, reviewed)));
    const answer = found.place === 'earlier' && given > 0 ? await this.#answerOf(loaded, found) : undefined;
    const own = turn ?? record.undelivered?.turn;
    const decision = decideMatch({
      read: own !== undefined && readers.has(session.id, own.key),
      repeat: isRepeat(request, own),
      twin: from.id === undefined && given === 0 && turn !== undefined && keys.includes(turn.key),
      place: found.place,
      foreign: foreign.length > 0,
      turn: turn === undefined ? 'none' : running.has(session.id) ? 'running' : 'broken',
      sameTurn: turn !== undefined && (keys.includes(turn.key) || isPart(turn)),
      goesOnBehindTurn: behind !== undefined,
      undelivered: unheard !== undefined,
      answered: answer !== undefined && isPart(answer.turn),
      otherResults: reviewed.other.length > 0,
      open: found.batch === undefined ? 0 : openIn(found.batch).length - reviewed.fresh.length,
      results: given > 0,
      said: said.length > 0,
    });
    return { found, decision, incoming, foreign, behind: behind ?? [], reviewed, unheard, answer };
  }

  /** Throws for a result whose call neither the request nor the session has. */
  async #checkCalls(
    { session }: LoadedSession,
    request: FingerprintedRequest,
    found: FoundPosition,
  ): Promise<void> {
    const known = new Set(found.batch?.mark.open);
    let unknown = unansweredIn(request.messages).filter(({ toolUseId }) => !known.has(toolUseId));
    if (unknown.length === 0) return;
    const marks = found.marks ?? (await this.#options.reader.marks(session.id));
    for (const { open } of marks.byHash.values()) for (const id of open) known.add(id);
    unknown = unknown.filter(({ toolUseId }) => !known.has(toolUseId));
    const [first] = unknown;
    if (first !== undefined) throw unknownCall(first.toolUseId);
  }

  async #answerOf({ session }: LoadedSession, { mark }: FoundPosition): Promise<KeptAnswer | undefined> {
    if (mark === undefined) return undefined;
    const { store } = this.#options.parts;
    const kept = await store.answers.get(session.principal, resultsKey(session.id, mark.mark));
    return kept === undefined ? undefined : readAnswer(kept.body);
  }

  #join({ session }: LoadedSession, { found }: Judged, reader: AbortSignal | undefined): Attachment {
    const turn = this.#options.running.get(session.id);
    if (turn === undefined) throw busy(session.id);
    turn.join(found.fingerprint);
    this.#options.readers.enter(session.id, turn.key, reader);
    return { kind: 'running', session: session.id, how: turn.how, key: turn.key };
  }

  #repeat({ session }: LoadedSession, { unheard, answer, reviewed }: Judged): Attachment {
    const given = unheard ?? answer;
    if (given === undefined) throw busy(session.id);
    return {
      kind: 'answered',
      session: session.id,
      how: unheard === undefined ? 'continue' : unheard.turn.how,
      key: given.turn.key,
      answer: given.answer,
      losses: this.#options.starter.lossesOf(reviewed),
    };
  }

  async #goOn(
    loaded: LoadedSession,
    from: AttachRequest,
    request: FingerprintedRequest,
    judged: Judged,
  ): Promise<Attachment | typeof AGAIN> {
    const { parts, keeper, reader, starter, onLost } = this.#options;
    const { session, record, log } = loaded;
    const grant = await keeper.acquire(session.id, () => onLost(session.id));
    if (!grant.granted) throw keeper.isOwn(grant) ? busy(session.id) : busyElsewhere(session.id);
    try {
      const now = await reader.head(session.id);
      const moved = now === undefined || JSON.stringify(now.record) !== JSON.stringify(record);
      const recorded = !moved && (await this.#record(session.id, request.principal, judged.reviewed));
      if (!recorded) {
        await keeper.release(grant.lease);
        return AGAIN;
      }
      const held = new LeasedSession(parts, session, record, log, grant.lease);
      const { found, incoming, reviewed } = judged;
      const common = {
        held,
        from,
        request,
        fingerprint: found.fingerprint,
        reviewed,
        created: false,
      } as const;
      switch (judged.decision) {
        case 'resume':
          return await starter.resume(common);
        case 'go-on-behind':
          return await starter.goOnBehind({ ...common, rest: judged.behind });
        default:
          return await starter.proceed({ ...common, incoming, how: 'continue' });
      }
    } catch (error) {
      await keeper.release(grant.lease);
      throw error;
    }
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

  async #fork(
    loaded: LoadedSession,
    from: AttachRequest,
    request: FingerprintedRequest,
    { found, foreign, incoming }: Judged,
  ): Promise<Attachment> {
    const { reader } = this.#options;
    const marks = found.marks ?? (await reader.marks(loaded.session.id));
    const mark = found.place === 'head' ? marks.last : found.mark;
    const origin = { parent: loaded, marks, mark, setup: await reader.setup(loaded) };
    const base = repairHistory(
      foreign,
      found.batch && {
        calls: found.batch.calls,
        results: new Map(found.batch.mark.results.map((result) => [result.toolUseId, result])),
      },
    );
    const behind = found.rest.length - foreign.length;
    return this.#make(from, request, {
      how: 'fork',
      origin,
      base,
      behind,
      incoming,
      fingerprint: found.fingerprint,
    });
  }

  async #create(from: AttachRequest, request: FingerprintedRequest): Promise<Attachment> {
    const [unknown] = unansweredIn(request.messages);
    if (unknown !== undefined) throw unknownCall(unknown.toolUseId);
    const { base, incoming } = splitAtLastAnswer(request.messages);
    return this.#make(from, request, {
      how: request.hasHistory ? 'import' : 'new',
      base: repairHistory(base),
      behind: request.messages.length - base.length,
      incoming,
      fingerprint: request.fingerprint,
    });
  }

  async #make(from: AttachRequest, request: FingerprintedRequest, plan: MakePlan): Promise<Attachment> {
    const { parts, maker, starter, keeper, reader, mutex, onLost } = this.#options;
    const { how, origin, base, behind, incoming, fingerprint } = plan;
    const last = request.messages.length - behind - 1;
    const { hash, position } = request.ends.findLast(({ message }) => message <= last) ?? request.seed;
    const held = await maker.make({
      how,
      by: from,
      seed: request.seed,
      title: titleOf(request.messages),
      ...(origin === undefined ? from.parent !== undefined && { parent: from.parent } : { origin }),
      base,
      end: { hash, position },
      onLost: () => onLost(held.id),
      indexed: true,
    });
    const { id, principal } = held;
    try {
      return await mutex.run(id, async () => {
        const loaded = await reader.load(id);
        const batch = loaded && (await reader.pending(loaded));
        const reviewed = reviewResults(batch, resultsIn(incoming), principal);
        if (!(await this.#record(id, principal, reviewed))) throw ended(id);
        return starter.proceed({ held, from, request, fingerprint, reviewed, incoming, how, created: true });
      });
    } catch (error) {
      await keeper.release(held.lease);
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
  /** Messages of the request behind the base. */
  behind: number;
  incoming: Message[];
  fingerprint: FoundPosition['fingerprint'];
}

/** Results that stand behind no call of theirs. */
function unansweredIn(messages: readonly Message[]): ToolResultBlock[] {
  const called = new Set<string>();
  const results: ToolResultBlock[] = [];
  for (const message of messages) {
    for (const { id } of callsIn(message)) called.add(id);
    for (const result of resultsIn([message])) if (!called.has(result.toolUseId)) results.push(result);
  }
  return results;
}
