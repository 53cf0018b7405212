/** A tool call as it is judged, what it would do, and what the rules say about it and why. */
import type { RuleBehaviour, RuleReach } from '../store/rules.js';
import type { SessionMode } from '../store/sessions.js';
import type { ToolDefinition } from './tool-definition.js';

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
  /** What the server says of the tool, for tools of MCP servers. */
  definition?: ToolDefinition;
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
  | { kind: 'mode'; mode: 'allow' | 'deny' | SessionMode; part?: string }
  /** Mode `ask`, and no rule is about it: reading inside the workspace needs no approval. */
  | { kind: 'workspace'; part: string }
  /** The gateway's own files, or a file that runs code when it is written (`.git/hooks`, shell profiles). */
  | { kind: 'protected'; part: string; what: string }
  /** A prefix rule would have allowed it, but for something that no prefix rule covers. */
  | { kind: 'shell'; part: string; problem: string }
  /** The tool neither reads nor changes anything outside of the conversation. */
  | { kind: 'harmless' }
  /** A rule allows it, but its MCP server has changed the tool since it was approved. */
  | { kind: 'changed'; tool: string; rule: string };

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

/**
 * What a tool call would do to the world, as far as permissions are concerned. A tool names all of
 * its effects before it runs; the strictest verdict over them is the verdict on the call. Paths are
 * absolute, and as the tool will use them: links in them are resolved where they are judged.
 */
export type Effect =
  /** `tree`: everything below the path as well (a search, a listing). */
  | { kind: 'read'; path: string; tree?: boolean }
  /** Creates, changes or removes. */
  | { kind: 'edit'; path: string }
  | { kind: 'fetch'; url: string }
  /** `withVariables`: with those of earlier commands in front of it, whose values are in no rule's words. */
  | { kind: 'command'; command: string; cwd: string; withVariables?: boolean };

/** Marked where a person is asked; in the order in which they want attention. */
export type Risk = 'irreversible' | 'outside' | 'network' | 'writes';

/** What an engine says about how a question should be put. It is kept with the question, and shown. */
export interface AskHints {
  /** "No" stands out, and nothing is allowed by a stray key. */
  defaultToNo?: boolean;
  /** No rule may be made of the question: it would grant more than what is asked. */
  suppressAlways?: boolean;
  /** The path that made the engine ask. */
  blockedPath?: string;
  /** The engine's own reason to ask. */
  reason?: string;
  /** The engine's words for the call. */
  title?: string;
  description?: string;
  /** Whose tool it is, and where that server was configured. */
  mcpServer?: { name: string; source?: string };
}

/** A rule that the engine thought of, in the gateway's form. It has not been judged. */
export interface EngineRule {
  rule: string;
  /** Where the engine would have kept it. */
  scope: 'session' | 'project' | 'everywhere';
}
