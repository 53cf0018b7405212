/**
 * What the rules say about a call: the operator's, those that people made, and those by which a
 * repository narrows them. Nobody is asked here and nothing is written; the gate does both.
 */
import type { Config } from '../../config/schema.js';
import type { Rule } from '../../store/rules.js';
import type { SessionMode } from '../../store/sessions.js';
import { realTarget } from '../../workspace/real-path.js';
import type { Decision, Effect, JudgedToolCall, RuleSuggestion, ToolCallLocation } from '../decision.js';
import { ownFiles } from '../protected-files.js';
import { RepositoryFiles, type RepositoryRules } from '../repository-rules.js';
import {
  canonicalTool,
  holdsFor,
  isFileTool,
  type RuleEntry,
  type RuleTarget,
  readRule,
} from '../rules/rule.js';
import { RuleIndex } from '../rules/rule-index.js';
import { existing, hiddenFiles } from '../rules/sandbox-rules.js';
import { candidateRules } from '../rules/suggestions.js';
import { type ShellParser, shellParser } from '../shell/analyse.js';
import { type PreparedCommand, prepareCommand } from './command.js';
import { fileRule, isCredential, judgedFile, judgeFile, ownFile } from './files.js';
import { judgeToolCall, type PreparedCommands } from './judge-tool-call.js';
import type { Judging, RuleSet } from './judging.js';
import { judgeInMode } from './session-mode.js';

/** Whether a rule has nothing to do with a call, by its form alone: reading commands is most of what a judgement costs. */
function cannotMatch(target: RuleTarget, { tool, effects }: JudgedToolCall): boolean {
  const has = (...kinds: Effect['kind'][]): boolean => effects.some(({ kind }) => kinds.includes(kind));
  switch (target.kind) {
    case 'command':
    case 'command-prefix':
      return !effects.some((effect) => effect.kind === 'command' && mayRun(effect.command, target.words));
    case 'file':
      return !has('read', 'edit', 'command');
    case 'host':
      return !has('fetch', 'command');
    case 'field':
      return canonicalTool(tool) !== target.tool;
    case 'server':
      return !tool.startsWith(`mcp__${target.server}__`);
    case 'tools':
      return !tool.startsWith(target.prefix) && !has('read', 'edit', 'command', 'fetch');
    case 'tool':
      if (canonicalTool(tool) === target.name) return false;
      if (isFileTool(target.name)) return !has('read', 'edit', 'command');
      if (target.name === 'WebFetch') return !has('fetch', 'command');
      return target.name !== 'Bash' || !has('command');
  }
}

/** The first word is in the text, whatever quotes and breaks stand in it. */
function mayRun(command: string, words: readonly string[] = []): boolean {
  const [first = ''] = words;
  return first === '' || command.replace(/["'\\\n]/g, '').includes(first);
}

/**
 * Commands as they were read a moment ago, for trying one rule after the other on the same calls.
 * Real calls are read anew each time: a link may lead elsewhere by now.
 */
const KEPT_MS = 60_000;
const MOST = 2_000;

type CommandEffect = Extract<Effect, { kind: 'command' }>;

class RecentCommands {
  readonly #known = new Map<string, { at: number; prepared: PreparedCommand }>();

  of(call: JudgedToolCall, effect: CommandEffect, prepare: () => PreparedCommand): PreparedCommand {
    const key = JSON.stringify([call.location.root, effect.cwd, effect.command]);
    const now = performance.now();
    const known = this.#known.get(key);
    if (known !== undefined && now - known.at < KEPT_MS) return known.prepared;
    const prepared = prepare();
    if (this.#known.size >= MOST) this.#known.clear();
    this.#known.set(key, { at: now, prepared });
    return prepared;
  }
}

interface PolicyOptions {
  config: Pick<Config['permissions'], 'mode' | 'allow' | 'ask' | 'deny'>;
  /** For `~/` in rules. */
  home: string;
  /** The gateway's own files and folders (configuration, store, tokens): denied to every tool. */
  protectedPaths: readonly string[];
  /** Files and folders that the gateway itself runs (tools, scripts of MCP servers): no tool may change them. */
  executedPaths?: readonly string[];
  /** Called once for each state of a repository's file that was not taken as it stands. */
  onWarning?: (message: string) => void;
  /** How long the state of a repository's file is believed. */
  repositoryRecheckMs?: number;
}

export interface Policy {
  /**
   * Never throws, but rejects where the grammar of the shell cannot be loaded. A promise only until
   * it is. `stored`: rules of people; those of other sessions and projects in it are passed over.
   * `chosen`: the mode of the session, where a person chose one. Give the same array as long as the store's revision is the same: what is compiled is kept with it.
   */
  decide(call: JudgedToolCall, stored: readonly Rule[], chosen?: SessionMode): Decision | Promise<Decision>;
  /** For trying a rule that is not there on calls of earlier. */
  tryRule(rule: TriedRule): RuleTrial;
  /** Whether a file that a search came across may be shown: no rule denies it or asks about it. */
  readable(location: ToolCallLocation, session: string, stored: readonly Rule[]): (path: string) => boolean;
  /**
   * Existing files and folders that rules deny to be read, for the sandbox to hide from commands.
   * `own`: those of the gateway too.
   */
  hidden(
    location: ToolCallLocation,
    session: string,
    stored: readonly Rule[],
    options?: { own?: boolean },
  ): Promise<readonly string[]>;
}

interface TriedRule {
  rule: string;
  behaviour: Rule['behaviour'];
}

/**
 * Whether the rule would have decided a call: alone, or where it allows, together with those that
 * are there. Nothing of a call that is denied anyway.
 */
type RuleTrial = (call: JudgedToolCall, stored: readonly Rule[]) => boolean | Promise<boolean>;

export function createPolicy(options: PolicyOptions): Policy {
  return new RulePolicy(options);
}

class RulePolicy implements Policy {
  readonly #options: PolicyOptions;
  readonly #realHome: string;
  readonly #own: Judging['own'];
  readonly #configured: RuleSet;
  readonly #repositories: RepositoryFiles;
  readonly #compiledRepositories = new WeakMap<RepositoryRules, RuleSet>();
  readonly #compiledStored = new WeakMap<readonly Rule[], RuleSet>();
  readonly #recentCommands = new RecentCommands();

  constructor(options: PolicyOptions) {
    const { config, home, protectedPaths, executedPaths, onWarning, repositoryRecheckMs } = options;
    this.#options = options;
    this.#realHome = realTarget(home);
    this.#own = ownFiles(protectedPaths, executedPaths);
    this.#configured = ruleSet(
      entries(config.deny, 'configuration'),
      entries(config.ask, 'configuration'),
      entries(config.allow, 'configuration'),
    );
    this.#repositories = new RepositoryFiles(onWarning ?? (() => undefined), repositoryRecheckMs);
  }

  decide(call: JudgedToolCall, stored: readonly Rule[], chosen?: SessionMode): Decision | Promise<Decision> {
    return prepared(this.#judging(call, stored), (judging, commands) =>
      this.#conclude(judging, commands, chosen),
    );
  }

  tryRule({ rule, behaviour }: TriedRule): RuleTrial {
    const target = readRule(rule, behaviour !== 'allow');
    const entry: RuleEntry = { text: rule, source: 'session' };
    const of = (wanted: Rule['behaviour']): RuleEntry[] => (wanted === behaviour ? [entry] : []);
    const extra = ruleSet(of('deny'), of('ask'), of('allow'));
    const decides = (judging: Judging, commands: PreparedCommands): boolean => {
      const alone = judgeToolCall({ ...judging, mode: 'ask', sets: [extra] }, commands);
      if (alone.behaviour === behaviour && alone.because.kind === 'rule') {
        return behaviour !== 'allow' || judgeToolCall(judging, commands).behaviour !== 'deny';
      }
      if (behaviour !== 'allow' || judgeToolCall(judging, commands).behaviour !== 'ask') return false;
      return judgeToolCall({ ...judging, sets: [...judging.sets, extra] }, commands).behaviour === 'allow';
    };
    return (call, stored) =>
      !cannotMatch(target, call) && prepared(this.#judging(call, stored), decides, this.#recentCommands);
  }

  readable(location: ToolCallLocation, session: string, stored: readonly Rule[]): (path: string) => boolean {
    const judging = this.#judging(searchIn(location, session), stored);
    const known = new Map<string, boolean>();
    return (path) => {
      const before = known.get(path);
      if (before !== undefined) return before;
      const answer = mayBeShown(judging, path);
      if (known.size < MAX_REMEMBERED) known.set(path, answer);
      return answer;
    };
  }

  async hidden(
    { root }: ToolCallLocation,
    session: string,
    stored: readonly Rule[],
    { own = false }: { own?: boolean } = {},
  ): Promise<readonly string[]> {
    const { config, home, protectedPaths } = this.#options;
    const made = stored.filter((rule) => rule.behaviour === 'deny' && holdsFor(rule, session, root));
    const deny = [...config.deny, ...this.#repositories.of(root).deny, ...made.map(({ rule }) => rule)];
    const denied = await hiddenFiles(deny, { root, home });
    return own ? [...denied, ...(await existing(protectedPaths))] : denied;
  }

  // Written out: this is made for every call, and spreading costs more than the rest of it.
  #judging(call: JudgedToolCall, stored: readonly Rule[]): Judging {
    return {
      mode: this.#options.config.mode,
      home: this.#options.home,
      realHome: this.#realHome,
      own: this.#own,
      call,
      sets: this.#setsFor(call.location.root, stored),
      where: { session: call.session, location: call.location },
      targets: undefined,
    };
  }

  #setsFor(root: string, stored: readonly Rule[]): RuleSet[] {
    const sets = [this.#configured];
    const repository = this.#repositories.of(root);
    if (repository.deny.length > 0 || repository.ask.length > 0 || repository.problem !== undefined) {
      sets.push(kept(this.#compiledRepositories, repository, repositorySet));
    }
    if (stored.length > 0) sets.push(kept(this.#compiledStored, stored, storedSet));
    return sets;
  }

  #conclude(judging: Judging, commands: PreparedCommands, chosen: SessionMode | undefined): Decision {
    const { behaviour, because, message } = judgeInMode(judging, commands, chosen);
    const suggestions = behaviour === 'ask' ? this.#suggest(judging, commands, chosen) : [];
    return { behaviour, because, message, suggestions };
  }

  /** Only rules that, if they had been there, would have let this call through. */
  #suggest(judging: Judging, commands: PreparedCommands, chosen: SessionMode | undefined): RuleSuggestion[] {
    return candidateRules(judging.call, this.#realHome).filter(({ rule }) => {
      const extra = ruleSet([], [], [{ text: rule, source: 'session' }]);
      const ruled = { ...judging, sets: [...judging.sets, extra] };
      return judgeInMode(ruled, commands, chosen).behaviour === 'allow';
    });
  }
}

/** With the commands of the call read: a promise only until the parser is loaded. */
function prepared<T>(
  judging: Judging,
  then: (judging: Judging, commands: PreparedCommands) => T,
  recent?: RecentCommands,
): T | Promise<T> {
  if (!judging.call.effects.some(({ kind }) => kind === 'command')) return then(judging, NO_COMMANDS);
  const parser = shellParser();
  return parser instanceof Promise
    ? parser.then((loaded) => then(judging, prepareAll(judging, loaded, recent)))
    : then(judging, prepareAll(judging, parser, recent));
}

const NO_COMMANDS: PreparedCommands = new Map();
/** Files of one search whose answer is kept; beyond that each is looked at again. */
const MAX_REMEMBERED = 100_000;

function prepareAll(judging: Judging, parser: ShellParser, recent?: RecentCommands): PreparedCommands {
  const prepared = new Map<Effect, PreparedCommand>();
  for (const effect of judging.call.effects) {
    if (effect.kind !== 'command') continue;
    const prepare = (): PreparedCommand => prepareCommand(judging, parser, effect);
    prepared.set(effect, recent === undefined ? prepare() : recent.of(judging.call, effect, prepare));
  }
  return prepared;
}

/**
 * What lies in the tree that a search was allowed in. A link that leads out of it, and a person's
 * credentials, need a rule of their own.
 */
function mayBeShown(judging: Judging, path: string): boolean {
  const file = judgedFile(judging, 'read', path);
  const leadsOut = file.named.workspace !== undefined && file.real.workspace === undefined;
  if (leadsOut || isCredential(judging, file)) {
    return judgeFile(judging, file).behaviour === 'allow';
  }
  const refused =
    ownFile(judging, file) ?? fileRule(judging, 'deny', file, false) ?? fileRule(judging, 'ask', file, false);
  return refused === undefined;
}

const searchIn = (location: ToolCallLocation, session: string): JudgedToolCall => ({
  principal: '',
  session,
  toolUseId: '',
  tool: 'Read',
  input: {},
  readOnly: true,
  needsPermissions: true,
  effects: [],
  location,
});

function entries(rules: readonly string[], source: RuleEntry['source']): RuleEntry[] {
  return rules.map((text) => ({ text, source }));
}

function ruleSet(
  deny: readonly RuleEntry[],
  ask: readonly RuleEntry[],
  allow: readonly RuleEntry[],
): RuleSet {
  return {
    deny: new RuleIndex(deny, true),
    ask: new RuleIndex(ask, true),
    allow: new RuleIndex(allow, false),
  };
}

function repositorySet({ deny, ask, problem }: RepositoryRules): RuleSet {
  const all = problem === undefined ? [] : [{ text: '*', source: 'repository' as const }];
  return ruleSet(entries(deny, 'repository'), [...entries(ask, 'repository'), ...all], []);
}

function storedSet(rules: readonly Rule[]): RuleSet {
  const by = (behaviour: Rule['behaviour']): RuleEntry[] =>
    rules
      .filter((rule) => rule.behaviour === behaviour)
      // A rule for a single call is only used where no other would do.
      .sort((a, b) => Number(a.scope === 'once') - Number(b.scope === 'once'))
      .map(storedEntry);
  return ruleSet(by('deny'), by('ask'), by('allow'));
}

function storedEntry(rule: Rule): RuleEntry {
  const entry = { text: rule.rule, source: rule.scope, id: rule.id };
  switch (rule.scope) {
    case 'once':
    case 'session':
      return { ...entry, session: rule.session };
    case 'project':
      return { ...entry, project: rule.project };
    case 'everywhere':
      return entry;
  }
}

function kept<K extends object, V>(cache: WeakMap<K, V>, key: K, make: (key: K) => V): V {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const made = make(key);
  cache.set(key, made);
  return made;
}
