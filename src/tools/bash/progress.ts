/** What a command prints, while it prints it: only what is new, and not more often than a person can see. */
import { decodeOutput } from '../../workspace/process/output-buffer.js';
import { tailOf } from '../runtime/clean-text.js';
import type { ToolProgress } from '../runtime/tool.js';
import { withoutBegun } from './background-job.js';
import { BASH_LIMITS } from './limits.js';
import type { StartedCommand } from './start-command.js';

/** Returns when the command has ended. */
export async function* followOutput(started: StartedCommand): AsyncGenerator<ToolProgress, void, void> {
  let ended = false;
  let wake: () => void = () => {};
  let changed = new Promise<void>((resolve) => {
    wake = resolve;
  });
  started.onChange(() => wake());
  void started.ended.then(() => {
    ended = true;
    wake();
  });
  let position = 0;
  while (!ended) {
    await changed;
    changed = new Promise((resolve) => {
      wake = resolve;
    });
    if (ended) return;
    await atMost(BASH_LIMITS.progressMs, started.ended);
    // The whole comes with the result.
    if (ended) return;
    const { slice, held } = withoutBegun(started.output.since(position));
    position = started.output.total - held;
    const { before, after } = decodeOutput(slice);
    const content = tailOf(before + after, BASH_LIMITS.progressChars);
    if (content !== '') yield { type: 'progress', content };
  }
}

async function atMost(ms: number, ended: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([ended, late]);
  clearTimeout(timer);
}
