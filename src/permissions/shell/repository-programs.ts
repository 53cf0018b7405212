/**
 * Programs that a repository's own configuration has git run, also when git is only to read: a folder
 * that was unpacked or shared brings its `.git/config` along.
 */
import { type Dirent, readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

/** Run when the index is written, which `git status` does as well. */
const HOOK = 'post-index-change';

const CONFIG_BYTES = 256 * 1024;
/** Of a submodule, of which there may be many. */
const MODULE_BYTES = 16 * 1024;
/** As much as git reads of one. */
const POINTER_BYTES = 1024 * 1024;
const MAX_MODULES = 200;
const TOO_MANY = 'its submodules say, which are too many to look through';

/** A repository that git looks into. */
interface Repository {
  git: string;
  /** The folder whose `.git` it is. */
  folder: string;
}

/** One look, which goes on into submodules as git does. */
interface Look {
  use: GitUse;
  /** Those that were looked into. */
  seen: Set<string>;
}

/** What would run, in words that go on after "git runs what": undefined where nothing would. */
export function repositoryPrograms(folder: string, use: GitUse): string | undefined {
  const found = findRepository(folder);
  return found === undefined ? undefined : programsOf(found, { use, seen: new Set() }, CONFIG_BYTES);
}

function programsOf(found: Repository, look: Look, most: number): string | undefined {
  const { git } = found;
  const elsewhere = join(git, 'commondir');
  const common = kindOf(elsewhere) === undefined ? git : pointer(elsewhere, git, '');
  if (common === undefined) return unclear(elsewhere);
  return (
    programsIn(git, common, look, most, found.folder) ??
    (git === common ? undefined : programsIn(common, common, look, most)) ??
    programsInSubmodules(found, look) ??
    programsInModules(join(common, 'modules'), look)
  );
}

/** Looked for from where the folder really is, as git does. */
function findRepository(folder: string): Repository | undefined {
  let at = realPath(folder) ?? folder;
  for (;;) {
    const found = repositoryAt(at);
    if (found !== undefined) return found;
    if (dirname(at) === at) return undefined;
    at = dirname(at);
  }
}

function repositoryAt(folder: string): Repository | undefined {
  const path = join(folder, '.git');
  const kind = kindOf(path);
  const git = kind === 'file' ? pointer(path, folder, 'gitdir: ') : kind === 'folder' ? path : undefined;
  return git === undefined ? undefined : { git, folder };
}

/** Where the path after `prefix` in a file leads. */
function pointer(file: string, from: string, prefix: string): string | undefined {
  const text = readText(file, POINTER_BYTES);
  if (text === undefined || !text.startsWith(prefix)) return undefined;
  const path = text.slice(prefix.length).replace(/[\r\n]+$/, '');
  return realPath(isAbsolute(path) ? path : `${from}/${path}`);
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

const unclear = (file: string): string => `\`${file}\` says, which cannot be looked through`;

/** `folder`: where git is to work, if the configuration may say another place. */
function programsIn(
  git: string,
  common: string,
  { use }: Look,
  most: number,
  folder?: string,
): string | undefined {
  for (const name of ['config', 'config.worktree']) {
    const file = join(git, name);
    const text = readText(file, most);
    if (text === undefined && kindOf(file) !== undefined) return unclear(file);
    const { program, worktree } = text === undefined ? {} : readConfig(text, use);
    if (program !== undefined) return `\`${program}\` in \`${file}\` says`;
    if (worktree !== undefined && folder !== undefined && !isFolder(worktree, git, folder))
      return `\`worktree\` in \`${file}\` leads to`;
  }
  const hook = join(common, 'hooks', HOOK);
  return kindOf(hook) === undefined ? undefined : `\`${hook}\` is`;
}

function isFolder(worktree: string, git: string, folder: string): boolean {
  return realPath(isAbsolute(worktree) ? worktree : `${git}/${worktree}`) === realPath(folder);
}

/** Git goes into the submodules that the index names, wherever their repositories are. */
function programsInSubmodules({ git, folder }: Repository, look: Look): string | undefined {
  const paths = submodulesOf(git);
  if (paths === undefined) return unclear(join(git, 'index'));
  for (const path of paths) {
    const module = repositoryAt(join(folder, path));
    if (module === undefined || look.seen.has(module.git)) continue;
    look.seen.add(module.git);
    if (look.seen.size > MAX_MODULES) return TOO_MANY;
    const found = programsOf(module, look, MODULE_BYTES);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Those that are not checked out are fetched all the same. */
function programsInModules(folder: string, look: Look): string | undefined {
  for (const entry of entriesOf(folder)) {
    const inside = join(folder, entry.name);
    if (!entry.isDirectory() || look.seen.has(inside)) continue;
    look.seen.add(inside);
    if (look.seen.size > MAX_MODULES) return TOO_MANY;
    const isRepository = kindOf(join(inside, 'HEAD')) !== undefined;
    const found = isRepository
      ? (programsIn(inside, inside, look, MODULE_BYTES) ?? programsInModules(join(inside, 'modules'), look))
      : programsInModules(inside, look);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Most of what is looked for is not there: an error for each would cost more than the look. */
function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function kindOf(path: string): 'file' | 'folder' | undefined {
  const status = statusOf(path);
  if (status === undefined) return undefined;
  return status.isDirectory() ? 'folder' : 'file';
}

/** Undefined where there is none, or more than is looked at. */
function readText(file: string, most: number): string | undefined {
  const status = statusOf(file);
  if (status === undefined || !status.isFile() || status.size > most) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

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
interface GitUse {
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

function readConfig(text: string, use: GitUse): ConfigReading {
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

/**
 * The submodules that a repository's index names: git looks into them, with the configuration that
 * stands there. The format is that of git's Documentation/gitformat-index.
 */

/** The mode of a submodule, as it is written. */
const GITLINK = 0o160000;
const GITLINK_BYTES = Buffer.from([0, 0, 0xe0, 0]);
const MODES: ReadonlySet<number> = new Set([0o100644, 0o100664, 0o100755, 0o120000, GITLINK, 0o040000]);
const HEADER_BYTES = 12;
const STAT_BYTES = 40;
const MODE_AT = 24;
/** Of SHA-1 and SHA-256. The configuration, which says it, is the repository's own. */
const HASH_BYTES: readonly number[] = [20, 32];
const EXTENDED = 0x4000;
/** The extension of an index that goes on in another file. */
const SPLIT = Buffer.from('link');
const MAX_BYTES = 256 * 1024 * 1024;

interface Links {
  /** Undefined: unknown. */
  paths: readonly string[] | undefined;
  isSplit: boolean;
}

const NONE: Links = { paths: [], isSplit: false };
const UNCLEAR: Links = { paths: undefined, isSplit: false };

/** An index may be large: it is read again when it has changed. */
const known = new Map<string, { state: string; links: Links }>();
const MAX_KNOWN = 50;

/** Paths from the working folder; undefined where they are unknown. */
function submodulesOf(git: string): readonly string[] | undefined {
  try {
    const { paths, isSplit } = linksIn(join(git, 'index'));
    if (paths === undefined || !isSplit) return paths;
    const shared = sharedIndexes(git).map((name) => linksIn(join(git, name)).paths);
    return shared.includes(undefined) ? undefined : [...paths, ...shared.flatMap((each) => each ?? [])];
  } catch {
    return undefined;
  }
}

function sharedIndexes(git: string): string[] {
  return readdirSync(git).filter((name) => name.startsWith('sharedindex.'));
}

function linksIn(file: string): Links {
  const status = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (status === undefined) return NONE;
  if (!status.isFile() || status.size > MAX_BYTES) return UNCLEAR;
  const state = [status.dev, status.ino, status.size, status.mtimeNs, status.ctimeNs].join(' ');
  const before = known.get(file);
  if (before?.state === state) return before.links;
  const links = readLinks(readFileSync(file));
  known.delete(file);
  known.set(file, { state, links });
  const oldest = known.size > MAX_KNOWN ? known.keys().next().value : undefined;
  if (oldest !== undefined) known.delete(oldest);
  return links;
}

function readLinks(index: Buffer): Links {
  const isSplit = index.includes(SPLIT);
  // Nearly every index has none, and is not looked at any further.
  if (!index.includes(GITLINK_BYTES)) return { paths: [], isSplit };
  const found = HASH_BYTES.map((bytes) => entries(index, bytes)).filter((paths) => paths !== undefined);
  return found.length === 0 ? UNCLEAR : { paths: found.flat(), isSplit };
}

/** Undefined where the bytes are no entries of this kind. */
function entries(index: Buffer, hashBytes: number): string[] | undefined {
  if (index.length < HEADER_BYTES || index.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = index.readUInt32BE(4);
  const count = index.readUInt32BE(8);
  if (version < 2 || version > 4) return undefined;
  const found: string[] = [];
  let at = HEADER_BYTES;
  let name: Buffer = Buffer.alloc(0);
  for (let entry = 0; entry < count; entry += 1) {
    const flagsAt = at + STAT_BYTES + hashBytes;
    if (flagsAt + 2 > index.length) return undefined;
    const mode = index.readUInt32BE(at + MODE_AT);
    if (!MODES.has(mode)) return undefined;
    let nameAt = flagsAt + ((index.readUInt16BE(flagsAt) & EXTENDED) === 0 ? 2 : 4);
    if (version === 4) {
      const stripped = readOffset(index, nameAt);
      nameAt = stripped.next;
      name = name.subarray(0, Math.max(0, name.length - stripped.value));
    }
    const end = index.indexOf(0, nameAt);
    if (end === -1) return undefined;
    const own = index.subarray(nameAt, end);
    name = version === 4 ? Buffer.concat([name, own]) : own;
    if (mode === GITLINK) {
      // An entry of a split index may stand for one whose name is in the other file.
      if (name.length === 0) return undefined;
      found.push(name.toString());
    }
    at = version === 4 ? end + 1 : at + ((end - at + 8) & ~7);
  }
  return found;
}

/** Seven bits a byte; each further byte adds one to what came before. */
function readOffset(index: Buffer, from: number): { value: number; next: number } {
  let next = from;
  let byte = index[next] ?? 0;
  let value = byte & 0x7f;
  while ((byte & 0x80) !== 0 && next < index.length) {
    next += 1;
    byte = index[next] ?? 0;
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, next: next + 1 };
}
