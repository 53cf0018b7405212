/** A running turn: it writes through the session's lease until it is complete, parked, broken or discarded. */
import { randomBytes } from 'node:crypto';
import { storedKey } from '../../answers/answer-memory.js';
import type {
  Block,
  JsonObject,
  Message,
  TextBlock,
  ToolDefinition,
  ToolResultBlock,
  ToolUseBlock,
} from '../../core/conversation.js';
import { deferred } from '../../core/deferred.js';
import type { GatewayError } from '../../core/errors.js';
import type { Loss } from '../../core/losses.js';
import type { HistoryFingerprint } from '../history/history-fingerprint.js';
import type { LeasedSession, SessionWrite } from '../persistence/leased-session.js';
import type { LogEntry, TurnEntry, TurnRow } from '../persistence/session-row.js';
import { ended, lost } from '../refusals.js';
import { LIMITS, type SessionParts } from '../session-parts.js';
import type { AttachKind, CompletedTurn, OutstandingToolCalls, SteeringMessage, Turn } from '../sessions.js';
import { type answerKeyOf, type KeptAnswer, undeliveredKey } from './deliveries.js';

export type LeasedTurnEnd = 'complete' | 'parked' | 'broken' | 'discarded';

interface LeasedTurnOptions {
  parts: SessionParts;
  leased: LeasedSession;
  turn: TurnRow;
  /** The session was created for this request. */
  created: boolean;
  before: number;
  began: number;
  transcript: Message[];
  tools: readonly ToolDefinition[];
  system: readonly TextBlock[];
  outstanding: OutstandingToolCalls | undefined;
  losses: readonly Loss[];
  /** Fingerprints of the histories that lead here; the first is this request's. */
  fingerprints: readonly HistoryFingerprint[];
  /** Calls whose results are recorded and not yet in the transcript. */
  unused: Iterable<string>;
  /** Where the answer is stored for repeats; undefined: only until it is delivered. */
  answerKey: ReturnType<typeof answerKeyOf>;
  /** Releases the lease, before any listener gets the end. */
  onEnd(end: LeasedTurnEnd): Promise<void>;
}

export class LeasedTurn implements Turn {
  readonly id: string;
  readonly principal: string;
  readonly user: string | undefined;
  readonly root: string;
  readonly how: AttachKind;
  readonly key: string;
  /** Digest of the conversation's system prompt. */
  readonly prompt: string;
  readonly forkNumber: number;
  readonly tools: readonly ToolDefinition[];
  readonly system: readonly TextBlock[];
  readonly transcript: Message[];
  readonly began: number;
  readonly spoken: readonly Message[];
  readonly before: number;
  readonly outstanding: OutstandingToolCalls | undefined;
  readonly state: JsonObject | undefined;
  readonly losses: readonly Loss[];
  readonly signal: AbortSignal;
  readonly record: TurnRow;
  readonly #options: LeasedTurnOptions;
  readonly #leased: LeasedSession;
  readonly #abort = new AbortController();
  readonly #fingerprints: HistoryFingerprint[];
  readonly #unused: Set<string>;
  readonly #claimed = new Set<string>();
  #takeRecord: () => object | undefined = () => undefined;
  /** Taken, and not written yet. */
  #records: object[] = [];
  /** Said into the turn: what waits, and what the transcript has and the store has not. */
  #steering: SteeringMessage[] = [];
  #taken: string[] = [];
  #queue: Promise<unknown> = Promise.resolve();
  #ended: GatewayError | undefined;
  #stopped = false;
  readonly #over = deferred();
  /** Resolves when the turn has ended and the lease is released. */
  readonly over = this.#over.promise;

  constructor(options: LeasedTurnOptions) {
    const { leased, turn } = options;
    this.#options = options;
    this.#leased = leased;
    this.id = leased.id;
    this.principal = leased.principal;
    this.user = leased.record.user;
    this.root = leased.record.root;
    this.how = turn.how;
    this.key = turn.key;
    this.prompt = leased.record.prompt ?? '';
    this.forkNumber = leased.record.forkNumber;
    this.tools = options.tools;
    this.system = options.system;
    this.transcript = options.transcript;
    this.began = options.began;
    this.spoken = leased.log.saidAfter(turn.step);
    this.before = options.before;
    this.outstanding = options.outstanding;
    this.state = leased.record.state;
    this.losses = options.losses;
    this.signal = this.#abort.signal;
    this.record = turn;
    this.#fingerprints = [...options.fingerprints];
    this.#unused = new Set(options.unused);
  }

  steps(): number {
    return this.#leased.log.length;
  }

  /** The same request came again, perhaps with another form of its history. */
  join(fingerprint: HistoryFingerprint): void {
    if (this.#fingerprints.length < LIMITS.fingerprints) this.#fingerprints.push(fingerprint);
  }

  /** Extends the session's expiry while its turn runs. */
  renew(): Promise<void> {
    return this.#leased.renew();
  }

  /** The session was deleted, or its lease was lost. */
  lose(reason: GatewayError): void {
    // A stop cannot be written to a session that is gone.
    this.#stopped = false;
    this.#ended ??= reason;
    this.#abort.abort(reason);
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** A person stopped the turn. It keeps the lease, so that its work so far can be written. */
  stop(reason: GatewayError): void {
    this.#stopped = true;
    this.#abort.abort(reason);
  }

  save(state?: JsonObject): Promise<void> {
    return this.#exclusive(() => this.#write(state === undefined ? {} : { record: { state } }));
  }

  recordFrom(take: () => object | undefined): void {
    this.#takeRecord = take;
  }

  /** False once it has ended. */
  steer(message: SteeringMessage): boolean {
    if (this.#ended !== undefined || this.#abort.signal.aborted) return false;
    this.#steering.push(message);
    return true;
  }

  /** False where the turn has taken it. */
  unsteer(id: string): boolean {
    this.#steering = this.#steering.filter((each) => each.id !== id);
    return !this.#taken.includes(id);
  }

  takeSteering(): Block[] {
    const taken = this.#steering;
    this.#steering = [];
    this.#taken.push(...taken.map(({ id }) => id));
    return taken.flatMap(({ content }) => content);
  }

  saveRecord(): Promise<void> {
    return this.#exclusive(async () => {
      await this.#writeStep({});
    });
  }

  claimId(id: string): string {
    const isTaken = (each: string) => this.#claimed.has(each) || this.#leased.log.ids.has(each);
    let fresh = id;
    // Never digits alone after the underscore: Claude Code takes `x_1` for a copy of `x`, and loses its result.
    while (fresh === '' || isTaken(fresh)) fresh = `${id || 'call'}_x${randomBytes(4).toString('hex')}`;
    this.#claimed.add(fresh);
    return fresh;
  }

  start({ id, name, input }: ToolUseBlock): Promise<boolean> {
    return this.#exclusive(() => this.#writeStep({ open: [{ id, name, input, runBy: 'server' }] }));
  }

  /** Writes also after the lease is lost: the next owner needs the result. */
  finish({ toolUseId, content, isError }: ToolResultBlock): Promise<void> {
    return this.#inTurn(async () => {
      const { store, node } = this.#options.parts;
      const result = { id: toolUseId, content, isError };
      const { recorded, unknown } = await store.toolCalls.record(this.id, [result], node);
      if (unknown.length > 0)
        throw (await store.sessions.get(this.id)) ? notStarted(toolUseId) : ended(this.id);
      for (const id of recorded) this.#unused.add(id);
    });
  }

  async complete(end: CompletedTurn): Promise<void> {
    if (this.#ended === ENDED) return;
    const parked = end.handedBack !== undefined && end.handedBack.open.length > 0;
    try {
      await this.#exclusive(() => this.#complete(end));
    } catch (error) {
      await this.#finish('broken');
      throw error;
    }
    await this.#finish(parked ? 'parked' : 'complete');
  }

  async abandon(): Promise<void> {
    await this.#saveLastRecord();
    await this.#finish('broken');
  }

  async discard(): Promise<void> {
    if (!this.#options.created) await this.#saveLastRecord();
    await this.#queue;
    await this.#finish(this.#options.created ? 'discarded' : 'broken');
  }

  /** Never rejects: a session that is gone or lost has no record either. */
  #saveLastRecord(): Promise<void> {
    return this.saveRecord().catch(() => {});
  }

  async #finish(end: LeasedTurnEnd): Promise<void> {
    if (this.#ended === ENDED) return;
    this.#ended = ENDED;
    try {
      await this.#options.onEnd(end);
    } finally {
      this.#over.resolve();
    }
  }

  /** The writes of a turn are serial: each builds on the one before. */
  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.#inTurn(() => {
      if (this.#ended !== undefined) throw this.#ended;
      return work();
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#queue.then(work);
    this.#queue = mine.catch(() => undefined);
    return mine;
  }

  async #write(step: SessionWrite): Promise<void> {
    const main = this.#leased.log.difference(this.transcript);
    const use = this.#usedIn(main);
    const ids = this.#taken;
    const changes = { ...step, ...(main.length > 0 && { main }), ...(use.length > 0 && { use }) };
    if (!(await this.#writeStep(ids.length === 0 ? changes : this.#withSteered(changes, ids)))) {
      throw new Error(`Calls of the session ${this.id} were opened twice.`);
    }
    if (ids.length > 0) {
      this.#taken = this.#taken.slice(ids.length);
      const { id: session, principal } = this;
      this.#options.parts.emit({ type: 'steered', session, principal, ids: [...ids] });
    }
    for (const id of use) this.#unused.delete(id);
  }

  #withSteered(step: SessionWrite, ids: readonly string[]): SessionWrite {
    const { steered = [] } = this.#leased.record;
    return { ...step, record: { ...step.record, steered: [...steered, ...ids].slice(-LIMITS.steered) } };
  }

  /** With what people were shown meanwhile. */
  async #writeStep(step: SessionWrite): Promise<boolean> {
    const recent = this.#takeRecord();
    if (recent !== undefined) this.#records.push(recent);
    const taken = this.#records;
    if (taken.length === 0 && Object.keys(step).length === 0) return true;
    const records = taken.map((shown) => ({ step: this.record.step, shown }));
    const written = await this.#leased.write({ ...step, records });
    if (written) this.#records = [];
    return written;
  }

  /** Results in these entries are used: the transcript has them now. */
  #usedIn(entries: readonly LogEntry[]): string[] {
    const used = new Set<string>();
    for (const entry of entries) {
      if (entry.kind !== 'message') continue;
      for (const block of entry.message.content) {
        if (block.type === 'tool_result' && this.#unused.has(block.toolUseId)) used.add(block.toolUseId);
      }
    }
    return [...used];
  }

  async #complete({ answer, handedBack, state }: CompletedTurn): Promise<void> {
    const { parts, answerKey, turn } = this.#options;
    const { record, log } = this.#leased;
    const step = log.length + log.difference(this.transcript).length;
    const said: Message = { role: 'assistant', content: [...answer.blocks] };
    const [head = record.head, ...others] = this.#fingerprints.map((fingerprint) => fingerprint.with(said));
    const aliases = new Map(others.map((link) => [link.hash, link]));
    aliases.delete(head.hash);
    const number = record.marks;
    const open = handedBack?.open ?? [];
    const next = state ?? record.state;
    const turns: TurnEntry[] = [
      {
        kind: 'mark',
        mark: number,
        ...head,
        step,
        open: open.map(({ id }) => id),
        results: open.length === 0 ? [] : [...(handedBack?.results.values() ?? [])],
        ...(next !== undefined && { state: next }),
      },
      ...[...aliases.keys()].map((hash): TurnEntry => ({ kind: 'alias', mark: number, hash })),
    ];
    const pending = {
      mark: number,
      entry: record.turns + 1,
      tellings: [head.hash, ...aliases.keys()],
      until: parts.now() + parts.toolTimeoutMs,
      said: [],
    };
    const body: KeptAnswer = { answer, turn };
    const { key, digest } = answerKey ?? {
      key: undeliveredKey(this.id, number),
      digest: turn.key,
    };
    await this.#write({
      state: open.length > 0 ? 'parked' : 'live',
      turns,
      index: [head, ...aliases.values()],
      open: open.map(({ id, name, input }) => ({ id, name, input, runBy: 'client' })),
      record: {
        head,
        step,
        marks: number + 1,
        pending: open.length > 0 ? pending : undefined,
        turn: undefined,
        undelivered: answerKey === undefined ? { mark: number, turn, head: record.head } : undefined,
        ...(next !== undefined && { state: next }),
      },
      answer: { key: storedKey(key), digest, body, expiresAt: parts.now() + parts.ttlMs },
      release: true,
    });
  }
}

/** Rejects writes after the end of the turn. */
const ENDED = lost('of this request');

const notStarted = (id: string) => new Error(`The call ${id} was finished and never started.`);
