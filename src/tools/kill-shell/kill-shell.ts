/** Ends a background command. */
import * as z from 'zod';
import { findJob, type JobInput, jobId, showState } from '../bash/find-job.js';
import type { ToolContext } from '../runtime/context.js';
import { type Tool, ToolError } from '../runtime/tool.js';

const inputSchema = z.object({
  shell_id: z.string().optional().describe('The id of the background command'),
  task_id: z.string().optional().describe('The same as shell_id'),
});

type KillShellInput = z.infer<typeof inputSchema>;

export const killShellTool: Tool<KillShellInput> = {
  name: 'KillShell',
  aliases: ['TaskStop', 'KillBash'],
  userFacingName: () => 'End background command',
  description: 'Ends a command that Bash started in the background, with everything that it started.',
  inputSchema,
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
