/** What the rules say about a shell command. */
import { isAbsolute } from 'node:path';
import type { PathForms } from '../rules/file-pattern.js';
import type { RuleEntry } from '../rules/rule.js';
import { programPath, type RuleIndex } from '../rules/rule-index.js';
import { analyse, MAX_EFFORT, type ShellAnalysis, type ShellParser, unreadable } from '../shell/analyse.js';
import { isNoFolder, pathsOf } from '../shell/command-paths.js';
import { programName } from '../shell/flag-table.js';
import { GIT_READS } from '../shell/flag-table-tools.js';
import { type Danger, subcommandAt, uncovered } from '../shell/flags.js';
import { hostsOf } from '../shell/hosts.js';
import { readPlain } from '../shell/lexer.js';
import { isReadOnlyCommand } from '../shell/read-only.js';
import { repositoryPrograms } from '../shell/repository-programs.js';
import { type CommandFile, type CommandParts, commandParts } from './command-parts.js';
import {
  allowingRule,
  codeFileAsk,
  fileRule,
  folderOfOwn,
  isOwnRead,
  judgedFile,
  ownFile,
  partOf,
  runFile,
} from './files.js';
import { byMode, byRule, byShell, type Finding, findRule, type Judging, strictest } from './judging.js';

/** Parsed once, however often it is judged (with each suggestion, for one). */
export interface PreparedCommand {
  parts: CommandParts;
  readOnly: boolean;
  /** A `git` in it, and what the repository has that run; looked for once, and only where it matters. */
  gitRuns(): GitRuns | undefined;
}

interface GitRuns {
  command: string;
  programs: string;
}

export function prepareCommand(
  judging: Judging,
  parser: ShellParser,
  effect: { command: string; cwd: string },
): PreparedCommand {
  judging.targets ??= new Map();
  const analysis = analyse(parser, effect.command);
  const scripts = new ScriptReader(parser);
  const read = (script: string) => scripts.words(script);
  const parts = commandParts(judging, analysis, effect.cwd, read);
  if (scripts.isExhausted) {
    const whole = unreadable(effect.command, 'has too many commands inside of others');
    return prepared(commandParts(judging, whole, effect.cwd, read), false);
  }
  return prepared(parts, analysis.plain !== undefined && isReadOnlyCommand(effect.command));
}

function prepared(parts: CommandParts, readOnly: boolean): PreparedCommand {
  let looked: { found: GitRuns | undefined } | undefined;
  const gitRuns = (): GitRuns | undefined => {
    looked ??= { found: findGitRuns(parts) };
    return looked.found;
  };
  return { parts, readOnly, gitRuns };
}

/** What a look at a script costs beside its characters. */
const EFFORT_OF_A_LOOK = 32;

/** Scripts in the words of one command, each read once and all of them within bounds. */
class ScriptReader {
  readonly #parser: ShellParser;
  readonly #known = new Map<string, readonly (readonly string[])[]>();
  #left = MAX_EFFORT;

  constructor(parser: ShellParser) {
    this.#parser = parser;
  }

  get isExhausted(): boolean {
    return this.#left < 0;
  }

  words(script: string): readonly (readonly string[])[] {
    if (this.isExhausted) return [];
    const known = this.#known.get(script);
    this.#left -= EFFORT_OF_A_LOOK * (1 + (known?.length ?? 0));
    if (known !== undefined) return known;
    this.#left -= script.length;
    if (this.isExhausted) return [];
    const words = this.#read(script);
    this.#known.set(script, words);
    return words;
  }

  #read(script: string): readonly (readonly string[])[] {
    const plain = readPlain(script);
    if (plain.plain) return plain.commands.map(({ words }) => words);
    const { commands, effort } = analyse(this.#parser, script);
    this.#left -= effort;
    return commands.map(({ words }) => words.map(({ text }) => text));
  }
}

/** `otherwise`: of a rule that allows the tool by its name. */
export function judgeCommand(
  judging: Judging,
  { parts, readOnly, gitRuns }: PreparedCommand,
  otherwise?: Finding,
): Finding {
  const refused = ownFiles(judging, parts);
  if (refused !== undefined) return refused;
  const ruled = commandRule(judging, 'deny', parts) ?? commandRule(judging, 'ask', parts);
  if (ruled !== undefined) return ruled;

  const text = parts.analysis.command.trim();
  const exact = findRule(judging, 'allow', (index) => index.command(text, judging.where));
  if (exact !== undefined) return byRule('allow', exact, `the command \`${shorten(text)}\``);
  const bare = findRule(judging, 'allow', (index) => index.tool('Bash', judging.where));
  const found =
    bare !== undefined
      ? byRule('allow', bare, `the command \`${shorten(text)}\``)
      : (otherwise ??
        unlessGitRuns(
          judging,
          gitRuns,
          covered(judging, parts, readOnly) ??
            byMode(judging, `the command \`${shorten(text)}\``, reads(parts, readOnly)),
        ));
  return found.behaviour === 'allow' ? (raised(judging, parts) ?? found) : found;
}

/** A prefix, or that it only reads, says nothing of programs that the repository has git run. */
function unlessGitRuns(judging: Judging, gitRuns: PreparedCommand['gitRuns'], found: Finding): Finding {
  if (found.behaviour !== 'allow') return found;
  const runs = gitRuns();
  return runs === undefined ? found : byShell(judging, runs.command, `runs what ${runs.programs}`, false);
}

function findGitRuns({ running, folders }: CommandParts): GitRuns | undefined {
  const git = running.filter((words) => programName(words[0] ?? '') === 'git');
  if (git.length === 0) return undefined;
  const cwds = [...new Set(folders.flatMap((each) => each.cwds))];
  const subcommands = new Set(git.map((words) => words[subcommandAt(words)] ?? ''));
  const use = { reads: [...subcommands].every((name) => GIT_READS.has(name)), subcommands };
  for (const folder of [...cwds, ...git.flatMap((words) => givenFolders(words, cwds))]) {
    const programs = repositoryPrograms(folder, use);
    if (programs !== undefined) return { command: shorten(git[0]?.join(' ') ?? ''), programs };
  }
  return undefined;
}

/** `git -C folder`, each from the one before; a link is not taken away with what follows it. */
function givenFolders(words: readonly string[], cwds: readonly string[]): string[] {
  let folders = cwds;
  const all: string[] = [];
  words.forEach((word, at) => {
    if (words[at - 1] !== '-C') return;
    folders = folders.map((folder) => (isAbsolute(word) ? word : `${folder}/${word}`));
    all.push(...folders);
  });
  return all;
}

/** What is denied whatever the rules: the gateway's own, and what it runs. */
function ownFiles(judging: Judging, { files }: CommandParts): Finding | undefined {
  for (const { file, sure, tree, removes } of files) {
    const takesAll = removes || (sure && tree && file.kind === 'edit');
    const found =
      ownFile(judging, file) ?? runFile(judging, file) ?? (takesAll ? folderOfOwn(judging, file) : undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** In mode read-only: every part only reads, and only in the workspace. */
function reads({ files, hosts }: CommandParts, readOnly: boolean): boolean {
  const inside = ({ workspace }: PathForms): boolean => workspace !== undefined;
  return readOnly && hosts.length === 0 && files.every(({ file }) => inside(file.named) && inside(file.real));
}

/** What is asked about although it is allowed: files that run code, and folders with denied files in them. */
function raised(judging: Judging, { analysis, files }: CommandParts): Finding | undefined {
  if (analysis.tooMuch) {
    return {
      behaviour: 'ask',
      because: {
        kind: 'shell',
        part: shorten(analysis.command),
        problem: 'is too much to be looked through',
      },
      message: 'The command is too long or too deep to be looked through, so that somebody must look at it.',
    };
  }
  for (const { file, sure, tree } of files) {
    if (!sure) continue;
    const code = codeFileAsk(judging, file);
    if (code !== undefined) return code;
    if (!tree || isNoFolder(file.real.path)) continue;
    if (judging.own.below(file.real.path))
      return raise(file.named.path, "has the gateway's own files below it");
    const tool = file.kind === 'read' ? 'Read' : 'Edit';
    const hidden =
      findRule(judging, 'deny', (index) => index.below(tool, file.real, judging.where)) ??
      findRule(judging, 'ask', (index) => index.below(tool, file.real, judging.where));
    if (hidden !== undefined)
      return raise(file.named.path, `may have files below it that \`${hidden.text}\` is about`);
  }
  return undefined;
}

function raise(part: string, problem: string): Finding {
  return {
    behaviour: 'ask',
    because: { kind: 'shell', part, problem },
    message: `${part} ${problem}, and the command takes all that is there.`,
  };
}

/** The verdict of prefix rules on a plain command; undefined where no rule is about any part of it. */
function covered(judging: Judging, parts: CommandParts, readOnly: boolean): Finding | undefined {
  const { analysis } = parts;
  if (analysis.plain === undefined) return notPlain(judging, analysis, parts);
  const findings = analysis.plain.map(({ words }, index) => {
    const folders = parts.folders[index] ?? { cwds: [judging.where.location.cwd], unknown: true };
    return coveredWords(judging, words, folders.cwds, folders.unknown);
  });
  const worst = strictest(findings.filter((finding) => finding !== undefined));
  const rest = findings.indexOf(undefined);
  if (rest === -1) return worst;
  if (worst === undefined) return undefined;
  const part = `\`${shorten(analysis.plain[rest]?.words.join(' ') ?? '')}\``;
  return strictest([worst, byMode(judging, part, reads(parts, readOnly))]);
}

/** Says why rules that would match its first words do not. */
function notPlain(judging: Judging, analysis: ShellAnalysis, parts: CommandParts): Finding | undefined {
  const { problem } = analysis;
  const near = parts.running.some((words) =>
    judging.sets.some((set) => [...set.allow.prefixes(words[0] ?? '', judging.where)].length > 0),
  );
  // A character that is not seen is worth saying even where no rule is near.
  const unseen = problem?.part.startsWith('U+') === true;
  return (near || unseen) && problem !== undefined
    ? byShell(judging, problem.part, problem.problem, false)
    : undefined;
}

function coveredWords(
  judging: Judging,
  words: readonly string[],
  cwds: readonly string[],
  unknown: boolean,
): Finding | undefined {
  const exact = findRule(judging, 'allow', (index) => index.words(words, judging.where));
  if (exact !== undefined) return byRule('allow', exact, `\`${shorten(words.join(' '))}\``);
  let refused: Danger | undefined;
  let foreign: Finding | undefined;
  for (const set of judging.sets) {
    for (const rule of set.allow.prefixes(words[0] ?? '', judging.where)) {
      if (!rule.words.every((word, index) => words[index] === word)) continue;
      const danger = uncovered(words, rule.words.length, (inner) =>
        innerDanger(coveredWords(judging, inner, cwds, unknown), inner),
      );
      if (danger !== undefined) refused ??= danger;
      else if (unknown)
        refused ??= { part: words.join(' '), problem: 'runs in a folder that the text does not tell' };
      else {
        const part = foreignPart(judging, words, rule.words.length, cwds);
        if (part === undefined) return byRule('allow', rule.entry, `\`${shorten(words.join(' '))}\``);
        foreign ??= part;
      }
    }
  }
  if (foreign !== undefined) return foreign;
  return refused === undefined ? undefined : byShell(judging, shorten(refused.part), refused.problem, false);
}

function innerDanger(finding: Finding | undefined, inner: readonly string[]): Danger | undefined {
  if (finding?.behaviour === 'allow' && finding.because.kind === 'rule') return undefined;
  return { part: inner.join(' '), problem: 'is run by another command, and needs a rule of its own' };
}

/**
 * Files outside of the workspace and hosts that a covered command names, unless the rule's own
 * words do: `Bash(cat:*)` says which program, rules for Read and WebFetch say where.
 */
function foreignPart(
  judging: Judging,
  words: readonly string[],
  named: number,
  cwds: readonly string[],
): Finding | undefined {
  const literal = words.map((text) => ({ text, literal: true, glob: false }));
  for (const use of pathsOf(literal, cwds, judging.home)) {
    if (!use.sure || (use.index > 0 && use.index < named)) continue;
    for (const kind of use.access === 'either' ? (['read', 'edit'] as const) : [use.access]) {
      const file = judgedFile(judging, kind, use.path);
      if (file.real.workspace !== undefined || isOwnRead(judging, file)) continue;
      if (allowingRule(judging, file) !== undefined) continue;
      return elsewhere(judging, partOf(file), kind === 'read' ? 'Read' : 'Edit');
    }
  }
  for (const { host, sure, index } of hostsOf(words)) {
    if (!sure || index < named) continue;
    const entry = findRule(
      judging,
      'allow',
      (each) => each.host(host, judging.where) ?? each.tool('WebFetch', judging.where),
    );
    if (entry === undefined) return elsewhere(judging, `reaching ${host}`, 'WebFetch');
  }
  return undefined;
}

function elsewhere(judging: Judging, part: string, tool: string): Finding {
  const found = byMode(judging, part, false);
  if (found.behaviour === 'allow') return found;
  return {
    ...found,
    because: { kind: 'shell', part, problem: `needs a rule for ${tool}` },
    message: `A rule allows the program, but ${part} needs a rule for ${tool} as well.`,
  };
}

const SHOWN = 120;

/** Rules that deny or ask about a command. They see through wrappers, paths and quotes. */
function commandRule(judging: Judging, behaviour: 'deny' | 'ask', parts: CommandParts): Finding | undefined {
  const text = parts.analysis.command.trim();
  const bare = findRule(
    judging,
    behaviour,
    (index) => index.tool('Bash', judging.where) ?? index.command(text, judging.where),
  );
  if (bare !== undefined) return byRule(behaviour, bare, `the command \`${shorten(text)}\``);
  return (
    wordsRule(judging, behaviour, parts) ??
    filesRule(judging, behaviour, parts.files) ??
    hostsRule(judging, behaviour, parts)
  );
}

function wordsRule(judging: Judging, behaviour: 'deny' | 'ask', parts: CommandParts): Finding | undefined {
  for (const set of judging.sets) {
    const index = set[behaviour];
    if (!index.hasCommandRules) continue;
    for (const words of parts.running) {
      const entry = index.words(words, judging.where) ?? prefixRule(index, words, judging);
      if (entry !== undefined) return byRule(behaviour, entry, `\`${shorten(words.join(' '))}\``);
    }
    const among = index.among(parts.tokens, judging.where);
    if (among !== undefined) {
      return byRule(
        behaviour,
        among.entry,
        `\`${among.words.join(' ')}\`, which stands in a command that hides what it runs`,
      );
    }
  }
  return undefined;
}

function prefixRule(index: RuleIndex, words: readonly string[], judging: Judging): RuleEntry | undefined {
  for (const rule of index.prefixes(programPath(words[0] ?? ''), judging.where)) {
    if (beginsWith(words, rule.words)) return rule.entry;
  }
  return undefined;
}

/** Flags and what may be their values can stand between: `git -C x push` is `git push`. */
function beginsWith(words: readonly string[], rule: readonly string[]): boolean {
  let wanted = 1;
  for (let at = 1; wanted < rule.length; at += 1) {
    const word = words[at];
    if (word === undefined) return false;
    if (word === rule[wanted]) wanted += 1;
    else if (!word.startsWith('-')) return false;
    else if (words[at + 1]?.startsWith('-') === false && words[at + 1] !== rule[wanted]) at += 1;
  }
  return true;
}

function filesRule(
  judging: Judging,
  behaviour: 'deny' | 'ask',
  files: readonly CommandFile[],
): Finding | undefined {
  for (const { file, sure } of files) {
    const found = fileRule(judging, behaviour, file, sure);
    if (found !== undefined) return found;
  }
  return undefined;
}

function hostsRule(
  judging: Judging,
  behaviour: 'deny' | 'ask',
  { hosts }: CommandParts,
): Finding | undefined {
  for (const { host, sure } of hosts) {
    const entry = findRule(
      judging,
      behaviour,
      (index) =>
        index.host(host, judging.where) ?? (sure ? index.tool('WebFetch', judging.where) : undefined),
    );
    if (entry !== undefined) return byRule(behaviour, entry, `reaching ${host}`);
  }
  return undefined;
}

const shorten = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
