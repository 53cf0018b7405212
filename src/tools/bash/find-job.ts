/** Background commands as tools name them. */
import type { ToolContext } from '../runtime/context.js';
import type { Job, JobState } from '../runtime/jobs.js';
import { ToolError } from '../runtime/tool.js';

export interface JobInput {
  bash_id?: string | undefined;
  shell_id?: string | undefined;
  task_id?: string | undefined;
}

export function jobId({ bash_id, shell_id, task_id }: JobInput): string | undefined {
  const id = bash_id ?? shell_id ?? task_id;
  return id === '' ? undefined : id;
}

export function findJob(input: JobInput, { session }: ToolContext): Job {
  const id = jobId(input) ?? '';
  const job = session.jobs.get(id);
  if (job !== undefined) return job;
  const known = session.jobs.list().map((each) => each.id);
  const others = known.length === 0 ? 'This session has none.' : `There are: ${known.join(', ')}.`;
  throw new ToolError(`There is no background command ${id}. ${others}`);
}

export function showState(state: JobState): string {
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
