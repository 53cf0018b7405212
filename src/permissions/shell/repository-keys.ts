/**
 * Keys of a git configuration that name a program, or lead git to another repository that does.
 * Compared by their last part, whatever section they stand in: the text of a value may look like a
 * section, so sections are not believed. From git's Documentation/config, 2.39 to 2.55.
 *
 * Not here, because the environment of every command decides them: core.pager, pager.*,
 * core.editor, sequence.editor, core.askPass, core.fsmonitor (which is here all the same, for
 * commands that change the environment) and protocol.ext.allow (src/workspace/process/command-environment.ts).
 */

interface KeyRow {
  keys: string;
  /** Values with which the key does nothing. */
  harmless?: RegExp;
}

const SWITCH = /^(?:true|false|yes|no|on|off|0|1)?$/i;
const OFF = /^(?:false|no|off|0)$/i;

/** Also where git is only to read. */
const WHEN_READING: readonly KeyRow[] = [
  // diff.external, diff.*.command, diff.*.textconv, hook.*.command, alias.*.command
  { keys: 'external command textconv' },
  // filter.*
  { keys: 'clean smudge process' },
  // core.hooksPath, gpg.program, gpg.*.program
  { keys: 'hookspath program' },
  { keys: 'fsmonitor', harmless: SWITCH },
  // include.path, includeIf.*.path: what stands there is not looked at.
  { keys: 'path' },
  // What a partial clone lacks is fetched whenever it is looked at: with the program that
  // remote.*.uploadpack names, or core.sshCommand, or from a repository that has git run others.
  { keys: 'partialclone partialclonefilter' },
  { keys: 'promisor', harmless: OFF },
  // core.alternateRefsCommand: `git log --alternate-refs`
  { keys: 'alternaterefscommand' },
  // diff.submodule, status.submoduleSummary: git runs in folders that are not in the index.
  { keys: 'submodule', harmless: /^(?:short|log)$/i },
  { keys: 'submodulesummary', harmless: OFF },
];

/** Where git reaches a remote, commits, merges or packs. */
const WHEN_WORKING: readonly KeyRow[] = [
  // core.sshCommand, core.gitProxy, remote.*.uploadpack, remote.*.receivepack, remote.*.vcs
  { keys: 'sshcommand gitproxy uploadpack receivepack vcs' },
  // protocol.allow, protocol.*.allow
  { keys: 'allow', harmless: /^(?:never|user)$/i },
  // credential.helper, credential.*.helper
  { keys: 'helper' },
  // With these, a man in the middle gets what the operator's credentials are for.
  { keys: 'proxy proxysslcainfo sslcainfo sslcapath curloptresolve' },
  { keys: 'sslverify', harmless: /^(?:true|yes|on|1)$/i },
  // http.saveCookies writes the file of http.cookieFile.
  { keys: 'savecookies', harmless: OFF },
  // merge.*.driver, interactive.diffFilter, gpg.ssh.defaultKeyCommand, trailer.*.cmd, mergetool.*.cmd
  { keys: 'driver difffilter defaultkeycommand cmd' },
  // gc.recentObjectsHook, uploadpack.packObjectsHook
  { keys: 'recentobjectshook packobjectshook' },
  // submodule.*.update: anything else is a command of the shell.
  { keys: 'update', harmless: /^(?:checkout|rebase|merge|none)$/i },
  // init.templateDir: hooks are copied from there.
  { keys: 'templatedir' },
  // imap.tunnel, sendemail.*, web.browser, man.viewer
  { keys: 'tunnel sendmailcmd tocmd cccmd headercmd smtpserver browser viewer' },
];

type Keys = ReadonlyMap<string, RegExp | undefined>;

const READING = keysOf(WHEN_READING);
const WORKING = keysOf([...WHEN_READING, ...WHEN_WORKING]);

function keysOf(rows: readonly KeyRow[]): Keys {
  return new Map(
    rows.flatMap(({ keys, harmless }) => keys.split(' ').map((key) => [key, harmless] as const)),
  );
}

/** Sections may stand before a key, on the same line. No part can match what another one does: hostile lines take no longer. */
const KEY = /^\s*(?:\[[^\]"]*(?:"(?:[^"\\]|\\.)*"\s*)?\]\s*)*([a-z][a-z0-9-]*)\s*(?:=\s*(.*))?/i;

/** What the git commands of one line are. */
export interface GitUse {
  /** All of them only read. */
  reads: boolean;
  /** Their sub-commands, which a repository may define: `alias.*`. */
  subcommands: ReadonlySet<string>;
}

/** `worktree`: the value of core.worktree, which leads git to files elsewhere. */
interface ConfigReading {
  program?: string;
  worktree?: string;
}

export function readConfig(text: string, use: GitUse): ConfigReading {
  const keys = use.reads ? READING : WORKING;
  const reading: ConfigReading = {};
  for (const line of text.split(/[\r\n]+/)) {
    const [, key = '', value = ''] = KEY.exec(line) ?? [];
    const name = key.toLowerCase();
    if (name === 'worktree') reading.worktree = plainValue(value);
    else if (keys.has(name)) {
      if (keys.get(name)?.test(plainValue(value)) !== true) return { ...reading, program: key };
    } else if (!use.reads && use.subcommands.has(name)) return { ...reading, program: key };
  }
  return reading;
}

/** Quotes may stand anywhere in a value; text after `#` and `;` is a comment. A value that is written otherwise stays as it is. */
function plainValue(text: string): string {
  const value = /^(?:[^"#;\\]|"[^"\\]*")*/.exec(text)?.[0] ?? '';
  const rest = text.charAt(value.length);
  return rest === '' || rest === '#' || rest === ';' ? value.replaceAll('"', '').trim() : text;
}
