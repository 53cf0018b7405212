/** Sessions of this process: bounded in number and in time, gone with it. */
import { randomBytes } from 'node:crypto';
import type { Message, ToolResultBlock, ToolUseBlock } from '../../../core/conversation.js';
import { GatewayError } from '../../../core/errors.js';
import type { OpenToolSession } from '../../../tools/runtime/runtime.js';
import { LIMITS } from '../../agent/limits.js';
import type { Attachment, AttachRequest, NativeSessions } from './native-sessions.js';
import { SessionState } from './session-state.js';
import { atomsOf, commonLength, messagesAfter } from './visible-history.js';

export interface MemorySessionsOptions {
  openTools(session: Pick<SessionState, 'id' | 'principal' | 'workspace'>): Promise<OpenToolSession>;
  /** A session could not be closed cleanly. */
  onProblem(error: unknown): void;
  now?: () => number;
  ttlMs?: number;
  max?: number;
}

export class MemorySessions implements NativeSessions {
  readonly #options: MemorySessionsOptions;
  readonly #now: () => number;
  /** The one that was unused longest first. */
  readonly #sessions = new Map<string, SessionState>();
  /** By principal and id of a call. */
  readonly #byCall = new Map<string, Set<SessionState>>();
  readonly #idsOf = new Map<SessionState, readonly string[]>();
  #sweeping: NodeJS.Timeout | undefined;

  constructor(options: MemorySessionsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  get size(): number {
    return this.#sessions.size;
  }

  async attach(request: AttachRequest): Promise<Attachment> {
    this.#sweep();
    const incoming = behindLastAnswer(request.messages);
    const results = resultsIn(incoming);
    const named = request.id === undefined ? undefined : this.#named(request.id, request);
    const session = named ?? this.#waitingFor(results, request);
    if (session === undefined) return this.#import(request);
    session.checkFree();
    this.#checkResults(results, request, session);
    this.#touch(session, request);
    const { pending, answered } = session;
    if (
      pending !== undefined &&
      results.some(({ toolUseId }) => pending.clientCall(toolUseId) !== undefined)
    ) {
      return this.#resume(session, incoming, results, request);
    }
    if (answered !== undefined && isAnswered(results, answered.ids) && isRepeated(session, request)) {
      return { kind: 'answered', session, answer: answered.answer };
    }
    return named === undefined ? this.#import(request) : this.#goOn(session, request);
  }

  async close(): Promise<void> {
    clearTimeout(this.#sweeping);
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    this.#byCall.clear();
    this.#idsOf.clear();
    for (const closed of await Promise.allSettled(sessions.map((session) => session.close()))) {
      if (closed.status === 'rejected') this.#options.onProblem(closed.reason);
    }
  }

  #named(id: string, { principal, workspace }: AttachRequest): SessionState {
    const session = this.#sessions.get(id);
    if (session === undefined || session.principal !== principal) {
      throw new GatewayError(
        'not_found',
        `The session ${JSON.stringify(id.slice(0, 100))} is not known here: it has expired, or it is another key's. Send the conversation without X-Session-ID to go on.`,
        { param: 'x-session-id', detail: 'session_not_found' },
      );
    }
    if (session.workspace.root === workspace.root) return session;
    throw new GatewayError(
      'conflict',
      `The session ${id} belongs to a model that works in another folder. Go on with that model, or send the conversation without X-Session-ID.`,
      { param: 'x-session-id' },
    );
  }

  /** The session whose calls these are results of. */
  #waitingFor(
    results: readonly ToolResultBlock[],
    { principal, workspace, messages }: AttachRequest,
  ): SessionState | undefined {
    for (const { toolUseId } of results) {
      const told = callIn(messages, toolUseId);
      for (const session of this.#byCall.get(keyOf(principal, toolUseId)) ?? []) {
        if (session.workspace.root !== workspace.root) continue;
        const call = session.pending?.clientCall(toolUseId);
        // Servers that count their calls give the same ids to different ones.
        const isMeant = call !== undefined && (told === undefined || sameCall(call, told));
        if (isMeant || session.answered?.ids.has(toolUseId)) return session;
      }
    }
    return undefined;
  }

  /** Throws for results whose call neither the request nor the session has. */
  #checkResults(
    results: readonly ToolResultBlock[],
    { messages }: AttachRequest,
    session?: SessionState,
  ): void {
    const known = new Set(session?.ids());
    const ownCalls = callIdsIn(messages);
    for (const { toolUseId } of results) {
      if (known.has(toolUseId) || ownCalls.has(toolUseId)) continue;
      throw new GatewayError(
        'unknown_tool_call',
        `The result for ${JSON.stringify(toolUseId.slice(0, 100))} answers no call of this conversation. Send the message with the call along, or leave the result out.`,
        { detail: 'unknown_tool_call' },
      );
    }
  }

  #resume(
    session: SessionState,
    incoming: readonly Message[],
    results: readonly ToolResultBlock[],
    { oneCall }: AttachRequest,
  ): Attachment {
    const { pending } = session;
    if (pending === undefined) throw new Error('The session waits for nothing.');
    pending.record(incoming);
    const open = pending.open();
    if (open.length === 0) {
      const ids = results.map(({ toolUseId }) => toolUseId);
      return session.begin('continue', session.transcript, incoming, ids);
    }
    const told = oneCall ? open.slice(0, 1) : open;
    session.tell([...incoming, { role: 'assistant', content: [...told] }]);
    session.mark();
    return { kind: 'waiting', session, open: told };
  }

  /** A named session goes on from the last point that the request's history agrees with. */
  #goOn(session: SessionState, request: AttachRequest): Attachment {
    const atoms = atomsOf(request.messages);
    const common = commonLength(session.visible, atoms);
    const said = request.messages.some(({ role }) => role === 'assistant');
    // A client that leaves the history to the session sends what is new alone.
    if (!said && common < atoms.length) return this.#append(session, request.messages);
    if (common === session.visible.length) {
      const rest = messagesAfter(request.messages, atoms, common);
      if (rest !== undefined) return this.#append(session, rest);
    }
    return this.#fork(session, request, atoms, common);
  }

  #append(session: SessionState, rest: readonly Message[]): Attachment {
    const { pending, transcript } = session;
    const unanswered = pending === undefined ? [] : [pending.answer()];
    return session.begin('continue', [...transcript, ...unanswered], rest);
  }

  /** A session of its own from the last point that both have in common; the old one stays. */
  #fork(
    session: SessionState,
    request: AttachRequest,
    atoms: ReturnType<typeof atomsOf>,
    common: number,
  ): Attachment {
    for (const { atoms: length, messages } of session.marks.toReversed()) {
      if (length > common) continue;
      const rest = messagesAfter(request.messages, atoms, length);
      if (rest === undefined) continue;
      this.#checkResults(resultsIn(rest), request);
      const fork = this.#create(request, session.forkNumber + 1);
      fork.transcript = session.transcript.slice(0, messages);
      fork.visible = session.visible.slice(0, length);
      fork.marks = session.marks.filter((mark) => mark.atoms <= length);
      return fork.begin('fork', fork.transcript, rest);
    }
    return this.#import(request);
  }

  /** The request's own messages are the conversation. */
  #import(request: AttachRequest): Attachment {
    this.#checkResults(resultsIn(request.messages), request);
    const isNew = !request.messages.some(({ role }) => role === 'assistant');
    return this.#create(request, 0).begin(isNew ? 'new' : 'import', [], request.messages);
  }

  #create(request: AttachRequest, forkNumber: number): SessionState {
    const { principal, workspace } = request;
    const session = new SessionState({
      id: `ses_${randomBytes(16).toString('base64url')}`,
      principal,
      workspace,
      forkNumber,
      openTools: (state) => this.#options.openTools(state),
      claimId: (id, state) => this.#claim(id, state),
      onDiscarded: (state) => this.#drop(state),
      onIds: (state) => this.#index(state),
    });
    this.#touch(session, request);
    this.#evict(session);
    return session;
  }

  #touch(session: SessionState, { tools, system }: AttachRequest): void {
    if (tools.length > 0) session.tools = tools;
    if (system.length > 0) session.system = system;
    session.lastUsed = this.#now();
    this.#sessions.delete(session.id);
    this.#sessions.set(session.id, session);
  }

  /** Held from now on: two turns may be handing out calls at the same time. */
  #claim(id: string, session: SessionState): string {
    const isTaken = (each: string) =>
      [...(this.#byCall.get(keyOf(session.principal, each)) ?? [])].some((other) => other !== session);
    let fresh = id;
    while (isTaken(fresh)) fresh = `${id}_${randomBytes(4).toString('hex')}`;
    this.#hold(session, fresh);
    return fresh;
  }

  #index(session: SessionState): void {
    this.#unindex(session);
    for (const id of session.ids()) this.#hold(session, id);
  }

  #hold(session: SessionState, id: string): void {
    this.#idsOf.set(session, [...(this.#idsOf.get(session) ?? []), id]);
    const key = keyOf(session.principal, id);
    const sessions = this.#byCall.get(key);
    if (sessions === undefined) this.#byCall.set(key, new Set([session]));
    else sessions.add(session);
  }

  #unindex(session: SessionState): void {
    for (const id of this.#idsOf.get(session) ?? []) {
      const key = keyOf(session.principal, id);
      const sessions = this.#byCall.get(key);
      sessions?.delete(session);
      if (sessions?.size === 0) this.#byCall.delete(key);
    }
    this.#idsOf.delete(session);
  }

  #evict(newest: SessionState): void {
    const max = this.#options.max ?? LIMITS.sessions.max;
    const idle = [...this.#sessions.values()].filter((session) => !session.busy && session !== newest);
    // One that waits for its client's results is missed most: it goes only when no other is left.
    const waiting = idle.filter((session) => session.waiting);
    for (const session of [...idle.filter((each) => !each.waiting), ...waiting]) {
      if (this.#sessions.size <= max) return;
      this.#drop(session);
    }
  }

  #sweep(): void {
    const oldest = this.#now() - (this.#options.ttlMs ?? LIMITS.sessions.ttlMs);
    for (const session of this.#sessions.values()) {
      if (session.lastUsed > oldest) break;
      if (!session.busy) this.#drop(session);
    }
    this.#sweeping ??= setTimeout(() => {
      this.#sweeping = undefined;
      if (this.#sessions.size > 0) this.#sweep();
    }, LIMITS.sessions.sweepMs).unref();
  }

  #drop(session: SessionState): void {
    this.#sessions.delete(session.id);
    this.#unindex(session);
    session.close().catch((error: unknown) => this.#options.onProblem(error));
  }
}

const keyOf = (principal: string, id: string): string => `${principal}\n${id}`;

/** What the client adds: everything behind the last thing that the assistant said. */
function behindLastAnswer(messages: readonly Message[]): Message[] {
  return messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
}

function resultsIn(messages: readonly Message[]): ToolResultBlock[] {
  return messages.flatMap(({ content }) => content.filter((block) => block.type === 'tool_result'));
}

function isAnswered(results: readonly ToolResultBlock[], ids: ReadonlySet<string>): boolean {
  return results.length > 0 && results.every(({ toolUseId }) => ids.has(toolUseId));
}

/** The request says nothing but what was answered already. */
function isRepeated(session: SessionState, { messages }: AttachRequest): boolean {
  if (!messages.some(({ role }) => role === 'assistant')) return true;
  const atoms = atomsOf(messages);
  return commonLength(session.visible, atoms) === atoms.length;
}

function callIdsIn(messages: readonly Message[]): Set<string> {
  const ids = new Set<string>();
  for (const { content } of messages) {
    for (const block of content) if (block.type === 'tool_use') ids.add(block.id);
  }
  return ids;
}

function callIn(messages: readonly Message[], id: string): ToolUseBlock | undefined {
  for (const { content } of messages.toReversed()) {
    for (const block of content) if (block.type === 'tool_use' && block.id === id) return block;
  }
  return undefined;
}

function sameCall(one: ToolUseBlock, other: ToolUseBlock): boolean {
  return one.name === other.name && canonical(one.input) === canonical(other.input);
}

/** Clients parse arguments and write them again, with the keys in an order of their own. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join(',')}}`;
}
