export type KeyPath = readonly (string | number)[];

/** A problem before it has a place. `flag` names what to blame where it is not in the file. */
export interface PathProblem {
  path: KeyPath;
  message: string;
  flag?: string;
}

/** Where the key at the end of a path stands in the file. */
export type Locate = (path: KeyPath) => { line: number; column: number } | undefined;

/** One thing that is wrong in the configuration. Never holds a value that could be a secret. */
export interface ConfigProblem {
  /** Key path as it is written in docs (`models."claude-*".upstream`), or the flag; empty for the whole file. */
  path: string;
  /** What was expected, what was found, and what to do. */
  message: string;
  line?: number;
  column?: number;
}

/** The configuration cannot be used. A command that meets it prints the message and ends with exit code 2. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly file: string | undefined;
  readonly problems: readonly ConfigProblem[];

  constructor(file: string | undefined, problems: readonly ConfigProblem[]) {
    super(problems.map((problem) => formatProblem(file, problem)).join('\n'));
    this.file = file;
    this.problems = problems;
  }
}

/** The problems with their places, in the order of the file. */
export function placedError(
  file: string | undefined,
  problems: readonly PathProblem[],
  locate?: Locate,
): ConfigError {
  const placed = problems.map(({ path, message, flag }): ConfigProblem => {
    const position = flag === undefined ? locate?.(path) : undefined;
    return { path: flag ?? formatPath(path), message, ...position };
  });
  placed.sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
  return new ConfigError(file, placed);
}

function formatProblem(file: string | undefined, problem: ConfigProblem): string {
  let line = file ?? '';
  if (line !== '' && problem.line !== undefined) line += `:${problem.line}:${problem.column ?? 1}`;
  if (line !== '') line += problem.path === '' ? ': ' : '  ';
  if (problem.path !== '') line += `${problem.path}: `;
  return line + problem.message;
}

/** `models."claude-*".upstream[1]`: a key is quoted where a dot in it would mislead. */
function formatPath(path: KeyPath): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += (text === '' ? '' : '.') + (/^[\w-]+$/.test(part) ? part : JSON.stringify(part));
  }
  return text;
}
