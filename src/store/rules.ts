/** Rules that people made; those of the configuration are not in the store. */

export type RuleBehaviour = 'allow' | 'ask' | 'deny';

export type RuleReach =
  /** `once`: for a single call of the session. The call that uses it revokes it, and only one revoke succeeds. */
  | { scope: 'once' | 'session'; session: string }
  | { scope: 'project'; project: string }
  | { scope: 'everywhere' };

export type NewRule = RuleReach & {
  /** As in the configuration: `Bash(git log:*)`. */
  rule: string;
  behaviour: RuleBehaviour;
  createdBy: string;
};

export type Rule = NewRule & { id: string; createdAt: number };

export interface RuleQuery {
  /** Only what holds for a call in this session and project: theirs and those for everywhere. */
  appliesTo?: { session?: string; project?: string };
  createdBy?: string;
}

export interface RuleStore {
  add(rule: NewRule): Promise<Rule>;
  /** In the order they were made. */
  list(query?: RuleQuery): Promise<Rule[]>;
  /** The rule as it was, for the one caller that ended it. */
  revoke(id: string, by: string): Promise<Rule | undefined>;
  /** Changes whenever any rule does: a cache of compiled rules compares it before use. */
  revision(): Promise<number>;
}
