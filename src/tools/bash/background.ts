/** Commands that go on while the conversation does, and the tools about them: BashOutput and KillShell. */
import * as z from 'zod';
import { atMost, deferred } from '../../core/deferred.js';
import { onAbort } from '../../core/stopping.js';
import { type OutputSlice, wholeCharacters } from '../../workspace/process/output-buffer.js';
import type { CommandEnd } from '../../workspace/process/run-command.js';
import { resetBehind } from '../../workspace/process/terminal-text.js';
import { filterLines } from '../../workspace/ripgrep.js';
import type { Job, JobState, ToolContext } from '../runtime/context.js';
import { type Tool, ToolError } from '../runtime/tool.js';
import { presentOutput, setAsideNote } from './present-output.js';
import type { StartedCommand } from './start-command.js';

interface JobInput {
  bash_id?: string | undefined;
  shell_id?: string | undefined;
  task_id?: string | undefined;
}

function jobId({ bash_id, shell_id, task_id }: JobInput): string | undefined {
  const id = bash_id ?? shell_id ?? task_id;
  return id === '' ? undefined : id;
}

function findJob(input: JobInput, { session }: ToolContext): Job {
  const id = jobId(input) ?? '';
  const job = session.jobs.get(id);
  if (job !== undefined) return job;
  const known = session.jobs.list().map((each) => each.id);
  const others = known.length === 0 ? 'This session has none.' : `There are: ${known.join(', ')}.`;
  throw new ToolError(`There is no background command ${id}. ${others}`);
}

function showState(state: JobState): string {
  switch (state.status) {
    case 'running':
      return 'it is running';
    case 'exited':
      return `it ended with exit code ${state.code}`;
    case 'killed':
      return `it was ended by ${state.signal}`;
    case 'failed':
      return `it failed: ${state.message}`;
  }
}

export function createJob(id: string, command: string, started: StartedCommand, timeoutMs: number): Job {
  let state: JobState = { status: 'running' };
  let timedOut = false;
  let position = 0;
  let noted = 0;
  const timer = setTimeout(() => {
    timedOut = true;
    void started.stop();
  }, timeoutMs);
  timer.unref();

  const ended = started.ended.then((end): JobState => {
    clearTimeout(timer);
    state = stateOf(end, timedOut ? timeoutMs : undefined);
    return state;
  });

  return {
    id,
    command,
    startedAt: Date.now(),
    logPath: started.log?.path ?? '',
    state: () => state,
    ended,
    async readNew() {
      const all = started.output.since(position);
      const { slice, held } = state.status === 'running' ? withoutBegun(all) : { slice: all, held: 0 };
      position = started.output.total - held;
      const { text, shown, omitted } = presentOutput(slice, started.log);
      const note = setAsideNote(started.setAside.slice(noted));
      noted = started.setAside.length;
      const noting = (output: string): string =>
        note === undefined ? output : `${output.trimEnd()}${resetBehind(output)}\n\n[${note}]\n`;
      return {
        text: noting(text),
        ...(shown === undefined ? {} : { shown: noting(shown) }),
        omitted,
      };
    },
    stop: () => started.stop(),
  };
}

/** A character that has only begun is read with the rest of it. */
export function withoutBegun(slice: OutputSlice): { slice: OutputSlice; held: number } {
  const name = slice.after.length > 0 ? 'after' : 'before';
  const length = wholeCharacters(slice[name]);
  return { slice: { ...slice, [name]: slice[name].subarray(0, length) }, held: slice[name].length - length };
}

function stateOf(end: CommandEnd, timedOutAfter: number | undefined): JobState {
  if (timedOutAfter !== undefined) {
    return {
      status: 'failed',
      message: `stopped after ${Math.round(timedOutAfter / 1000)} s, its time was over`,
    };
  }
  switch (end.kind) {
    case 'exited':
      return { status: 'exited', code: end.code };
    case 'killed':
      return { status: 'killed', signal: end.signal };
    case 'failed':
      return { status: 'failed', message: end.message };
  }
}

const LIMITS = {
  filterChars: 1000,
  /** How long `block` waits. */
  waitMs: 30_000,
  maxWaitMs: 600_000,
} as const;

const outputSchema = z.object({
  bash_id: z.string().optional().describe('The id of the background command'),
  task_id: z.string().optional().describe('The same as bash_id'),
  filter: z
    .string()
    .max(LIMITS.filterChars)
    .optional()
    .describe('A regular expression: only lines that match are shown; the others are not shown later either'),
  block: z.boolean().optional().describe('Wait until the command has ended'),
  timeout: z
    .number()
    .positive()
    .max(LIMITS.maxWaitMs)
    .optional()
    .describe(`With block: for how many milliseconds, by default ${LIMITS.waitMs}`),
});

type BashOutputInput = z.infer<typeof outputSchema>;

export const bashOutputTool: Tool<BashOutputInput> = {
  name: 'BashOutput',
  aliases: ['TaskOutput'],
  userFacingName: () => 'Read background command',
  description:
    'Returns what a background command of Bash printed since it was last read, and whether it still runs.',
  inputSchema: outputSchema,
  isReadOnly: () => true,
  // Reading moves on what counts as new.
  isConcurrencySafe: () => false,
  needsPermissions: () => false,
  prompt: 'Read what background commands print with BashOutput; set block to wait for their end.',
  validateInput: (input) =>
    jobId(input) === undefined
      ? { ok: false, message: 'bash_id is missing: give the id that Bash returned.' }
      : { ok: true },
  describe: (input) => ({ title: `Read the output of ${jobId(input) ?? ''}`, kind: 'read', paths: [] }),
  async *call(input, context) {
    const job = findJob(input, context);
    // Before anything is read: what was read once is not new again.
    if (input.filter !== undefined) await filtered('', input.filter, context.signal);
    if (input.block === true) await waitFor(job, input.timeout ?? LIMITS.waitMs, context.signal);
    // Asked first: whatever was printed before the end is then in what is read.
    const state = job.state();
    const { text, shown, omitted } = await job.readNew();
    const output = input.filter === undefined ? text : await filtered(text, input.filter, context.signal);
    const report = (body: string): string => {
      const said = body.trimEnd();
      return `${heading(job, state)}\n${said === '' ? '(nothing new)' : `\n${said}`}`;
    };
    yield {
      type: 'result',
      resultForAssistant: report(output),
      data: { task_id: job.id, command: job.command, state, output, omitted, logPath: job.logPath },
      // Lines are chosen by their text alone.
      ...(shown === undefined || input.filter !== undefined ? {} : { shown: report(shown) }),
    };
  },
};

function heading(job: Job, state: JobState): string {
  return `[${job.id}: ${showState(state)}. Everything that it printed is in ${job.logPath}]`;
}

async function filtered(text: string, pattern: string, signal: AbortSignal): Promise<string> {
  const outcome = await filterLines(text, pattern, signal);
  if (!outcome.ok) throw new ToolError(`The filter cannot be used. ${outcome.message}`);
  return outcome.text;
}

async function waitFor(job: Job, ms: number, signal: AbortSignal): Promise<void> {
  const aborted = deferred();
  const release = onAbort(signal, aborted.resolve);
  await atMost(ms, Promise.race([aborted.promise, job.ended]));
  release();
}

const killSchema = z.object({
  shell_id: z.string().optional().describe('The id of the background command'),
  task_id: z.string().optional().describe('The same as shell_id'),
});

type KillShellInput = z.infer<typeof killSchema>;

export const killShellTool: Tool<KillShellInput> = {
  name: 'KillShell',
  aliases: ['TaskStop', 'KillBash'],
  userFacingName: () => 'End background command',
  description: 'Ends a command that Bash started in the background, with everything that it started.',
  inputSchema: killSchema,
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  needsPermissions: () => false,
  prompt: 'End background commands that are not needed any more with KillShell.',
  validateInput: (input) =>
    jobId(input) === undefined
      ? { ok: false, message: 'shell_id is missing: give the id that Bash returned.' }
      : { ok: true },
  describe: (input, context) => ({
    title: `End ${jobId(input) ?? 'a background command'}`,
    kind: 'command',
    paths: [],
    ...commandOf(input, context),
  }),
  async *call(input, context) {
    const job = findJob(input, context);
    const before = job.state();
    if (before.status !== 'running') {
      throw new ToolError(`${job.id} does not run any more: ${showState(before)}.`);
    }
    await job.stop();
    yield {
      type: 'result',
      resultForAssistant: `Ended ${job.id} (${job.command}).`,
      data: { task_id: job.id, task_type: 'local_bash', command: job.command, message: `Ended ${job.id}` },
    };
  },
};

function commandOf(input: JobInput, { session }: ToolContext): { command?: string } {
  const job = session.jobs.get(jobId(input) ?? '');
  return job === undefined ? {} : { command: job.command };
}
