/** git: many programs in one, and a configuration that can name programs to run. */
import type { ProgramRow } from './flag-table.js';

const READS =
  'status log diff show blame annotate ls-files ls-tree rev-parse rev-list describe shortlog grep cat-file merge-base name-rev for-each-ref show-ref show-branch whatchanged range-diff diff-tree diff-index diff-files check-ignore check-attr count-objects cherry var version verify-commit verify-tag';

export const GIT_READS: ReadonlySet<string> = new Set(READS.split(' '));

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
