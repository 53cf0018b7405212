/** Starts turns, resumes broken ones, and parks requests whose results are not complete. */
import { storedKey } from '../../answers/answer-memory.js';
import type { Block, Message } from '../../core/conversation.js';
import type { Loss } from '../../core/losses.js';
import {
  digest,
  type FingerprintedRequest,
  HistoryFingerprint,
  type Link,
  requestKey,
  saidIn,
  saidKeys,
  unansweredKey,
} from '../history/history-fingerprint.js';
import { answerOf, errorResult, NO_RESULT, repairHistory } from '../history/repair-history.js';
import { canonical, saidKey, toolCallsIn } from '../history/visible-history.js';
import { homeOf } from '../persistence/home.js';
import type { LeasedSession, SessionWrite } from '../persistence/leased-session.js';
import {
  mergeSaid,
  openIn,
  outstandingOf,
  type PendingToolCalls,
  type ReviewedResults,
  recordedToolCalls,
  settled,
  unusedIn,
} from '../persistence/pending-tool-calls.js';
import type { LoadedSession, SessionReader } from '../persistence/session-reader.js';
import type { SessionRow, SetupEntry, TurnEntry, TurnRow } from '../persistence/session-row.js';
import { LIMITS, type SessionParts } from '../session-parts.js';
import type { AttachKind, Attachment, AttachRequest } from '../sessions.js';
import { answerKeyOf, undeliveredKey } from './deliveries.js';
import { LeasedTurn, type LeasedTurnEnd } from './leased-turn.js';

interface StartOptions {
  leased: LeasedSession;
  from: AttachRequest;
  request: FingerprintedRequest;
  fingerprint: HistoryFingerprint;
  reviewed: ReviewedResults;
  /** The session was created for this request. */
  created: boolean;
}

interface ProceedOptions extends StartOptions {
  incoming: readonly Message[];
  how: AttachKind;
}

interface TurnStarterOptions {
  parts: SessionParts;
  reader: SessionReader;
  /** `reader` fires when the client disconnects. */
  onBegin(turn: LeasedTurn, leased: LeasedSession, reader: AbortSignal | undefined): void;
  onEnd(turn: LeasedTurn, leased: LeasedSession, end: LeasedTurnEnd): Promise<void>;
  /** The session stays parked, and its lease is released. */
  onWaiting(leased: LeasedSession): Promise<void>;
}

interface Beginning extends StartOptions {
  turn: TurnRow;
  transcript: Message[];
  fingerprints: readonly HistoryFingerprint[];
  /** The last message's calls, not all of which have a result. */
  unsettled?: PendingToolCalls;
  write: SessionWrite;
}

export class TurnStarter {
  readonly #options: TurnStarterOptions;

  constructor(options: TurnStarterOptions) {
    this.#options = options;
  }

  /** From the head: the request starts a turn, or the session stays parked. */
  async proceed(options: ProceedOptions): Promise<Attachment> {
    const { leased, incoming, reviewed } = options;
    const toolCalls = await this.#options.reader.pending(loadedOf(leased));
    if (toolCalls === undefined) return this.#runFresh(options);
    const given = reviewed.fresh.length + reviewed.repeated.length + reviewed.late.length;
    const saysMore = saidKeys(saidIn(incoming)).length > 0;
    if (openIn(toolCalls).length === 0) return this.#runResults(options, toolCalls);
    if (given > 0 || !saysMore) return this.#wait(options, toolCalls);
    return this.#runWithout(options, toolCalls);
  }

  /** The broken turn continues at its last step. */
  async resume(options: StartOptions): Promise<Attachment> {
    const { leased, fingerprint } = options;
    const { turn } = leased.record;
    if (turn === undefined) throw new Error('There is no broken turn to resume.');
    const transcript = [...leased.log.messages];
    const fingerprints = [fingerprint, ...(await this.#plainFingerprints(leased, turn))];
    return this.#begin({ ...options, turn, transcript, fingerprints, write: {} });
  }

  /** The broken turn's work is kept, and the conversation continues after it. */
  async continueBroken(options: StartOptions & { rest: readonly Message[] }): Promise<Attachment> {
    const { leased, rest, fingerprint, request } = options;
    const { head, turn: broken } = leased.record;
    const saved = leased.log.messages;
    const calls = toolCallsIn(saved.at(-1));
    const recorded = await recordedToolCalls(this.#options.parts.store, leased, calls);
    const outstanding = outstandingOf(calls, recorded);
    const transcript = [
      ...saved,
      ...(outstanding === undefined ? [] : [settled(outstanding)]),
      ...repairHistory(withoutResults(rest)),
    ];
    const turn = turnOf(options, 'continue', transcript, { said: [] });
    const use = unusedIn({ recorded });
    return this.#begin({
      ...options,
      request,
      turn,
      transcript,
      fingerprints: [fingerprint, ...(broken === undefined ? [] : [fingerprintAfter(broken, head, rest)])],
      write: { ...(use.length > 0 && { use }) },
    });
  }

  /** Fingerprints of the results that a turn began with. */
  async #plainFingerprints(
    leased: LeasedSession,
    { batch: turnEnd, step }: TurnRow,
  ): Promise<HistoryFingerprint[]> {
    const toolCalls =
      turnEnd === undefined ? undefined : await this.#options.reader.pending(loadedOf(leased));
    if (toolCalls === undefined) return [];
    const ids = new Set(toolCalls.calls.map(({ id }) => id));
    const given = leased.log
      .asOf(step)
      .findLast(({ content }) =>
        content.some((block) => block.type === 'tool_result' && ids.has(block.toolUseId)),
      );
    const said = given?.content.filter(({ type }) => type !== 'tool_result') ?? [];
    return [plainFingerprint(toolCalls, said)];
  }

  lossesOf({ late, stray }: ReviewedResults): Loss[] {
    return [
      ...late.map(({ toolUseId }) => ({
        path: `tool_result ${toolUseId}`,
        reason: 'it came after its time was over and another result had been used',
      })),
      ...stray.map(({ toolUseId }) => ({
        path: `tool_result ${toolUseId}`,
        reason: 'it answers no call that waits, and was left out',
      })),
    ];
  }

  /** No call is pending. Calls at the end of the last answer were never run: they get error results. */
  async #runFresh(options: ProceedOptions): Promise<Attachment> {
    const { leased, incoming } = options;
    const calls = toolCallsIn(leased.log.asOf(leased.record.step).at(-1));
    const recorded = await recordedToolCalls(this.#options.parts.store, leased, calls);
    const outstanding = outstandingOf(calls, recorded);
    const added = [...(outstanding === undefined ? [] : [settled(outstanding)]), ...withoutResults(incoming)];
    return this.#run(options, added, undefined, [], unusedIn({ recorded }));
  }

  /** All results have come. */
  async #runResults(options: ProceedOptions, toolCalls: PendingToolCalls): Promise<Attachment> {
    const { incoming, leased } = options;
    const meanwhile = await this.#options.reader.saidMeanwhile(loadedOf(leased));
    const said = mergeSaid(meanwhile, saidIn(incoming), saidKey);
    const instructions = incoming.filter(({ role }) => role === 'system');
    const isWhole = toolCalls.calls.every(({ id }) => toolCalls.results.has(id));
    // The gateway's own calls of the message, which had not run when the client's were handed back, run first.
    if (!isWhole && said.length === 0 && instructions.length === 0) return this.#run(options, [], toolCalls);
    const added = [answerOf(toolCalls, NO_RESULT.stopped, said), ...instructions];
    return this.#run(options, added, toolCalls, said);
  }

  /** The user continues without running the calls. */
  async #runWithout(options: ProceedOptions, toolCalls: PendingToolCalls): Promise<Attachment> {
    const { leased, incoming } = options;
    const { store, node } = this.#options.parts;
    const results = openIn(toolCalls).map(({ id }) => {
      const { content, isError } = errorResult(id, NO_RESULT.wentOn);
      return { id, content, isError };
    });
    await store.toolCalls.record(leased.id, results, node);
    const meanwhile = await this.#options.reader.saidMeanwhile(loadedOf(leased));
    const settledToolCalls = (await this.#options.reader.pending(loadedOf(leased))) ?? toolCalls;
    const added = [answerOf(settledToolCalls, NO_RESULT.wentOn, meanwhile), ...withoutResults(incoming)];
    const use = unusedIn(settledToolCalls);
    return this.#run(options, added, undefined, [], use);
  }

  async #run(
    options: Omit<ProceedOptions, 'incoming'>,
    added: readonly Message[],
    toolCalls: PendingToolCalls | undefined,
    said: readonly Block[] = [],
    use: readonly string[] = toolCalls === undefined || added.length === 0 ? [] : unusedIn(toolCalls),
  ): Promise<Attachment> {
    const { leased, fingerprint, how } = options;
    const transcript = [...leased.log.asOf(leased.record.step), ...added];
    const turn = turnOf(options, how, transcript, {
      said: saidKeys(said),
      ...(toolCalls !== undefined && { batch: toolCalls.turnEnd.mark }),
    });
    const fingerprints =
      toolCalls === undefined ? [fingerprint] : [fingerprint, plainFingerprint(toolCalls, said)];
    return this.#begin({
      ...options,
      turn,
      transcript,
      fingerprints,
      ...(toolCalls !== undefined && added.length === 0 && { unsettled: toolCalls }),
      write: {
        ...(use.length > 0 && { use }),
        // Without an answer the session is found by its request.
        ...(options.created && toolCalls === undefined && { index: foundBy(turn) }),
      },
    });
  }

  async #begin(options: Beginning): Promise<Attachment> {
    const { leased, from, request, turn: asked, transcript, write, unsettled } = options;
    const { parts, reader, onBegin, onEnd } = this.#options;
    const { stopped: _, ...rest } = asked;
    const turn = { ...rest, exact: request.exact };
    const before = leased.log.length;
    const isResumed = leased.record.turn === asked;
    // Calls that are still to run belong to whichever turn runs them.
    const isLeft = leased.record.turn !== undefined && !isResumed && unsettled === undefined;
    const setup = await reader.setup(loadedOf(leased), from.request);
    const { entries, record } = newSetup(leased.record, from);
    const main = leased.log.difference(transcript);
    await this.#write(leased, {
      ...write,
      state: 'live',
      model: from.model,
      main,
      setup: entries,
      record: {
        turn,
        setup: record,
        ...homeOf(parts.place, leased.record.root),
        ...(request.prompt !== '' && { prompt: request.prompt }),
      },
    });
    const calls = isResumed || unsettled !== undefined ? toolCallsIn(transcript.at(-1)) : [];
    const recorded = await recordedToolCalls(parts.store, leased, calls);
    const begun: LeasedTurn = new LeasedTurn({
      parts,
      leased,
      turn,
      created: options.created && from.lasting !== true,
      before,
      began: isResumed ? leased.log.countBefore(turn.step) : turn.began,
      transcript,
      ...setup,
      outstanding: outstandingOf(calls, recorded, unsettled?.results),
      losses: this.lossesOf(options.reviewed),
      fingerprints: options.fingerprints,
      unused: unusedIn({ recorded }),
      answerKey: answerKeyOf(leased.id, turn, from, request),
      onEnd: (end) => onEnd(begun, leased, end),
    });
    onBegin(begun, leased, from.signal);
    if (isLeft) parts.emit({ type: 'turn-left', session: leased.id, principal: leased.principal });
    return { kind: 'turn', turn: begun };
  }

  /** A request that continues the session confirms the delivery of its last answer. */
  async #write(leased: LeasedSession, write: SessionWrite): Promise<void> {
    const { undelivered } = leased.record;
    const key = undelivered && undeliveredKey(leased.id, undelivered.mark);
    await leased.write({
      ...write,
      ...(key !== undefined && { dropAnswer: storedKey(key) }),
      record: { ...write.record, undelivered: undefined },
    });
  }

  async #wait(options: ProceedOptions, toolCalls: PendingToolCalls): Promise<Attachment> {
    const { leased, from, incoming, fingerprint, how, reviewed } = options;
    const { parts, reader, onWaiting } = this.#options;
    const { pending } = leased.record;
    if (pending === undefined) throw new Error('No call of this session is pending.');
    const all = openIn(toolCalls);
    const open = from.request.parallelToolCalls === false ? all.slice(0, 1) : all;
    const meanwhile = await reader.saidMeanwhile(loadedOf(leased));
    const blocks = mergeSaid(meanwhile, saidIn(incoming), saidKey).slice(meanwhile.length);
    const turns: TurnEntry[] = blocks.length === 0 ? [] : [{ kind: 'said', blocks }];
    const said = turns.length === 0 ? pending.said : [...pending.said, leased.record.turns + 1];
    const head = fingerprint.with({ role: 'assistant', content: open });
    const isKnown = pending.tellings.includes(head.hash) || pending.tellings.length >= LIMITS.fingerprints;
    if (!isKnown) turns.push({ kind: 'alias', mark: pending.mark, hash: head.hash });
    await this.#write(leased, {
      state: 'parked',
      turns,
      ...(!isKnown && { index: [head] }),
      release: true,
      record: {
        head,
        pending: {
          ...pending,
          tellings: isKnown ? pending.tellings : [...pending.tellings, head.hash],
          until: parts.now() + parts.toolTimeoutMs,
          said,
        },
      },
    });
    await onWaiting(leased);
    return { kind: 'waiting', session: leased.id, how, open, losses: this.lossesOf(reviewed) };
  }
}

function turnOf(
  { leased, request, fingerprint }: StartOptions,
  how: AttachKind,
  transcript: readonly Message[],
  { batch, said }: Pick<TurnRow, 'batch' | 'said'>,
): TurnRow {
  const requestFingerprint = fingerprint.end.hash;
  return {
    key:
      batch === undefined
        ? requestKey(requestFingerprint, request.asks)
        : digest('results', leased.id, String(batch), String(leased.log.length)),
    how,
    began: transcript.length,
    step: leased.log.length + leased.log.difference(transcript).length,
    tail: requestFingerprint,
    ...(batch !== undefined && { batch }),
    said: [...said],
    asks: request.asks,
  };
}

/** The index finds the session for the request itself and for one that continues after it. */
const foundBy = ({ key, tail }: TurnRow): Link[] =>
  [key, unansweredKey(tail)].map((hash) => ({ hash, position: 0 }));

/** All results in the order of the calls: how a client that sent them one by one sends the history later. */
function plainFingerprint(
  { turnEnd, clients, results }: PendingToolCalls,
  said: readonly Block[],
): HistoryFingerprint {
  const { hash, position } = turnEnd;
  const message = answerOf({ calls: clients, results }, NO_RESULT.wentOn, said);
  return HistoryFingerprint.from({ hash, position }, [message]);
}

/** The history includes the broken turn's request, also where the client sends only new messages. */
function fingerprintAfter({ tail }: TurnRow, head: Link, rest: readonly Message[]): HistoryFingerprint {
  return HistoryFingerprint.from({ hash: tail, position: head.position + 1 }, rest);
}

/** A model cannot be sent results without their calls. */
function withoutResults(messages: readonly Message[]): Message[] {
  return messages.flatMap((message): Message[] => {
    const content = message.content.filter((block) => block.type !== 'tool_result');
    if (content.length === message.content.length) return [message];
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

/** The request's tools and system prompt, where they differ from the stored ones. */
function newSetup(
  { setup: before }: SessionRow,
  { request: { tools, system } }: AttachRequest,
): { entries: SetupEntry[]; record: SessionRow['setup'] } {
  const entries: SetupEntry[] = [];
  const record = { ...before };
  const add = (kind: 'tools' | 'system', entry: SetupEntry, digestOfIt: string) => {
    if (record[kind]?.digest === digestOfIt) return;
    entries.push(entry);
    record.count += 1;
    record[kind] = { digest: digestOfIt, seq: record.count };
  };
  if (tools.length > 0) add('tools', { kind: 'tools', tools }, digest(canonical(tools)));
  if (system.length > 0) add('system', { kind: 'system', system }, digest(canonical(system)));
  return { entries, record };
}

const loadedOf = ({ id, principal, record, log }: LeasedSession): LoadedSession => ({
  session: { id, principal },
  record,
  log,
});
