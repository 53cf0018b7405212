/** Questions to a person, and rules. */
import type { AgentRef, Time } from '../../../activity/wire.js';

export type ApprovalStateWire = 'pending' | 'allowed' | 'denied' | 'expired' | 'cancelled' | 'covered';
export type RuleScopeWire = 'once' | 'session' | 'project' | 'everywhere';
export type RuleBehaviourWire = 'allow' | 'ask' | 'deny';

export interface ApprovalWire {
  id: string;
  session: string;
  /** The name of the key whose session asks. */
  key: string;
  /** The id of the sub-agent that asks; null for the main one. */
  agent: string | null;
  agent_label: string | null;
  /** Of the call: the card it belongs to. */
  tool_use_id: string;
  tool: string;
  input: unknown;
  describe: DescriptionWire;
  /** One sentence: what in the rules asks for a person, and about which part. */
  why: string;
  /** What deserves a second look, by what the call says it would do. */
  risks: RiskWire[];
  cwd: string;
  project: string;
  /** A question to the user (AskUserQuestion, a plan): no clock, and no rule can answer it. */
  question: boolean;
  suggestions: SuggestionWire[];
  hints: HintsWire;
  /** Of what is shown; a decision has to name it. */
  digest: string;
  state: ApprovalStateWire;
  created_at: Time;
  expires_at: Time | null;
  used_at: Time | null;
  decision: DecisionWire | null;
}

export type RiskWire = 'irreversible' | 'outside' | 'network' | 'writes';

export interface DescriptionWire {
  title: string;
  kind: string;
  paths?: string[];
  command?: string;
  /** Unified. */
  diff?: string;
  url?: string;
  detail?: string;
  questions?: unknown[];
  [more: string]: unknown;
}

export interface SuggestionWire {
  rule: string;
  behaviour: 'allow';
  covers: string;
  /** Who thought of it; `engine` where Claude Code suggested it. */
  source: 'gateway' | 'engine';
  /** The scope that its author meant; the person may choose another. */
  scope: RuleScopeWire | null;
}

/** What the engine says about how the question should be put. */
export interface HintsWire {
  /** "No" is the choice that stands out, and nothing is pressed by Enter. */
  default_to_no: boolean;
  /** No "always" is offered, and a rule sent with the decision is refused. */
  suppress_always: boolean;
  /** A path outside of where it may work. */
  blocked_path: string | null;
  /** The engine's own reason to ask. */
  reason: string | null;
  /** The engine's words for the call, where it has some. */
  title: string | null;
  description: string | null;
  /** The MCP server that the tool is of, and where that server was configured. */
  mcp_server: { name: string; source: string | null } | null;
}

interface DecisionWire {
  at: Time;
  by: string;
  via: string;
  reason?: string;
  updatedInput?: unknown;
  rule?: string;
  /** The rules that were made with it. */
  rules?: readonly { rule: string; scope: RuleScopeWire; behaviour: RuleBehaviourWire }[];
}

/** `POST /api/approvals/:id` */
export interface AnswerWire {
  decision: 'allow' | 'deny';
  digest: string;
  reason?: string;
  updatedInput?: unknown;
  rule?: { rule: string; scope: RuleScopeWire; behaviour?: RuleBehaviourWire };
  /**
   * Further rules: suggestions as they were shown, or permission updates of the Agent SDK
   * (`addRules`, `addDirectories`). What cannot be said as a rule is named in `left_out`.
   */
  updatedPermissions?: unknown[];
}

/** 200 on a decision. 409 and 410 carry `approval` beside `error`. */
export type DecidedWire = ApprovalWire & {
  /** The same person said the same before. */
  repeated: boolean;
  /** The first of `rules`. */
  rule: RuleWire | null;
  rules: RuleWire[];
  /** Of `updatedPermissions`, why some became no rule. */
  left_out?: string[];
  /** Other approvals that the new rule decided. */
  released: string[];
  refused: string[];
  /** Whether the rule decides calls like this one; with the reason where it does not. */
  satisfies?: boolean;
  satisfies_problem?: string;
};

export interface RuleWire {
  /** Null for rules of the configuration. */
  id: string | null;
  rule: string;
  behaviour: RuleBehaviourWire;
  source: 'configuration' | RuleScopeWire;
  scope?: RuleScopeWire;
  session?: string;
  project?: string;
  created_by?: string;
  created_at?: Time;
}

/** `POST /api/rules/preview`: what a rule would have decided lately. */
export interface RulePreviewRequest {
  rule: string;
  behaviour?: RuleBehaviourWire;
  scope: RuleScopeWire;
  session?: string;
  project?: string;
  /** The question that it would be made of: `satisfies` is about it. */
  approval?: string;
}

export interface RulePreview {
  /** In words, what it covers. */
  covers: string;
  /** Calls that were looked at, and over which time. */
  looked_at: number;
  since: Time | null;
  /** Of those, the ones that it matches; the newest first, at most 20. */
  matched: number;
  calls: {
    at: Time;
    session: string;
    tool: string;
    what: string;
    /** What was decided then. */
    verdict: string;
  }[];
  satisfies: boolean | null;
  satisfies_problem: string | null;
}

/** `POST /api/rules/test`: what the rules say about a call; asks no person, changes nothing. */
export interface RuleTestRequest {
  tool: string;
  input: unknown;
  session?: string;
  project?: string;
}

export interface RuleTest {
  behaviour: RuleBehaviourWire;
  /** One sentence: which rule or mode, about which part. */
  why: string;
  rule: string | null;
  source: string | null;
  describe: DescriptionWire | null;
  suggestions: SuggestionWire[];
}

export type { AgentRef };
