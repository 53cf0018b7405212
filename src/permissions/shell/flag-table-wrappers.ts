/** Programs that run another program. Those with `before` are looked through: the inner command needs a rule too. */
import type { ProgramRow } from './flag-table.js';

/** Commands of the shell itself. Several evaluate `a[$(…)]` even in a word that is quoted. */
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

export const INTERPRETER_ROWS: readonly ProgramRow[] = [
  {
    programs: 'bash sh zsh dash ksh mksh fish ash csh tcsh busybox toybox pwsh powershell rbash',
    executes: '-c -l -i -s -o -O --rcfile --init-file --login --command --init-command -C -x -v -e --eval',
    operands: 'first',
    shell: true,
  },
  {
    programs: 'python pypy ipython bpython jython',
    executes: '-c -i -x',
    valued: 'cmWXQ',
    named: '-m',
    operands: 'first',
    modes: '-m',
  },
  {
    programs: 'node nodejs bun deno tsx ts-node electron',
    executes:
      '-e --eval -p --print -pe -r --require --import --loader --experimental-loader --inspect --inspect-brk --inspect-wait -i --interactive --openssl-config --env-file --snapshot-blob --build-snapshot --experimental-config-file --preload',
    writes:
      '--cpu-prof-dir --heap-prof-dir --diagnostic-dir --report-directory --redirect-warnings --trace-event-file-pattern --test-reporter-destination',
    valued: 'erC',
    operands: 'first',
    modes: '--test --watch',
    safe: '--test',
  },
  {
    programs:
      'perl ruby php lua luajit tclsh wish expect R Rscript julia osascript guile racket sbcl clisp erl elixir iex ghci runghc scala groovy jshell irb pry psysh swift java kotlin dart octave matlab gdb lldb jrunscript jjs gjs qjs',
    executes:
      '-e -E -r -c -p -n -i -a -s -S -x -M -m -I -d -l -B -R -F -f -ex --eval --execute --run --expr --exec --command --eval-command --batch --init-command --source',
    operands: 'first',
  },
  {
    programs: 'sqlite3 psql mysql mariadb mongo mongosh redis-cli clickhouse duckdb isql bq m4 dc',
    operands: 'always',
  },
];

export const WRAPPER_ROWS: readonly ProgramRow[] = [
  {
    programs: 'env',
    executes:
      '-S --split-string -i --ignore-environment -u --unset -C --chdir --default-signal --block-signal',
    operands: 'command',
  },
  {
    programs: 'timeout gtimeout',
    valued: 'ks',
    only: '-k -s -f -p -v --kill-after --signal --foreground --preserve-status --verbose',
    operands: 'command',
    before: 1,
  },
  {
    programs: 'nice',
    valued: 'n',
    only: '-n --adjustment',
    operands: 'command',
    before: 0,
  },
  {
    programs: 'ionice',
    valued: 'cn',
    only: '-c -n -t --class --classdata --ignore',
    operands: 'command',
    before: 0,
  },
  {
    programs: 'nohup setsid unbuffer',
    only: '-c -f -w --ctty --fork --wait',
    operands: 'command',
    before: 0,
  },
  {
    programs: 'stdbuf',
    valued: 'ioe',
    only: '-i -o -e --input --output --error',
    operands: 'command',
    before: 0,
  },
  {
    programs: 'time gtime',
    writes: '-o --output -a --append',
    valued: 'fo',
    only: '-f -v -p -q --format --verbose --portability --quiet',
    operands: 'command',
    before: 0,
  },
  {
    programs: 'command',
    executes: '-p',
    only: '-v -V',
    operands: 'command',
    before: 0,
  },
  {
    programs: 'caffeinate',
    valued: 'tw',
    only: '-d -i -m -s -u -t -w',
    operands: 'command',
    before: 0,
  },
  {
    programs:
      'sudo doas su runuser pkexec chroot unshare nsenter bwrap firejail systemd-run machinectl capsh setpriv newgrp sg gosu su-exec start-stop-daemon daemonize chrt taskset',
    operands: 'always',
  },
  {
    programs:
      'xargs gxargs parallel watch entr script strace ltrace gdbserver perf valgrind flock at batch crontab screen tmux dtach ld.so proot fakeroot rlwrap ssh-agent dbus-run-session xvfb-run run-parts hyperfine nodemon concurrently chronic ts',
    operands: 'always',
  },
];
