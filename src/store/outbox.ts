/**
 * Messages to people and programs outside the gateway. A message is stored before it is sent, and is sent until its
 * target has taken it: at least once, always under the same id, by one node at a time. Messages about one
 * subject reach a target in the order in which they were stored.
 */

export interface NewDelivery {
  /** Made of what it is about: the same message that two nodes store is one. */
  id: string;
  /** A name of the configuration, or `push:` and the id of a subscription. */
  target: string;
  /** `approval.asked`, `approval.decided` … */
  event: string;
  /** The approval or session that it is about. */
  subject: string;
  /** Whose call it is about. */
  principal: string;
  /** JSON, kept exactly: a retry sends the same bytes. */
  payload: unknown;
  /** Not before. Left out: now. */
  dueAt?: number;
}

/** `failed`: given up. `dropped`: nobody needs it any more. */
export type DeliveryState = 'waiting' | 'sent' | 'failed' | 'dropped';

export interface Delivery extends Required<NewDelivery> {
  state: DeliveryState;
  /** How often it was claimed; counted before it is sent, so that one that kills its node ends. */
  attempts: number;
  createdAt: number;
  /** When it was sent, given up or dropped. */
  endedAt?: number;
  /** Why the last attempt failed; redacted. */
  error?: string;
  /** What the provider calls the message, for a later change of it: JSON. */
  reference?: unknown;
}

export interface DeliveryClaim {
  /** One process. Only it may settle the delivery, until the time is over. */
  owner: string;
  leaseMs: number;
  limit: number;
  /** Targets that have enough in flight. */
  except: readonly string[];
}

export type DeliveryResult =
  | { state: 'sent'; reference?: unknown }
  | { state: 'waiting'; dueAt: number; error: string }
  | { state: 'failed' | 'dropped'; error: string };

/** How a target does. */
export interface TargetFigures {
  target: string;
  /** Messages that are still to be sent. */
  waiting: number;
  /** Messages that were given up, as far back as the outbox goes. */
  failed: number;
  lastSentAt?: number;
  /** There where the last attempt failed. */
  failing?: { error: string; attempts: number };
}

export interface OutboxStore {
  /** All or none. Those whose id is there already are left as they are; gives how many were new. */
  put(deliveries: readonly NewDelivery[]): Promise<number>;
  get(id: string): Promise<Delivery | undefined>;
  /** In the order in which they were stored. */
  about(subject: string): Promise<Delivery[]>;
  /**
   * Due messages, for exactly one of those who race. A message waits while an earlier one about the
   * same subject waits for the same target.
   */
  claim(claim: DeliveryClaim): Promise<Delivery[]>;
  /** False where the claim was lost: its time is over and another node has it. */
  settle(id: string, owner: string, result: DeliveryResult): Promise<boolean>;
  /** Drops what about the subject waits to be sent to these targets and no node is sending. */
  withdraw(subject: string, targets: readonly string[]): Promise<number>;
  /** Subjects that have messages of this event and of no other, the oldest first: nothing was said of their end. */
  unended(event: string, limit: number): Promise<string[]>;
  /** Who has claims; one that exited can send no more. */
  claimants(): Promise<string[]>;
  /** Ends all claims of an owner. What it was sending may arrive twice, under the same id. */
  release(owner: string): Promise<number>;
  /** When the next message is due or its claim is over; undefined where none waits. */
  nextDue(except: readonly string[]): Promise<number | undefined>;
  /** Every target that a message is kept for. */
  targets(): Promise<TargetFigures[]>;
}

/** Secrets that the gateway makes for itself, the same for all nodes. No surface shows them. */
export interface SecretStore {
  /** The first value stands, and is the answer to all who come later. */
  ensure(name: string, value: string): Promise<string>;
}
