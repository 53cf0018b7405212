/** What the rules say about one call, and why. */
import type { RuleBehaviour, RuleReach } from '../store/rules.js';
import type { Effect } from './effects.js';
import type { AskHints, EngineRule } from './hints.js';

/** A call on its way to be judged. The same value is judged, shown and run. */
export interface JudgedToolCall {
  principal: string;
  session: string;
  /** The sub-agent that calls; none for the main one. */
  agent?: string;
  toolUseId: string;
  /** The registered name: `Bash`, `mcp__docs__search`. */
  tool: string;
  input: unknown;
  /** By the tool's own account of this input; false when it has no account. */
  readOnly: boolean;
  /** False: nothing that a person would want to be asked about, if no rule says otherwise. */
  needsPermissions: boolean;
  effects: readonly Effect[];
  location: ToolCallLocation;
  /** How the engine wants it to be put, if a person is asked. Part of what is shown. */
  hints?: AskHints;
  /** Rules that the engine suggests; those that would not have allowed the call are not shown. */
  engineRules?: readonly EngineRule[];
}

/** Where a call happens: the operator's choice, never the model's. */
export interface ToolCallLocation {
  /** The workspace: the real path of its root. Also names the project that `project` rules are for. */
  root: string;
  /** Where the session's commands run now. */
  cwd: string;
  /** Folders of the session itself, which it may read without a rule: whole outputs of its own calls. */
  ownPaths?: readonly string[];
}

export interface Decision {
  behaviour: RuleBehaviour;
  because: Reason;
  /** One sentence for people and for the model: what decided, and about which part of the input. */
  message: string;
  /** For `ask`: rules that would have allowed this call, narrowest first. */
  suggestions: readonly RuleSuggestion[];
}

export type RuleSource = 'configuration' | 'repository' | RuleReach['scope'];

export type Reason =
  /** `part`: the command, path or host that the rule matched. */
  | { kind: 'rule'; rule: string; source: RuleSource; part: string; id?: string }
  | { kind: 'mode'; mode: 'ask' | 'allow' | 'deny' | 'read-only'; part?: string }
  /** Mode `ask`, and no rule is about it: reading inside the workspace needs no approval. */
  | { kind: 'workspace'; part: string }
  /** The gateway's own files, or a file that runs code when it is written (`.git/hooks`, shell profiles). */
  | { kind: 'protected'; part: string; what: string }
  /** A prefix rule would have allowed it, but for something that no prefix rule covers. */
  | { kind: 'shell'; part: string; problem: string }
  /** The tool neither reads nor changes anything outside of the conversation. */
  | { kind: 'harmless' };

export interface RuleSuggestion {
  rule: string;
  behaviour: 'allow';
  /** In a few words, what it covers. */
  covers: string;
  /** Who thought of it; the gateway where nothing is said. */
  source?: 'gateway' | 'engine';
  /** The scope that its author meant. */
  scope?: RuleReach['scope'];
}
