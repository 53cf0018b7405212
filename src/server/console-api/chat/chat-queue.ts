/**
 * What people say while a turn runs. A message is stored before it is accepted, and is said once: into
 * the running turn before its model is asked again (`steer`), or as a turn of its own when the turn
 * has come to its end (`queue`, and what no turn has taken).
 */
import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import type { Peers } from '../../../cluster/peers.js';
import { GatewayError, toGatewayError } from '../../../core/errors.js';
import type { Principal } from '../../../engines/engine.js';
import type { Log } from '../../../observability/log.js';
import { mayTakeOver, ownerOfThisProcess, RELEASED } from '../../../sessions/persistence/lease-keeper.js';
import type { SessionEvent, Sessions } from '../../../sessions/sessions.js';
import type { Session } from '../../../store/sessions.js';
import type { Store } from '../../../store/store.js';
import type { ChatStarted, MessageMode, QueuedMessageWire } from '../wire/sessions.js';
import { type ChatBody, saidIn } from './chat-plan.js';

/** In the table of what is owed, beside turns of the console and answers in the background. */
const PREFIX = 'say_';

const LIMITS = { perSession: 20, clientId: 200 } as const;

export const messageBody = z.object({
  content: z.union([z.string(), z.array(z.unknown())], 'expected text or content blocks'),
  mode: z.enum(['queue', 'steer'], 'expected queue or steer').default('queue'),
});

type MessageBody = z.infer<typeof messageBody>;

const stored = z.object({
  version: z.literal(1),
  session: z.string(),
  model: z.string(),
  mode: z.enum(['queue', 'steer']),
  content: z.union([z.string(), z.array(z.unknown())]),
  at: z.number(),
});

interface QueuedMessage {
  id: string;
  principal: string;
  request: z.infer<typeof stored>;
}

interface ChatQueueOptions {
  sessions: Pick<Sessions, 'get' | 'standing' | 'steer' | 'unsteer' | 'subscribe'>;
  store: Pick<Store, 'runs'>;
  log: Log;
  /** Begins a turn; `client_id` makes a repeat the same turn. */
  start(body: ChatBody, principal: Principal): Promise<ChatStarted>;
  principalOf(name: string): Principal | undefined;
  /** Nodes on the same store, of which one may be lost with what waited there. */
  peers?: Pick<Peers, 'instance' | 'isLost'> | undefined;
  now?: () => number;
}

type MessageOutcome =
  | { kind: 'started'; started: ChatStarted }
  | { kind: 'queued'; message: QueuedMessageWire };

export class ChatQueue {
  readonly #options: ChatQueueOptions;
  readonly #owner: string;
  readonly #unsubscribe: () => void;
  /** By session, in the order in which they were said. */
  readonly #waiting = new Map<string, QueuedMessage[]>();
  /** Sessions whose next message is being said. */
  readonly #saying = new Map<string, Promise<void>>();
  #closing = false;

  constructor(options: ChatQueueOptions) {
    this.#options = options;
    this.#owner = `${options.peers?.instance ?? ownerOfThisProcess()}/${randomBytes(4).toString('hex')}`;
    this.#unsubscribe = options.sessions.subscribe((event) => this.#onEvent(event));
  }

  /** Rejects with GatewayError. `session` is one of the principal's own. */
  async say(session: Session, body: MessageBody, principal: Principal): Promise<MessageOutcome> {
    const { content, mode } = body;
    const { id, model } = session;
    const said = saidIn({ model, content });
    await this.#adoptLost(id);
    const waiting = this.#waiting.get(id) ?? [];
    if (!this.#isRunning(session) && waiting.length === 0) {
      return {
        kind: 'started',
        started: await this.#options.start({ model, session: id, content }, principal),
      };
    }
    if (waiting.length >= LIMITS.perSession) throw full(id);
    const message: QueuedMessage = {
      id: PREFIX + randomBytes(16).toString('base64url'),
      principal: principal.name,
      request: { version: 1, session: id, model, mode, content, at: (this.#options.now ?? Date.now)() },
    };
    this.#waiting.set(id, [...waiting, message]);
    try {
      const { request } = message;
      await this.#options.store.runs.create({ ...message, owner: this.#owner, request });
    } catch (error) {
      this.#forget(id, [message.id]);
      throw error;
    }
    if (mode === 'steer') this.#options.sessions.steer(id, { id: message.id, content: said?.content ?? [] });
    // The turn may have ended meanwhile.
    this.#sayNext(id);
    return { kind: 'queued', message: toWire(message) };
  }

  list(session: string): QueuedMessageWire[] {
    return (this.#waiting.get(session) ?? []).map(toWire);
  }

  /** Those that are withdrawn now; all of the session where no id is given. What a turn has taken is said. */
  async withdraw(session: string, id?: string): Promise<QueuedMessageWire[]> {
    const found = (this.#waiting.get(session) ?? [])
      .filter((each) => id === undefined || each.id === id)
      .filter((each) => this.#options.sessions.unsteer(session, each.id));
    this.#forget(
      session,
      found.map((each) => each.id),
    );
    const gone: QueuedMessageWire[] = [];
    for (const message of found)
      if (await this.#options.store.runs.delete(message.id)) gone.push(toWire(message));
    return gone;
  }

  /** At the start, after the turns that a predecessor left are resumed. Never rejects. */
  async restore(): Promise<void> {
    const { store, log } = this.#options;
    try {
      for (const { id, owner } of await store.runs.running()) {
        if (id.startsWith(PREFIX) && mayTakeOver(owner)) await this.#take(id, owner);
      }
      for (const session of [...this.#waiting.keys()]) this.#sayNext(session);
    } catch (error) {
      log.error({ err: error }, 'messages that wait for the end of a turn could not be read');
    }
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#unsubscribe();
    await Promise.all(this.#saying.values());
    await this.#options.store.runs.release(this.#owner, RELEASED);
  }

  /** What waits at a node that is lost waits here from then on. Rejects as the store does. */
  async #adoptLost(session: string): Promise<void> {
    const { peers, store } = this.#options;
    if (peers === undefined) return;
    for (const { id, owner } of await store.runs.running()) {
      if (!id.startsWith(PREFIX) || owner === this.#owner || !(await peers.isLost(owner))) continue;
      const { data } = stored.safeParse((await store.runs.get(id))?.request);
      if (data?.session === session) await this.#take(id, owner);
    }
  }

  /** Of those who race, one has it. */
  async #take(id: string, from: string): Promise<void> {
    const run = await this.#options.store.runs.claim(id, { from, to: this.#owner, attempts: 1 });
    const { data } = stored.safeParse(run?.request);
    if (run !== undefined && data !== undefined) {
      await this.#restore({ id, principal: run.principal, request: data });
    }
  }

  async #restore(message: QueuedMessage): Promise<void> {
    const { sessions, store } = this.#options;
    const { session: id } = message.request;
    const session = await sessions.get(id);
    const isSaid = session && sessions.standing(session)?.steered?.includes(message.id);
    if (session === undefined || isSaid === true) {
      await store.runs.delete(message.id);
      return;
    }
    this.#waiting.set(id, [...(this.#waiting.get(id) ?? []), message]);
    const said = saidIn({ model: message.request.model, content: message.request.content });
    if (message.request.mode === 'steer')
      sessions.steer(id, { id: message.id, content: said?.content ?? [] });
  }

  #onEvent(event: SessionEvent): void {
    if (event.type === 'turn-ended' && event.end === 'complete') void this.#afterTurn(event.session);
    else if (event.type === 'steered') void this.#drop(event.session, event.ids);
    else if (event.type === 'ended') {
      const ids = (this.#waiting.get(event.session) ?? []).map(({ id }) => id);
      if (ids.length > 0) void this.#drop(event.session, ids);
    }
  }

  async #afterTurn(session: string): Promise<void> {
    await this.#adoptLost(session).catch((error: unknown) => {
      const { log } = this.#options;
      log.warn(
        { err: toGatewayError(error), session },
        'messages that wait at a lost node could not be read',
      );
    });
    this.#sayNext(session);
  }

  /** One at a time: the end of its turn says the next one. */
  #sayNext(session: string): void {
    if (this.#closing || this.#saying.has(session) || !this.#waiting.has(session)) return;
    const saying = this.#say(session).finally(() => this.#saying.delete(session));
    this.#saying.set(session, saying);
  }

  async #say(id: string): Promise<void> {
    const { sessions, principalOf, start, log } = this.#options;
    try {
      const session = await sessions.get(id);
      const [message] = this.#waiting.get(id) ?? [];
      if (session === undefined || message === undefined || this.#isUnfinished(session)) return;
      const principal = principalOf(message.principal);
      if (principal === undefined) {
        log.warn({ session: id, key: message.principal }, 'a message is not said: its key no longer exists');
        return;
      }
      const { content } = message.request;
      await start({ model: session.model, session: id, content, client_id: message.id }, principal);
      await this.#drop(id, [message.id]);
    } catch (error) {
      // It waits for the end of the next turn.
      log.warn({ err: toGatewayError(error), session: id }, 'a message that waited could not be said');
    }
  }

  /** A turn runs, waits for its client, or broke off and may be resumed: the conversation is not over it yet. */
  #isUnfinished(session: Session): boolean {
    return session.state !== 'live' || this.#options.sessions.standing(session)?.turn !== undefined;
  }

  #isRunning(session: Session): boolean {
    return this.#options.sessions.standing(session)?.turn?.running === true;
  }

  async #drop(session: string, ids: readonly string[]): Promise<void> {
    this.#forget(session, ids);
    for (const id of ids) {
      await this.#options.store.runs.delete(id).catch((error: unknown) => {
        this.#options.log.warn(
          { err: toGatewayError(error), session },
          'a message that was said stays noted',
        );
      });
    }
  }

  #forget(session: string, ids: readonly string[]): void {
    const left = (this.#waiting.get(session) ?? []).filter(({ id }) => !ids.includes(id));
    if (left.length > 0) this.#waiting.set(session, left);
    else this.#waiting.delete(session);
  }
}

function toWire({ id, request: { session, mode, content, at } }: QueuedMessage): QueuedMessageWire {
  return { id, session, mode: mode satisfies MessageMode, content, queued_at: new Date(at).toISOString() };
}

function full(session: string): GatewayError {
  return new GatewayError(
    'conflict',
    `${LIMITS.perSession} messages wait for the turn of the session ${session} already. Withdraw one, or stop the turn.`,
    { detail: 'queue_full' },
  );
}
