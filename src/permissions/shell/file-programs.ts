/** What known programs do with the files that they are given. */

export type Access = 'read' | 'edit' | 'either';

export interface FileProgram {
  /** What operands are. `copy`: all but the last are read, the last is written. */
  operands: Access | 'copy' | 'none';
  /** The first operand is a pattern or a script, unless one of these flags brought it. */
  pattern?: RegExp;
  /** Flags with which everything below a folder is read or changed; true: always. */
  tree?: RegExp | true;
  /** Without operands it works on the folder that it is in. */
  here?: true;
}

const PATTERN_FLAGS = /^(?:-[a-zA-Z]*[ef]|--(?:regexp|expression|file|from-file|files)\b)/;
const RECURSIVE = /^(?:-[a-zA-Z]*[rRa]|--(?:recursive|archive|dereference-recursive))/;

const rows: readonly (readonly [string, FileProgram])[] = [
  [
    'cat bat batcat head tail nl tac wc cut uniq od xxd hexdump strings file stat base64 base32 md5sum sha1sum sha224sum sha256sum sha512sum b2sum cksum sum column paste join fold fmt rev expand unexpand less more view zcat bzcat xzcat zless readlink realpath pr comm cmp source . test [ xmllint pdftotext iconv',
    { operands: 'read' },
  ],
  ['sort shuf', { operands: 'read' }],
  ['ls dir vdir tree du exa eza', { operands: 'read' }],
  ['find gfind bfs fd fdfind', { operands: 'read' }],
  ['grep egrep fgrep zgrep ggrep', { operands: 'read', pattern: PATTERN_FLAGS, tree: RECURSIVE }],
  ['rg ag ack ugrep ug', { operands: 'read', pattern: PATTERN_FLAGS, tree: true, here: true }],
  ['diff gdiff sdiff diff3 colordiff', { operands: 'read', tree: RECURSIVE }],
  ['sed gsed awk gawk mawk nawk jq yq perl', { operands: 'read', pattern: PATTERN_FLAGS }],
  ['cd pushd', { operands: 'read' }],
  [
    'rmdir unlink shred truncate touch mkdir mktemp tee sponge patch split csplit dd gzip gunzip bzip2 bunzip2 xz unxz zstd unzip 7z',
    { operands: 'edit' },
  ],
  ['rm chmod chown chgrp setfacl', { operands: 'edit', tree: RECURSIVE }],
  ['mv rename', { operands: 'either', tree: true }],
  ['ln link', { operands: 'either' }],
  ['cp install ditto', { operands: 'copy', tree: RECURSIVE }],
  ['rsync scp', { operands: 'copy', tree: true }],
  ['tar gtar bsdtar zip rar cpio pax', { operands: 'either', tree: true }],
  [
    'echo printf true false : pwd exit return sleep seq tr whoami id uname date export unset which type hash kill wait jobs',
    { operands: 'none' },
  ],
];

const BY_NAME: ReadonlyMap<string, FileProgram> = new Map(
  rows.flatMap(([names, row]) => names.split(' ').map((name): [string, FileProgram] => [name, row])),
);

/** What git's sub-commands do with paths; those not here may do either. */
const GIT_READS = new Set(
  'status log diff show blame annotate ls-files ls-tree grep cat-file rev-parse rev-list describe shortlog check-ignore add commit push fetch diff-tree diff-index archive'.split(
    ' ',
  ),
);
const GIT: FileProgram = { operands: 'read' };

/** Undefined: nothing is known of it, so that every word may be a file that it reads or writes. */
export function fileProgram(program: string, words: readonly string[]): FileProgram | undefined {
  if (program !== 'git') return BY_NAME.get(program);
  const sub = words.find((word, at) => at > 0 && !word.startsWith('-'));
  return sub !== undefined && GIT_READS.has(sub) ? GIT : undefined;
}

/** Flags whose value is a folder that other names are relative to. */
export const FOLDER_FLAGS =
  /^(?:-C|--directory|--cwd|--chdir|--prefix|--dir|--work-tree|--workdir|-D)(?:=(.*))?$/s;

/** Written to or read from by everybody, and nobody's file. */
export const DEVICES = /^\/dev\/(?:null|zero|full|random|urandom|tty|stdin|stdout|stderr|fd\/\d+)$/;
