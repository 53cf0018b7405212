/** Programs that run code which they are given: a rule must name the code. */
import type { ProgramRow } from './flag-table.js';

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
