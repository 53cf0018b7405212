/** One run of ripgrep, read while it prints and stopped when enough has been read. */
import { spawn } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { onAbort } from '../../core/stopping.js';
import { findRipgrep } from './binary.js';

export interface RipgrepRequest {
  /** Without the flags that every run has; the pattern and paths after `--`. */
  args: readonly string[];
  cwd: string;
  signal: AbortSignal;
  timeoutMs: number;
  /** Of what it prints; more ends the run. */
  maxBytes: number;
  separator: '\n' | '\0';
  /** One record, without its separator. False: enough. */
  onRecord(record: string): boolean;
  /** Searched in place of files. */
  input?: string;
}

export interface RipgrepOutcome {
  /** `complete` also where some files could not be read. */
  ended: 'complete' | 'enough' | 'timed-out' | 'overflow' | 'aborted' | 'failed';
  /** 0 found, 1 not found, 2 errors. */
  code: number | undefined;
  /** What it complained about. */
  messages: string;
}

const MAX_MESSAGES = 16 * 1024;

/** The operator's own settings are not part of a search, and no flag of it runs a program. */
const ALWAYS = ['--no-config', '--color', 'never'];

/** Rejects only where there is no ripgrep; what goes wrong in a run is in the outcome. */
export async function runRipgrep(request: RipgrepRequest): Promise<RipgrepOutcome> {
  const binary = await findRipgrep();
  if (!binary.ok) return { ended: 'failed', code: undefined, messages: binary.problem };
  if (request.signal.aborted) return { ended: 'aborted', code: undefined, messages: '' };
  return await new Promise((resolve) => {
    const child = spawn(binary.path, [...ALWAYS, ...request.args], {
      cwd: request.cwd,
      env: { LANG: 'C.UTF-8' },
      stdio: [request.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    const decoder = new StringDecoder('utf8');
    let ended: RipgrepOutcome['ended'] = 'complete';
    let begun = '';
    let bytes = 0;
    let messages = '';

    const stop = (why: RipgrepOutcome['ended']): void => {
      if (ended !== 'complete') return;
      ended = why;
      child.kill('SIGKILL');
      child.stdout?.destroy();
    };
    const timer = setTimeout(() => stop('timed-out'), request.timeoutMs);
    const release = onAbort(request.signal, () => stop('aborted'));

    const take = (text: string): void => {
      const records = (begun + text).split(request.separator);
      begun = records.pop() ?? '';
      for (const record of records) {
        if (!request.onRecord(record)) {
          stop('enough');
          return;
        }
      }
    };
    child.stdout?.on('data', (chunk: Buffer) => {
      if (ended !== 'complete') return;
      bytes += chunk.length;
      take(decoder.write(chunk));
      if (bytes > request.maxBytes) stop('overflow');
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      if (messages.length < MAX_MESSAGES) messages += chunk.toString('utf8');
    });
    const finish = (code: number | null): void => {
      clearTimeout(timer);
      release();
      if (ended === 'complete' && begun !== '') request.onRecord(begun);
      resolve({ ended, code: code ?? undefined, messages: messages.slice(0, MAX_MESSAGES) });
    };
    child.once('error', (error) => {
      ended = 'failed';
      messages = error.message;
      finish(null);
    });
    child.once('close', finish);
    if (request.input !== undefined) {
      // It may have found enough, or an error, before all of it is written.
      child.stdin?.on('error', () => {});
      child.stdin?.end(request.input);
    }
  });
}
