/**
 * What a command may see of the gateway's environment: nothing but this. The gateway's own variables
 * hold keys, and many programs run what a variable names.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** Taken over as they are. */
const PASSED_VARIABLES: readonly string[] = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'HOSTNAME',
  'XDG_DATA_DIRS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'JAVA_HOME',
  'GOPATH',
  'GOROOT',
  'CARGO_HOME',
  'RUSTUP_HOME',
  'NVM_DIR',
  'PYENV_ROOT',
  'RBENV_ROOT',
  'VIRTUAL_ENV',
  'CONDA_PREFIX',
  'NIX_PROFILES',
  'LD_LIBRARY_PATH',
  // Windows programs do not start without these.
  'SystemRoot',
  'ComSpec',
  'PATHEXT',
  'TEMP',
  'TMP',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
];

const PASSED_PREFIXES: readonly string[] = ['LC_'];

/** Nobody is there to answer, to page or to edit. */
export const FIXED_VARIABLES: Readonly<Record<string, string>> = {
  TERM: 'dumb',
  NO_COLOR: '1',
  PAGER: 'cat',
  MANPAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_EDITOR: 'true',
  GIT_SEQUENCE_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: 'true',
  // A folder that only looks like a repository must not bring a configuration that runs something.
  GIT_CONFIG_COUNT: '3',
  GIT_CONFIG_KEY_0: 'safe.bareRepository',
  GIT_CONFIG_VALUE_0: 'explicit',
  // Only a way to be faster, and a program that runs whenever git looks at anything.
  GIT_CONFIG_KEY_1: 'core.fsmonitor',
  GIT_CONFIG_VALUE_1: 'false',
  // An address that is a command. Git's own default, which a repository can change; `git -c` still can as well.
  GIT_CONFIG_KEY_2: 'protocol.ext.allow',
  GIT_CONFIG_VALUE_2: 'never',
  EDITOR: 'true',
  VISUAL: 'true',
  DEBIAN_FRONTEND: 'noninteractive',
  npm_config_yes: 'true',
  npm_config_update_notifier: 'false',
  PYTHONUNBUFFERED: '1',
  TOOLGATE: '1',
};

/** Where programs are on nearly every system, for a gateway that was started without a PATH. */
const USUAL_PATH = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/local/sbin', '/usr/sbin', '/sbin'];

/** The environment of a command or of a program that a tool starts, from the gateway's own. */
export function commandEnvironment(
  base: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(base)) {
    const passed =
      PASSED_VARIABLES.includes(name) || PASSED_PREFIXES.some((prefix) => name.startsWith(prefix));
    if (passed && value !== undefined) environment[name] = value;
  }
  return { ...environment, ...FIXED_VARIABLES, PATH: cleanPath(base['PATH']) };
}

/** Without entries that depend on the folder: a workspace must not bring its own `git`. */
export function cleanPath(path: string | undefined): string {
  const folders = (path ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  return (folders.length > 0 ? [...new Set(folders)] : USUAL_PATH).join(delimiter);
}

/** The first program of that name on `path`, relative entries left out; undefined where there is none. */
export function findProgram(name: string, path: string | undefined): string | undefined {
  for (const folder of (path ?? '').split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const full = join(folder, name);
    if (isProgram(full)) return full;
  }
  return undefined;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
