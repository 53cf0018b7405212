/** Reads what a background command printed since it was last read. */
import * as z from 'zod';
import { atMost, deferred } from '../../core/deferred.js';
import { onAbort } from '../../core/stopping.js';
import { filterLines } from '../../workspace/ripgrep.js';
import { findJob, jobId, showState } from '../bash/find-job.js';
import type { Job, JobState } from '../runtime/jobs.js';
import { type Tool, ToolError } from '../runtime/tool.js';

const LIMITS = {
  filterChars: 1000,
  /** How long `block` waits. */
  waitMs: 30_000,
  maxWaitMs: 600_000,
} as const;

const inputSchema = z.object({
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

type BashOutputInput = z.infer<typeof inputSchema>;

export const bashOutputTool: Tool<BashOutputInput> = {
  name: 'BashOutput',
  aliases: ['TaskOutput'],
  userFacingName: () => 'Read background command',
  description:
    'Returns what a background command of Bash printed since it was last read, and whether it still runs.',
  inputSchema,
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
