/**
 * Tells people and programs outside of questions and turns. What happens is put into the outbox, and the outbox is
 * sent by itself. What a crash kept from being put there is found by looking: each message has an id
 * that is made of what it is about, so that putting it twice is harmless, on one node or on several.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { NotifyConfig, NotifyTargetConfig } from '../../config/notify-schema.js';
import { GatewayError } from '../../core/errors.js';
import type { ApprovalCoordinator, ApprovalEvent } from '../../permissions/approvals.js';
import type { Approval } from '../../store/approvals.js';
import type { Delivery, NewDelivery, TargetFigures } from '../../store/outbox.js';
import type { Store } from '../../store/store.js';
import { guardedPost } from '../../transport/guarded-fetch/guarded-post.js';
import { HostList } from '../../transport/guarded-fetch/url-policy.js';
import { type Callback, isSame, type Reply, type SendTools } from '../adapters/adapter.js';
import { openChannel } from '../adapters/adapters.js';
import { sendWebhook } from '../adapters/webhook.js';
import { type Choice, messageOf } from '../message.js';
import { type Notice, noticeOf, readNotice } from '../notice.js';
import { type AskedToolCall, targetsOfTurns, whenBrowsersAreAsked, whoIsAsked } from '../who-is-asked.js';
import { answerCallback, decidePress } from './answers.js';
import { OutboxSender, type SenderLog } from './outbox-sender.js';
import {
  type CredentialOf,
  PushSubscriptions,
  type ScopesOf,
  type Subscriber,
} from './push-subscriptions.js';

interface NotifierOptions {
  /** As it is now: the file may be loaded again. Undefined where nobody outside is told anything. */
  config: () => NotifyConfig | undefined;
  store: Pick<Store, 'outbox' | 'secrets' | 'approvals' | 'push'>;
  /** What a key may do now. */
  scopesOf: ScopesOf;
  credentialOf: CredentialOf;
  approvals: Pick<ApprovalCoordinator, 'decide'>;
  redact: (text: string) => string;
  /** This process, and whether another one of this machine has exited. */
  owner: string;
  isGone: (owner: string) => boolean;
  /** How long a question waits. */
  timeoutMs: number;
  log: SenderLog;
  now?: () => number;
  /** Certificate authorities to trust instead of the built-in ones (PEM). */
  ca?: string;
}

interface TurnEnd {
  session: string;
  principal: string;
  failed: boolean;
}

interface NotifyTargetStatus extends TargetFigures {
  type: NotifyTargetConfig['type'];
}

/** As a browser gives its subscription. */
type NewBrowser = Parameters<PushSubscriptions['add']>[1];

interface PushPress {
  delivery: string;
  choice: Choice;
  proof: string;
}

const NOBODY: NotifyConfig = { people: {}, targets: {}, allow_private: [] };
const ASKED = 'approval.asked';
const SEND_MS = 10_000;
const LOOK_EVERY_MS = 60_000;
const ROWS = 100;
const FETCHER = { name: 'The gateway', setting: 'notify.allow_private' };

export class Notifier {
  readonly #options: NotifierOptions;
  readonly #now: () => number;
  readonly #sender: OutboxSender;
  /** Browsers that are asked while no page is open. */
  readonly push: PushSubscriptions;
  /** Who has some, as they were last looked at. */
  #browsers: readonly Subscriber[] = [];
  /** What is to be put into the outbox, in the order in which it happened. */
  #work: Promise<void> = Promise.resolve();
  #secret: Promise<string> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: NotifierOptions) {
    const { store, owner, log, scopesOf, credentialOf, now = Date.now } = options;
    this.push = new PushSubscriptions({ store, scopesOf, credentialOf });
    this.#options = options;
    this.#now = now;
    this.#sender = new OutboxSender({
      ...{ outbox: store.outbox, owner, now, log },
      send: (delivery, signal) => this.#send(delivery, signal),
    });
  }

  /** Begins to send what is there, and finds what was not put there before a crash. */
  start(): void {
    this.#do('the outbox could not be taken over from a gateway that has ended', () => this.#takeOver());
    this.#look();
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#work;
    await this.#sender.close();
  }

  /** Somebody outside is asked before the question expires. */
  isReachable(call: AskedToolCall): boolean {
    const config = this.#config;
    const now = this.#now();
    const end = now + this.#options.timeoutMs;
    const browsersDue = whenBrowsersAreAsked(config, call, now);
    if (browsersDue !== undefined && browsersDue < end)
      if (this.#browsers.some((each) => this.push.mayDecide(each, call.principal))) return true;
    return askedAt(config, call, now).some(([, due]) => due < end);
  }

  /** Never waits and never throws: no approval waits for it. */
  onApproval({ type, approval }: ApprovalEvent): void {
    if (type === 'updated') return;
    const work = type === 'requested' ? () => this.#asked(approval) : () => this.#ended(approval);
    this.#do('a message about a question could not be stored yet', work);
  }

  onTurn({ session, principal, failed }: TurnEnd): void {
    const config = this.#config;
    const event = failed ? 'turn.failed' : 'turn.ended';
    const targets = targetsOfTurns(config, principal).filter((name) => wants(config.targets[name], event));
    if (targets.length === 0) return;
    const payload: Notice = {
      type: event,
      timestamp: new Date(this.#now()).toISOString(),
      data: { session, key: principal },
    };
    const turn = randomBytes(12).toString('base64url');
    this.#do('a message about a turn could not be stored', () =>
      this.#put(
        targets.map((target) => ({
          ...{
            id: messageId(event, turn, target),
            target,
            event,
            subject: `${session}/${turn}`,
            principal,
            payload,
          },
        })),
      ),
    );
  }

  /** A message to see whether one arrives. Rejects with `not_found`. */
  async test(target: string, by: string): Promise<string> {
    this.#targetOf(target);
    const nonce = randomBytes(12).toString('base64url');
    const id = messageId('test', nonce, target);
    const payload: Notice = {
      type: 'test',
      timestamp: new Date(this.#now()).toISOString(),
      data: { key: by, test: true },
    };
    await this.#put([{ id, target, event: 'test', subject: nonce, principal: by, payload }]);
    return id;
  }

  /** The targets of the configuration, with how they do. */
  async status(): Promise<NotifyTargetStatus[]> {
    const figures = new Map((await this.#options.store.outbox.targets()).map((each) => [each.target, each]));
    return Object.entries(this.#config.targets).map(([target, { type }]) => ({
      ...{ target, type, waiting: 0, failed: 0 },
      ...figures.get(target),
    }));
  }

  /** A request of a provider. Rejects with `not_found`, or `forbidden` where it is not from the provider. */
  async answer(name: string, callback: Callback): Promise<Reply> {
    const config = this.#config;
    const target = this.#targetOf(name);
    const { store, approvals } = this.#options;
    const sign = await this.#sign();
    return answerCallback({ name, target, config, store, approvals, sign, now: this.#now() }, callback);
  }

  /** A browser is asked from now on. */
  async subscribe(principal: string, subscription: NewBrowser): Promise<string> {
    const listed = new HostList(this.#config.allow_private);
    const id = await this.push.add(principal, subscription, (url) => listed.has(url));
    await this.#countBrowsers();
    this.#look();
    return id;
  }

  /** A press in a notification of the browser. Rejects with `forbidden` where the proof is not ours. */
  async answerPush({ delivery: id, choice, proof }: PushPress): Promise<{ accepted: boolean; text: string }> {
    const { PUSH_IN_VIEW, pushProof } = await import('../adapters/web-push.js');
    const sign = await this.#sign();
    if (!isSame(proof, sign(pushProof(id, choice)))) {
      throw new GatewayError('forbidden', 'The proof is not that of a notification of this gateway.');
    }
    const { store, approvals } = this.#options;
    const delivery = await store.outbox.get(id);
    const browser = delivery && (await this.push.find(delivery.target, delivery.principal));
    if (delivery === undefined || browser === undefined) {
      return { accepted: false, text: 'This browser is not asked any more. Open the card.' };
    }
    const person = { name: browser.principal, keys: undefined };
    return decidePress(
      { store, approvals, now: this.#now() },
      { target: delivery.target, delivery: id, choice, inView: PUSH_IN_VIEW, person, via: 'push' },
    );
  }

  get #config(): NotifyConfig {
    return this.#options.config() ?? NOBODY;
  }

  async #countBrowsers(): Promise<void> {
    this.#browsers = await this.#options.store.push.list();
  }

  #targetOf(name: string): NotifyTargetConfig {
    const targets = this.#config.targets;
    const target = Object.hasOwn(targets, name) ? targets[name] : undefined;
    if (target !== undefined) return target;
    throw new GatewayError('not_found', 'There is no such target. See `notify.targets` in toolgate.yaml.');
  }

  #do(problem: string, work: () => Promise<void>): void {
    if (this.#closed) return;
    this.#work = this.#work
      .then(work)
      .catch((error: unknown) => this.#options.log.warn({ err: error }, problem));
  }

  async #put(deliveries: readonly NewDelivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    await this.#options.store.outbox.put(deliveries);
    this.#sender.wake();
  }

  async #asked(approval: Approval): Promise<void> {
    const config = this.#config;
    const payload = this.#notice(ASKED, approval, config);
    const due = whenBrowsersAreAsked(config, approval, approval.createdAt);
    const browsers = due === undefined ? [] : await this.push.targetsFor(approval.principal);
    const asked = askedAt(config, approval, approval.createdAt);
    await this.#put(
      [...asked, ...browsers.map((target): [string, number] => [target, due ?? approval.createdAt])].map(
        ([target, dueAt]) => ({ ...aboutApproval(ASKED, approval, target), payload, dueAt }),
      ),
    );
  }

  /** Everyone who was asked is told, or need not be asked any more. */
  async #ended(approval: Approval): Promise<void> {
    const config = this.#config;
    const { outbox } = this.#options.store;
    const people = Object.entries(config.targets).flatMap(([name, { type }]) =>
      type === 'webhook' ? [] : [name],
    );
    const asked = (await outbox.about(approval.id)).filter(({ event }) => event === ASKED);
    const browsers = asked.map(({ target }) => target).filter((target) => this.push.isTarget(target));
    await outbox.withdraw(approval.id, [...people, ...browsers]);
    const event = endOf(approval);
    const payload = this.#notice(event, approval, config);
    await this.#put(asked.map(({ target }) => ({ ...aboutApproval(event, approval, target), payload })));
  }

  #notice(event: string, approval: Approval, { public_url }: NotifyConfig): Notice {
    return noticeOf(event, approval, { publicUrl: public_url, redact: this.#options.redact });
  }

  /** Claims of processes that were killed: nobody else would send these for a minute. */
  async #takeOver(): Promise<void> {
    const { store, isGone } = this.#options;
    for (const owner of await store.outbox.claimants()) if (isGone(owner)) await store.outbox.release(owner);
    this.#sender.wake();
  }

  #look(): void {
    this.#do('questions could not be compared with the outbox', async () => {
      await this.#countBrowsers();
      await this.#findAsked();
      await this.#findEnded();
    });
  }

  async #findAsked(): Promise<void> {
    const { approvals } = this.#options.store;
    let cursor: string | undefined;
    do {
      if (this.#closed) return;
      const page = await approvals.list({
        state: 'pending',
        limit: ROWS,
        ...(cursor !== undefined && { cursor }),
      });
      for (const approval of page.items) await this.#asked(approval);
      cursor = page.next;
    } while (cursor !== undefined);
  }

  async #findEnded(): Promise<void> {
    const { approvals, outbox } = this.#options.store;
    for (const subject of await outbox.unended(ASKED, ROWS)) {
      const approval = await approvals.get(subject);
      if (approval !== undefined && approval.state !== 'pending') await this.#ended(approval);
    }
  }

  async #send(
    delivery: Delivery,
    signal: AbortSignal,
  ): Promise<{ reference?: unknown } | { dropped: string }> {
    const { target: name, event, subject } = delivery;
    const config = this.#config;
    if (this.push.isTarget(name)) return this.#sendPush(delivery, config, signal);
    const target = config.targets[name];
    if (target === undefined) return { dropped: 'The target is not configured any more.' };
    const tools = await this.#tools(config, name, signal);
    const notice = readNotice(delivery.payload);
    if (target.type === 'webhook') {
      if (event !== 'test' && !wants(target, event)) return { dropped: 'The target does not want it.' };
      await sendWebhook(notice, delivery.id, target, tools, this.#now());
      return {};
    }
    const channel = await openChannel(target);
    const message = messageOf(notice, channel.inView, delivery.id);
    if (event === 'test') return { reference: await channel.send(message, tools) };
    const { approvals, outbox } = this.#options.store;
    if (event === ASKED) {
      if ((await approvals.get(subject))?.state !== 'pending') return { dropped: 'It was decided before.' };
      return { reference: await channel.send(message, tools) };
    }
    const asked = (await outbox.about(subject)).find((each) => each.target === name && each.event === ASKED);
    if (asked?.state !== 'sent' || channel.edit === undefined)
      return { dropped: 'There is no message to change.' };
    await channel.edit(message, asked.reference, tools);
    return {};
  }

  async #sendPush(
    delivery: Delivery,
    config: NotifyConfig,
    signal: AbortSignal,
  ): Promise<{ reference?: unknown } | { dropped: string }> {
    const { target, event, subject, principal } = delivery;
    const { approvals, outbox } = this.#options.store;
    const browser = await this.push.find(target, principal);
    if (browser === undefined) return { dropped: 'The browser is not subscribed any more.' };
    const isAsking = event === ASKED;
    if (isAsking && (await approvals.get(subject))?.state !== 'pending')
      return { dropped: 'It was decided before.' };
    const asked = (await outbox.about(subject)).find(
      (each) => each.target === target && each.event === ASKED,
    );
    if (!isAsking && asked?.state !== 'sent') return { dropped: 'There is no notification to change.' };
    const { PUSH_IN_VIEW } = await import('../adapters/web-push.js');
    const message = messageOf(readNotice(delivery.payload), PUSH_IN_VIEW, delivery.id);
    const tools = await this.#tools(config, target, signal);
    await this.push.send(browser, message, subject, tools, config.public_url);
    return {};
  }

  async #tools(config: NotifyConfig, name: string, signal: AbortSignal): Promise<SendTools> {
    const { public_url, allow_private: allowPrivate } = config;
    const { ca } = this.#options;
    return {
      post: (url, post) =>
        guardedPost(url, post, {
          ...{ signal, totalMs: SEND_MS, allowPrivate, fetcher: FETCHER },
          ...(ca && { ca }),
        }),
      answerUrl: public_url && `${public_url}/api/notify/${encodeURIComponent(name)}/answer`,
      sign: await this.#sign(),
    };
  }

  async #sign(): Promise<(text: string) => string> {
    const made = randomBytes(32).toString('base64url');
    this.#secret ??= this.#options.store.secrets.ensure('notify', made);
    const secret = await this.#secret.catch((error: unknown) => {
      this.#secret = undefined;
      throw error;
    });
    return (text) => createHmac('sha256', secret).update(text).digest('base64url');
  }
}

/** Targets that take questions, each with the time from which it is asked. */
function askedAt(config: NotifyConfig, call: AskedToolCall, from: number): [string, number][] {
  return [...whoIsAsked(config, call, from)].filter(([target]) => wants(config.targets[target], ASKED));
}

function wants(target: NotifyTargetConfig | undefined, event: string): boolean {
  if (target === undefined) return false;
  return target.type === 'webhook'
    ? target.events.some((each) => each === event)
    : event.startsWith('approval.');
}

function endOf({ state }: Approval): string {
  if (state === 'expired' || state === 'cancelled') return `approval.${state}`;
  return 'approval.decided';
}

function aboutApproval(event: string, { id: subject, principal }: Approval, target: string) {
  return { id: messageId(event, subject, target), target, event, subject, principal };
}

/** At most 64 bytes with a choice in front of it, as Telegram takes. */
function messageId(event: string, subject: string, target: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([event, subject, target]))
    .digest('base64url');
  return `msg_${digest.slice(0, 32)}`;
}
