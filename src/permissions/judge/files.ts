/** What the rules say about a file. */
import { basename, dirname, join, resolve } from 'node:path';
import { isHomeSecret } from '../../workspace/home-secrets.js';
import { isInside, realTarget } from '../../workspace/real-path.js';
import { codeFile } from '../protected-files.js';
import { type PathForms, pathForms } from '../rules/file-pattern.js';
import { EDIT_TOOLS, READ_TOOLS, type RuleEntry } from '../rules/rule.js';
import type { RuleIndex } from '../rules/rule-index.js';
import { exists } from '../shell/command-paths.js';
import { byMode, byRule, type Finding, findRule, harmless, type Judging } from './judging.js';

export interface JudgedFile {
  kind: 'read' | 'edit';
  /** As it was named, without `..`. */
  named: PathForms;
  /** Where it leads; the same object where no link is on the way. */
  real: PathForms;
}

export function judgedFile(judging: Judging, kind: 'read' | 'edit', path: string): JudgedFile {
  const lexical = /\/\.|\/\/|\/$/.test(path) ? resolve(path) : path;
  const target = targetOf(judging, /\/\.\.(?:\/|$)/.test(path) ? withoutParents(path) : lexical);
  const named = pathForms(lexical, judging.where.location.root, judging.home);
  const forms =
    target === lexical && judging.home === judging.realHome
      ? named
      : pathForms(target, judging.where.location.root, judging.realHome);
  return { kind, named, real: forms };
}

/** `link/..` is the folder above where the link leads: as the kernel has it, not as the text reads. */
function withoutParents(path: string): string {
  let current = '/';
  for (const name of path.split('/')) {
    if (name === '..') current = dirname(realTarget(current));
    else if (name !== '' && name !== '.') current = join(current, name);
  }
  return current;
}

function targetOf(judging: Judging, path: string): string {
  const { targets } = judging;
  if (targets === undefined) return realTarget(path);
  const known = targets.get(path);
  if (known !== undefined) return known;
  // Most words of a command name nothing: that is cheaper to find out than a real path that fails.
  const folder = dirname(path);
  const target =
    exists(path) || folder === path ? realTarget(path) : join(targetOf(judging, folder), basename(path));
  targets.set(path, target);
  return target;
}

/** The file as a finding speaks of it. */
export function partOf({ kind, named }: JudgedFile): string {
  const short =
    named.workspace === undefined ? named.path : named.workspace === '' ? '.' : `./${named.workspace}`;
  return `${kind === 'read' ? 'reading' : 'changing'} ${short}`;
}

/** Rules with these names speak for the file: `Read` or `Edit`, and the tool's own. */
function namesFor(kind: 'read' | 'edit', tool: string): readonly string[] {
  const family = kind === 'read' ? READ_TOOLS : EDIT_TOOLS;
  const general = kind === 'read' ? 'Read' : 'Edit';
  return family.has(tool) && tool !== general ? [general, tool] : [general];
}

/** `otherwise`: in place of the mode, for what no rule is about. */
export function judgeFile(judging: Judging, file: JudgedFile, otherwise?: Finding): Finding {
  const part = partOf(file);
  const refused =
    ownFile(judging, file) ??
    (file.kind === 'edit' ? (runFile(judging, file) ?? folderOfOwn(judging, file)) : undefined) ??
    fileRule(judging, 'deny', file, true);
  if (refused !== undefined) return refused;
  const asked = fileRule(judging, 'ask', file, true);
  if (asked !== undefined) return asked;

  const entry = allowingRule(judging, file);
  const found =
    entry !== undefined
      ? byRule('allow', entry, part)
      : isOwnRead(judging, file)
        ? harmless('A session may read its own files.')
        : (otherwise ??
          byWorkspace(judging, file) ??
          byEdits(judging, file) ??
          byMode(judging, part, readsInside(file)));
  return found.behaviour === 'allow' ? (codeFileAsk(judging, file) ?? found) : found;
}

function readsInside({ kind, real }: JudgedFile): boolean {
  return kind === 'read' && real.workspace !== undefined;
}

/** An agent that must ask before it looks at its own folder is of no use where no person is there to answer. */
function byWorkspace(judging: Judging, file: JudgedFile): Finding | undefined {
  if (judging.mode !== 'ask' || !readsInside(file) || isCredential(judging, file)) return undefined;
  const part = partOf(file);
  return {
    behaviour: 'allow',
    because: { kind: 'workspace', part },
    message: `No rule is about ${part}, and reading inside the workspace needs no approval.`,
  };
}

/** Mode `allow-edits`: the tools that edit files may, inside the workspace. A command that does is no such tool. */
function byEdits(judging: Judging, file: JudgedFile): Finding | undefined {
  const { chosen, call } = judging;
  if (chosen !== 'allow-edits' || file.kind !== 'edit' || !EDIT_TOOLS.has(call.tool)) return undefined;
  const inside = file.named.workspace !== undefined && file.real.workspace !== undefined;
  if (!inside || isCredential(judging, file)) return undefined;
  const part = partOf(file);
  return {
    behaviour: 'allow',
    because: { kind: 'mode', mode: chosen, part },
    message: `Mode allow-edits allows ${part}, which is inside the workspace.`,
  };
}

/** Keys and passwords, where the workspace is the home or a folder above it. */
export function isCredential({ realHome, where }: Judging, { real }: JudgedFile): boolean {
  return isInside(where.location.root, realHome) && real.home !== undefined && isHomeSecret(real.home);
}

/** The gateway's own files, whatever the rules. */
export function ownFile(judging: Judging, file: JudgedFile): Finding | undefined {
  if (isOwnRead(judging, file)) return undefined;
  const what =
    judging.own.of(file.named.path) ??
    (file.real === file.named ? undefined : judging.own.of(file.real.path));
  if (what === undefined) return undefined;
  return {
    behaviour: 'deny',
    because: { kind: 'protected', part: file.named.path, what },
    message: `${file.named.path} is ${what}, which no tool may touch.`,
  };
}

/** Files that the gateway runs: reading them is as free as the rules have it. */
export function runFile({ own }: Judging, { kind, named, real }: JudgedFile): Finding | undefined {
  if (kind !== 'edit' || !(own.runs(named.path) || (real !== named && own.runs(real.path)))) return undefined;
  return mayNotChange(named.path, 'the gateway runs it');
}

/** A folder that is moved or removed takes with it what is below. */
export function folderOfOwn({ own }: Judging, { named, real }: JudgedFile): Finding | undefined {
  const either = (holds: (folder: string) => boolean): boolean =>
    holds(named.path) || (real !== named && holds(real.path));
  if (either(own.runsBelow)) return mayNotChange(named.path, 'the gateway runs it, or what is below it');
  if (either(own.below)) return mayNotChange(named.path, "the gateway's own files are below it");
  return undefined;
}

function mayNotChange(path: string, what: string): Finding {
  return {
    behaviour: 'deny',
    because: { kind: 'protected', part: path, what },
    message: `${path} may be changed by no tool: ${what}.`,
  };
}

/** A rule that denies or asks, about the file as named or where it leads. `bare`: rules without a path count. */
export function fileRule(
  judging: Judging,
  behaviour: 'deny' | 'ask',
  file: JudgedFile,
  bare: boolean,
): Finding | undefined {
  const entry = findRule(judging, behaviour, (index) => wideMatch(judging, index, file, bare));
  return entry === undefined ? undefined : byRule(behaviour, entry, partOf(file));
}

function wideMatch(
  judging: Judging,
  index: RuleIndex,
  file: JudgedFile,
  bare: boolean,
): RuleEntry | undefined {
  const { where, call } = judging;
  for (const name of namesFor(file.kind, call.tool)) {
    const entry =
      index.file(name, file.named, where) ??
      (file.real === file.named ? undefined : index.file(name, file.real, where)) ??
      (bare ? index.tool(name, where) : undefined);
    if (entry !== undefined) return entry;
  }
  return undefined;
}

/** A bare rule covers the workspace only; `*` is the one that covers everything. */
export function allowingRule(judging: Judging, file: JudgedFile): RuleEntry | undefined {
  const { where, call } = judging;
  const inside = file.real.workspace !== undefined;
  return findRule(judging, 'allow', (index) => {
    for (const name of namesFor(file.kind, call.tool)) {
      const entry = index.file(name, file.real, where) ?? (inside ? index.tool(name, where) : undefined);
      if (entry !== undefined) return entry;
    }
    return index.everything(where);
  });
}

/** Whole outputs of the session's own calls. */
export function isOwnRead({ where }: Judging, { kind, real }: JudgedFile): boolean {
  const own = where.location.ownPaths;
  return (
    kind === 'read' && own !== undefined && own.some((folder) => isInside(realTarget(folder), real.path))
  );
}

/** Writing it runs code, so that a rule for its whole folder is not enough: one with its own path is. */
export function codeFileAsk(judging: Judging, file: JudgedFile): Finding | undefined {
  if (file.kind !== 'edit') return undefined;
  const what =
    codeFile(file.named.workspace ?? file.named.path) ??
    (file.real === file.named ? undefined : codeFile(file.real.workspace ?? file.real.path));
  if (what === undefined) return undefined;
  const names = namesFor('edit', judging.call.tool);
  const exact = findRule(judging, 'allow', (index) => {
    for (const name of names) {
      const entry = index.exactFile(name, file.real, judging.where);
      if (entry !== undefined) return entry;
    }
    return undefined;
  });
  if (exact !== undefined) return undefined;
  return {
    behaviour: 'ask',
    because: { kind: 'protected', part: file.named.path, what },
    message: `${partOf(file)} is asked about whatever allows it: it is ${what}. A rule with exactly this path would allow it.`,
  };
}
