/**
 * Whether a command only reads. Every part of it must be a known program with known flags; says
 * nothing about which files may be read, and gives no permission by itself.
 */
import { READS_OTHERS } from './flags.js';
import { readPlain } from './lexer.js';
import { READ_ONLY_PROGRAMS, type ReadOnlyProgram, VERSION_ONLY } from './read-only-table.js';
import { sedOnlyPrints } from './sed-script.js';

export function isReadOnlyCommand(command: string): boolean {
  const reading = readPlain(command);
  return reading.plain && reading.commands.every(({ words }) => onlyReads(words));
}

function onlyReads(words: readonly string[]): boolean {
  const [program = '', ...rest] = words;
  if (rest.length === 1 && VERSION_ONLY.test(program)) {
    // For some shells `-V` is a mode of editing, with which they run what they read.
    if (rest[0] === '--version' || (rest[0] === '-V' && !/sh$/.test(program))) return true;
  }
  const row = READ_ONLY_PROGRAMS.get(program);
  if (row === undefined) return false;
  const operands: string[] = [];
  let flagsOver = false;
  for (const word of rest) {
    if (flagsOver || !word.startsWith('-') || word === '-') operands.push(word);
    else if (word === '--') flagsOver = true;
    else if (!knownFlag(word, row, program)) return false;
  }
  if (row.operands !== undefined && operands.length > row.operands) return false;
  // `date 01010000` would set the clock.
  if (program === 'date' && operands.some((operand) => !operand.startsWith('+'))) return false;
  if (row.subcommands !== undefined && !knownSubcommand(rest, operands, row)) return false;
  if (row.text === 'query') return !rest.some((word) => READS_OTHERS.test(word));
  return row.text !== 'sed' || (operands[0] !== undefined && sedOnlyPrints(operands[0]));
}

/** The sub-command stands in front of everything but `--no-pager`. */
function knownSubcommand(
  rest: readonly string[],
  operands: readonly string[],
  row: ReadOnlyProgram,
): boolean {
  const first = rest[0] === '--no-pager' ? rest[1] : rest[0];
  return first !== undefined && first === operands[0] && (row.subcommands ?? '').split(' ').includes(first);
}

function knownFlag(word: string, row: ReadOnlyProgram, program: string): boolean {
  const name = word.replace(/=.*$/s, '');
  const long = (row.long ?? '').split(' ');
  if (word.startsWith('--')) return long.includes(name.slice(2));
  if ((program === 'find' || program === 'test') && long.includes(name.slice(1))) return true;
  if (program === 'find') return /^-[LPH]$/.test(word);
  if (row.numbers === true && /^-\d+$/.test(word)) return true;
  // A value may be stuck to the last letter: `-n5`, `-rk2,3`.
  return /^-[A-Za-z0-9]/.test(word) && lettersKnown(word.slice(1), row.letters ?? '');
}

function lettersKnown(bundle: string, letters: string): boolean {
  const flags = bundle.replace(/^([A-Za-z]+)[\d,./:+@^~][^A-Za-z]*$/, '$1');
  return [...flags].every((letter) => letters.includes(letter));
}
