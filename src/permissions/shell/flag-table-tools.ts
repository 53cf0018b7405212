/** Rows for programs that look at files and text, for version controls and for tools of the system. */
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

const READS =
  'status log diff show blame annotate ls-files ls-tree rev-parse rev-list describe shortlog grep cat-file merge-base name-rev for-each-ref show-ref show-branch whatchanged range-diff diff-tree diff-index diff-files check-ignore check-attr count-objects cherry var version verify-commit verify-tag';

export const GIT_READS: ReadonlySet<string> = new Set(READS.split(' '));

/** git: many programs in one, and a configuration that can name programs to run. */
export const GIT_ROW: ProgramRow = {
  programs: 'git',
  writes: '--output --output-directory',
  executes:
    '--ext-diff --textconv --upload-pack --receive-pack --exec -O --open-files-in-pager --config-env --exec-path --git-dir --work-tree --super-prefix --paginate --template --config --tool-help --extcmd --submodule',
  subcommands: {
    harmless: READS,
    flags: {
      '': { executes: '-c -p' },
      rebase: { executes: '-x' },
      clone: { executes: '-u -c' },
      'fetch-pack': { executes: '--exec' },
      archive: { writes: '-o', sends: '--remote' },
      'format-patch': { writes: '-o' },
      difftool: { executes: '-x -t --tool' },
      mergetool: { executes: '-t --tool' },
      am: { executes: '--patch-format' },
      'cat-file': { executes: '--filters' },
      help: { executes: '-w -m -i --web --man --info' },
    },
    never:
      'bisect:run submodule:foreach filter-branch: hook: daemon: send-email: difftool: mergetool: gui: gitk: citool: instaweb: web--browse: credential: remote-ext: fast-import: upload-pack: receive-pack: shell: p4: svn: cvsserver: maintenance: scalar: update-server-info:',
  },
  valued: '',
  valuedLong:
    '-C -c --git-dir --work-tree --namespace --config-env --super-prefix --attr-source --shallow-file',
  // `-C` leads to another repository, whose settings can name programs.
  only: '--no-pager -P --no-optional-locks --no-replace-objects --no-lazy-fetch --no-advice --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs',
  text: 'git-config',
};

/** Other version controls, converters and tools of the system that run, write or show more than they seem to. */
export const FURTHER_ROWS: readonly ProgramRow[] = [
  {
    programs: 'hg chg rhg',
    executes:
      '--config --config-file -R --repository --cwd --debugger --profile -e --ssh --remotecmd -t --tool --pager',
    subcommands: { harmless: 'help version', never: 'serve: bisect: config: debugshell: extdiff:' },
  },
  {
    programs: 'svn svnlook svnadmin svnmucc svnrdump',
    executes: '--diff-cmd --diff3-cmd --editor-cmd --config-option --config-dir --show-passwords',
    subcommands: { harmless: 'help' },
  },
  {
    programs: 'brz bzr cvs darcs fossil',
    operands: 'always',
  },
  {
    programs: 'fzf sk',
    executes: '--preview --bind --listen --listen-unsafe --with-shell --cmd -c',
    writes: '--history',
  },
  {
    // A reader, a writer and a filter may each be a script of Lua.
    programs: 'pandoc',
    executes:
      '-F --filter -L --lua-filter --pdf-engine --pdf-engine-opt -d --defaults --data-dir --template -f --from -r --read -t --to -w --write --metadata-file --syntax-definition --abbreviations',
    writes: '-o --output --extract-media --log',
    sends: '--request-header --no-check-certificate',
  },
  {
    // `e` without a dash shows the environment of every process; macOS writes it -E.
    programs: 'ps',
    executes: '-E',
    valued: 'oOuUCgGtpqs',
    text: 'ps',
  },
  {
    // One dash or two; -ldflags can name the linker.
    programs: 'go',
    executes:
      '-toolexec --toolexec -exec --exec -vettool --vettool -overlay --overlay -modfile --modfile -C --C -ldflags --ldflags -gccgoflags --gccgoflags -compiler --compiler -pkgdir --pkgdir',
    writes:
      '-o --o -coverprofile --coverprofile -cpuprofile --cpuprofile -memprofile --memprofile -blockprofile --blockprofile -mutexprofile --mutexprofile -trace --trace -outputdir --outputdir',
    subcommands: { harmless: 'version help', never: 'tool: generate: env:-w' },
    singleDash: true,
  },
  {
    programs:
      'nmap gnuplot groff troff tex latex pdftex pdflatex xelatex lualatex latexmk ansible ansible-playbook ansible-console ansible-pull act pre-commit docker-compose jupyter tig delta difft open xdg-open subl',
    operands: 'always',
  },
  {
    programs:
      'magick convert mogrify ffmpeg exiftool qpdf gpg gpg2 xsltproc xmlstarlet mlr ctags ctags-universal cscope protoc bison flex swig ccache distcc patch doxygen dot recode dos2unix unix2dos indent astyle aspell logrotate',
    operands: 'always',
  },
  {
    programs: 'mount umount sysctl modprobe insmod rmmod nginx hugo jekyll mdbook',
    operands: 'always',
  },
  {
    programs: 'systemctl',
    executes: '-H --host -M --machine --root --image',
    subcommands: {
      harmless: 'status list-units list-timers list-sockets is-active is-enabled is-failed show',
    },
  },
  {
    programs: 'journalctl',
    writes:
      '--vacuum-size --vacuum-time --vacuum-files --rotate --flush --sync --relinquish-var --update-catalog --setup-keys --cursor-file',
    executes: '--root --image -D --directory --file -M --machine',
    valued: 'nuptgo',
  },
  {
    programs: 'dmesg',
    writes: '-C --clear -c --read-clear -D --console-off -E --console-on -n --console-level',
    valued: 'flFs',
  },
  {
    programs: 'hostname domainname',
    executes: '-F --file -b --boot',
    operands: 'all',
  },
  {
    programs: 'cppcheck',
    executes: '--addon --project --library --config-excludes-file --file-list --suppressions-list --clang',
    writes: '--output-file --cppcheck-build-dir --plist-output --dump --checkers-report',
  },
];
