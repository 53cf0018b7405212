/**
 * What a process of Claude Code is given: an environment without anything of the gateway's own, and a
 * folder with all that it writes and a note of whose it is. A gateway that was killed leaves folders and
 * maybe processes behind; the next one on the same state folder finds the notes and clears up. A number
 * alone says nothing about a process: it is used again.
 */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isObject } from '../../../core/is-object.js';
import { commandEnvironment } from '../../../workspace/process/command-environment.js';
import { killAll } from '../../../workspace/process/end-processes.js';
import { isAlive, type ProcessId, readProcess } from '../../../workspace/process/process-list.js';
import type { ProcessProfile } from './claude-processes.js';
import type { ClaudeTranscript } from './transcript-entries.js';

/** Found in `/proc/PID/environ` of the process and of all that it starts. */
export const PROCESS_ID_VARIABLE = 'TOOLGATE_CLAUDE_ID';

/** The key comes over this file descriptor, so that no command finds it in an environment. */
export const KEY_DESCRIPTOR = 3;

/** Transcripts lie under this name, whatever the folder is that it works in. */
const TRANSCRIPT_FOLDER = 'conversation';

/** The folders of one process, inside its own. */
const FOLDERS = {
  home: 'home',
  config: 'config',
  temporary: 'tmp',
} as const;

const FIXED: Readonly<Record<string, string>> = {
  CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR: String(KEY_DESCRIPTOR),
  CLAUDE_CODE_PROJECT_DIR_NAME: TRANSCRIPT_FOLDER,
  // Nothing but model calls for a request may leave the machine.
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
  // The gateway retries, and an upstream's error has to reach the client as it is.
  CLAUDE_CODE_MAX_RETRIES: '0',
  CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: '1',
  CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK: '1',
  CLAUDE_CODE_DISABLE_REFUSAL_RETRY: '1',
  // After a 400 it would ask again without each of these.
  CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS: '1',
  CLAUDE_CODE_THINKING_DISPLAY_UPDATES: '0',
  // What ends in the background would start an unsolicited turn.
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  // Of its two kinds of lists of things to do, the one that models know as TodoWrite.
  CLAUDE_CODE_ENABLE_TASKS: '0',
  CLAUDE_CODE_DISABLE_CRON: '1',
  CLAUDE_CODE_DISABLE_WORKFLOWS: '1',
  CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: 'false',
  // A memory of its own would be shared by all conversations in a folder, of all principals.
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
  CLAUDE_CODE_DISABLE_BUNDLED_SKILLS: '1',
  CLAUDE_CODE_DISABLE_FILE_CHECKPOINTING: '1',
  // Client tools stay in sight, however many they are.
  ENABLE_TOOL_SEARCH: 'false',
  // A system block that changes from call to call and means nothing to other upstreams.
  CLAUDE_CODE_ATTRIBUTION_HEADER: '0',
};

/** Every name under which it may ask for a model, so that all calls carry the profile's. */
const MODEL_VARIABLES: readonly string[] = [
  'ANTHROPIC_DEFAULT_OPUS_MODEL',
  'ANTHROPIC_DEFAULT_SONNET_MODEL',
  'ANTHROPIC_DEFAULT_HAIKU_MODEL',
  'ANTHROPIC_SMALL_FAST_MODEL',
  'CLAUDE_CODE_SUBAGENT_MODEL',
];

interface EnvironmentOptions {
  id: string;
  /** The process's own. */
  folder: string;
  profile: ProcessProfile;
  /** The gateway's; only what the table of passed variables names is taken. */
  base: Readonly<Record<string, string | undefined>>;
}

export function processEnvironment(options: EnvironmentOptions): Record<string, string> {
  const { id, folder, profile, base } = options;
  const temporary = join(folder, FOLDERS.temporary);
  return {
    ...commandEnvironment(base),
    ...FIXED,
    ...Object.fromEntries(MODEL_VARIABLES.map((name) => [name, profile.model])),
    ...contextVariables(profile.contextWindow),
    ANTHROPIC_BASE_URL: profile.baseUrl,
    HOME: join(folder, FOLDERS.home),
    CLAUDE_CONFIG_DIR: join(folder, FOLDERS.config),
    CLAUDE_CODE_TMPDIR: temporary,
    TMPDIR: temporary,
    [PROCESS_ID_VARIABLE]: id,
  };
}

/** The first is for models that it does not know, the second for all. */
function contextVariables(tokens: number | undefined): Record<string, string> {
  if (tokens === undefined) return {};
  return { CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(tokens), CLAUDE_CODE_AUTO_COMPACT_WINDOW: String(tokens) };
}

const ROOT = 'claude-code';
const NOTE = 'process.json';

interface Note {
  host: string;
  gateway: ProcessId;
  /** Written as soon as it runs. */
  process?: ProcessId;
}

export interface ProcessFolder {
  id: string;
  path: string;
}

export const rootFolder = (stateDir: string): string => join(stateDir, ROOT);

export async function createFolder(
  stateDir: string,
  transcript: ClaudeTranscript | undefined,
): Promise<ProcessFolder> {
  const id = randomBytes(9).toString('base64url');
  const path = join(rootFolder(stateDir), id);
  await mkdir(path, { recursive: true, mode: 0o700 });
  try {
    writeNote(path, undefined);
    for (const name of Object.values(FOLDERS)) await mkdir(join(path, name), { mode: 0o700 });
    if (transcript !== undefined) await writeTranscript(path, transcript);
    return { id, path };
  } catch (error) {
    await removeFolder(path);
    throw error;
  }
}

/** At once, in the same turn in which it was started: a kill in between must not lose it. */
export function noteProcess(folder: ProcessFolder, pid: number): void {
  writeNote(folder.path, pid);
}

/**
 * Where the path of its own folder is too long for a socket, it makes one here, under its number; one
 * that was killed leaves it. Not while the number is in use: it may be another one's by now.
 */
const SOCKET_FOLDERS: readonly string[] = ['/tmp/cc-socks', `/tmp/cc-socks-${process.getuid?.() ?? ''}`];

export async function removeSockets(pid: number): Promise<void> {
  if (readProcess(pid) !== undefined) return;
  for (const folder of SOCKET_FOLDERS) await rm(join(folder, `${pid}.sock`), { force: true }).catch(() => {});
}

export async function removeFolder(path: string): Promise<void> {
  // What it still wrote while it was being removed makes the first try fail.
  await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
}

/** Ends what gateways of this machine left that are no more. Resolves with how many folders went. */
export async function reapFolders(stateDir: string): Promise<number> {
  const root = rootFolder(stateDir);
  const names = await readdir(root).catch(() => []);
  let reaped = 0;
  for (const name of names) {
    const path = join(root, name);
    const note = await readNote(path);
    // Without a note its process is dead, or made it a moment ago.
    if (note === undefined || note.host !== hostname() || isRunning(note.gateway)) continue;
    await killAll({
      variable: `${PROCESS_ID_VARIABLE}=${name}`,
      ...(note.process === undefined ? {} : { group: note.process }),
    });
    await removeFolder(path);
    if (note.process !== undefined) await removeSockets(note.process.pid);
    reaped += 1;
  }
  return reaped;
}

async function writeTranscript(path: string, { sessionId, entries }: ClaudeTranscript): Promise<void> {
  const folder = join(path, FOLDERS.config, 'projects', TRANSCRIPT_FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`);
  await writeFile(join(folder, `${sessionId}.jsonl`), lines.join(''), { mode: 0o600 });
}

/** Where the system does not say when a process began, its number has to do. */
const idOf = (pid: number): ProcessId => ({ pid, startTime: readProcess(pid)?.startTime ?? '' });

function isRunning(gateway: ProcessId): boolean {
  if (gateway.startTime !== '') return isAlive(gateway);
  try {
    process.kill(gateway.pid, 0);
    return true;
  } catch {
    return false;
  }
}

function writeNote(path: string, pid: number | undefined): void {
  const note: Note = {
    host: hostname(),
    gateway: idOf(process.pid),
    ...(pid === undefined ? {} : { process: idOf(pid) }),
  };
  writeFileSync(join(path, NOTE), JSON.stringify(note), { mode: 0o600 });
}

async function readNote(path: string): Promise<Note | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(join(path, NOTE), 'utf8'));
    if (!isObject(value) || typeof value['host'] !== 'string') return undefined;
    const gateway = processId(value['gateway']);
    const started = processId(value['process']);
    if (gateway === undefined) return undefined;
    return { host: value['host'], gateway, ...(started === undefined ? {} : { process: started }) };
  } catch {
    return undefined;
  }
}

function processId(value: unknown): ProcessId | undefined {
  if (!isObject(value) || typeof value['pid'] !== 'number' || typeof value['startTime'] !== 'string') {
    return undefined;
  }
  return { pid: value['pid'], startTime: value['startTime'] };
}
