/** One conversation with the native agent, in memory. */
import type { Message, TextBlock, ToolDefinition } from '../../../core/conversation.js';
import { GatewayError } from '../../../core/errors.js';
import type { OpenToolSession } from '../../../tools/runtime/runtime.js';
import type { Workspace } from '../../../workspace/workspace.js';
import type { AttachKind, Attachment, CompletedTurn, GivenAnswer, NativeSession } from './native-sessions.js';
import { PendingCalls } from './pending-calls.js';
import { atomsOf, commonLength, messagesAfter } from './visible-history.js';

/** Where the client's telling and the transcript say the same. */
export interface Mark {
  atoms: number;
  messages: number;
}

export interface SessionOptions {
  id: string;
  principal: string;
  workspace: Workspace;
  forkNumber: number;
  openTools(session: SessionState): Promise<OpenToolSession>;
  claimId(id: string, session: SessionState): string;
  onDiscarded(session: SessionState): void;
  /** The ids by which the session is found have changed. */
  onIds(session: SessionState): void;
}

interface Turn {
  /** Where in the conversation it began. */
  place: string;
  incoming: readonly Message[];
  /** Calls whose results the request brought. */
  answers: readonly string[];
}

export class SessionState implements NativeSession {
  readonly id: string;
  readonly principal: string;
  readonly workspace: Workspace;
  readonly forkNumber: number;
  readonly #options: SessionOptions;
  tools: readonly ToolDefinition[] = [];
  system: readonly TextBlock[] = [];
  transcript: readonly Message[] = [];
  /** What the client has been told and has told, as atoms. */
  visible: string[] = [];
  marks: Mark[] = [{ atoms: 0, messages: 0 }];
  pending: PendingCalls | undefined;
  /** Of the results that came last, for a client that sends them again. */
  answered: { ids: ReadonlySet<string>; answer: GivenAnswer } | undefined;
  lastUsed = 0;
  /** A turn came to its end here, so that the client knows the session. */
  #completed = false;
  #turn: Turn | undefined;
  #broken: (Turn & { transcript: readonly Message[] }) | undefined;
  #toolSession: Promise<OpenToolSession> | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.id = options.id;
    this.principal = options.principal;
    this.workspace = options.workspace;
    this.forkNumber = options.forkNumber;
  }

  /** For results of its client. */
  get waiting(): boolean {
    return this.pending !== undefined;
  }

  get busy(): boolean {
    return this.#turn !== undefined;
  }

  /** The same ids by which a result finds its way here. */
  ids(): string[] {
    return [...(this.pending?.clientIds() ?? []), ...(this.answered?.ids ?? [])];
  }

  checkFree(): void {
    if (!this.busy) return;
    throw new GatewayError(
      'conflict',
      `Another request of the session ${this.id} is being answered. Wait for its answer, or stop it, and send this one again.`,
    );
  }

  /** Begins a turn on `base` with what the request adds. */
  begin(
    how: AttachKind,
    base: readonly Message[],
    incoming: readonly Message[],
    answers: readonly string[] = [],
  ): Attachment {
    const place = JSON.stringify([base.length, answers]);
    this.#turn = { place, incoming, answers };
    const transcript = this.#wentOn(place, incoming) ?? [...base, ...this.#added(incoming, answers)];
    return { kind: 'turn', how, session: this, transcript };
  }

  /** Where the turn before broke off, what it had done is part of the conversation. */
  #wentOn(place: string, incoming: readonly Message[]): Message[] | undefined {
    const broken = this.#broken;
    if (broken?.place !== place) return undefined;
    const asked = atomsOf(broken.incoming).map(({ key }) => key);
    const atoms = atomsOf(incoming);
    if (commonLength(asked, atoms) < asked.length) return undefined;
    const rest = messagesAfter(incoming, atoms, asked.length);
    if (rest === undefined) return undefined;
    // What the client has of the broken answer is in the transcript, as far as it was whole.
    while (rest[0]?.role === 'assistant') rest.shift();
    return [...broken.transcript, ...rest];
  }

  /** Results stand behind their calls, whatever else was said. */
  #added(incoming: readonly Message[], answers: readonly string[]): readonly Message[] {
    if (answers.length === 0 || this.pending === undefined) return incoming;
    return [this.pending.answer(), ...incoming.filter(({ role }) => role === 'system')];
  }

  toolSession(): Promise<OpenToolSession> {
    this.#toolSession ??= this.#options.openTools(this).catch((error: unknown) => {
      this.#toolSession = undefined;
      throw error;
    });
    return this.#toolSession;
  }

  claimId(id: string): string {
    return this.#options.claimId(id, this);
  }

  complete({ transcript, compacted, answer, handedBack }: CompletedTurn): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    this.#turn = undefined;
    this.#broken = undefined;
    this.#completed = true;
    this.transcript = transcript;
    this.tell([...turn.incoming, { role: 'assistant', content: [...answer.blocks] }]);
    if (compacted) this.marks = [{ atoms: 0, messages: 0 }];
    this.mark();
    this.answered = turn.answers.length === 0 ? undefined : { ids: new Set(turn.answers), answer };
    this.pending =
      handedBack === undefined
        ? undefined
        : new PendingCalls(handedBack.calls, handedBack.open, handedBack.results);
    this.#options.onIds(this);
  }

  abandon(transcript: readonly Message[]): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    this.#turn = undefined;
    this.#broken = { ...turn, transcript };
  }

  discard(transcript: readonly Message[]): void {
    if (this.#turn === undefined) return;
    this.abandon(transcript);
    if (!this.#completed) this.#options.onDiscarded(this);
  }

  tell(messages: readonly Message[]): void {
    for (const { key } of atomsOf(messages)) this.visible.push(key);
  }

  mark(): void {
    this.marks = this.marks.filter(({ atoms }) => atoms < this.visible.length);
    this.marks.push({ atoms: this.visible.length, messages: this.transcript.length });
  }

  async close(): Promise<void> {
    const open = this.#toolSession;
    this.#toolSession = undefined;
    await (await open?.catch(() => undefined))?.close();
  }
}
