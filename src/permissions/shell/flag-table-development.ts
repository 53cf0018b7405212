/** Build tools and package managers: they run what the project says, so a rule must name the task. */
import type { ProgramRow } from './flag-table.js';

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
