/** Where each command of a line may run: `cd` in front of it moves it, if it succeeds. */
import { resolve } from 'node:path';
import type { SimpleCommand } from './analyse.js';
import { programName } from './flag-table.js';

export interface Folders {
  /** Every folder that it may be, the session's own first. */
  cwds: readonly string[];
  /** A `cd` to a folder that the text does not determine came before. */
  unknown: boolean;
}

/** No ordinary command has more folders than this in one line. */
const MAX_FOLDERS = 16;

/** `plain`: the commands follow one another, so that `&&` means that a `cd` has succeeded. */
export function foldersOfCommands(
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
