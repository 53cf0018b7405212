/** A model name as a client wrote it to who answers it. */
import type { Effort } from '../core/conversation.js';
import type { Price } from '../core/price.js';
import { compareSpecificity, isGlob, ModelGlob } from './model-glob.js';

/** One entry of `models` in the configuration. */
export interface ModelRule {
  engine: 'relay' | 'native' | 'claude-code';
  /** In fallback order. */
  upstreams: readonly string[];
  /** The name upstream; absent: the name that the client asked for. */
  model?: string;
  displayName?: string;
  contextWindow?: number;
  maxOutputTokens?: number;
  /** Efforts that the model takes. */
  efforts?: readonly Effort[];
  /** For a million tokens. `none`: unknown, whatever the provider lists. Absent: what the provider lists. */
  price?: Price | 'none';
  /** More tools than fit are kept back behind a search: when there are too many, always, or never. */
  toolSearch?: 'auto' | 'on' | 'off';
  /** On the relay: what clients ask of their provider and the gateway runs where the upstream does not. */
  providerTools?: readonly ('web_search' | 'web_fetch')[];
  /** On agent engines: which built-in tools are on offer. */
  tools?: 'all' | 'none' | 'requested' | readonly string[];
  /** On agent engines: the folder that it works in, absolute; absent: the one that the gateway was started in. */
  cwd?: string;
  /** On agent engines: model calls in one answer before it pauses. */
  maxSteps?: number;
  /** On agent engines: the request's system prompt is appended to the agent's own, or replaces it. */
  system?: 'append' | 'replace';
}

/** One object may serve many requests. */
export interface ModelRoute {
  /** The key of the rule that matched. */
  readonly pattern: string;
  readonly rule: ModelRule;
  /** The model's name upstream. */
  readonly model: string;
}

/** Claude Code appends `[1m]` to ask for the long context: a wish, not a part of the name. */
const CONTEXT_SUFFIX = /\[1m\]$/i;

/** Put before names that Claude Code would not list; the name that is meant follows. */
export const CLAUDE_CODE_ALIAS = 'anthropic/';

/** Names that Claude Code lists as they are. */
const LISTED_BY_CLAUDE_CODE = /^(?:claude|anthropic)/;

export function isListedByClaudeCode(name: string): boolean {
  return LISTED_BY_CLAUDE_CODE.test(name);
}

function plainModelName(name: string): string {
  return name.replace(CONTEXT_SUFFIX, '');
}

/** Names that were asked for, with what their glob leads to. Clients choose names, so they are bounded. */
const REMEMBERED_NAMES = 512;
const REMEMBERED_LENGTH = 200;

interface GlobRule {
  pattern: string;
  glob: ModelGlob;
  rule: ModelRule;
}

export class ModelRouter {
  readonly #exact = new Map<string, ModelRule>();
  /** The most specific first. */
  readonly #globs: readonly GlobRule[];
  /** Those that say the prefix themselves. */
  readonly #aliases: readonly GlobRule[];
  readonly #remembered = new Map<string, ModelRoute | undefined>();

  constructor(rules: Readonly<Record<string, ModelRule>>) {
    const entries = Object.entries(rules);
    for (const [name, rule] of entries) if (!isGlob(name)) this.#exact.set(name, rule);
    this.#globs = entries
      .filter(([name]) => isGlob(name))
      .sort(([a], [b]) => compareSpecificity(a, b))
      .map(([pattern, rule]) => ({ pattern, glob: new ModelGlob(pattern), rule }));
    this.#aliases = this.#globs.filter(({ pattern }) => pattern.startsWith(CLAUDE_CODE_ALIAS));
  }

  /** Exact name first, then the most specific glob; undefined when nothing matches. */
  route(requested: string): ModelRoute | undefined {
    return this.#find(this.meant(requested));
  }

  /** The name without the suffix, and without the prefix where it is no part of a name. */
  meant(requested: string): string {
    const name = plainModelName(requested);
    if (!name.startsWith(CLAUDE_CODE_ALIAS) || this.#namesAlias(name)) return name;
    const rest = name.slice(CLAUDE_CODE_ALIAS.length);
    // Some providers name Anthropic's models so; a general glob takes those as they are.
    if (isListedByClaudeCode(rest) && this.#find(name) !== undefined) return name;
    return this.#find(rest) === undefined ? name : rest;
  }

  /** A rule says the prefix itself. */
  #namesAlias(name: string): boolean {
    return this.#exact.has(name) || this.#aliases.some(({ glob }) => glob.matches(name));
  }

  #find(name: string): ModelRoute | undefined {
    const exact = this.#exact.get(name);
    if (exact !== undefined) return { pattern: name, rule: exact, model: exact.model ?? name };
    if (this.#remembered.has(name)) return this.#remembered.get(name);
    const found = this.#globs.find(({ glob }) => glob.matches(name));
    const route = found && { pattern: found.pattern, rule: found.rule, model: found.rule.model ?? name };
    this.#remember(name, route);
    return route;
  }

  #remember(name: string, route: ModelRoute | undefined): void {
    if (name.length > REMEMBERED_LENGTH) return;
    if (this.#remembered.size === REMEMBERED_NAMES) this.#remembered.clear();
    this.#remembered.set(name, route);
  }

  /** Names that can be listed: a glob stands for no one model. */
  named(): ReadonlyMap<string, ModelRule> {
    return this.#exact;
  }

  rule(pattern: string): ModelRule | undefined {
    return this.#exact.get(pattern) ?? this.#globs.find((each) => each.pattern === pattern)?.rule;
  }

  patterns(): string[] {
    return [...this.#exact.keys(), ...this.#globs.map(({ pattern }) => pattern)];
  }
}
