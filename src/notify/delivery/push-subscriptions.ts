/**
 * Browsers that are asked while no page is open. Each belongs to the key that subscribed it: it is asked about what that
 * key may decide, for as long as the key may. The addresses come from browsers, so they are reached by
 * the guarded client alone.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { GatewayError } from '../../core/errors.js';
import type { PushSubscription } from '../../store/push.js';
import type { Store } from '../../store/store.js';
import type { SendTools } from '../adapters/adapter.js';
import type { VapidKeys } from '../adapters/web-push.js';
import type { Message } from '../message.js';

/** Of a key, as the key ring has it now; undefined for one that is gone. */
export type ScopesOf = (name: string) => readonly string[] | undefined;
/** Which secret a key has now; undefined for one that is gone. */
export type CredentialOf = (name: string) => string | undefined;

/** Who subscribed a browser. */
export type Subscriber = Pick<PushSubscription, 'principal' | 'credential'>;

export interface PushOptions {
  store: Pick<Store, 'push' | 'secrets'>;
  scopesOf: ScopesOf;
  credentialOf: CredentialOf;
}

const MOST_OF_KEY = 10;
const PREFIX = 'push:';
const TTL_S = 1800;
const CONTACT = 'mailto:toolgate@example.com';

const bytes = (length: number) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_-]+={0,2}$/)
    .refine((text) => Buffer.from(text, 'base64url').length === length);

/** As `PushSubscription.toJSON()` of a browser gives it. */
export const pushSubscriptionSchema = z.looseObject({
  endpoint: z
    .string({ error: 'expected the address of a push service' })
    .max(2048)
    .refine((text) => URL.canParse(text), { error: 'expected the address of a push service' }),
  keys: z.looseObject(
    { p256dh: bytes(65), auth: bytes(16) },
    { error: 'expected p256dh and auth, as the browser gives them' },
  ),
});

const vapidSchema = z.object({ publicKey: z.string(), privateKey: z.string() });

export class PushSubscriptions {
  readonly #options: PushOptions;
  #keys: Promise<VapidKeys> | undefined;

  constructor(options: PushOptions) {
    this.#options = options;
  }

  /** What a browser subscribes with. The private part stays in the store. */
  async publicKey(): Promise<string> {
    return (await this.#vapid()).publicKey;
  }

  /** `isAllowed`: plain http, for hosts that the operator named. */
  async add(
    principal: string,
    { endpoint, keys }: z.output<typeof pushSubscriptionSchema>,
    isAllowed: (url: URL) => boolean,
  ): Promise<string> {
    const url = new URL(endpoint);
    if (url.protocol !== 'https:' && !isAllowed(url)) {
      throw new GatewayError('invalid_request', 'endpoint: expected an address that starts with https://.', {
        param: 'endpoint',
      });
    }
    const id = createHash('sha256').update(endpoint).digest('base64url').slice(0, 32);
    const { p256dh, auth } = keys;
    const credential = this.#options.credentialOf(principal) ?? '';
    const subscription = { id, principal, credential, endpoint, p256dh, auth };
    await this.#options.store.push.put(subscription, MOST_OF_KEY);
    return id;
  }

  /** Those that are asked. */
  async list(principal: string): Promise<PushSubscription[]> {
    return (await this.#options.store.push.list(principal)).filter((each) => this.#isHeld(each));
  }

  /** False for one that is not there or is another key's. */
  async remove(id: string, principal: string): Promise<boolean> {
    const { push } = this.#options.store;
    return (await push.get(id))?.principal === principal && push.remove(id);
  }

  async removeAll(principal: string): Promise<void> {
    const { push } = this.#options.store;
    for (const { id } of await push.list(principal)) await push.remove(id);
  }

  /** Targets of those who may decide what a call of `principal` asks. */
  async targetsFor(principal: string): Promise<string[]> {
    const all = await this.#options.store.push.list();
    return all.filter((each) => this.mayDecide(each, principal)).map(({ id }) => `${PREFIX}${id}`);
  }

  isTarget(target: string): boolean {
    return target.startsWith(PREFIX);
  }

  /** The subscription of a target, if its key may still decide for `principal`. */
  async find(target: string, principal: string): Promise<PushSubscription | undefined> {
    const found = await this.#options.store.push.get(target.slice(PREFIX.length));
    return found && this.mayDecide(found, principal) ? found : undefined;
  }

  async send(
    subscription: PushSubscription,
    message: Message,
    about: string,
    tools: SendTools,
    contact: string | undefined,
  ): Promise<void> {
    const { PushGone, pushPayload, sendPush } = await import('../adapters/web-push.js');
    const isContact = contact?.startsWith('https://') === true;
    const options = { keys: await this.#vapid(), contact: isContact ? contact : CONTACT, ttlS: TTL_S };
    try {
      await sendPush(subscription, pushPayload(message, about, tools), options, tools);
    } catch (error) {
      if (error instanceof PushGone) await this.#options.store.push.remove(subscription.id);
      throw error;
    }
  }

  /** Whether a browser may decide what calls of a key ask. */
  mayDecide(subscriber: Subscriber, principal: string): boolean {
    const { principal: key } = subscriber;
    const scopes = this.#options.scopesOf(key) ?? [];
    if (!scopes.includes('approve') || !this.#isHeld(subscriber)) return false;
    return key === principal || scopes.includes('admin');
  }

  /** Its key has the secret that it was subscribed with: not after a rotation, nor a new key of that name. */
  #isHeld({ principal, credential }: Subscriber): boolean {
    return credential !== '' && credential === this.#options.credentialOf(principal);
  }

  #vapid(): Promise<VapidKeys> {
    this.#keys ??= this.#ensureKeys().catch((error: unknown) => {
      this.#keys = undefined;
      throw error;
    });
    return this.#keys;
  }

  /** Made at first use; of nodes that race, one makes those of all. */
  async #ensureKeys(): Promise<VapidKeys> {
    const { makeVapidKeys } = await import('../adapters/web-push.js');
    const made = JSON.stringify(await makeVapidKeys());
    return vapidSchema.parse(JSON.parse(await this.#options.store.secrets.ensure('vapid', made)));
  }
}
