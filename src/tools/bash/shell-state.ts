/** What a session keeps from one command to the next: the folder, inside the workspace always, and exported variables. */
import { statSync } from 'node:fs';
import { FIXED_VARIABLES } from '../../workspace/process/command-environment.js';
import { isInside, realTarget } from '../../workspace/real-path.js';
import type { ToolContext } from '../runtime/context.js';
import { BASH_LIMITS } from './limits.js';
import { quote } from './shell-script.js';

/** By name; null where one that every command has was unset. */
export type KeptVariables = Map<string, string | null>;

export interface StartedWith {
  readonly environment: Readonly<Record<string, string>>;
  /** Of earlier commands; they win. */
  readonly variables: ReadonlyMap<string, string | null>;
}

/** What every shell sets and exports by itself. */
const OF_THE_SHELL = new Set(['PWD', 'OLDPWD', 'SHLVL', '_']);
/** What a shell does not let be set, or gives a value of its own. */
const NOT_TO_BE_SET = new Set(
  'UID EUID PPID SHELLOPTS BASHOPTS BASH BASHPID BASH_VERSION BASH_VERSINFO BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS BASH_COMMAND BASH_EXECUTION_STRING BASH_LINENO BASH_SOURCE BASH_SUBSHELL COMP_WORDBREAKS DIRSTACK EPOCHREALTIME EPOCHSECONDS FUNCNAME GROUPS HISTCMD LINENO OPTARG OPTERR OPTIND PIPESTATUS RANDOM REPLY SECONDS SRANDOM'.split(
    ' ',
  ),
);
/** No program takes a plain word in one for something to run. With a path in it, some name a file to load. */
const HARMLESS = new Set(
  'CI NODE_ENV RAILS_ENV RACK_ENV APP_ENV FLASK_ENV PORT LOG_LEVEL RUST_LOG RUST_BACKTRACE FORCE_COLOR COLUMNS LINES'.split(
    ' ',
  ),
);
const PLAIN_WORD = /^\w+$/;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Takes over what a command changed. Gives a note for the model, where there is something to know. */
export function keepVariables(
  kept: KeptVariables,
  { environment, variables }: StartedWith,
  after: ReadonlyMap<string, string>,
): string | undefined {
  const started = new Map<string, string>(Object.entries(environment));
  for (const [name, value] of variables) {
    if (value === null) started.delete(name);
    else started.set(name, value);
  }
  const dropped: string[] = [];
  const judged: string[] = [];
  for (const name of new Set([...started.keys(), ...after.keys()])) {
    const value = after.get(name);
    if (value === started.get(name)?.slice(0, BASH_LIMITS.variableBytes) || !NAME.test(name) || isOwn(name))
      continue;
    if (Object.hasOwn(FIXED_VARIABLES, name) || NOT_TO_BE_SET.has(name)) dropped.push(name);
    else if (value === undefined) {
      if (Object.hasOwn(environment, name)) kept.set(name, null);
      else kept.delete(name);
    } else if (fits(kept, name, value)) {
      kept.set(name, value);
      if (!isHarmless(name, value)) judged.push(name);
    } else dropped.push(name);
  }
  const notes = [
    judged.length === 0
      ? undefined
      : `Kept for later commands: ${judged.join(', ')}. Rules that allow commands by their words, all or the first, do not cover a command that runs with ${judged.length === 1 ? 'it' : 'them'}, until unset.`,
    dropped.length === 0
      ? undefined
      : `Not kept for later commands: ${dropped.join(', ')}. Set ${dropped.length === 1 ? 'it' : 'them'} in each command that needs ${dropped.length === 1 ? 'it' : 'them'}.`,
  ].filter((note) => note !== undefined);
  return notes.length === 0 ? undefined : notes.join(' ');
}

const isHarmless = (name: string, value: string | null): boolean =>
  HARMLESS.has(name) && (value === null || PLAIN_WORD.test(value));

const isOwn = (name: string): boolean =>
  OF_THE_SHELL.has(name) || /^(?:TOOLGATE|__toolgate|BASH_FUNC)/.test(name);

function fits(kept: KeptVariables, name: string, value: string): boolean {
  const others = [...kept].filter(([other]) => other !== name);
  const bytes = others.reduce((sum, [other, text]) => sum + size(other, text ?? ''), size(name, value));
  return bytes <= BASH_LIMITS.variableBytes && others.length < BASH_LIMITS.variables;
}

const size = (name: string, value: string): number => Buffer.byteLength(`export ${name}=${quote(value)}; `);

/** The lines of a script that sets them, on one line. */
export function settingVariables(kept: ReadonlyMap<string, string | null>, all: boolean): string {
  return [...kept]
    .filter(([name, value]) => all || !isHarmless(name, value))
    .map(([name, value]) => (value === null ? `unset ${name}; ` : `export ${name}=${quote(value)}; `))
    .join('');
}

export interface FoundFolder {
  cwd: string;
  /** Where the folder that it was judged in is no more. */
  note?: string;
}

/** Before a command. */
export function findFolder({
  shell: { cwd },
  session,
  workspace,
}: Pick<ToolContext, 'shell' | 'session' | 'workspace'>): FoundFolder {
  if (isFolder(cwd) && isInside(workspace.root, realTarget(cwd))) return { cwd };
  if (session.cwd === cwd) session.cwd = workspace.root;
  return {
    cwd: workspace.root,
    note: `The folder ${cwd} is not there any more: the command ran in ${workspace.root}.`,
  };
}

/** After a command that went from `cwd` to `folder`. Resolves to a note where it may not stay there. */
export function moveTo(
  folder: string | undefined,
  cwd: string,
  { session, workspace }: Pick<ToolContext, 'session' | 'workspace'>,
): string | undefined {
  if (folder === undefined) return undefined;
  const real = realTarget(folder);
  if (isInside(workspace.root, real) && isFolder(real)) {
    // One that stayed where it was does not undo what another did meanwhile.
    if (real !== realTarget(cwd) || session.cwd === cwd) session.cwd = real;
    return undefined;
  }
  session.cwd = workspace.root;
  return isFolder(real)
    ? `The command left the workspace (${real}): the next one starts in ${workspace.root} again.`
    : `The folder that the command ended in is gone: the next one starts in ${workspace.root}.`;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
