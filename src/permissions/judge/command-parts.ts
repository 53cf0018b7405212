/** Everything that a command would do, found once and judged by each kind of rule. */
import { resolve } from 'node:path';
import type { ShellAnalysis, SimpleCommand } from '../shell/analyse.js';
import { exists, type PathUse, pathsOf, pathsOfWord, wholeFolders } from '../shell/command-paths.js';
import { fileProgram, showsContent } from '../shell/file-programs.js';
import { programName } from '../shell/flag-table.js';
import { type HostUse, hostsOf } from '../shell/hosts.js';
import { MAX_COMMAND } from '../shell/lexer.js';
import { type ReadScript, unwrap } from '../shell/unwrap.js';
import { type JudgedFile, judgedFile } from './files.js';
import type { Judging } from './judging.js';

export interface CommandFile {
  file: JudgedFile;
  sure: boolean;
  tree: boolean;
  removes: boolean;
}

export interface CommandParts {
  analysis: ShellAnalysis;
  folders: readonly Folders[];
  /** What runs, wrappers taken away; each as literal words. */
  running: readonly (readonly string[])[];
  files: readonly CommandFile[];
  hosts: readonly HostUse[];
  /** The words of the whole text, where their meaning is unknown. */
  tokens: readonly string[];
}

const TOKEN_BREAKS = /[\s;&|()<>{}`$"'\\=,[\]]+/;

export function commandParts(
  judging: Judging,
  analysis: ShellAnalysis,
  cwd: string,
  read: ReadScript,
): CommandParts {
  const folders = foldersOfCommands(analysis.commands, cwd, judging.home, analysis.plain !== undefined);
  const running: (readonly string[])[] = [];
  const uses: PathUse[] = [];
  let unclear = analysis.unclear;
  analysis.commands.forEach((command, index) => {
    const texts = command.words.map((word) => word.text);
    const unwrapped = unwrap(texts, read, true);
    running.push(...unwrapped.commands);
    unclear ||= unwrapped.runsCode;
    if (analysis.tooMuch) return;
    const { cwds } = folders[index] ?? { cwds: [cwd] };
    uses.push(...pathsOf(command.words, cwds, judging.home));
    for (const inner of unwrapped.commands.slice(1)) {
      // Of a program that nothing is known of, the words were looked at with the command around it.
      if (isEndOf(inner, texts) && fileProgram(programName(inner[0] ?? ''), inner) === undefined) continue;
      uses.push(...pathsOf(asWords(inner), cwds, judging.home));
    }
    if (readsGivenNames(unwrapped.commands)) uses.push(...wholeFolders(cwds));
  });
  for (const { text } of analysis.tooMuch ? [] : analysis.assigned) {
    for (const words of read(text)) running.push(...unwrap(words, read, false).commands);
  }
  const everywhere = [...new Set(folders.flatMap(({ cwds }) => cwds))];
  const anywhere = everywhere.length === 0 ? [cwd] : everywhere;
  for (const { target, writes } of analysis.redirects) {
    uses.push(...pathsOfWord(target, writes ? 'edit' : 'read', true, anywhere, judging.home));
  }
  const tokens = unclear ? tokensOf(analysis, running) : [];
  // Where the grammar lost its way or code is run, every word of the text may be a file.
  if (!analysis.tooMuch) {
    const known = new Set(
      analysis.unclear ? [] : analysis.commands.flatMap(({ words }) => words.map(({ text }) => text)),
    );
    for (const text of tokens) {
      if (known.has(text)) continue;
      const word = { text, literal: true, glob: false };
      uses.push(...pathsOfWord(word, 'either', false, anywhere, judging.home));
    }
  }
  for (const word of analysis.tooMuch ? [] : analysis.loose)
    uses.push(...pathsOfWord(word, 'either', false, anywhere, judging.home));
  const loose = [...analysis.loose, ...analysis.redirects.map(({ target }) => target)].map(
    ({ text }) => text,
  );
  return {
    analysis,
    folders,
    running,
    files: filesOf(judging, uses, cwd),
    hosts: [...running, ['', ...loose]].flatMap((words) => hostsOf(words)),
    tokens,
  };
}

const isEndOf = (inner: readonly string[], words: readonly string[]): boolean =>
  inner.length < words.length && inner.every((word, at) => word === words[words.length - inner.length + at]);

/** `… | xargs cat`: what is shown is not in the text. */
function readsGivenNames(commands: readonly (readonly string[])[]): boolean {
  const programs = commands.map((words) => programName(words[0] ?? ''));
  const from = programs.findIndex((program) => /^(?:g?xargs|parallel)$/.test(program));
  return from !== -1 && programs.slice(from + 1).some((program) => showsContent(program));
}

/** The longest token that is looked at for further ones in it. */
const MAX_TOKEN = 200;
/** Somebody is asked about so long a text in any case: looking at all of it would hold up everyone else. */
const MAX_TEXT = 4 * MAX_COMMAND;

function tokensOf(analysis: ShellAnalysis, running: readonly (readonly string[])[]): string[] {
  const { command, joined } = analysis;
  const all = command.slice(0, MAX_TEXT).split(TOKEN_BREAKS);
  if (joined !== undefined) all.push(...joined.split(TOKEN_BREAKS));
  const sed = running.some((words) => /^g?sed$/.test(programName(words[0] ?? '')));
  const expands = command.includes('${');
  const found = new Set<string>();
  for (const token of all) {
    if (token === '') continue;
    found.add(token);
    if (token.length > MAX_TOKEN) continue;
    found.add(token.replace(/^[!:@+%]+(?=.)/, ''));
    // A path that code appends to another one.
    if (token.startsWith('/')) found.add(token.slice(1));
    // `${x:-rm}`, of which the braces are gone.
    const otherwise = /^\w*:?[-+?=](.+)$/.exec(token)?.[1];
    if (otherwise !== undefined && expands) found.add(otherwise);
    // sed needs no space after `e`, `r` and `w`.
    if (sed) for (const { index } of token.matchAll(/[erRwW](?=.)/g)) found.add(token.slice(index + 1));
  }
  return [...found];
}

const asWords = (texts: readonly string[]): SimpleCommand['words'] =>
  texts.map((text) => ({ text, literal: !/[$`]/.test(text), glob: /[*?[]/.test(text) }));

/** Each file once for each way in which it is used. */
function filesOf(judging: Judging, uses: readonly PathUse[], cwd: string): CommandFile[] {
  const found = new Map<string, CommandFile>();
  for (const use of uses) {
    // A word that is no path and names nothing is only a word.
    if (!use.sure && !looksLikePath(use.path, cwd) && !exists(use.path)) continue;
    for (const kind of use.access === 'either' ? (['read', 'edit'] as const) : [use.access]) {
      const key = `${kind}${use.sure}${use.tree}${use.removes}${use.path}`;
      if (found.has(key)) continue;
      const file = judgedFile(judging, kind, use.path);
      // Of what is only perhaps changed (an archive), the rest below is read.
      const tree = use.tree && (kind === use.access || kind === 'read');
      found.set(key, { file, sure: use.sure, tree, removes: use.removes && kind === 'edit' });
    }
  }
  return [...found.values()];
}

function looksLikePath(path: string, cwd: string): boolean {
  const below = path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
  return below.includes('/') || below.startsWith('.');
}

/** Where each command of a line may run: `cd` in front of it moves it, if it succeeds. */
interface Folders {
  /** Every folder that it may be, the session's own first. */
  cwds: readonly string[];
  /** A `cd` to a folder that the text does not determine came before. */
  unknown: boolean;
}

/** No ordinary command has more folders than this in one line. */
const MAX_FOLDERS = 16;

/** `plain`: the commands follow one another, so that `&&` means that a `cd` has succeeded. */
function foldersOfCommands(
  commands: readonly SimpleCommand[],
  start: string,
  home: string,
  plain: boolean,
): Folders[] {
  let all: readonly string[] = [start];
  let current: readonly string[] = all;
  let unknown = false;
  return commands.map((command, index) => {
    if (command.joiner !== '&&' && command.joiner !== '') current = all;
    const here = { cwds: current, unknown };
    const target = moves(command);
    if (target === undefined) return here;
    if (target === 'unknown' || all.length >= MAX_FOLDERS) {
      unknown = true;
      return here;
    }
    const next = current.map((cwd) => moved(target, cwd, home));
    all = [...new Set([...all, ...next])];
    const alone = command.joiner !== '|' && commands[index + 1]?.joiner === '&&';
    current = plain && alone ? next : all;
    return here;
  });
}

function moved(target: string, cwd: string, home: string): string {
  if (target === '~' || target.startsWith('~/')) return resolve(home, target.slice(2));
  return resolve(cwd, target);
}

/** The folder that a command changes to; undefined where it changes none. */
function moves({ words }: SimpleCommand): string | 'unknown' | undefined {
  const program = programName(words[0]?.text ?? '');
  if (program === 'popd') return 'unknown';
  if (program !== 'cd' && program !== 'pushd' && program !== 'chdir') return undefined;
  const operands = words.slice(1).filter(({ text }) => !/^-[LPe@n]*$/.test(text) || text === '-');
  const target = operands[0];
  if (target === undefined) return program === 'pushd' ? 'unknown' : '~';
  if (operands.length > 1 || !target.literal || target.glob || /^[-+]\d*$|^~[^/]/.test(target.text))
    return 'unknown';
  return target.text;
}
