/** What known programs do with the files that they are given. */

export type Access = 'read' | 'edit' | 'either';

type WordsTest = (words: readonly string[]) => boolean;

export interface FileProgram {
  /** What operands are. `copy`: all but the last are read, the last is written. */
  operands: Access | 'copy' | 'none';
  /** The first operand is a pattern or a script, unless one of these flags brought it. */
  pattern?: RegExp;
  /** With which words everything below a folder is read or changed; true: always. */
  tree?: WordsTest | true;
  /** Without operands that exist it works on the folder that it is in; `always`: with them too. */
  here?: 'without' | 'always';
  /** One-letter flags whose value may be the next word, which is no operand then. */
  valued?: string;
  /** Long flags of that kind, without their dashes. */
  valuedLong?: readonly string[];
  /** Operands stand in front of all flags. */
  leading?: true;
  /** Takes its operands away from where they are; `but-last`: the last says where to. */
  removes?: 'all' | 'but-last';
  /** Where the last operand, or the value of `-t`, is a folder, the others are put into it by their names. */
  into?: true;
  /** The word after which operands begin. */
  from?: number;
}

/** Any abbreviation of a long option is that option: the program takes it for it. */
export function abbreviates(word: string, names: readonly string[]): boolean {
  if (!word.startsWith('--')) return false;
  const equals = word.indexOf('=');
  const head = word.slice(2, equals === -1 ? undefined : equals);
  return head !== '' && names.some((name) => name.startsWith(head));
}

const some =
  (test: (word: string, at: number, words: readonly string[]) => boolean): WordsTest =>
  (words) =>
    words.some((word, at) => at > 0 && test(word, at, words));

const PATTERN_FLAGS = /^(?:-[a-zA-Z]*[ef]|--(?:regexp|expression|file|from-file|files)\b)/;
const LONG_RECURSIVE = ['recursive', 'archive', 'dereference-recursive'];
const RECURSIVE = some((word) => /^-[a-zA-Z0-9]*[rRa]/.test(word) || abbreviates(word, LONG_RECURSIVE));
/** `grep -d recurse`, `--directories=rec`. */
const DIRECTORIES = some((word, at, words) => {
  const short = /^-[a-zA-Z0-9]*?d(.*)$/s.exec(word)?.[1];
  const long = abbreviates(word, ['directories']) ? word.replace(/^[^=]*=?/s, '') : undefined;
  const value = short ?? long;
  return value !== undefined && (value === '' ? (words[at + 1] ?? '') : value).startsWith('r');
});
const FROM_LIST = some((word) => abbreviates(word, ['files0-from']));
const FIND_RUNS = some((word) => /^-(?:exec|execdir|ok|okdir|delete)$/.test(word));
const FD_RUNS = some((word) => /^-[a-zA-Z0-9]*[xX]/.test(word) || abbreviates(word, ['exec', 'exec-batch']));
const NO_INDEX = some((word) => abbreviates(word, ['no-index']));

const GREP_VALUED = {
  valued: 'efABCmDd',
  valuedLong:
    'regexp file max-count after-context before-context context include exclude exclude-from exclude-dir directories devices binary-files label max-depth'.split(
      ' ',
    ),
} as const;

const rows: readonly (readonly [string, FileProgram])[] = [
  [
    'cat bat batcat head tail nl tac cut uniq od xxd hexdump strings file stat base64 base32 md5sum sha1sum sha224sum sha256sum sha512sum b2sum cksum sum column paste join fold fmt rev expand unexpand less more view zcat bzcat xzcat zless readlink realpath pr comm cmp source . test [ xmllint pdftotext iconv date',
    { operands: 'read' },
  ],
  ['sort shuf wc', { operands: 'read', tree: FROM_LIST, here: 'always' }],
  ['ls dir vdir tree exa eza', { operands: 'read' }],
  ['du', { operands: 'read', tree: FROM_LIST, here: 'always' }],
  ['find gfind bfs', { operands: 'read', tree: FIND_RUNS, here: 'without', leading: true }],
  ['fd fdfind', { operands: 'read', tree: FD_RUNS, here: 'always' }],
  [
    'grep egrep fgrep zgrep ggrep',
    {
      operands: 'read',
      pattern: PATTERN_FLAGS,
      tree: (words) => RECURSIVE(words) || DIRECTORIES(words),
      here: 'without',
      ...GREP_VALUED,
    },
  ],
  [
    'rg ag ack ugrep ug',
    { operands: 'read', pattern: PATTERN_FLAGS, tree: true, here: 'without', valued: 'ABCEefgjmMrtTd' },
  ],
  // Of two folders, it compares the files in them even where it does not go deeper.
  ['diff gdiff sdiff diff3 colordiff', { operands: 'read', tree: true }],
  ['sed gsed', { operands: 'read', pattern: PATTERN_FLAGS, valued: 'efl' }],
  ['awk gawk mawk nawk', { operands: 'read', pattern: PATTERN_FLAGS, valued: 'fvF' }],
  ['jq yq perl', { operands: 'read', pattern: PATTERN_FLAGS }],
  ['cd pushd', { operands: 'read' }],
  ['touch mkdir mktemp tee sponge truncate', { operands: 'edit' }],
  ['rmdir unlink shred', { operands: 'edit', removes: 'all' }],
  // They read what they change, or write what they read elsewhere.
  ['patch split csplit dd gzip gunzip bzip2 bunzip2 xz unxz zstd unzip 7z', { operands: 'either' }],
  ['rm', { operands: 'edit', tree: RECURSIVE, removes: 'all' }],
  ['chmod chown chgrp setfacl', { operands: 'edit', tree: RECURSIVE }],
  ['mv', { operands: 'either', tree: true, removes: 'but-last', into: true }],
  ['rename', { operands: 'either', tree: true, removes: 'all' }],
  ['ln link', { operands: 'either', into: true }],
  ['cp install ditto', { operands: 'copy', tree: RECURSIVE, into: true }],
  ['rsync scp', { operands: 'copy', tree: true, into: true }],
  ['tar gtar bsdtar zip rar cpio pax', { operands: 'either', tree: true }],
  [
    'echo printf true false : pwd exit return sleep seq tr whoami id uname export unset which type hash kill wait jobs',
    { operands: 'none' },
  ],
];

const BY_NAME: ReadonlyMap<string, FileProgram> = new Map(
  rows.flatMap(([names, row]) => names.split(' ').map((name): [string, FileProgram] => [name, row])),
);

/** Read files only to say something about them. */
const NO_CONTENT = new Set(
  'ls dir vdir tree exa eza du stat file readlink realpath test [ cd pushd find gfind bfs fd fdfind wc date'.split(
    ' ',
  ),
);

/** Whether a program shows what is in the files that it is given. */
export function showsContent(program: string): boolean {
  const operands = BY_NAME.get(program)?.operands;
  return (operands === 'read' || operands === 'copy') && !NO_CONTENT.has(program);
}

/** What git's sub-commands do with paths; those not here may do either. */
const GIT_READS = new Set(
  'status log diff show blame annotate ls-files ls-tree grep cat-file rev-parse rev-list describe shortlog check-ignore add commit push fetch diff-tree diff-index archive'.split(
    ' ',
  ),
);
const GIT_ROWS: Readonly<Record<string, FileProgram>> = {
  grep: { operands: 'read', pattern: PATTERN_FLAGS, tree: true, here: 'without', ...GREP_VALUED },
  diff: { operands: 'read', tree: NO_INDEX },
  archive: { operands: 'read', tree: true, here: 'always' },
  clean: { operands: 'edit', tree: true, here: 'without' },
  rm: { operands: 'edit', tree: RECURSIVE, removes: 'all' },
  mv: { operands: 'either', tree: true, removes: 'but-last', into: true },
};
const GIT_VALUED =
  /^(?:-C|-c|--(?:git-dir|work-tree|namespace|config-env|super-prefix|attr-source|shallow-file))$/;

/** Undefined: nothing is known of it, so that every word may be a file that it reads or writes. */
export function fileProgram(program: string, words: readonly string[]): FileProgram | undefined {
  if (program !== 'git') return BY_NAME.get(program);
  let from = 1;
  while (words[from]?.startsWith('-') === true) from += GIT_VALUED.test(words[from] ?? '') ? 2 : 1;
  const sub = words[from] ?? '';
  const row = GIT_ROWS[sub] ?? (GIT_READS.has(sub) ? { operands: 'read' as const } : undefined);
  return row === undefined ? undefined : { ...row, from };
}

/** Flags whose value is a folder that other names are relative to. */
export const FOLDER_FLAGS =
  /^(?:-C|--directory|--cwd|--chdir|--prefix|--dir|--work-tree|--workdir|-D)(?:=(.*))?$/s;

/** Devices that everything reads and writes, no files. */
export const DEVICES = /^\/dev\/(?:null|zero|full|random|urandom|tty|stdin|stdout|stderr|fd\/\d+)$/;
