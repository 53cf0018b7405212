/** Browsers that are sent notifications while no page is open: Web Push subscriptions, each of one key. */

export interface NewPushSubscription {
  /** Made of the endpoint: a browser that subscribes again is the same one. */
  id: string;
  principal: string;
  /** Which secret the key had: the browser is asked for as long as the key has it. */
  credential: string;
  /** Where the push service of the browser takes messages. */
  endpoint: string;
  /** The browser's public key, and a secret that it shares with the sender; base64url. */
  p256dh: string;
  auth: string;
}

export interface PushSubscription extends NewPushSubscription {
  createdAt: number;
}

export interface PushStore {
  /** Takes the place of the one with the same id. Beyond `most` of a principal, the oldest go. */
  put(subscription: NewPushSubscription, most: number): Promise<void>;
  get(id: string): Promise<PushSubscription | undefined>;
  /** The oldest first. */
  list(principal?: string): Promise<PushSubscription[]>;
  remove(id: string): Promise<boolean>;
}
