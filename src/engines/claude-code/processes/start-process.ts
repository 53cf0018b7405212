/** Starts a process for a profile: its folder, its key, its command line, and what it resumes from. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Options, SDKUserMessage, SpawnedProcess, SpawnOptions } from '@anthropic-ai/claude-agent-sdk';
import type { Message } from '../../../core/conversation.js';
import { atMost } from '../../../core/deferred.js';
import { GatewayError } from '../../../core/errors.js';
import type { RuntimeLog } from '../../../tools/runtime/runtime.js';
import { createProcessTree, type Started } from '../../../workspace/process/end-processes.js';
import type { ProcessProfile } from './claude-processes.js';
import type { ClaudeSdk } from './load-sdk.js';
import {
  createFolder,
  KEY_DESCRIPTOR,
  noteProcess,
  PROCESS_ID_VARIABLE,
  type ProcessFolder,
  processEnvironment,
  removeFolder,
  removeSockets,
} from './process-folder.js';
import { launchOptions } from './query-options.js';
import { transcriptOf } from './transcript-entries.js';

interface StartContext {
  sdk: ClaudeSdk;
  stateDir: string;
  environment: Readonly<Record<string, string | undefined>>;
  now: () => number;
  log: RuntimeLog;
}

export interface StartedProcess {
  launched: LaunchedProcess;
  options: Options;
}

/** Rejects with GatewayError where the program does not start; nothing is left then. */
export async function startProcess(
  context: StartContext,
  profile: ProcessProfile,
  { history, cwd }: { history: readonly Message[]; cwd: string },
): Promise<StartedProcess> {
  const { sdk, stateDir, environment, now, log } = context;
  const transcript = transcriptOf(history, { cwd, model: profile.model, now: now() });
  if (transcript !== undefined && transcript.losses.length > 0) {
    log.info({ losses: transcript.losses }, 'not all of a conversation could be given to Claude Code');
  }
  const folder = await createFolder(stateDir, transcript);
  try {
    const options = launchOptions({
      profile,
      cwd,
      environment: processEnvironment({ id: folder.id, folder: folder.path, profile, base: environment }),
      resumption: transcript && { sessionId: transcript.sessionId, at: transcript.at },
    });
    const credential = `tgc_${randomBytes(24).toString('base64url')}`;
    return { launched: await launch(folder, commandOf(sdk, options), credential), options };
  } catch (error) {
    await removeFolder(folder.path);
    throw error;
  }
}

/** The SDK's own command line for these options: it is asked to start a process, and refused. */
function commandOf(sdk: ClaudeSdk, options: Options): LaunchCommand {
  let command: LaunchCommand | undefined;
  const refusal = new Error('Only the command line was wanted');
  try {
    sdk.query({
      prompt: noMessages(),
      options: {
        ...options,
        spawnClaudeCodeProcess: ({ command: program, args, cwd, env }) => {
          command = { command: program, args, env, ...(cwd === undefined ? {} : { cwd }) };
          throw refusal;
        },
      },
    });
  } catch (error) {
    if (error !== refusal || command === undefined) throw error;
    return command;
  }
  throw new Error('The Agent SDK did not start a process when it was asked to');
}

async function* noMessages(): AsyncGenerator<SDKUserMessage, void> {}

const LIMITS = {
  /** Between the end of its input and a signal: an idle one goes by itself. */
  inputGraceMs: 400,
  /** Between SIGTERM and SIGKILL. */
  termGraceMs: 600,
  stderrBytes: 8 * 1024,
} as const;

export interface ProcessEnd {
  code: number | null;
  signal: string | null;
  stderr: string;
}

type PipedChild = ChildProcess & { pid: number; stdin: Writable; stdout: Readable; stderr: Readable };

type LaunchCommand = Pick<SpawnOptions, 'command' | 'args' | 'cwd' | 'env'>;

/** A started Claude Code before anybody talks to it: its streams, its end, and what is left of it then. */
export class LaunchedProcess {
  readonly folder: ProcessFolder;
  readonly command: LaunchCommand;
  readonly credential: string;
  readonly pid: number;
  /** Resolves when it and all that it started are gone, and its folder too. */
  readonly exited: Promise<ProcessEnd>;
  readonly #child: PipedChild;
  readonly #tree: { end(graceMs: number): Promise<boolean> };
  readonly #gone: Promise<unknown>;
  #stderr = '';
  #closing: Promise<void> | undefined;

  constructor(folder: ProcessFolder, command: LaunchCommand, credential: string, child: PipedChild) {
    const { stdin, stderr, pid } = child;
    this.folder = folder;
    this.command = command;
    this.credential = credential;
    this.pid = pid;
    this.#child = child;
    // `exited` reports it; a write to a process that is gone says nothing more.
    stdin.on('error', () => undefined);
    child.on('error', () => undefined);
    stderr.setEncoding('utf8');
    stderr.on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-LIMITS.stderrBytes);
    });
    const ended: Started['exited'] = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        resolve(signal === null ? { kind: 'exited', code: code ?? 0 } : { kind: 'killed', signal });
      });
    });
    this.#gone = ended;
    const mark = { variable: `${PROCESS_ID_VARIABLE}=${folder.id}` };
    this.#tree = createProcessTree({ process: child, exited: ended }, mark, false);
    this.exited = this.#finish();
  }

  get spawned(): SpawnedProcess {
    return this.#child;
  }

  get stdin(): Writable {
    return this.#child.stdin;
  }

  get stdout(): Readable {
    return this.#child.stdout;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null && this.#closing === undefined;
  }

  /** The end of what it wrote to stderr. */
  get stderr(): string {
    return this.#stderr.trim();
  }

  /** End of input, then SIGTERM, then SIGKILL, each for all that belongs to it. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#child.stdin.end();
    await atMost(LIMITS.inputGraceMs, this.#gone);
    await this.#tree.end(LIMITS.termGraceMs);
    await this.exited;
  }

  async #finish(): Promise<ProcessEnd> {
    await this.#gone;
    await this.#tree.end(0);
    // Nobody holds the other end any more.
    if (!this.#child.stderr.readableEnded) await atMost(100, once(this.#child, 'close'));
    // What cannot be removed now is found by the next start.
    await removeFolder(this.folder.path).catch(() => undefined);
    await removeSockets(this.pid);
    return { code: this.#child.exitCode, signal: this.#child.signalCode, stderr: this.stderr };
  }
}

/** Rejects with GatewayError where the program does not start; nothing is left then. */
async function launch(
  folder: ProcessFolder,
  command: LaunchCommand,
  credential: string,
): Promise<LaunchedProcess> {
  const child = spawn(command.command, command.args, {
    cwd: command.cwd,
    env: command.env,
    // A session of its own: a Ctrl-C for the gateway is not one for it, and its group can be ended whole.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    windowsHide: true,
  });
  if (!isRunning(child)) {
    const [cause]: unknown[] = await once(child, 'error');
    await removeFolder(folder.path);
    throw new GatewayError(
      'unavailable',
      `Claude Code could not be started in ${command.cwd}: ${cause instanceof Error ? cause.message : String(cause)}. Check that the folder exists and the program may be run.`,
      { cause },
    );
  }
  const launched = new LaunchedProcess(folder, command, credential, child);
  try {
    noteProcess(folder, child.pid);
  } catch (error) {
    await launched.close();
    throw error;
  }
  const key = child.stdio[KEY_DESCRIPTOR];
  if (key !== null && key !== undefined && 'end' in key) {
    key.on('error', () => undefined);
    key.end(credential);
  }
  return launched;
}

function isRunning(child: ChildProcess): child is PipedChild {
  const { pid, stdin, stdout, stderr } = child;
  return pid !== undefined && stdin !== null && stdout !== null && stderr !== null;
}
