/** Somebody at a page of the console, who decides what is asked as it comes, or does not. */

import { ConsoleClient } from '../../console/src/data/console-client.js';
import type { DecisionResult } from '../../console/src/data/pending-decisions.js';
import type { ApprovalWire } from '../../src/server/console-api/wire/approvals.js';
import type { FaultNet } from './console-net.js';
import type { Random } from './random.js';

/** The page's patience is made for people: here it passes so many times faster. */
const FASTER = 10;
const LONGEST_THOUGHT_MS = 60;

export interface Click {
  approval: string;
  decision: 'allow' | 'deny' | 'extend';
  /** Undefined while the page shows that it is on its way. */
  result: DecisionResult | undefined;
}

export class Person {
  readonly client: ConsoleClient;
  readonly clicks: Click[] = [];
  /** Questions that were shown with their buttons after the page had shown their end. */
  readonly revived: string[] = [];
  readonly #random: Random;
  readonly #ignores: (approval: ApprovalWire) => boolean;
  readonly #seen = new Set<string>();
  readonly #ended = new Set<string>();
  readonly #deciding = new Set<Promise<void>>();

  /** `ignores`: questions that nobody is to answer. */
  constructor(net: FaultNet, random: Random, ignores: (approval: ApprovalWire) => boolean) {
    this.#random = random;
    this.#ignores = ignores;
    this.client = new ConsoleClient({
      now: Date.now,
      random: () => random.next(),
      after: (ms, run) => {
        const timer = setTimeout(run, ms / FASTER);
        return () => clearTimeout(timer);
      },
      fetch: net.fetch,
      shared: undefined,
      schedule: (run) => void setImmediate(run),
    });
    this.client.store.subscribe(() => this.#look());
  }

  /** Every click has its outcome. */
  async done(): Promise<void> {
    while (this.#deciding.size > 0) await Promise.all(this.#deciding);
  }

  #look(): void {
    for (const approval of this.client.store.get().approvals.values()) {
      const { id, state } = approval;
      if (state !== 'pending') this.#ended.add(id);
      else if (this.#ended.has(id)) this.revived.push(id);
      if (state !== 'pending' || this.#seen.has(id) || this.#ignores(approval)) continue;
      this.#seen.add(id);
      const decided = this.#decide(approval).finally(() => this.#deciding.delete(decided));
      this.#deciding.add(decided);
    }
  }

  async #decide(approval: ApprovalWire): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, this.#random.between(0, LONGEST_THOUGHT_MS)));
    const { decisions, store } = this.client;
    if (this.#random.chance(0.1)) await this.#click(approval.id, 'extend', decisions.extend(approval));
    // As long as the page shows buttons, they can be pressed.
    const shown = store.get().approvals.get(approval.id);
    if (shown?.state !== 'pending') return;
    const decision = this.#random.chance(0.6) ? 'allow' : 'deny';
    const clicks = [this.#click(approval.id, decision, decisions.decide(shown, { decision }))];
    if (this.#random.chance(0.15))
      clicks.push(this.#click(approval.id, decision, decisions.decide(shown, { decision })));
    await Promise.all(clicks);
  }

  async #click(approval: string, decision: Click['decision'], told: Promise<DecisionResult>): Promise<void> {
    const click: Click = { approval, decision, result: undefined };
    this.clicks.push(click);
    click.result = await told;
  }
}
