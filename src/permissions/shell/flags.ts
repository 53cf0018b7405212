/** Whether a prefix rule whose words match may cover a command: what flag-table.ts says, applied. */
import { abbreviates } from './file-programs.js';
import { type FlagSet, type ProgramRow, programName, programRow } from './flag-table.js';
import { sedOnlyPrints, sedScripts } from './sed-script.js';

export interface Danger {
  part: string;
  problem: string;
}

/** Whether the command that a wrapper runs is covered by a rule of its own; undefined: it is. */
type InnerCheck = (words: readonly string[]) => Danger | undefined;

const INFORMATION = new Set(['--version', '--help']);
/** For some shells a mode of editing, with which they run what they read. */
const SHORT_INFORMATION = new Set(['-version', '-V']);

const DOES = { writes: 'writes', executes: 'runs code or reads settings that can', sends: 'sends' } as const;

/**
 * What in `words` no prefix rule covers. `named`: how many of the first words are the rule's own.
 */
export function uncovered(words: readonly string[], named: number, inner: InnerCheck): Danger | undefined {
  const program = words[0];
  if (program === undefined) return undefined;
  const row = programRow(program);
  if (row === undefined) return undefined;
  const second = words[1];
  if (words.length === 2 && second !== undefined) {
    if (INFORMATION.has(second) || (row.shell !== true && SHORT_INFORMATION.has(second))) return undefined;
  }
  const table = compiled(row);
  const name = programName(program);
  const operands = operandsOf(words, row, table);
  return (
    flagDanger(words, named, row, table, operands, name) ??
    unknownFlag(words, named, row, table, operands, name) ??
    subcommandDanger(words, named, row, operands, name) ??
    operandDanger(words, named, row, operands, name, inner) ??
    textDanger(words, row, operands, name)
  );
}

/** The index of the sub-command; after the last word if there is none. */
export function subcommandAt(words: readonly string[]): number {
  const row = programRow(words[0] ?? '');
  return row === undefined ? words.length : (operandsOf(words, row, compiled(row))[0] ?? words.length);
}

/** Whether a program writes a file that one of its words names, though it usually only reads them. */
export function writesFiles(words: readonly string[]): boolean {
  const row = programRow(words[0] ?? '');
  if (row === undefined) return false;
  const table = compiled(row);
  const operands = operandsOf(words, row, table);
  if (row.text === 'one-operand' && operands.length > 1) return true;
  const first = operands[0] ?? words.length;
  return words.some(
    (word, at) =>
      at > 0 &&
      isFlag(word) &&
      tablesAt(words, row, table, first, at).some(
        (flags) => oneFlag(word, at, row, flags)?.does === 'writes',
      ),
  );
}

/** Values of flags by which a program runs something: `--pre x`, `-c alias.z=!x`. They may be commands. */
export function executedValues(words: readonly string[]): string[] {
  const row = programRow(words[0] ?? '');
  if (row === undefined) return [];
  const table = compiled(row);
  const first = operandsOf(words, row, table)[0] ?? words.length;
  const found: string[] = [];
  for (let at = 1; at < words.length && found.length < MAX_VALUES; at += 1) {
    const word = words[at] ?? '';
    for (const flags of tablesAt(words, row, table, first, at)) {
      const hit = isFlag(word) ? oneFlag(word, at, row, flags) : undefined;
      if (hit?.does !== 'executes') continue;
      const letter = hit.flag.length === 2 ? word.indexOf(hit.flag.charAt(1)) : -1;
      const stuck = letter === -1 ? word.replace(/^[^=]*=?/s, '') : word.slice(letter + 1);
      found.push(...[stuck, words[at + 1] ?? ''].filter((value) => value !== ''));
    }
  }
  return found;
}

const MAX_VALUES = 40;

/** The flags of the program, and those of the sub-command or in front of it. */
function tablesAt(
  words: readonly string[],
  row: ProgramRow,
  table: CompiledRow,
  first: number,
  at: number,
): CompiledFlags[] {
  const sub = row.subcommands === undefined ? undefined : words[first];
  const further = at < first ? table.subcommands.get('') : table.subcommands.get(sub ?? '\0');
  return further === undefined ? [table] : [table, further];
}

interface CompiledFlags {
  letters: ReadonlyMap<string, keyof FlagSet>;
  /** With two dashes: an abbreviation counts. */
  long: readonly (readonly [string, keyof FlagSet])[];
  /** With one dash and several letters, or find's kind: compared whole. */
  whole: ReadonlyMap<string, keyof FlagSet>;
}

interface CompiledRow extends CompiledFlags {
  harmless: ReadonlySet<string>;
  valuedLong: ReadonlySet<string>;
  /** Of those, with two dashes and without them. */
  valuedNames: readonly string[];
  only: ReadonlySet<string> | undefined;
  onlyNames: readonly string[];
  named: ReadonlySet<string>;
  subcommands: ReadonlyMap<string, CompiledFlags>;
}

const COMPILED = new WeakMap<ProgramRow, CompiledRow>();

function compiled(row: ProgramRow): CompiledRow {
  const known = COMPILED.get(row);
  if (known !== undefined) return known;
  const made: CompiledRow = {
    ...compileFlags(row),
    harmless: new Set(list(row.subcommands?.harmless)),
    valuedLong: new Set(list(row.valuedLong)),
    valuedNames: longNames(row.valuedLong),
    only: row.only === undefined ? undefined : new Set(list(row.only)),
    onlyNames: longNames(row.only),
    named: new Set(list(row.named)),
    subcommands: new Map(
      Object.entries(row.subcommands?.flags ?? {}).map(([name, flags]) => [name, compileFlags(flags)]),
    ),
  };
  COMPILED.set(row, made);
  return made;
}

function compileFlags(flags: FlagSet): CompiledFlags {
  const letters = new Map<string, keyof FlagSet>();
  const long: [string, keyof FlagSet][] = [];
  const whole = new Map<string, keyof FlagSet>();
  for (const does of ['writes', 'executes', 'sends'] as const) {
    for (const flag of list(flags[does])) {
      if (flag.startsWith('--')) long.push([flag, does]);
      else if (/^-.$/.test(flag)) letters.set(flag.charAt(1), does);
      else whole.set(flag, does);
    }
  }
  return { letters, long, whole };
}

const list = (text: string | undefined): string[] =>
  text === undefined || text === '' ? [] : text.split(' ');

const longNames = (text: string | undefined): string[] =>
  list(text).flatMap((flag) => (flag.startsWith('--') ? [flag.slice(2)] : []));

const isFlag = (word: string): boolean => word.length > 1 && word.startsWith('-') && word !== '--';

/** Indices of the words that are neither flags nor their values. */
function operandsOf(words: readonly string[], row: ProgramRow, table: CompiledRow): number[] {
  const found: number[] = [];
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--') continue;
    if (!isFlag(word)) found.push(at);
    else if (table.valuedLong.has(word) || takesNext(word, row)) at += 1;
    else if (!word.includes('=') && abbreviates(word, table.valuedNames)) at += 1;
  }
  return found;
}

/** `-k 5`, `-rk 5`, but not `-k5`. */
function takesNext(word: string, row: ProgramRow): boolean {
  if (row.valued === undefined || word.startsWith('--')) return false;
  for (let at = 1; at < word.length; at += 1) {
    if (row.valued.includes(word.charAt(at))) return at === word.length - 1;
  }
  return false;
}

function flagDanger(
  words: readonly string[],
  named: number,
  row: ProgramRow,
  table: CompiledRow,
  operands: readonly number[],
  name: string,
): Danger | undefined {
  const first = operands[0] ?? words.length;
  // Words after the script are the script's own arguments.
  const end =
    row.operands === 'first' || (row.operands === 'command' && row.before !== undefined)
      ? first
      : words.length;
  for (let at = 1; at < end; at += 1) {
    const word = words[at] ?? '';
    for (const flags of tablesAt(words, row, table, first, at)) {
      const hit =
        oneFlag(word, at, row, flags) ?? (row.anyDashes === true ? anyDashes(word, flags) : undefined);
      if (hit === undefined) continue;
      return { part: `${name} ${hit.flag}`, problem: `${DOES[hit.does]} (${hit.flag})` };
    }
    const danger = namedDanger(word, at, named, table, name);
    if (danger !== undefined) return danger;
  }
  return undefined;
}

/** `-prefix=x` and `---prefix=x` are `--prefix=x`. */
function anyDashes(word: string, flags: CompiledFlags): { flag: string; does: keyof FlagSet } | undefined {
  const head = `--${/^-+([^=]*)/.exec(word)?.[1] ?? ''}`;
  const hit = head.length < 4 ? undefined : flags.long.find(([flag]) => flag.startsWith(head));
  return hit === undefined ? undefined : { flag: hit[0], does: hit[1] };
}

/**
 * A flag that is not among the only ones of the row: what it does, and whether the next word is its
 * value, is not known. Of a program with sub-commands, those in front of the sub-command count.
 */
function unknownFlag(
  words: readonly string[],
  named: number,
  row: ProgramRow,
  table: CompiledRow,
  operands: readonly number[],
  name: string,
): Danger | undefined {
  const { only } = table;
  if (only === undefined) return undefined;
  const first = operands[0] ?? words.length;
  const end = row.subcommands !== undefined || row.operands === 'command' ? first : words.length;
  for (let at = Math.max(1, row.subcommands === undefined ? 1 : named); at < end; at += 1) {
    const word = words[at] ?? '';
    if (word === '--') return undefined;
    if (!isFlag(word)) continue;
    if (word.startsWith('--') ? abbreviates(word, table.onlyNames) : bundleOf(word, row, only)) continue;
    return { part: `${name} ${word}`, problem: 'has a flag that is not known to do no harm' };
  }
  return undefined;
}

function bundleOf(word: string, row: ProgramRow, only: ReadonlySet<string>): boolean {
  if (only.has(word)) return true;
  if (row.singleDash === true) return false;
  for (const letter of word.slice(1)) {
    if (!only.has(`-${letter}`)) return false;
    if (row.valued?.includes(letter) === true) return true;
  }
  return true;
}

function oneFlag(
  word: string,
  at: number,
  row: ProgramRow,
  flags: CompiledFlags,
): { flag: string; does: keyof FlagSet } | undefined {
  const equals = word.indexOf('=');
  const head = equals === -1 ? word : word.slice(0, equals);
  for (const [flag, does] of flags.whole) {
    if (head === flag || (flag === '@' && word.startsWith('@'))) return { flag, does };
  }
  if (word.startsWith('--')) {
    if (head.length < 3 || list(row.safe).includes(head)) return undefined;
    const hit = flags.long.find(([flag]) => flag.startsWith(head));
    return hit === undefined ? undefined : { flag: hit[0], does: hit[1] };
  }
  const bundle = isFlag(word) ? word.slice(1) : at === 1 && row.bareBundle === true ? word : '';
  if (row.singleDash === true) {
    const does = flags.letters.get(bundle.charAt(0));
    // A compiler's `-Wall` is no bundle; `-Bdir` is a flag with its value.
    const alone = head.length === 2 || bundle.charAt(0) === 'B';
    return does === undefined || !alone ? undefined : { flag: `-${bundle.charAt(0)}`, does };
  }
  for (const letter of bundle) {
    const does = flags.letters.get(letter);
    if (does !== undefined) return { flag: `-${letter}`, does };
    if (row.valued?.includes(letter) === true && row.bareBundle !== true) return undefined;
  }
  return undefined;
}

function namedDanger(
  word: string,
  at: number,
  named: number,
  table: CompiledRow,
  name: string,
): Danger | undefined {
  if (!isFlag(word) || word.startsWith('--')) return undefined;
  for (let index = 1; index < word.length; index += 1) {
    const flag = `-${word.charAt(index)}`;
    if (!table.named.has(flag)) continue;
    const value = index === word.length - 1 ? at + 1 : at;
    return value < named ? undefined : notNamed(name, flag);
  }
  return undefined;
}

function notNamed(name: string, what: string): Danger {
  return { part: `${name} ${what}`, problem: 'does something that the rule does not name' };
}

function subcommandDanger(
  words: readonly string[],
  named: number,
  row: ProgramRow,
  operands: readonly number[],
  name: string,
): Danger | undefined {
  const at = operands[0];
  if (row.subcommands === undefined || at === undefined) return undefined;
  const sub = words[at] ?? '';
  for (const entry of list(row.subcommands.never)) {
    const [never, word = ''] = entry.split(':');
    if (never !== sub || (word !== '' && !words.includes(word, at))) continue;
    return { part: `${name} ${sub}${word === '' ? '' : ` ${word}`}`, problem: `${DOES.executes} (${sub})` };
  }
  if (at < named || compiled(row).harmless.has(sub)) return undefined;
  return notNamed(name, sub);
}

function operandDanger(
  words: readonly string[],
  named: number,
  row: ProgramRow,
  operands: readonly number[],
  name: string,
  inner: InnerCheck,
): Danger | undefined {
  const first = operands[0];
  switch (row.operands) {
    case undefined:
      return undefined;
    case 'always':
      return { part: name, problem: 'writes, runs or sends whatever its arguments say' };
    case 'first':
    case 'all': {
      if (first === undefined) {
        const mode = list(row.modes).some((flag) => words.slice(0, named).includes(flag));
        const runs = row.operands === 'first' || row.bare === 'runs';
        return mode || !runs ? undefined : { part: name, problem: 'runs what it reads or finds' };
      }
      // The value of `-m` was judged with its flag; what follows belongs to the module.
      if (list(row.modes).some((flag) => words.indexOf(flag) > 0 && words.indexOf(flag) < named))
        return undefined;
      const checked = row.operands === 'first' ? [first] : operands;
      const foreign = checked.find((at) => at >= named);
      return foreign === undefined ? undefined : notNamed(name, words[foreign] ?? '');
    }
    case 'command': {
      const at = operands[row.before ?? 0];
      if (at === undefined) return undefined;
      if (row.before === undefined) return { part: words.join(' '), problem: 'runs another command' };
      return inner(words.slice(at));
    }
  }
}

/** What `git config` may be asked, in the first word after it but for flags that say where to look. */
const CONFIG_READS = new Set(['--get', '--get-all', '--get-regexp', '--list', '-l', 'get', 'list']);
const CONFIG_FLAGS = new Set(
  '--global --system --local --worktree --show-origin --show-scope --name-only --includes --no-includes --null -z --all --regexp --bool --int --path'.split(
    ' ',
  ),
);

function onlyReadsConfig(rest: readonly string[]): boolean {
  const first = rest.findIndex((word) => !CONFIG_FLAGS.has(word));
  if (!CONFIG_READS.has(rest[first] ?? '')) return false;
  return rest.every((word, at) => at === first || !word.startsWith('-') || CONFIG_FLAGS.has(word));
}

/** `load("f")` of yq and its like, modules of jq, and the operator by which yq runs commands. */
export const READS_OTHERS = /(?<![.\w])(?:load(?:_\w+)?\s*\(|(?:import|include)\s*"|system\s*\()/;

function textDanger(
  words: readonly string[],
  row: ProgramRow,
  operands: readonly number[],
  name: string,
): Danger | undefined {
  switch (row.text) {
    case undefined:
      return undefined;
    case 'one-operand':
      return operands.length > 1
        ? { part: `${name} ${words[operands[1] ?? 0] ?? ''}`, problem: 'writes its second file' }
        : undefined;
    case 'awk': {
      const bad = words.find((word, at) => at > 0 && /system|getline|[|>@]/.test(word));
      return bad === undefined
        ? undefined
        : { part: `${name} ${bad}`, problem: 'may run commands or write files' };
    }
    case 'sed': {
      const bad = sedScripts(words).find((script) => !sedOnlyPrints(script));
      return bad === undefined
        ? undefined
        : { part: `${name} ${bad}`, problem: 'may run commands or write files' };
    }
    case 'ps':
      return operands.some((at) => /^[a-z]*e[a-z]*$/i.test(words[at] ?? ''))
        ? { part: `${name} e`, problem: 'shows the environment of other programs, with the keys in it' }
        : undefined;
    case 'query': {
      const bad = words.find((word, at) => at > 0 && READS_OTHERS.test(word));
      return bad === undefined ? undefined : { part: `${name} ${bad}`, problem: 'may read other files' };
    }
    case 'git-config': {
      const at = operands[0];
      if (at === undefined || words[at] !== 'config') return undefined;
      const rest = words.slice(at + 1);
      return onlyReadsConfig(rest)
        ? undefined
        : { part: 'git config', problem: 'changes settings that can run programs' };
    }
  }
}
