/** The gate and the coordinator on a real store, with a clock and rules that a test can see through. */
import type { ApprovalCoordinator, ApprovalEvent } from '../../src/permissions/approvals.js';
import {
  type CoordinatorOptions,
  createApprovalCoordinator,
} from '../../src/permissions/coordinator/coordinator.js';
import { createGate } from '../../src/permissions/coordinator/create-gate.js';
import type { PermissionGate, Verdict } from '../../src/permissions/gate.js';
import type { Approval } from '../../src/store/approvals.js';
import { openStore } from '../../src/store/open/open-store.js';
import type { Store } from '../../src/store/store.js';
import { closeAfterTest } from './cleanup.js';
import { deferred } from './gate.js';
import { type SimpleRules, simplePolicy, type TestCall } from './simple-policy.js';

export { callOf, simplePolicy } from './simple-policy.js';

export const START = 1_800_000_000_000;
export const TIMEOUT_MS = 1_800_000;
/** No timer of the coordinator's goes off within a test. */
export const NEVER_MS = 2_000_000_000;

export interface Clock {
  at: number;
}

export interface Bench {
  store: Store;
  clock: Clock;
  coordinator: ApprovalCoordinator;
  gate: PermissionGate;
  events: ApprovalEvent[];
  /** Asks, and resolves when the question is stored and offered. */
  ask(call: TestCall): Promise<Asked>;
  /** Another coordinator and gate on the same store: after a restart, or another node. */
  another(options?: Partial<CoordinatorOptions>): Bench;
  logged: string[];
}

export interface Asked {
  approval: Approval;
  verdict: Promise<Verdict>;
}

export type BenchOptions = Partial<CoordinatorOptions> & { rules?: SimpleRules; url?: string };

export async function approvalBench(options: BenchOptions = {}): Promise<Bench> {
  const clock: Clock = { at: START };
  const store = await openStore(options.url ?? 'sqlite::memory:', { baseDir: '/', now: () => clock.at });
  closeAfterTest(() => store.close());
  return onStore(store, clock, options);
}

function onStore(store: Store, clock: Clock, options: BenchOptions): Bench {
  const { rules, url: _, ...rest } = options;
  const logged: string[] = [];
  const log = {
    warn: (_facts: object, message: string) => void logged.push(message),
    error: (_facts: object, message: string) => void logged.push(message),
  };
  const policy = rest.policy ?? simplePolicy(rules);
  const now = () => clock.at;
  const coordinator = createApprovalCoordinator({
    ...{ store, policy, timeoutMs: TIMEOUT_MS, unattended: 'wait', now, log, pollMs: NEVER_MS },
    ...rest,
  });
  closeAfterTest(() => coordinator.close());
  const gate = createGate({ policy, coordinator, store, log });
  const events: ApprovalEvent[] = [];
  coordinator.subscribe((event) => void events.push(event));
  return {
    ...{ store, clock, coordinator, gate, events, logged },
    another: (more = {}) => onStore(store, clock, { ...options, ...more }),
    async ask(call) {
      const waiting = deferred<string>();
      const verdict = gate.check({ ...call, onWaiting: waiting.resolve });
      const id = await Promise.race([
        waiting.promise,
        verdict.then((early) => {
          throw new Error(`nobody was asked: ${JSON.stringify(early)}`);
        }),
      ]);
      const approval = await store.approvals.get(id);
      if (approval === undefined) throw new Error('it was offered before it was stored');
      return { approval, verdict };
    },
  };
}
