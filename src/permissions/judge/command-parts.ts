/** Everything that a command would do, found once and judged by each kind of rule. */
import type { ShellAnalysis, SimpleCommand } from '../shell/analyse.js';
import { exists, type PathUse, pathsOf, pathsOfWord } from '../shell/command-paths.js';
import { type Folders, foldersOfCommands } from '../shell/folders.js';
import { type HostUse, hostsOf } from '../shell/hosts.js';
import { type ReadScript, unwrap } from '../shell/unwrap.js';
import { type JudgedFile, judgedFile } from './files.js';
import type { Judging } from './judging.js';

export interface CommandFile {
  file: JudgedFile;
  sure: boolean;
  tree: boolean;
}

export interface CommandParts {
  analysis: ShellAnalysis;
  folders: readonly Folders[];
  /** What runs, wrappers taken away; each as literal words. */
  running: readonly (readonly string[])[];
  files: readonly CommandFile[];
  hosts: readonly HostUse[];
  /** The words of the whole text, where it cannot be told what they are. */
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
    const unwrapped = unwrap(texts, read);
    running.push(...unwrapped.commands);
    unclear ||= unwrapped.runsCode;
    if (analysis.tooMuch) return;
    const { cwds } = folders[index] ?? { cwds: [cwd] };
    uses.push(...pathsOf(command.words, cwds, judging.home));
    for (const inner of unwrapped.commands.slice(1))
      uses.push(...pathsOf(asWords(inner), cwds, judging.home));
  });
  const everywhere = [...new Set(folders.flatMap(({ cwds }) => cwds))];
  const anywhere = everywhere.length === 0 ? [cwd] : everywhere;
  for (const { target, writes } of analysis.redirects) {
    uses.push(...pathsOfWord(target, writes ? 'edit' : 'read', true, anywhere, judging.home));
  }
  const tokens = unclear ? analysis.command.split(TOKEN_BREAKS).filter((token) => token !== '') : [];
  // Where the grammar lost its way, every word of the text may be one of a command.
  if (analysis.unclear && !analysis.tooMuch) {
    for (const text of tokens)
      uses.push(
        ...pathsOfWord({ text, literal: true, glob: false }, 'either', false, anywhere, judging.home),
      );
  }
  for (const word of analysis.tooMuch ? [] : analysis.loose)
    uses.push(...pathsOfWord(word, 'either', false, anywhere, judging.home));
  const loose = analysis.loose.map(({ text }) => text);
  return {
    analysis,
    folders,
    running,
    files: filesOf(judging, uses, cwd),
    hosts: [...running, ['', ...loose]].flatMap((words) => hostsOf(words)),
    tokens,
  };
}

const asWords = (texts: readonly string[]): SimpleCommand['words'] =>
  texts.map((text) => ({ text, literal: !/[$`]/.test(text), glob: /[*?[]/.test(text) }));

/** Each file once for each way in which it is used. */
function filesOf(judging: Judging, uses: readonly PathUse[], cwd: string): CommandFile[] {
  const found = new Map<string, CommandFile>();
  for (const use of uses) {
    const there = exists(use.path);
    // A word that is no path and names nothing is only a word.
    if (!use.sure && !there && !looksLikePath(use.path, cwd)) continue;
    for (const kind of use.access === 'either' ? (['read', 'edit'] as const) : [use.access]) {
      const key = `${kind}${use.sure}${use.tree}${use.path}`;
      if (found.has(key)) continue;
      const file = judgedFile(judging, kind, use.path);
      // Of what is only perhaps changed (an archive), the rest below is read.
      found.set(key, { file, sure: use.sure, tree: use.tree && (kind === use.access || kind === 'read') });
    }
  }
  return [...found.values()];
}

function looksLikePath(path: string, cwd: string): boolean {
  const below = path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
  return below.includes('/') || below.startsWith('.');
}
