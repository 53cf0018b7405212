/** What a command is, and what it may use of the process. */
import type { Environment } from '../../config/environment-references.js';

export interface Command {
  name: string;
  /** One line for the list of commands. */
  summary: string;
  /** Behind the program's name, without the options. */
  usage: string;
  options: OptionTable;
  /** How many words may follow the command's name. */
  positionals?: number;
  /** The words after `--`, passed through, for help; absent: none are allowed. */
  passthrough?: string;
  /** Resolves with the exit code. Throws UsageError and ConfigError for what the caller explains. */
  run(args: ParsedArguments, io: CliIo): Promise<number>;
}

export type OptionTable = Readonly<Record<string, OptionSpec>>;

interface OptionSpec {
  /** What stands for the value in help; absent for a switch. */
  value?: string;
  short?: string;
  summary: string;
}

export interface ParsedArguments {
  values: Readonly<Record<string, string | undefined>>;
  switches: ReadonlySet<string>;
  positionals: readonly string[];
  /** Behind `--`. */
  rest: readonly string[];
}

export interface CliIo {
  /** Adds the line break. Secrets are taken out: those given to `hide`, those of the environment, and by their shape. */
  out(line: string): void;
  err(line: string): void;
  /** For the one secret that is meant to be shown: the console's token. */
  outVerbatim(line: string): void;
  /** Values that must not be printed from now on. */
  hide(secrets: readonly string[]): void;
  /** Asks the person at the terminal; absent where there is none. */
  ask?: ((question: string) => Promise<string>) | undefined;
  env: Environment;
  cwd: string;
  /** Whether words may be coloured on stdout. */
  color: boolean;
  version: string;
  /** How the person calls this program, for messages that say what to type. */
  program: string;
}

export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

/** Wrong arguments: printed with the usage, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
