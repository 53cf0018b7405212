/** Other version controls, converters and tools of the system that run, write or show more than they seem to. */
import type { ProgramRow } from './flag-table.js';

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
