/**
 * The rules that people made, as of now, and judgements by them. A copy is kept for as long as the
 * store's revision stays the same: no call is judged by a rule that was revoked before it.
 */
import type { Rule, RuleStore } from '../../store/rules.js';
import type { SessionMode, SessionStore } from '../../store/sessions.js';
import type { Decision, JudgedToolCall, ToolCallLocation } from '../decision.js';
import type { Policy } from '../judge/policy.js';
import { holdsFor } from '../rules/rule.js';
import type { ToolPins } from './tool-pins.js';

/** What the gate and the coordinator ask of the rules. */
export type Judge = Pick<Policy, 'decide' | 'readable' | 'hidden'>;

/** The log for operators. The gateway's log has this shape. */
export interface PermissionLog {
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** Who revokes a `once` rule that a call has used up. */
const USED_UP = 'use';
/** Sessions come and go while no rule changes; beyond this many their lists are made again. */
const MAX_SELECTIONS = 5_000;

interface RuleSnapshot {
  revision: number;
  rules: readonly Rule[];
  /** By session and project. The same list each time, so that a judge can keep what it compiled of it. */
  selections: Map<string, readonly Rule[]>;
}

/** Modes of sessions. */
type SessionModes = Pick<SessionStore, 'modeOf'>;

interface RuleCacheOptions {
  pins?: ToolPins;
  /** Without them the configuration's mode holds: a preview is of no session that goes on. */
  modes?: SessionModes;
  onUsedUp?: (rule: Rule) => void;
}

export class RuleCache {
  readonly #store: RuleStore;
  readonly #judge: Judge;
  readonly #onUsedUp: (rule: Rule) => void;
  readonly #modes: SessionModes | undefined;
  /** Without them nothing is pinned: a preview tries rules on calls of the past. */
  readonly pins: ToolPins | undefined;
  #snapshot: RuleSnapshot = { revision: Number.NaN, rules: [], selections: new Map() };

  constructor(store: RuleStore, judge: Judge, { pins, modes, onUsedUp = () => {} }: RuleCacheOptions = {}) {
    this.#modes = modes;
    this.#store = store;
    this.#judge = judge;
    this.#onUsedUp = onUsedUp;
    this.pins = pins;
  }

  revision(): Promise<number> {
    return this.#store.revision();
  }

  async rulesFor(session: string, root: string): Promise<readonly Rule[]> {
    const snapshot = await this.#current();
    const key = JSON.stringify([session, root]);
    const known = snapshot.selections.get(key);
    if (known !== undefined) return known;
    const selected = snapshot.rules.filter((rule) => holdsFor(rule, session, root));
    if (snapshot.selections.size >= MAX_SELECTIONS) snapshot.selections.clear();
    snapshot.selections.set(key, selected);
    return selected;
  }

  /** What the rules say. Uses nothing up. */
  async judge(call: JudgedToolCall): Promise<Decision> {
    const rules = await this.rulesFor(call.session, call.location.root);
    const decision = await this.#judge.decide(call, rules, await this.#modes?.modeOf(call.session));
    return this.#pinned(call, decision, false);
  }

  /** The same, and where it took a `once` rule to allow the call, that rule is used up for it alone. */
  async admit(call: JudgedToolCall): Promise<Decision> {
    for (;;) {
      const rules = await this.rulesFor(call.session, call.location.root);
      const mode = await this.#modes?.modeOf(call.session);
      const decision = await this.#pinned(call, await this.#judge.decide(call, rules, mode), true);
      if (decision.behaviour !== 'allow' || !rules.some(isOnce)) return decision;
      if (await this.#useUp(await this.#needed(call, rules, mode))) return decision;
    }
  }

  async readable(location: ToolCallLocation, session: string): Promise<(path: string) => boolean> {
    return this.#judge.readable(location, session, await this.rulesFor(session, location.root));
  }

  async hidden(
    location: ToolCallLocation,
    session: string,
    options?: { own?: boolean },
  ): Promise<readonly string[]> {
    return this.#judge.hidden(location, session, await this.rulesFor(session, location.root), options);
  }

  async #pinned(call: JudgedToolCall, decision: Decision, keep: boolean): Promise<Decision> {
    return this.pins === undefined ? decision : this.pins.check(call, decision, { keep });
  }

  /** Those `once` rules without which it would not be allowed; the oldest of several that would do. */
  async #needed(
    call: JudgedToolCall,
    rules: readonly Rule[],
    mode: SessionMode | undefined,
  ): Promise<readonly Rule[]> {
    let kept = rules;
    for (const rule of rules.filter(isOnce).reverse()) {
      const without = kept.filter((each) => each !== rule);
      const decision = await this.#judge.decide(call, without, mode);
      if (decision.behaviour === 'allow') kept = without;
    }
    return kept.filter(isOnce);
  }

  /** False: another call was faster with one of them. */
  async #useUp(rules: readonly Rule[]): Promise<boolean> {
    for (const { id } of rules) {
      const ended = await this.#store.revoke(id, USED_UP);
      if (ended === undefined) return false;
      this.#onUsedUp(ended);
    }
    return true;
  }

  async #current(): Promise<RuleSnapshot> {
    // Before the list is read: a change in between makes this snapshot old, never a later one wrong.
    const revision = await this.#store.revision();
    if (this.#snapshot.revision !== revision) {
      this.#snapshot = { revision, rules: await this.#store.list(), selections: new Map() };
    }
    return this.#snapshot;
  }
}

function isOnce(rule: Rule): boolean {
  return rule.scope === 'once' && rule.behaviour === 'allow';
}
