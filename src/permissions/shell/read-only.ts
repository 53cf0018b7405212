/**
 * Whether a command only reads. Every part of it must be a known program with known flags; says
 * nothing about which files may be read, and gives no permission by itself.
 */
import { READS_OTHERS } from './flags.js';
import { readPlain } from './lexer.js';
import { sedOnlyPrints } from './sed-script.js';

/**
 * Programs and flags that only read, by an allow-list: what is not here is taken to write. Used to
 * run commands side by side and in mode `read-only`; no rule is made of it.
 */
interface ReadOnlyProgram {
  /** One-letter flags. */
  letters?: string;
  /** Long flags without their dashes; find's kind of flags have one dash. */
  long?: string;
  /** Sub-commands that only read; each with the flags above and its own. */
  subcommands?: string;
  /** At most this many operands. */
  operands?: number;
  /** A number as a flag: `head -5`. */
  numbers?: true;
  /** The first operand is a sed script, which must only print; a query must read no other file. */
  text?: 'sed' | 'query';
}

const rows: readonly (readonly [string, ReadOnlyProgram])[] = [
  ['pwd whoami true false : logname tty nproc arch', { letters: 'LP' }],
  ['echo', { letters: 'neE' }],
  ['printf basename dirname seq sleep', { letters: 'azsw', long: 'suffix zero multiple' }],
  [
    'ls dir vdir',
    {
      letters: 'aAbBcCdfFgGhHiIklLmnNopqQrRsStTuUvwxXZ1',
      long: 'all almost-all author escape block-size classify color directory group-directories-first human-readable inode dereference numeric-uid-gid recursive reverse size sort time time-style full-time ignore hide indicator-style file-type format',
    },
  ],
  [
    'cat',
    {
      letters: 'AbeEnstTuv',
      long: 'number number-nonblank show-all show-ends show-tabs squeeze-blank show-nonprinting',
    },
  ],
  ['head', { letters: 'cnqvz', long: 'lines bytes quiet verbose', numbers: true }],
  ['tail', { letters: 'cnqvz', long: 'lines bytes quiet verbose', numbers: true }],
  ['wc', { letters: 'clLmw', long: 'bytes chars lines words max-line-length' }],
  [
    'nl tac rev fold expand unexpand',
    { letters: 'abdfhilnpsvwt', long: 'before separator regex width spaces bytes tabs' },
  ],
  [
    'cut paste',
    {
      letters: 'bcdfnsz',
      long: 'bytes characters delimiter delimiters fields only-delimited complement serial output-delimiter',
    },
  ],
  ['tr', { letters: 'cCdst', long: 'complement delete squeeze-repeats truncate-set1' }],
  [
    'sort',
    {
      letters: 'bdfghikMnrRsStuVz',
      long: 'ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort key month-sort numeric-sort reverse random-sort stable field-separator unique version-sort zero-terminated check',
    },
  ],
  [
    'uniq',
    {
      letters: 'cdDfisuwz',
      long: 'count repeated skip-fields ignore-case skip-chars unique check-chars',
      operands: 1,
    },
  ],
  [
    'comm cmp',
    { letters: '123bilns', long: 'print-bytes ignore-initial verbose bytes quiet silent nocheck-order' },
  ],
  [
    'diff',
    {
      letters: 'abBcdeEiIlnNpqrsStTuUwWxXyZ',
      long: 'unified context brief side-by-side recursive new-file ignore-case ignore-all-space ignore-space-change ignore-blank-lines exclude color width label report-identical-files text minimal',
      numbers: true,
    },
  ],
  [
    'grep egrep fgrep',
    {
      letters: 'aABcCeEfFGhHiIlLmnoPqrRsvwxyzZ',
      long: 'extended-regexp fixed-strings basic-regexp perl-regexp regexp file ignore-case no-ignore-case invert-match word-regexp line-regexp count color colour files-without-match files-with-matches max-count only-matching quiet silent no-messages byte-offset with-filename no-filename line-number null after-context before-context context text binary-files include exclude exclude-dir exclude-from recursive dereference-recursive',
      numbers: true,
    },
  ],
  [
    'rg',
    {
      letters: 'aABcCeEfFgHhiIlLmMNnopPqrsSTtUuvVwx0',
      long: 'after-context before-context context count count-matches regexp file files files-with-matches files-without-match fixed-strings glob iglob hidden ignore-case smart-case case-sensitive invert-match line-number no-line-number max-count max-columns max-depth multiline multiline-dotall no-heading heading no-ignore only-matching pcre2 quiet replace sort sortr stats type type-list type-not trim word-regexp line-regexp with-filename no-filename vimgrep json color colors column no-messages null text unrestricted',
    },
  ],
  [
    'find',
    {
      letters: 'LPH',
      long: 'name iname path ipath wholename regex iregex type maxdepth mindepth size mtime mmin atime amin ctime cmin newer empty perm user group nouser nogroup not and or prune print print0 depth xdev mount follow links inum readable writable executable true false a o ls printf samefile regextype',
    },
  ],
  [
    'tree',
    { letters: 'adfiLpsughDFrtxCnIP', long: 'noreport dirsfirst gitignore prune charset filelimit sort' },
  ],
  ['stat', { letters: 'cfLt', long: 'format printf dereference file-system terse' }],
  ['file', { letters: 'bhiLkN', long: 'brief mime mime-type mime-encoding dereference' }],
  [
    'du df',
    {
      letters: 'abcdhHkmsxPTit',
      long: 'all bytes total human-readable max-depth summarize apparent-size si exclude type inodes',
    },
  ],
  [
    'readlink realpath',
    {
      letters: 'emfnqszL',
      long: 'canonicalize canonicalize-existing canonicalize-missing no-newline relative-to relative-base',
    },
  ],
  [
    'md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum',
    { letters: 'btz', long: 'binary text tag' },
  ],
  [
    'od hexdump strings',
    { letters: 'AabcCdfijlnNostvwx', long: 'address-radix skip-bytes read-bytes format bytes radix' },
  ],
  ['base64', { letters: 'diw', long: 'decode wrap ignore-garbage' }],
  [
    'jq',
    {
      text: 'query',
      letters: 'acCejMnrsS',
      long: 'arg argjson compact-output exit-status null-input raw-output raw-input slurp sort-keys tab indent join-output color-output monochrome-output',
    },
  ],
  ['date', { letters: 'uIR', long: 'utc iso-8601 rfc-3339 rfc-email date', operands: 1 }],
  ['uname', { letters: 'amnoprsv', long: 'all', operands: 0 }],
  ['id groups', { letters: 'gGnru', long: 'group groups name real user' }],
  ['hostname', { letters: 'fsid', operands: 0 }],
  ['which', { letters: 'a' }],
  ['type', { letters: 'afpPt' }],
  ['test', { letters: 'abcdefghknoprstuwxzGLNOS', long: 'eq ne lt le gt ge nt ot ef' }],
  [
    'sed',
    {
      letters: 'nErsuz',
      long: 'quiet silent regexp-extended separate unbuffered null-data posix sandbox debug',
      text: 'sed',
    },
  ],
  [
    'git',
    {
      subcommands:
        'status log diff show blame annotate ls-files ls-tree rev-parse rev-list describe shortlog grep cat-file merge-base name-rev for-each-ref show-ref check-ignore count-objects version',
      letters: 'abcdefhilmnopqrstuvwxzABCDEFGHIKLMNPRSTUWZ',
      long: 'no-pager oneline stat numstat shortstat name-only name-status cached staged patch no-patch pretty format abbrev-commit abbrev all graph decorate no-decorate since until after before author grep max-count skip reverse follow first-parent merges no-merges date relative-date color no-color color-words word-diff porcelain short long branch show-stash untracked-files ignored ignore-submodules ignore-space-change ignore-all-space ignore-blank-lines unified diff-filter find-renames find-copies summary check exit-code quiet raw full-index binary minimal patience histogram diff-algorithm no-renames no-ext-diff no-textconv left-right cherry-pick topo-order date-order show-signature show-toplevel show-prefix git-dir is-inside-work-tree verify symbolic-full-name abbrev-ref count tags heads contains points-at sort others exclude-standard modified deleted stage full-name line-porcelain incremental root show-email show-name show-number ignore-case files-with-matches line-number and or not break heading untracked is-ancestor batch batch-check textconv-disabled always dirty exact-match match',
      numbers: true,
    },
  ],
];

export const READ_ONLY_PROGRAMS: ReadonlyMap<string, ReadOnlyProgram> = new Map(
  rows.flatMap(([names, row]) => names.split(' ').map((name): [string, ReadOnlyProgram] => [name, row])),
);

/** `node --version` and its like, for programs that do more than that. */
const VERSION_ONLY =
  /^(?:node|npm|npx|pnpm|yarn|bun|deno|python3?|pip3?|ruby|gem|perl|php|go|cargo|rustc|java|javac|gcc|clang|make|cmake|docker|kubectl|tsc|rg|jq|curl|wget|bash|zsh)$/;

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
