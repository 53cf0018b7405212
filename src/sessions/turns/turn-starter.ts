/** Begins turns, goes on with broken ones, and answers where results are still missing. */
import type { Block, Message } from '../../core/conversation.js';
import type { Loss } from '../../core/losses.js';
import { LIMITS } from '../limits.js';
import { digest, type Link } from '../matching/hash-chain.js';
import {
  type FingerprintedRequest,
  HistoryFingerprint,
  requestFingerprint,
  requestKey,
  saidIn,
  saidKeys,
} from '../matching/history-fingerprint.js';
import { callsIn, canonical, saidKey } from '../matching/visible-history.js';
import type { LeasedSession, Step } from '../persistence/leased-session.js';
import type { LoadedSession, SessionReader } from '../persistence/session-reader.js';
import type { SessionRow, SetupEntry, TurnEntry, TurnRow } from '../persistence/session-row.js';
import type { SessionParts } from '../session-parts.js';
import type { AttachKind, Attachment, AttachRequest } from '../sessions.js';
import { outstandingOf, settled } from './broken-turn.js';
import type { Deliveries } from './deliveries.js';
import { answerKeyOf } from './kept-answers.js';
import { LeasedTurn, type LeasedTurnEnd } from './leased-turn.js';
import {
  type Batch,
  mergeSaid,
  openIn,
  type ReviewedResults,
  recordedCalls,
  unusedIn,
} from './pending-tool-calls.js';
import { answerOf, errorResult, NO_RESULT, repairHistory } from './repair-history.js';

export interface StartOptions {
  held: LeasedSession;
  from: AttachRequest;
  request: FingerprintedRequest;
  fingerprint: HistoryFingerprint;
  reviewed: ReviewedResults;
  /** The session was made for this request. */
  created: boolean;
}

export interface TurnStarterOptions {
  parts: SessionParts;
  reader: SessionReader;
  deliveries: Deliveries;
  /** `reader`: fires when who asked is gone. */
  onBegin(turn: LeasedTurn, held: LeasedSession, reader: AbortSignal | undefined): void;
  onEnd(turn: LeasedTurn, held: LeasedSession, end: LeasedTurnEnd): Promise<void>;
  /** The lease is not needed any more. */
  onWaiting(held: LeasedSession): Promise<void>;
}

interface Beginning extends StartOptions {
  turn: TurnRow;
  transcript: Message[];
  fingerprints: readonly HistoryFingerprint[];
  /** The last message's calls, not all of which have a result. */
  unsettled?: Batch;
  step: Step;
}

export class TurnStarter {
  readonly #options: TurnStarterOptions;

  constructor(options: TurnStarterOptions) {
    this.#options = options;
  }

  /** From the head: with what the request brings, a turn begins or goes on waiting. */
  async proceed(
    options: StartOptions & { incoming: readonly Message[]; how: AttachKind },
  ): Promise<Attachment> {
    const { held, incoming, reviewed } = options;
    const batch = await this.#options.reader.pending(loadedOf(held));
    if (batch === undefined) return this.#runFresh(options);
    const given = reviewed.fresh.length + reviewed.repeated.length + reviewed.late.length;
    const saysMore = saidKeys(saidIn(incoming)).length > 0;
    if (openIn(batch).length === 0) return this.#runResults(options, batch);
    if (given > 0 || !saysMore) return this.#wait(options, batch);
    return this.#runWithout(options, batch);
  }

  /** The broken turn goes on where it broke off. */
  async resume(options: StartOptions): Promise<Attachment> {
    const { held, fingerprint } = options;
    const { turn } = held.record;
    if (turn === undefined) throw new Error('There is no turn to go on with.');
    const transcript = [...held.log.messages];
    const fingerprints = [fingerprint, ...(await this.#plainFingerprints(held, turn))];
    return this.#begin({ ...options, turn, transcript, fingerprints, step: {} });
  }

  /** What the broken turn did stays, and the conversation goes on behind it. */
  async goOnBehind(options: StartOptions & { rest: readonly Message[] }): Promise<Attachment> {
    const { held, rest, fingerprint, request } = options;
    const { head, turn: broken } = held.record;
    const saved = held.log.messages;
    const calls = callsIn(saved.at(-1));
    const recorded = await recordedCalls(this.#options.parts.store, held, calls);
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
      step: { ...(use.length > 0 && { use }) },
    });
  }

  /** Of the results that a turn began with. */
  async #plainFingerprints(
    held: LeasedSession,
    { batch: mark, step }: TurnRow,
  ): Promise<HistoryFingerprint[]> {
    const batch = mark === undefined ? undefined : await this.#options.reader.pending(loadedOf(held));
    if (batch === undefined) return [];
    const ids = new Set(batch.calls.map(({ id }) => id));
    const given = held.log
      .asOf(step)
      .findLast(({ content }) =>
        content.some((block) => block.type === 'tool_result' && ids.has(block.toolUseId)),
      );
    const said = given?.content.filter(({ type }) => type !== 'tool_result') ?? [];
    return [plainFingerprint(batch, said)];
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

  /** Nothing waits. Calls that the last answer ended with all the same were never made. */
  async #runFresh(
    options: StartOptions & { incoming: readonly Message[]; how: AttachKind },
  ): Promise<Attachment> {
    const { held, incoming } = options;
    const calls = callsIn(held.log.asOf(held.record.step).at(-1));
    const recorded = await recordedCalls(this.#options.parts.store, held, calls);
    const outstanding = outstandingOf(calls, recorded);
    const added = [...(outstanding === undefined ? [] : [settled(outstanding)]), ...withoutResults(incoming)];
    return this.#run(options, added, undefined, [], unusedIn({ recorded }));
  }

  /** All results are there. */
  async #runResults(
    options: StartOptions & { incoming: readonly Message[]; how: AttachKind },
    batch: Batch,
  ): Promise<Attachment> {
    const { incoming, held } = options;
    const meanwhile = await this.#options.reader.saidMeanwhile(loadedOf(held));
    const said = mergeSaid(meanwhile, saidIn(incoming), saidKey);
    const instructions = incoming.filter(({ role }) => role === 'system');
    const isWhole = batch.calls.every(({ id }) => batch.results.has(id));
    // Calls that are not the client's, and had not run when its own were handed back: first of all they run.
    if (!isWhole && said.length === 0 && instructions.length === 0) return this.#run(options, [], batch);
    const added = [answerOf(batch, NO_RESULT.stopped, said), ...instructions];
    return this.#run(options, added, batch, said);
  }

  /** The user goes on without running the calls. */
  async #runWithout(
    options: StartOptions & { incoming: readonly Message[]; how: AttachKind },
    batch: Batch,
  ): Promise<Attachment> {
    const { held, incoming } = options;
    const { store, node } = this.#options.parts;
    const results = openIn(batch).map(({ id }) => {
      const { content, isError } = errorResult(id, NO_RESULT.wentOn);
      return { id, content, isError };
    });
    await store.toolCalls.record(held.id, results, node);
    const meanwhile = await this.#options.reader.saidMeanwhile(loadedOf(held));
    const settledBatch = (await this.#options.reader.pending(loadedOf(held))) ?? batch;
    const added = [answerOf(settledBatch, NO_RESULT.wentOn, meanwhile), ...withoutResults(incoming)];
    const use = unusedIn(settledBatch);
    return this.#run(options, added, undefined, [], use);
  }

  async #run(
    options: StartOptions & { how: AttachKind },
    added: readonly Message[],
    batch: Batch | undefined,
    said: readonly Block[] = [],
    use: readonly string[] = batch === undefined || added.length === 0 ? [] : unusedIn(batch),
  ): Promise<Attachment> {
    const { held, fingerprint, how } = options;
    const transcript = [...held.log.asOf(held.record.step), ...added];
    const turn = turnOf(options, how, transcript, {
      said: saidKeys(said),
      ...(batch !== undefined && { batch: batch.mark.mark }),
    });
    const fingerprints = batch === undefined ? [fingerprint] : [fingerprint, plainFingerprint(batch, said)];
    return this.#begin({
      ...options,
      turn,
      transcript,
      fingerprints,
      ...(batch !== undefined && added.length === 0 && { unsettled: batch }),
      step: {
        ...(use.length > 0 && { use }),
        // By which a session is found that has no answer yet to be found by.
        ...(options.created && batch === undefined && { index: foundBy(turn) }),
      },
    });
  }

  async #begin(options: Beginning): Promise<Attachment> {
    const { held, from, request, turn: asked, transcript, step, unsettled } = options;
    const { parts, reader, onBegin, onEnd } = this.#options;
    const { stopped: _, ...rest } = asked;
    const turn = { ...rest, exact: request.exact };
    const before = held.log.length;
    const isResumed = held.record.turn === asked;
    // Calls that wait for their run are still to be made, whichever turn makes them.
    const isLeft = held.record.turn !== undefined && !isResumed && unsettled === undefined;
    const setup = await reader.setup(loadedOf(held), from.request);
    const { entries, record } = newSetup(held.record, from);
    const main = held.log.difference(transcript);
    await this.#write(held, {
      ...step,
      state: 'live',
      model: from.model,
      main,
      setup: entries,
      record: { turn, setup: record, ...(request.prompt !== '' && { prompt: request.prompt }) },
    });
    const calls = isResumed || unsettled !== undefined ? callsIn(transcript.at(-1)) : [];
    const recorded = await recordedCalls(parts.store, held, calls);
    const begun: LeasedTurn = new LeasedTurn({
      parts,
      held,
      turn,
      created: options.created && from.lasting !== true,
      before,
      began: isResumed ? held.log.countBefore(turn.step) : turn.began,
      transcript,
      ...setup,
      outstanding: outstandingOf(calls, recorded, unsettled?.results),
      losses: this.lossesOf(options.reviewed),
      fingerprints: options.fingerprints,
      unused: unusedIn({ recorded }),
      answerKey: answerKeyOf(held.id, turn, from, request),
      onEnd: (end) => onEnd(begun, held, end),
    });
    onBegin(begun, held, from.signal);
    if (isLeft) parts.emit({ type: 'turn-left', session: held.id, principal: held.principal });
    return { kind: 'turn', turn: begun };
  }

  /** Who goes on with a session has heard its last answer. */
  async #write(held: LeasedSession, step: Step): Promise<void> {
    const { undelivered } = held.record;
    await held.write({ ...step, record: { ...step.record, undelivered: undefined } });
    if (undelivered !== undefined) await this.#options.deliveries.drop(held, undelivered);
  }

  async #wait(
    options: StartOptions & { incoming: readonly Message[]; how: AttachKind },
    batch: Batch,
  ): Promise<Attachment> {
    const { held, from, incoming, fingerprint, how, reviewed } = options;
    const { parts, reader, onWaiting } = this.#options;
    const { pending } = held.record;
    if (pending === undefined) throw new Error('Nothing is waited for.');
    const all = openIn(batch);
    const open = from.request.parallelToolCalls === false ? all.slice(0, 1) : all;
    const meanwhile = await reader.saidMeanwhile(loadedOf(held));
    const blocks = mergeSaid(meanwhile, saidIn(incoming), saidKey).slice(meanwhile.length);
    const turns: TurnEntry[] = blocks.length === 0 ? [] : [{ kind: 'said', blocks }];
    const said = turns.length === 0 ? pending.said : [...pending.said, held.record.turns + 1];
    const head = fingerprint.with({ role: 'assistant', content: open });
    const isKnown = pending.tellings.includes(head.hash) || pending.tellings.length >= LIMITS.fingerprints;
    if (!isKnown) turns.push({ kind: 'alias', mark: pending.mark, hash: head.hash });
    await this.#write(held, {
      state: 'parked',
      turns,
      ...(!isKnown && { index: [head] }),
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
    await onWaiting(held);
    return { kind: 'waiting', session: held.id, how, open, losses: this.lossesOf(reviewed) };
  }
}

function turnOf(
  { held, request, fingerprint }: StartOptions,
  how: AttachKind,
  transcript: readonly Message[],
  { batch, said }: Pick<TurnRow, 'batch' | 'said'>,
): TurnRow {
  const tail = fingerprint.end.hash;
  return {
    key:
      batch === undefined
        ? requestKey(tail, request.asks)
        : digest('results', held.id, String(batch), String(held.log.length)),
    how,
    began: transcript.length,
    step: held.log.length + held.log.difference(transcript).length,
    tail,
    ...(batch !== undefined && { batch }),
    said: [...said],
    asks: request.asks,
  };
}

/** By the request itself, and by one that goes on behind it. */
const foundBy = ({ key, tail }: TurnRow): Link[] =>
  [key, requestFingerprint(tail)].map((hash) => ({ hash, position: 0 }));

/** All results in the order of the calls: how a client tells it that sent them one by one. */
function plainFingerprint({ mark, clients, results }: Batch, said: readonly Block[]): HistoryFingerprint {
  const { hash, position } = mark;
  const message = answerOf({ calls: clients, results }, NO_RESULT.wentOn, said);
  return HistoryFingerprint.from({ hash, position }, [message]);
}

/** What the broken turn was asked counts, also for who says only what is new. */
function fingerprintAfter({ tail }: TurnRow, head: Link, rest: readonly Message[]): HistoryFingerprint {
  return HistoryFingerprint.from({ hash: tail, position: head.position + 1 }, rest);
}

/** Results that answer nothing cannot be told. */
function withoutResults(messages: readonly Message[]): Message[] {
  return messages.flatMap((message): Message[] => {
    const content = message.content.filter((block) => block.type !== 'tool_result');
    if (content.length === message.content.length) return [message];
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

/** The request's own tools and system prompt, where they differ from those that are there. */
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
