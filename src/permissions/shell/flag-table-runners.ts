/** Rows for programs that run another one: those with `before` are looked through, and the inner command needs a rule too. */
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

/** Programs that reach other machines. Where to is a rule for WebFetch; these are the ways to carry something there. */
export const NETWORK_ROWS: readonly ProgramRow[] = [
  {
    programs: 'curl',
    writes:
      '-o -O -J -D -c --output --remote-name --remote-name-all --remote-header-name --output-dir --dump-header --cookie-jar --trace --trace-ascii --stderr --libcurl --hsts --alt-svc --etag-save --create-dirs --ssl-sessions',
    sends:
      '-T -d -F -X -Q -t -u -b -H -E -x -U --upload-file --data --data-ascii --data-binary --data-raw --data-urlencode --form --form-string --form-escape --json --request --quote --prequote --postquote --telnet-option --user --cookie --header --proxy-header --cert --key --proxy --preproxy --proxy-user --socks4 --socks4a --socks5 --socks5-hostname --unix-socket --abstract-unix-socket --netrc --netrc-file --netrc-optional --mail-from --mail-rcpt --url-query --connect-to --resolve --doh-url --interface --oauth2-bearer --aws-sigv4 --referer --user-agent',
    executes: '-K --config --engine -w --write-out',
    valued: 'oDcTdFXQtubHExUKwAePrmyYzC',
  },
  {
    programs:
      'wget wget2 aria2c axel lftp ftp tftp sftp scp ssh sshfs autossh mosh telnet nc ncat netcat socat openssl smbclient rclone s3cmd http https httpie xh lynx w3m links elinks tcpdump mail mailx sendmail mutt',
    operands: 'always',
  },
  {
    programs: 'rsync',
    executes: '-e --rsh --rsync-path -M --remote-option --daemon --config --files-from --password-file',
    writes:
      '--log-file --write-batch --only-write-batch --backup-dir --temp-dir --partial-dir --remove-source-files --delete',
    valued: 'efMBT',
  },
  {
    programs: 'dig nslookup host drill kdig',
    executes: '-f -k',
  },
  {
    programs: 'ip',
    executes: '-b -batch -B -n -netns',
    subcommands: { harmless: '', never: 'netns: netn: net: vrf:' },
    singleDash: true,
  },
  {
    programs: 'ss',
    writes: '-D --diag',
    executes: '-F --filter -K --kill',
    valued: 'fAN',
  },
  {
    programs:
      'gh glab hub aws gcloud az kubectl helm terraform tofu heroku vercel netlify fly flyctl doctl wrangler firebase supabase',
    subcommands: { harmless: 'version help completion' },
  },
];

/** Build tools and package managers: they run what the project says, so a rule must name the task. */
export const DEVELOPMENT_ROWS: readonly ProgramRow[] = [
  {
    programs: 'npm pnpm yarn bower',
    executes:
      '-c --call --shell --script-shell --node-options --globalconfig --userconfig --git --editor --viewer --prefix --dir --cwd -C --registry --init-module --ignore-scripts=false',
    subcommands: {
      harmless: 'ls list ll la why explain root prefix bin help',
      never: 'exec: x: explore: dlx: config:set config:edit set: edit: docs: repo: bugs:',
    },
    valuedLong: '--prefix --dir --cwd -C -w --workspace --filter',
    anyDashes: true,
  },
  {
    programs: 'npx pnpx bunx uvx pipx uv corepack nvm volta asdf mise direnv',
    executes: '-c --call --shell -p --package',
    operands: 'first',
  },
  {
    programs:
      'make gmake bmake just task ninja mage rake invoke cmake meson bazel bazelisk gradle gradlew mvn mvnw ant sbt scons waf tox nox',
    executes:
      '-f --file --makefile -C --directory -I --include-dir -E --eval -e --environment-overrides --justfile --working-directory --shell --init-script --build-file --override-module -D',
    operands: 'all',
    bare: 'runs',
    valued: 'jlo',
  },
  {
    programs: 'docker podman nerdctl buildah skopeo lxc vagrant ctr crictl',
    subcommands: { harmless: 'version info help', never: 'cp: exec: context: plugin: login: push:' },
    executes:
      '-v --volume --mount --privileged --cap-add --device --pid --ipc --userns --security-opt --network --net --entrypoint -H --host --config --env-file --volumes-from --cgroup-parent --uts',
  },
  {
    programs:
      'pip conda mamba poetry pdm hatch rye gem bundle bundler composer cargo rustup dotnet nuget cabal stack opam mix rebar3 luarocks cpan cpanm brew apt apt-get dnf yum pacman apk zypper snap flatpak port nix nix-env nix-shell guix',
    subcommands: { harmless: 'version help', never: 'exec: tool: generate: env:-w' },
    executes:
      '--config --toolexec -toolexec -exec --exec -overlay --index-url --extra-index-url --find-links -i --target-dir --manifest-path -C --command --prefix --root',
    valuedLong: '--config -C --manifest-path',
  },
  {
    programs: 'gcc g++ cc c++ clang clang++ cpp ld as rustc tsc javac',
    writes: '-o -MF -MD -MMD --outDir --outFile --out-dir --declarationDir --tsBuildInfoFile -d',
    executes: '-wrapper -fplugin -specs -B --wrapper -Xlinker -load --plugin -p --project -b --build @',
    singleDash: true,
  },
  {
    programs:
      'prettier eslint biome ruff black isort gofmt rustfmt clang-format shfmt stylelint rubocop autopep8 yapf swiftformat ktlint dprint standard xo markdownlint',
    writes:
      '-w --write --fix --fix-dry-run --in-place -i --apply --apply-unsafe --unsafe -o --output-file --output --cache-location --out-file -l=false --autocorrect --auto-correct -a -A --autocorrect-all --fix-only --unsafe-fixes --update --add-noqa',
    executes:
      '-c --config --plugin --rulesdir --resolve-plugins-relative-to --parser --format -f --formatter --require -r --config-path --custom-syntax --custom-formatter',
  },
  {
    programs: 'pylint flake8 mypy pyright',
    writes:
      '--output --output-file --tee --junit-xml --any-exprs-report --cobertura-xml-report --html-report --linecount-report --linecoverage-report --lineprecision-report --txt-report --xml-report --xslt-html-report --xslt-txt-report --cache-dir --install-types --createstub',
    executes:
      '--init-hook --load-plugins --rcfile --config --append-config --config-file --plugins -p --project --python-executable --pythonpath --pythonversion --custom-typeshed-dir --verifytypes --venvpath',
  },
];
