/**
 * A folder for each process, with all that it writes and a note of whose it is. A gateway that was
 * killed leaves folders and maybe processes behind; the next one on the same state folder finds the
 * notes and clears up. A number alone says nothing about a process: it is used again.
 */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isObject } from '../../../core/is-object.js';
import { killAll } from '../../../workspace/process/end-processes.js';
import { isAlive, type ProcessId, readProcess } from '../../../workspace/process/process-list.js';
import { FOLDERS, PROCESS_ID_VARIABLE, TRANSCRIPT_FOLDER } from './process-environment.js';
import type { ClaudeTranscript } from './transcript-entries.js';

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
