/** Programs that look at files and text. */
import type { ProgramRow } from './flag-table.js';

export const TEXT_ROWS: readonly ProgramRow[] = [
  {
    programs: 'sort gsort',
    writes: '-o --output',
    executes: '--compress-program --files0-from',
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
    only: '-n -E -r -s -u -z -e --quiet --silent --regexp-extended --separate --unbuffered --null-data --zero-terminated --posix --sandbox --debug --expression',
    text: 'sed',
  },
  {
    programs: 'awk gawk mawk nawk',
    executes: '-f --file -E --exec -i --include -l --load -D --debug -W',
    writes: '-o --pretty-print -p --profile -d --dump-variables',
    valued: 'Fvf',
    only: '-F -v -n -b -c -P -r -S -t -O --field-separator --assign --posix --traditional --characters-as-bytes --re-interval --sandbox --csv --optimize',
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
    programs: 'jq',
    text: 'query',
    writes: '-i --inplace',
    executes: '-f --from-file -L --library-path',
    valued: 'fL',
  },
  {
    programs: 'yq',
    text: 'query',
    writes: '-i --inplace -s --split-exp --split-exp-file',
    executes: '-f --from-file -L --library-path',
    valued: 'fL',
  },
  {
    programs: 'wc du',
    executes: '--files0-from',
  },
  {
    programs: 'iconv',
    writes: '-o --output',
    valued: 'ftc',
  },
  {
    programs: 'xmllint',
    writes: '-o --output -output',
    executes: '--shell -shell --catalogs --nocatalogs --load-trace',
    sends: '--postvalid',
    singleDash: true,
  },
  {
    programs: 'pdftotext pdftohtml pdftoppm pdftocairo pdfimages ps2pdf',
    operands: 'always',
  },
  {
    programs: 'bat batcat',
    executes: '--pager --config-file --config-dir --generate-config-file --build --target --source',
    valued: 'lmrHP',
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
    programs: 'xxd',
    text: 'one-operand',
    singleDash: true,
    valuedLong: '-c -cols -g -groupsize -l -len -n -name -o -s -seek -R',
    only: '-a -autoskip -b -bits -C -capitalize -c -cols -d -E -EBCDIC -e -g -groupsize -i -include -l -len -n -name -o -p -ps -plain -postscript -r -revert -R -s -seek -u -uppercase -v',
  },
];
