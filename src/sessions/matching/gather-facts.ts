/**
 * The facts that `match-decision.ts` decides on, one function each. `gatherEvidence` reads what they
 * need from the store; the facts themselves are pure. Tool calls and results that cannot be matched are
 * refused, because a guess would lose one.
 */
import type { Message, ToolResultBlock } from '../../core/conversation.js';
import type { Session } from '../../store/sessions.js';
import {
  type FingerprintedRequest,
  isRepeat,
  requestKey,
  saidIn,
  saidKeys,
  sameAsks,
  sameIdempotency,
} from '../history/history-fingerprint.js';
import { splitAtLastAnswer } from '../history/repair-history.js';
import { atomsOf, resultKey, resultsIn, toolCallsIn } from '../history/visible-history.js';
import { openIn, type ReviewedResults, reviewResults } from '../persistence/pending-tool-calls.js';
import type { LoadedSession, SessionReader } from '../persistence/session-reader.js';
import type { TurnRow } from '../persistence/session-row.js';
import { sameToolCallTwice, twoResults, unknownToolCall } from '../refusals.js';
import type { AttachRequest } from '../sessions.js';
import type { Deliveries, KeptAnswer, TurnReaders } from '../turns/deliveries.js';
import type { FoundPosition, HistoryLookup } from './history-lookup.js';
import type { MatchFacts } from './match-decision.js';

interface FactSources {
  reader: SessionReader;
  lookup: HistoryLookup;
  deliveries: Deliveries;
  readers: TurnReaders;
  /** Turns that run in this process, by session. */
  running: { has(session: string): boolean };
}

/** What is known about a request and a session before the decision. */
export interface Evidence {
  from: AttachRequest;
  request: FingerprintedRequest;
  loaded: LoadedSession & { session: Session };
  found: FoundPosition;
  /** Messages after the position up to the last assistant message that the session does not know. */
  foreign: Message[];
  /** Messages after those. */
  incoming: Message[];
  reviewed: ReviewedResults;
  /** Keys of the request, as its client sent it and as its messages continue the found position. */
  keys: readonly string[];
  /** The request's messages after the broken turn's request; undefined where it does not continue it. */
  afterBrokenTurn: readonly Message[] | undefined;
  /** The last answer, where the request is its request and its delivery is not confirmed. */
  undelivered: KeptAnswer | undefined;
  /** The stored answer to the results of an earlier position. */
  answer: KeptAnswer | undefined;
}

/** Throws `unknown_tool_call` for a result whose call neither the request nor the session has. */
export async function gatherEvidence(
  sources: FactSources,
  loaded: Evidence['loaded'],
  from: AttachRequest,
  request: FingerprintedRequest,
): Promise<Evidence> {
  const { record, session } = loaded;
  const found = await sources.lookup.locate(loaded, request, from.id !== undefined || !request.hasHistory);
  const { base: foreign, incoming } = splitAtLastAnswer(found.rest, found.pending?.calls);
  await refuseUnknownResults(sources, loaded, request, found);
  const reviewed = reviewResults(found.pending, resultsIn(incoming), request.principal);
  const hashes = [request.fingerprint.end.hash, found.fingerprint.end.hash];
  const keys = hashes.map((hash) => requestKey(hash, request.asks));
  const undelivered = await sources.deliveries.answerTo(session, record, request, hashes);
  const afterBrokenTurn = messagesAfterBrokenTurn(loaded, from, request, reviewed);
  const earlier = found.position === 'earlier' && givenResults(reviewed) > 0 ? found.turnEnd : undefined;
  const answer = earlier && (await sources.deliveries.toResults(session, earlier.mark));
  const evidence = { from, request, loaded, found, foreign, incoming, reviewed, keys };
  return { ...evidence, afterBrokenTurn, undelivered, answer };
}

export function factsOf(
  evidence: Evidence,
  { readers, running }: Pick<FactSources, 'readers' | 'running'>,
): MatchFacts {
  return {
    position: evidence.found.position,
    foreign: hasForeignAnswer(evidence),
    turn: stateOfTurn(evidence, running),
    sameTurn: isRequestOfTurn(evidence),
    read: hasReader(evidence, readers),
    repeat: isDeclaredRepeat(evidence),
    duplicate: isDuplicate(evidence),
    continuesBrokenTurn: evidence.afterBrokenTurn !== undefined,
    undelivered: evidence.undelivered !== undefined,
    answered: isAnsweredBefore(evidence),
    otherResults: evidence.reviewed.other.length > 0,
    open: countOpenCalls(evidence),
    results: givenResults(evidence.reviewed) > 0,
    said: saidBesideResults(evidence).length > 0,
  };
}

const hasForeignAnswer = ({ foreign }: Evidence): boolean => foreign.length > 0;

function stateOfTurn({ loaded }: Evidence, running: FactSources['running']): MatchFacts['turn'] {
  if (loaded.record.turn === undefined) return 'none';
  return running.has(loaded.session.id) ? 'running' : 'broken';
}

function isRequestOfTurn(evidence: Evidence): boolean {
  const { turn } = evidence.loaded.record;
  return turn !== undefined && (evidence.keys.includes(turn.key) || isPartOf(evidence, turn));
}

function hasReader(evidence: Evidence, readers: TurnReaders): boolean {
  const turn = currentOrLastTurn(evidence);
  return turn !== undefined && readers.has(evidence.loaded.session.id, turn.key);
}

const isDeclaredRepeat = (evidence: Evidence): boolean =>
  isRepeat(evidence.request, currentOrLastTurn(evidence));

function isDuplicate({ from, loaded, reviewed, keys }: Evidence): boolean {
  const { turn } = loaded.record;
  return (
    from.id === undefined && givenResults(reviewed) === 0 && turn !== undefined && keys.includes(turn.key)
  );
}

const isAnsweredBefore = (evidence: Evidence): boolean =>
  evidence.answer !== undefined && isPartOf(evidence, evidence.answer.turn);

function countOpenCalls({ found, reviewed }: Evidence): number {
  return found.pending === undefined ? 0 : openIn(found.pending).length - reviewed.fresh.length;
}

const saidBesideResults = ({ incoming }: Evidence): string[] => saidKeys(saidIn(incoming));

const givenResults = ({ fresh, repeated, late }: ReviewedResults): number =>
  fresh.length + repeated.length + late.length;

const currentOrLastTurn = ({ loaded: { record } }: Evidence): TurnRow | undefined =>
  record.turn ?? record.undelivered?.turn;

/** The request has some of the results that the turn began with, and nothing that the turn had not. */
function isPartOf(evidence: Evidence, turn: TurnRow): boolean {
  const { found, foreign, reviewed, request } = evidence;
  return (
    found.pending !== undefined &&
    turn.batch === found.pending.turnEnd.mark &&
    foreign.length === 0 &&
    reviewed.fresh.length === 0 &&
    reviewed.other.length === 0 &&
    saidBesideResults(evidence).every((each) => turn.said.includes(each)) &&
    sameAsks(request.asks, turn.asks) &&
    sameIdempotency(request.asks, turn.asks, givenResults(reviewed) < found.pending.clients.length)
  );
}

async function refuseUnknownResults(
  { reader }: FactSources,
  { session }: LoadedSession,
  { messages }: FingerprintedRequest,
  found: FoundPosition,
): Promise<void> {
  const known = new Set(found.pending?.turnEnd.open);
  const unknown = resultsWithoutToolCall(messages).filter(({ toolUseId }) => !known.has(toolUseId));
  if (unknown.length === 0) return;
  const turnEnds = found.turnEnds ?? (await reader.turnEnds(session.id));
  for (const { open } of turnEnds.byHash.values()) for (const id of open) known.add(id);
  const first = unknown.find(({ toolUseId }) => !known.has(toolUseId));
  if (first !== undefined) throw unknownToolCall(first.toolUseId);
}

function messagesAfterBrokenTurn(
  { record: { turn }, log }: LoadedSession,
  { id }: AttachRequest,
  request: FingerprintedRequest,
  reviewed: ReviewedResults,
): readonly Message[] | undefined {
  if (turn === undefined) return undefined;
  const after = historyAfterTurn(request, turn, log.saidAfter(turn.step));
  return after ?? (id === undefined ? undefined : newMessagesAfterTurn(request, reviewed));
}

/**
 * The request's messages after the turn's request. A client whose connection broke sends as much of
 * the answer as it received: that is in the transcript, up to the last whole message.
 */
function historyAfterTurn(
  { ends, messages }: FingerprintedRequest,
  { tail: requestFingerprint }: TurnRow,
  answered: readonly Message[],
): readonly Message[] | undefined {
  const end = ends.find(({ hash }) => hash === requestFingerprint);
  if (end === undefined || end.message === messages.length - 1) return undefined;
  const rest = messages.slice(end.message + 1);
  const next = rest.findIndex(({ role }) => role !== 'assistant');
  if (next < 0) return undefined;
  const sent = assistantTextIn(rest.slice(0, next));
  const saved = assistantTextIn(answered);
  // No message of the answer was whole: the client's part of it is all there is.
  if (saved === '') return rest;
  return sent.startsWith(saved) || saved.startsWith(sent) ? rest.slice(next) : undefined;
}

/**
 * A request with only new messages has no history to match. Where it names the session, it continues
 * after the last request, answered or not. It may repeat results that the turn has.
 */
function newMessagesAfterTurn(
  { hasHistory, messages }: FingerprintedRequest,
  { other }: ReviewedResults,
): readonly Message[] | undefined {
  if (hasHistory || other.length > 0) return undefined;
  return saidIn(messages).length > 0 ? messages : undefined;
}

function assistantTextIn(messages: readonly Message[]): string {
  const texts = messages.flatMap(({ role, content }): Message[] =>
    role === 'assistant' ? [{ role, content: content.filter(({ type }) => type === 'text') }] : [],
  );
  return atomsOf(texts)[0]?.key ?? '';
}

/**
 * Throws for two calls with one id in the same message, and for two results of one call after the
 * same message that differ. Later messages may use an id again: some servers count their calls.
 */
export function refuseDuplicateToolCalls(messages: readonly Message[]): void {
  let results = new Map<string, ToolResultBlock>();
  for (const message of messages) {
    if (message.role === 'assistant') {
      results = new Map();
      const ids = new Set<string>();
      for (const { id } of toolCallsIn(message)) {
        if (ids.has(id)) throw sameToolCallTwice(id);
        ids.add(id);
      }
      continue;
    }
    for (const result of resultsIn([message])) {
      const first = results.get(result.toolUseId);
      if (first === undefined) results.set(result.toolUseId, result);
      else if (resultKey(first) !== resultKey(result)) throw twoResults(result.toolUseId);
    }
  }
}

/** Results whose call does not come before them in these messages. */
export function resultsWithoutToolCall(messages: readonly Message[]): ToolResultBlock[] {
  const called = new Set<string>();
  const results: ToolResultBlock[] = [];
  for (const message of messages) {
    for (const { id } of toolCallsIn(message)) called.add(id);
    for (const result of resultsIn([message])) if (!called.has(result.toolUseId)) results.push(result);
  }
  return results;
}
