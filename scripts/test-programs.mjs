// Programs of the system that tests use, and where they are looked for.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';

/**
 * `variable` names the program when it is somewhere else; `names` are looked for on the PATH, then
 * `paths`; `apt` are the packages that bring it on Debian, `before` a file that is to be there first, `elsewhere` says how others get it.
 */
export const TEST_PROGRAMS = [
  {
    name: 'Git',
    use: 'the tests with real clients',
    variable: 'TOOLGATE_GIT',
    names: ['git', 'git.exe'],
    paths: [],
    apt: ['git'],
    elsewhere: {
      linux: 'install the package `git` of your distribution',
      darwin: 'run `xcode-select --install`',
      win32: 'install Git for Windows',
    },
  },
  {
    name: 'script',
    use: 'the test of Claude Code in a terminal',
    variable: 'TOOLGATE_SCRIPT',
    names: ['script'],
    paths: [],
    apt: ['bsdutils'],
    elsewhere: { linux: 'install `script` of util-linux from your distribution' },
  },
  {
    name: 'bubblewrap',
    use: 'the tests of the sandbox',
    variable: 'TOOLGATE_BWRAP',
    names: ['bwrap'],
    paths: [],
    apt: ['bubblewrap'],
    elsewhere: {
      linux: 'install the package `bubblewrap` of your distribution',
      darwin: 'run the tests on Linux: macOS has no bubblewrap',
    },
  },
  {
    name: 'socat',
    use: 'the tests of the sandbox with a network',
    variable: 'TOOLGATE_SOCAT',
    names: ['socat'],
    paths: [],
    apt: ['socat'],
    elsewhere: {
      linux: 'install the package `socat` of your distribution',
      darwin: 'run `brew install socat`',
    },
  },
  {
    name: 'PostgreSQL',
    use: 'the tests of the store that nodes share',
    variable: 'TOOLGATE_POSTGRES',
    names: ['postgres'],
    // Debian keeps the server out of the PATH.
    paths: [18, 17, 16, 15, 14].map((version) => `/usr/lib/postgresql/${version}/bin/postgres`),
    apt: ['postgresql'],
    // Tests have servers of their own: none is made or started by the package.
    before: { file: '/etc/postgresql-common/createcluster.conf', text: 'create_main_cluster = false\n' },
    elsewhere: {
      linux: 'install the server package of PostgreSQL of your distribution',
      darwin: 'run `brew install postgresql@17`',
      win32: 'run the tests on Linux: the tests end their server by signals',
    },
  },
  {
    name: 'PgBouncer',
    use: 'the tests of the store behind a pooler',
    variable: 'TOOLGATE_PGBOUNCER',
    names: ['pgbouncer'],
    // Not on the PATH of everyone.
    paths: ['/usr/sbin/pgbouncer'],
    apt: ['pgbouncer'],
    elsewhere: {
      linux: 'install the package `pgbouncer` of your distribution',
      darwin: 'run `brew install pgbouncer`',
      win32: 'run the tests on Linux: the tests end PgBouncer by signals',
    },
  },
  {
    name: 'nginx',
    use: 'the tests of the proxy in front of several nodes',
    variable: 'TOOLGATE_NGINX',
    names: ['nginx'],
    // Not on the PATH of everyone.
    paths: ['/usr/sbin/nginx'],
    apt: ['nginx-light'],
    elsewhere: {
      linux: 'install the package `nginx` of your distribution',
      darwin: 'run `brew install nginx`',
      win32: 'run the tests on Linux: the tests end nginx by signals',
    },
  },
  {
    name: 'Chromium',
    use: 'the tests of the console',
    variable: 'TOOLGATE_CHROMIUM',
    // The first is the same browser without what only a window needs: half the work for each page.
    names: [
      'chromium-headless-shell',
      'chromium',
      'chromium-browser',
      'google-chrome',
      'google-chrome-stable',
      'chrome',
    ],
    paths: [
      '/Applications/Chromium.app/Contents/MacOS/Chromium',
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
      'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
      'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
    ],
    apt: ['chromium-headless-shell'],
    elsewhere: {
      linux: 'install the package `chromium` of your distribution',
      darwin: 'run `brew install --cask chromium`',
      win32: 'install Google Chrome',
    },
  },
];

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function candidates({ variable, names, paths }) {
  const given = process.env[variable];
  if (given !== undefined && given !== '') return [given];
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return [...names.flatMap((name) => folders.map((folder) => join(folder, name))), ...paths];
}

/** The path of the program called `name` in the table; undefined where it is not installed. */
export function findTestProgram(name) {
  const program = TEST_PROGRAMS.find((each) => each.name === name);
  if (program === undefined) throw new Error(`${name} is not in the table of test programs`);
  return candidates(program).find(isProgram);
}

/** What a person can do about a missing program. */
export function howToGet({ name, variable, elsewhere }) {
  const how = elsewhere[process.platform] ?? `install ${name}`;
  return `${how}, or set ${variable} to its path`;
}
