/** The script around a command, which reports the folder that the command ended in. */
import { BASH_LIMITS } from './limits.js';

interface ShellScript {
  /** An argument of bash. */
  script: string;
  /** What it reads from descriptor 4: the command, where it is too long for an argument. */
  command?: string;
}

/** On one line, whatever is in it. */
export function quote(word: string): string {
  const escaped = word.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n');
  return `$'${escaped}'`;
}

/**
 * Folder and exported variables are written to the descriptor that the command was given, moved out of the way of
 * scripts that use 3 themselves; its number stands in the function, where no variable of the command changes it.
 * It is written once when the command returns, and from a trap when it calls
 * `exit`. Jobs that still run are reported as well. `eval` keeps a syntax error what it is: bash's
 * message and a status; all stands on one line, so that the message counts the command's own lines.
 */
export function shellScript(command: string, variables = ''): ShellScript {
  const short = command.length > BASH_LIMITS.scriptBytes ? undefined : around(variables, quote(command));
  if (short !== undefined && Buffer.byteLength(short) <= BASH_LIMITS.scriptBytes) return { script: short };
  const read = "IFS= builtin read -rd '' -u 4 __toolgate_command; exec 4<&-; ";
  return { script: around(`${variables}${read}`, '"$__toolgate_command"'), command };
}

function around(before: string, command: string): string {
  const most = BASH_LIMITS.variableBytes;
  const report = [
    "[[ -z $(builtin jobs -pr) ]] || builtin printf 'jobs\\0'",
    "builtin pwd -P && builtin printf '\\0'",
    "builtin printf 'env\\0'",
    // In a shell of its own, where an exported IFS keeps its value: `local` would hand its mark on.
    // One that is cut here is too long to be kept.
    `builtin compgen -e | while IFS= builtin read -r __toolgate_n; do __toolgate_v=\${!__toolgate_n-}; builtin printf '=%s=%s\\0' "$__toolgate_n" "\${__toolgate_v:0:${most}}"; done`,
    "builtin printf 'end\\0'",
  ].join('; ');
  return [
    'exec {__toolgate_fd}>&3 3>&-',
    `eval ${quote(`__toolgate_report() { { ${report}; } 2>/dev/null >&`)}"$__toolgate_fd; }"`,
    'unset __toolgate_fd',
    'trap __toolgate_report EXIT',
    `${before}eval ${command}`,
    '__toolgate_status=$?',
    '__toolgate_report',
    'exit "$__toolgate_status"',
  ].join('; ');
}

interface ShellReport {
  folder: string | undefined;
  /** Commands that the shell had put in the background still ran. */
  jobs: boolean;
  /** Exported variables at the end, where the report came to its end. */
  variables: ReadonlyMap<string, string> | undefined;
}

/** Of folders the last one that was written whole: a command may write there as well. */
export function readReport(captured: string): ShellReport {
  const records = captured
    .slice(0, captured.lastIndexOf('\0') + 1)
    .split('\0')
    .slice(0, -1);
  const folder = records.filter((record) => record.startsWith('/')).at(-1);
  const end = records.lastIndexOf('end');
  const begun = records.lastIndexOf('env', end);
  const variables = records.slice(begun + 1, end).filter((record) => record.startsWith('='));
  return {
    folder: folder?.replace(/\n$/, ''),
    jobs: records.includes('jobs'),
    variables: begun !== -1 && end !== -1 ? new Map(variables.map(readVariable)) : undefined,
  };
}

function readVariable(record: string): [name: string, value: string] {
  const end = record.indexOf('=', 1);
  return [record.slice(1, end), record.slice(end + 1)];
}
