/** The search program: where it is, and one run of it, read while it prints and stopped when enough has been read. */
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { isAbsolute } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { onAbort } from '../core/stopping.js';

/** Names another one; absolute. */
const RIPGREP_VARIABLE = 'TOOLGATE_RIPGREP';

type RipgrepBinary = { ok: true; path: string } | { ok: false; problem: string };

export async function findRipgrep(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<RipgrepBinary> {
  const given = env[RIPGREP_VARIABLE];
  if (given !== undefined && given !== '') {
    return isAbsolute(given) && isExecutable(given)
      ? { ok: true, path: given }
      : { ok: false, problem: `${RIPGREP_VARIABLE} names no program: ${given}` };
  }
  try {
    const { rgPath } = await import('@vscode/ripgrep');
    if (isExecutable(rgPath)) return { ok: true, path: rgPath };
    return { ok: false, problem: `ripgrep cannot be run: ${rgPath}` };
  } catch {
    return {
      ok: false,
      problem: `ripgrep is not installed for ${process.platform} ${process.arch}: install optional dependencies too, or set ${RIPGREP_VARIABLE} to the path of an rg`,
    };
  }
}

/** Whether tools that search are on, and why not. */
export async function ripgrepEnablement(): Promise<true | { enabled: false; reason: string }> {
  const binary = await findRipgrep();
  return binary.ok ? true : { enabled: false, reason: binary.problem };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

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

/** Folders of version control hold copies of everything, and are hidden. */
const NOT_SEARCHED = ['.git', '.svn', '.hg', '.bzr', '.jj', '.sl'];

/**
 * Hidden files are searched. Ignore files count also where there is no repository; those of the
 * operator's home do not: a search gives the same everywhere. Links are not followed.
 */
export const SEARCH_FLAGS: readonly string[] = [
  '--hidden',
  '--no-require-git',
  '--no-ignore-global',
  '--no-follow',
];

/** Behind the caller's own globs: of two that match, the later holds. */
export const EXCLUDED_GLOBS: readonly string[] = NOT_SEARCHED.flatMap((name) => ['--glob', `!${name}`]);

export const SEARCH_LIMITS = {
  timeoutMs: 30_000,
  /** Of names of files that are collected to be put in order. */
  namesBytes: 32 * 1024 * 1024,
  /** Of matching lines. */
  linesBytes: 4 * 1024 * 1024,
} as const;

const FILTER_LIMITS = { timeoutMs: 10_000, maxBytes: 1024 * 1024 } as const;

/** The lines of `text` that match. In a process of its own: no pattern can hold up the gateway. */
export async function filterLines(
  text: string,
  pattern: string,
  signal: AbortSignal,
): Promise<{ ok: true; text: string } | { ok: false; message: string }> {
  const lines: string[] = [];
  const outcome = await runRipgrep({
    args: ['--text', '--no-line-number', '--no-filename', '--regexp', pattern, '--', '-'],
    cwd: '/',
    signal,
    ...FILTER_LIMITS,
    separator: '\n',
    input: text,
    onRecord: (line) => {
      lines.push(line);
      return true;
    },
  });
  if (outcome.ended === 'complete' && (outcome.code === 0 || outcome.code === 1)) {
    return { ok: true, text: lines.join('\n') };
  }
  return { ok: false, message: outcome.messages.trim() || `The search was ${outcome.ended}.` };
}
