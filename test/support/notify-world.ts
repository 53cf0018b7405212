/** A notifier on a real store and a real coordinator, with providers on loopback. */
import type * as z from 'zod';
import { type NotifyConfig, notify } from '../../src/config/notify-schema.js';
import type { Callback, Reply } from '../../src/notify/adapters/adapter.js';
import { Notifier } from '../../src/notify/delivery/notifier.js';
import type { Approval } from '../../src/store/approvals.js';
import type { Delivery } from '../../src/store/outbox.js';
import { approvalBench, type Bench, type BenchOptions, TIMEOUT_MS } from './approval-bench.js';
import { closeAfterTest } from './cleanup.js';
import { until } from './until.js';

/** Of the keys of these tests. */
export const SCOPES: Record<string, string[]> = {
  alice: ['call', 'approve'],
  bob: ['call', 'approve'],
  eve: ['call'],
  root: ['approve', 'admin'],
};

/** Their secrets, where one was changed. */
export const CREDENTIALS: Record<string, string> = {};

export type NotifyInput = z.input<typeof notify>;

export interface NotifyWorld extends Bench {
  notifier: Notifier;
  config: NotifyConfig;
  /** Of the outbox, once it has ended. */
  ended(approval: Pick<Approval, 'id'>, event: string, target: string): Promise<Delivery>;
  /** Another notifier on the same store: another node. */
  node(owner: string): Notifier;
  press(target: string, callback: Partial<Callback>): Promise<Reply>;
}

export async function notifyWorld(input: NotifyInput, options: BenchOptions = {}): Promise<NotifyWorld> {
  const config = notify.parse(input);
  let reach: Notifier | undefined;
  const bench = await approvalBench({
    isReachable: (call) => reach?.isReachable(call) === true,
    ...options,
  });
  bench.clock.at = Date.now();
  const { store, coordinator, clock } = bench;
  const node = (owner: string, approvals = coordinator): Notifier => {
    const notifier = new Notifier({
      ...{ config: () => config, store, approvals, owner, timeoutMs: TIMEOUT_MS, now: () => clock.at },
      scopesOf: (name) => SCOPES[name],
      credentialOf: (name) => CREDENTIALS[name] ?? `first of ${name}`,
      redact: (text) => text.replaceAll('hush-hush', '[redacted]'),
      isGone: (name) => name.startsWith('gone'),
      log: { warn: (_facts, message) => void bench.logged.push(message) },
    });
    closeAfterTest(() => notifier.close());
    approvals.subscribe((event) => notifier.onApproval(event));
    return notifier;
  };
  const notifier = node('node-a');
  reach = notifier;
  notifier.start();
  return {
    ...{ ...bench, notifier, config, node },
    ended: ({ id }, event, target) =>
      until(async () => {
        const about = await store.outbox.about(id);
        return about.find(
          (each) => each.event === event && each.target === target && each.state !== 'waiting',
        );
      }),
    press: (target, callback) => notifier.answer(target, { headers: {}, body: '', ...callback }),
  };
}
