/** The script around a command, which tells where the command ended. */

/** On one line, whatever is in it. */
export function quote(word: string): string {
  const escaped = word.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n');
  return `$'${escaped}'`;
}

/**
 * The folder is written to the descriptor that the command was given, moved out of the way of
 * scripts that use 3 themselves: once when the command returns, and from a trap when it calls
 * `exit`. Jobs that still run are told of as well. `eval` keeps a syntax error what it is: bash's
 * message and a status; all stands on one line, so that the message counts the command's own lines.
 */
export function shellScript(command: string): string {
  const report =
    "[[ -z $(builtin jobs -pr) ]] || builtin printf 'jobs\\0'; builtin pwd -P && builtin printf '\\0'";
  return [
    'exec {TOOLGATE_REPORT}>&3 3>&-',
    `__toolgate_report() { { ${report}; } 2>/dev/null >&"$TOOLGATE_REPORT"; }`,
    'trap __toolgate_report EXIT',
    `eval ${quote(command)}`,
    '__toolgate_status=$?',
    '__toolgate_report',
    'exit $__toolgate_status',
  ].join('; ');
}

export interface ShellReport {
  folder: string | undefined;
  /** Commands that the shell had put in the background still ran. */
  jobs: boolean;
}

/** Of folders the last one that was written whole: a command may write there as well. */
export function readReport(captured: string): ShellReport {
  const records = captured
    .slice(0, captured.lastIndexOf('\0') + 1)
    .split('\0')
    .slice(0, -1);
  const folder = records.filter((record) => record.startsWith('/')).at(-1);
  return { folder: folder?.replace(/\n$/, ''), jobs: records.includes('jobs') };
}
