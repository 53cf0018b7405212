/** A command that goes on while the conversation does. */
import { type OutputSlice, wholeCharacters } from '../../workspace/process/output-buffer.js';
import type { CommandEnd } from '../../workspace/process/run-command.js';
import { resetBehind } from '../../workspace/process/terminal-text.js';
import type { Job, JobState } from '../runtime/jobs.js';
import { presentOutput } from './present-output.js';
import { setAsideNote } from './sandbox-hint.js';
import type { StartedCommand } from './start-command.js';

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
