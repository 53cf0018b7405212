/** Programs that look at files and text. */
import type { ProgramRow } from './flag-table.js';

export const TEXT_ROWS: readonly ProgramRow[] = [
  {
    programs: 'sort gsort',
    writes: '-o --output',
    executes: '--compress-program',
    valued: 'kStTo',
  },
  {
    programs: 'find gfind bfs',
    executes: '-exec -execdir -ok -okdir',
    writes: '-delete -fprint -fprint0 -fprintf -fls',
    singleDash: true,
  },
  {
    programs: 'fd fdfind',
    executes: '-x -X --exec --exec-batch',
    valued: 'dteEcjS',
  },
  {
    programs: 'sed gsed',
    writes: '-i --in-place',
    executes: '-f --file',
    valued: 'efl',
    text: 'sed',
  },
  {
    programs: 'awk gawk mawk nawk',
    executes: '-f --file -E --exec -i --include -l --load -D --debug',
    writes: '-o --pretty-print -p --profile -d --dump-variables',
    valued: 'Fvf',
    text: 'awk',
  },
  {
    programs: 'rg',
    executes: '--pre --hostname-bin --search-zip -z',
    valued: 'ABCEefgjmMrtTd',
  },
  {
    programs: 'ag ack ugrep ug',
    executes: '--pager --ackrc --filter --filter-magic-label --view',
    writes: '--save-config',
  },
  {
    programs: 'uniq',
    text: 'one-operand',
    valued: 'fsw',
  },
  {
    programs: 'less more most lv man view vi vim nvim ex ed emacs nano pico joe micro info pg',
    operands: 'always',
  },
  {
    programs: 'tee sponge',
    operands: 'all',
  },
  {
    programs: 'dd',
    operands: 'always',
  },
  {
    programs: 'tar gtar bsdtar',
    bareBundle: true,
    safe: '--list',
    executes:
      '--to-command --checkpoint-action -I --use-compress-program -F --info-script --new-volume-script --rsh-command --rmt-command',
    writes:
      '-x --extract --get -c --create -r --append -u --update -A --catenate --concatenate --delete --index-file -g --listed-incremental',
    valued: 'fCbHKLNTVX',
  },
  {
    programs:
      'zip unzip zipinfo 7z 7za 7zr unrar rar ar cpio pax gzip gunzip bzip2 bunzip2 xz unxz zstd lz4 compress',
    operands: 'always',
  },
  {
    programs: 'split csplit shuf tsort',
    writes: '-o --output',
    executes: '--filter',
    operands: 'always',
  },
  {
    programs: 'diff gdiff sdiff diff3',
    writes: '-o --output',
    executes: '--diff-program',
    valued: 'xXIFULCwW',
  },
  {
    programs: 'jq yq',
    writes: '-i --inplace',
    executes: '-f --from-file -L --library-path',
    valued: 'fL',
  },
  {
    programs: 'tree',
    writes: '-o -R',
  },
  {
    programs: 'file',
    writes: '-C --compile',
    executes: '-m --magic-file -z -Z --uncompress --uncompress-noreport',
  },
  {
    programs: 'date',
    writes: '-s --set',
  },
  {
    programs: 'xxd hexdump od strings base64 base32',
    text: 'one-operand',
    valued: 'cglosjNStwAn',
  },
];
