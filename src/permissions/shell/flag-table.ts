/**
 * Flags, sub-commands and operands by which known programs write, execute or send. A prefix rule
 * never covers them, whatever its words; an exact rule does. flag-examples.json has commands of
 * both kinds for every row, for a rule `Bash(PROGRAM:*)` (or the words before ` :: `).
 */
import {
  BUILTIN_ROWS,
  DEVELOPMENT_ROWS,
  INTERPRETER_ROWS,
  NETWORK_ROWS,
  WRAPPER_ROWS,
} from './flag-table-runners.js';
import { FURTHER_ROWS, GIT_ROW, TEXT_ROWS } from './flag-table-tools.js';

export interface FlagSet {
  /** Flags apart from each other by spaces: `-o`, `--output`. */
  writes?: string;
  executes?: string;
  sends?: string;
}

export interface ProgramRow extends FlagSet {
  /** Names that mean it; a version after the name (`python3.12`) is removed first. */
  programs: string;
  /** Whole flags that do no harm though they begin as one that does. */
  safe?: string;
  /** One-letter flags that take a value, which may be stuck to them. */
  valued?: string;
  /** Long flags that take a value in the next word. */
  valuedLong?: string;
  /**
   * The only flags that a prefix rule covers, for programs where one that is misread would run
   * something. Of a program with sub-commands: in front of the sub-command.
   */
  only?: string;
  /** A shell: `-V` does not ask for its version. */
  shell?: true;
  /** One, two or three dashes are the same to it. */
  anyDashes?: true;
  /** Flags have one dash and many letters (`find -exec`): compared whole. */
  singleDash?: true;
  /** The first word may be a bundle of flags without a dash (`tar xf`). */
  bareBundle?: true;
  /** The first operand says what is done; all but these must be named by the rule. */
  subcommands?: { harmless: string; flags?: Readonly<Record<string, FlagSet>>; never?: string };
  /**
   * What operands are: `first` names what runs and must be in the rule's own words; so must `all`;
   * `command` is a command that is run; with `always` there is no harmless use.
   */
  operands?: 'first' | 'all' | 'command' | 'always';
  /** Of `command`: how many operands stand before it. The command may then be covered by a rule of its own. */
  before?: number;
  /** Flags whose value names what runs, and must be in the rule's own words (`python -m`). */
  named?: string;
  /** Flags of a rule's own words with which there need be no operand. */
  modes?: string;
  /** Without an operand it runs what it finds (`make`). */
  bare?: 'runs';
  /** Checks of text in another language. */
  text?: 'sed' | 'awk' | 'git-config' | 'one-operand' | 'ps' | 'query';
}

export const FLAG_TABLE: readonly ProgramRow[] = [
  ...TEXT_ROWS,
  GIT_ROW,
  ...NETWORK_ROWS,
  ...INTERPRETER_ROWS,
  ...WRAPPER_ROWS,
  ...BUILTIN_ROWS,
  ...DEVELOPMENT_ROWS,
  ...FURTHER_ROWS,
];

const VERSION =
  /(?<=^(?:python|pypy|ruby|perl|node|php|lua|luajit|pip|gcc|clang|tclsh|wish|guile|java))-?[\d.]+$/;

const BY_PROGRAM: ReadonlyMap<string, ProgramRow> = new Map(
  FLAG_TABLE.flatMap((row) => row.programs.split(' ').map((name): [string, ProgramRow] => [name, row])),
);

/** `/usr/bin/python3.12` and `python` are the same program here. */
export function programName(word: string): string {
  const name = word.slice(word.lastIndexOf('/') + 1);
  return name.replace(VERSION, '');
}

export function programRow(program: string): ProgramRow | undefined {
  return BY_PROGRAM.get(programName(program));
}
