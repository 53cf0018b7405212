/** A model name as a client wrote it to who answers it. */
import type { Effort } from '../core/conversation.js';
import { compareSpecificity, isGlob, matchesGlob } from './model-glob.js';

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
}

export interface Route {
  /** The key of the rule that matched. */
  pattern: string;
  rule: ModelRule;
  /** The model's name upstream. */
  model: string;
}

/** Claude Code appends `[1m]` to ask for the long context: a wish, not a part of the name. */
const CONTEXT_SUFFIX = /\[\w+\]$/;

/** Claude Code lists only models whose name begins so; behind it stands the configured name. */
export const CLAUDE_CODE_ALIAS = 'anthropic/';

export function plainModelName(name: string): string {
  return name.replace(CONTEXT_SUFFIX, '');
}

export class Router {
  readonly #exact = new Map<string, ModelRule>();
  readonly #globs: readonly (readonly [string, ModelRule])[];

  constructor(rules: Readonly<Record<string, ModelRule>>) {
    const entries = Object.entries(rules);
    for (const [name, rule] of entries) if (!isGlob(name)) this.#exact.set(name, rule);
    this.#globs = entries.filter(([name]) => isGlob(name)).sort(([a], [b]) => compareSpecificity(a, b));
  }

  /** Exact name first, then the most specific glob; undefined when nothing matches. */
  route(requested: string): Route | undefined {
    return this.#find(plainModelName(requested)) ?? this.#findAlias(plainModelName(requested));
  }

  #findAlias(name: string): Route | undefined {
    return name.startsWith(CLAUDE_CODE_ALIAS) ? this.#find(name.slice(CLAUDE_CODE_ALIAS.length)) : undefined;
  }

  #find(name: string): Route | undefined {
    const exact = this.#exact.get(name);
    if (exact !== undefined) return { pattern: name, rule: exact, model: exact.model ?? name };
    for (const [pattern, rule] of this.#globs) {
      if (matchesGlob(pattern, name)) return { pattern, rule, model: rule.model ?? name };
    }
    return undefined;
  }

  /** Names that can be listed: a glob stands for no one model. */
  named(): ReadonlyMap<string, ModelRule> {
    return this.#exact;
  }

  rule(pattern: string): ModelRule | undefined {
    return this.#exact.get(pattern) ?? this.#globs.find(([glob]) => glob === pattern)?.[1];
  }

  patterns(): string[] {
    return [...this.#exact.keys(), ...this.#globs.map(([pattern]) => pattern)];
  }
}
