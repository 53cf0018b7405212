/** Rules of one behaviour, arranged so that a call looks at the few that can match it. */
import type { ToolCallLocation } from '../decision.js';
import {
  compileFilePattern,
  type FilePattern,
  lookAt,
  mayMatchBelow,
  type PathForms,
  type PatternBase,
  patternMatches,
} from './file-pattern.js';
import { type RuleEntry, readRule } from './rule.js';

/** Which of the rules that people made hold. */
export interface Where {
  session: string;
  location: ToolCallLocation;
}

interface FileRule {
  entry: RuleEntry;
  pattern: FilePattern;
}

interface FileRules {
  /** By the path from each base. */
  literal: Map<PatternBase, Map<string, FileRule[]>>;
  /** By a name at any depth. */
  named: Map<string, FileRule[]>;
  patterns: FileRule[];
  all: FileRule[];
}

interface PrefixRule {
  entry: RuleEntry;
  words: readonly string[];
}

export class RuleIndex {
  readonly #wide: boolean;
  readonly #tools = new Map<string, RuleEntry[]>();
  readonly #servers = new Map<string, RuleEntry[]>();
  readonly #globs: { prefix: string; entry: RuleEntry }[] = [];
  readonly #files = new Map<string, FileRules>();
  readonly #hosts = new Map<string, { entry: RuleEntry; below: boolean }[]>();
  readonly #anyHost: RuleEntry[] = [];
  readonly #commands = new Map<string, RuleEntry[]>();
  readonly #words = new Map<string, RuleEntry[]>();
  readonly #prefixes = new Map<string, PrefixRule[]>();
  readonly #fields = new Map<string, { entry: RuleEntry; text: string }[]>();
  #commandRules = 0;

  constructor(entries: readonly RuleEntry[], wide: boolean) {
    this.#wide = wide;
    for (const entry of entries) this.#add(entry);
  }

  #add(entry: RuleEntry): void {
    const target = readRule(entry.text, this.#wide);
    switch (target.kind) {
      case 'tool':
        push(this.#tools, target.name, entry);
        break;
      case 'tools':
        this.#globs.push({ prefix: target.prefix, entry });
        break;
      case 'server':
        push(this.#servers, target.server, entry);
        break;
      case 'file':
        this.#addFile(target.tool, target.pattern, entry);
        break;
      case 'host':
        if (target.host !== undefined) push(this.#hosts, target.host, { entry, below: target.below });
        else if (this.#wide) this.#anyHost.push(entry);
        break;
      case 'command':
        this.#commandRules += 1;
        push(this.#commands, target.text, entry);
        if (target.words !== undefined) push(this.#words, this.#key(target.words), entry);
        break;
      case 'command-prefix':
        this.#commandRules += 1;
        push(this.#prefixes, this.#program(target.words[0] ?? ''), { entry, words: target.words });
        break;
      case 'field':
        push(this.#fields, target.tool, { entry, text: target.text });
        break;
    }
  }

  #addFile(tool: string, text: string, entry: RuleEntry): void {
    const rules: FileRules = this.#files.get(tool) ?? {
      literal: new Map(),
      named: new Map(),
      patterns: [],
      all: [],
    };
    this.#files.set(tool, rules);
    for (const pattern of compileFilePattern(text, this.#wide)) {
      const rule = { entry, pattern };
      rules.all.push(rule);
      const literal = pattern.literal === undefined ? undefined : this.#case(pattern.literal);
      if (literal === undefined || literal.startsWith('..')) rules.patterns.push(rule);
      else if (pattern.anyDepth) push(rules.named, literal, rule);
      else push(mapIn(rules.literal, pattern.base), literal, rule);
    }
  }

  #case(text: string): string {
    return this.#wide ? text.toLowerCase() : text;
  }

  /** Rules that name a tool and nothing else about it. */
  tool(name: string, where: Where): RuleEntry | undefined {
    return (
      first(this.#tools.get(name), where) ??
      (this.#servers.size > 0 ? first(this.#servers.get(serverOf(name)), where) : undefined) ??
      this.#globs.find(({ prefix, entry }) => name.startsWith(prefix) && holds(entry, where))?.entry
    );
  }

  /** A rule for every tool there is. */
  everything(where: Where): RuleEntry | undefined {
    return this.#globs.find(({ prefix, entry }) => prefix === '' && holds(entry, where))?.entry;
  }

  get hasFileRules(): boolean {
    return this.#files.size > 0;
  }

  file(tool: string, forms: PathForms, where: Where): RuleEntry | undefined {
    const rules = this.#files.get(tool);
    if (rules === undefined) return undefined;
    return (
      (rules.literal.size === 0 ? undefined : this.#literal(rules, forms, where)) ??
      (rules.named.size === 0 ? undefined : this.#named(rules, forms, where)) ??
      rules.patterns.find(({ pattern, entry }) => this.#matches(pattern, forms, where) && holds(entry, where))
        ?.entry
    );
  }

  #literal(rules: FileRules, forms: PathForms, where: Where): RuleEntry | undefined {
    for (const [base, known] of rules.literal) {
      const path = lookAt(forms, base, this.#wide)?.path;
      if (path === undefined) continue;
      for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
        const found = known.get(end === path.length ? path : path.slice(0, end));
        const entry = found?.find((rule) => holds(rule.entry, where))?.entry;
        if (entry !== undefined) return entry;
      }
    }
    return undefined;
  }

  #named(rules: FileRules, forms: PathForms, where: Where): RuleEntry | undefined {
    for (const name of lookAt(forms, 'workspace', this.#wide)?.names ?? []) {
      const entry = rules.named.get(name)?.find((rule) => holds(rule.entry, where))?.entry;
      if (entry !== undefined) return entry;
    }
    return undefined;
  }

  #matches(pattern: FilePattern, forms: PathForms, where: Where): boolean {
    const looked = lookAt(forms, pattern.base, this.#wide);
    if (looked !== undefined) return patternMatches(pattern, looked);
    // `../x` is the only way for a pattern to leave the workspace.
    if (pattern.base !== 'workspace' || !pattern.prefix.startsWith('..')) return false;
    return pattern.matches(this.#case(above(forms, where)).split('/'));
  }

  /** A rule without wildcards for exactly this path. */
  exactFile(tool: string, forms: PathForms, where: Where): RuleEntry | undefined {
    return this.#files.get(tool)?.all.find(({ pattern, entry }) => {
      if (!pattern.exact || pattern.literal === undefined || !holds(entry, where)) return false;
      return this.#case(forms[pattern.base] ?? '\0') === this.#case(pattern.literal);
    })?.entry;
  }

  /** A rule that may match something below a folder. */
  below(tool: string, forms: PathForms, where: Where): RuleEntry | undefined {
    return this.#files
      .get(tool)
      ?.all.find(({ pattern, entry }) => mayMatchBelow(pattern, forms[pattern.base]) && holds(entry, where))
      ?.entry;
  }

  host(host: string, where: Where): RuleEntry | undefined {
    const any = first(this.#anyHost, where);
    if (any !== undefined || this.#hosts.size === 0) return any;
    const numeric = /^[\d.]+$/.test(host) || host.startsWith('[');
    for (let name = host, exact = true; name !== ''; exact = false) {
      const found = this.#hosts
        .get(name)
        ?.find(({ entry, below }) => (!below || !exact) && holds(entry, where))?.entry;
      if (found !== undefined) return found;
      const dot = name.indexOf('.');
      if (numeric || dot === -1) return undefined;
      name = name.slice(dot + 1);
    }
    return undefined;
  }

  get hasCommandRules(): boolean {
    return this.#commandRules > 0;
  }

  /** A rule for the whole text. */
  command(text: string, where: Where): RuleEntry | undefined {
    return first(this.#commands.get(text), where);
  }

  /** A rule for exactly these words. */
  words(words: readonly string[], where: Where): RuleEntry | undefined {
    return first(this.#words.get(this.#key(words)), where);
  }

  #key(words: readonly string[]): string {
    return [this.#program(words[0] ?? ''), ...words.slice(1)].join('\0');
  }

  /** In rules that deny or ask, a program is the same by whatever path it is called. */
  #program(word: string): string {
    return this.#wide ? programPath(word) : word;
  }

  /** Prefix rules for a program. */
  *prefixes(program: string, where: Where): Generator<PrefixRule> {
    for (const key of program === '' ? [''] : [program, '']) {
      for (const rule of this.#prefixes.get(key) ?? []) if (holds(rule.entry, where)) yield rule;
    }
  }

  /** A prefix rule whose words occur one after the other among `tokens`. */
  among(tokens: readonly string[], where: Where): PrefixRule | undefined {
    for (let at = 0; at < tokens.length; at += 1) {
      for (const rule of this.prefixes(programPath(tokens[at] ?? ''), where)) {
        if (rule.words.every((word, index) => index === 0 || tokens[at + index] === word)) return rule;
      }
    }
    return undefined;
  }

  field(tool: string, values: readonly string[], where: Where): RuleEntry | undefined {
    return this.#fields.get(tool)?.find(({ entry, text }) => {
      const matched = text.endsWith('*')
        ? values.some((value) => value.startsWith(text.slice(0, -1)))
        : values.includes(text);
      return matched && holds(entry, where);
    })?.entry;
  }
}

/** `/usr/bin/curl` and `curl`; a version in the name is part of it. A folder has no such name. */
export const programPath = (word: string): string =>
  word.endsWith('/') ? word : word.slice(word.lastIndexOf('/') + 1);

function above(forms: PathForms, where: Where): string {
  const own = where.location.root.split('/');
  const other = forms.path.split('/');
  let same = 0;
  while (same < own.length && own[same] === other[same]) same += 1;
  return [...own.slice(same).map(() => '..'), ...other.slice(same)].join('/');
}

/** Of `mcp__server__tool`; a server's name has no `__` in it. */
function serverOf(tool: string): string {
  if (!tool.startsWith('mcp__')) return '';
  const end = tool.indexOf('__', 5);
  return end === -1 ? tool.slice(5) : tool.slice(5, end);
}

function first(entries: readonly RuleEntry[] | undefined, where: Where): RuleEntry | undefined {
  return entries?.find((entry) => holds(entry, where));
}

function holds(entry: RuleEntry, where: Where): boolean {
  return (
    (entry.session === undefined || entry.session === where.session) &&
    (entry.project === undefined || entry.project === where.location.root)
  );
}

function mapIn<K, L, V>(maps: Map<K, Map<L, V>>, key: K): Map<L, V> {
  const known = maps.get(key) ?? new Map<L, V>();
  maps.set(key, known);
  return known;
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
