/** Commands of the shell itself. Several evaluate `a[$(…)]` even in a word that is quoted. */
import type { ProgramRow } from './flag-table.js';

export const BUILTIN_ROWS: readonly ProgramRow[] = [
  {
    programs:
      'eval exec source . builtin trap alias unalias enable hash mapfile readarray complete compgen bind fc coproc let declare typeset local export readonly unset read getopts set shopt setopt unsetopt emulate autoload zmodload zcompile wait',
    operands: 'always',
  },
  {
    programs: 'printf test [',
    executes: '-v',
    singleDash: true,
  },
];
