/** This gateway as one of the nodes that share a store: its name, its heartbeat, and why it may not join or act. */
import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '../core/errors.js';
import type { ClusterNode, NewNode, NodeStore } from '../store/nodes.js';

export interface MembershipOptions extends Omit<NewNode, 'secretCheck'> {
  nodes: NodeStore;
  secret: string;
  /** Whether the process of an instance has surely ended: a node that starts again takes its name at once. */
  isGone(instance: string): boolean;
  log: { warn(facts: object, message: string): void; error(facts: object, message: string): void };
  now?: () => number;
}

export interface Membership {
  readonly name: string;
  leave(): Promise<void>;
}

export const NODE_LIMITS = {
  beatMs: 2000,
  /** Not heard of for so long, a node has lost its name. */
  lostMs: 15_000,
  /** Sessions, approvals and budgets end by the clocks of nodes. */
  clockMs: 60_000,
};

const RETRY_AFTER_S = 5;

/** Rejects with GatewayError `unavailable` that says by name who or what is in the way. */
export async function joinCluster(options: MembershipOptions): Promise<Membership> {
  const { nodes, secret, isGone, log, now = Date.now, ...rest } = options;
  const { name, instance } = rest;
  const node: NewNode = { ...rest, secretCheck: checkOf(secret) };
  const aheadMs = await join(nodes, node, isGone, now);
  if (isOff(aheadMs)) {
    await nodes.leave(name, instance);
    throw refused('cluster', wrongClock(name, aheadMs));
  }
  let beating = false;
  let wasOff = false;
  const judge = (ahead: number): void => {
    if (!isOff(ahead) && !wasOff) return;
    nodes.suspend(isOff(ahead) ? suspended(wrongClock(name, ahead)) : undefined);
    const facts = { node: name, aheadMs: ahead };
    if (!isOff(ahead)) log.warn(facts, 'the clock of this node is right again: it acts again');
    else if (!wasOff)
      log.error(facts, `this node acts on nothing until its clock is right. ${wrongClock(name, ahead)}`);
    wasOff = isOff(ahead);
  };
  const beat = async (): Promise<void> => {
    // The store has not answered the beat before.
    if (beating) return;
    beating = true;
    try {
      const asked = now();
      const clockMs = await nodes.beat(name, instance);
      const isMember = clockMs !== undefined;
      judge(isMember ? aheadOf(clockMs, asked, now()) : await join(nodes, node, isGone, now));
    } catch (error) {
      log.error({ err: error, node: name }, 'the heartbeat of this node could not be written');
    } finally {
      beating = false;
    }
  };
  const heartbeat = setInterval(() => void beat(), NODE_LIMITS.beatMs).unref();
  return {
    name,
    leave: async () => {
      clearInterval(heartbeat);
      // One that cannot say so is forgotten when it is not heard of.
      await nodes.leave(name, instance).catch(() => {});
      // Nothing acts any more, and what was kept meanwhile is written when the store is closed.
      nodes.suspend(undefined);
    },
  };
}

/**
 * Resolves with how far the clock is ahead of the database. A name whose node may be gone is waited for until it
 * is heard of again, or has lost it.
 */
async function join(
  nodes: NodeStore,
  node: NewNode,
  isGone: (instance: string) => boolean,
  now: () => number,
): Promise<number> {
  const { lostMs, beatMs } = NODE_LIMITS;
  let before: ClusterNode | undefined;
  const gone: string[] = [];
  for (;;) {
    const asked = now();
    const outcome = await nodes.join(node, { lostMs, gone });
    if (outcome.joined) return aheadOf(outcome.clockMs, asked, now());
    const other = outcome.node;
    if (!gone.includes(other.instance) && isGone(other.instance)) {
      gone.push(other.instance);
      continue;
    }
    if (outcome.reason === 'secret') {
      throw refused(
        'cluster.secret',
        `This node has another \`cluster.secret\` than the node ${other.name} at ${other.address}. Give all nodes the same.`,
      );
    }
    const isHeard =
      before !== undefined && (other.instance !== before.instance || other.silentMs < before.silentMs);
    if (isHeard) {
      throw refused(
        'cluster.node',
        `Another node has the name ${node.name}: it is at ${other.address}. Give each its own \`cluster.node\`.`,
      );
    }
    await delay(beatMs / 4);
    before = other;
  }
}

/** The same for nodes with the same secret; no way back from it to the secret. */
function checkOf(secret: string): string {
  return createHmac('sha256', secret).update('toolgate cluster').digest('base64url');
}

/** The database looked at its clock between the question and the answer, which may have been slow. */
function aheadOf(clockMs: number, asked: number, answered: number): number {
  return asked > clockMs ? asked - clockMs : Math.min(0, answered - clockMs);
}

const isOff = (aheadMs: number): boolean => Math.abs(aheadMs) > NODE_LIMITS.clockMs;

function wrongClock(name: string, aheadMs: number): string {
  const minutes = Math.round(Math.abs(aheadMs) / 6000) / 10;
  return `The clock of the node ${name} is ${minutes} minutes ${aheadMs > 0 ? 'ahead of' : 'behind'} that of the database. Set it, for example with NTP.`;
}

/** `param`: what of the configuration is to blame. */
function refused(param: 'cluster' | 'cluster.node' | 'cluster.secret', message: string): GatewayError {
  return new GatewayError('unavailable', message, { param, detail: 'cluster_refused' });
}

/** What waits to be written is kept, as while the database is away: that is what a cause stands for. */
function suspended(message: string): GatewayError {
  return new GatewayError('unavailable', message, {
    ...{ retryable: true, retryAfter: RETRY_AFTER_S },
    ...{ param: 'cluster', detail: 'store_unavailable', cause: new Error('wrong clock') },
  });
}
