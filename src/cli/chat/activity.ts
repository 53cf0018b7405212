/** What the agent does, as lines under its words: one when a tool starts, one when it has ended. */
import type { AgentActivity, AgentObserver } from '../../activity/activity.js';
import type { ToolResultContent } from '../../core/conversation.js';
import type { Description } from '../../permissions/gate.js';
import type { ToolRunEvent, ToolRunResult } from '../../tools/runtime/runtime.js';
import { diffLines, duration, indent, type Paint, plain, plainLine, resultLines, titleOf } from './render.js';

/** Why a call did not do what it was to do, in the words of a person. */
const ENDS: Readonly<Record<ToolRunResult['outcome'], string>> = {
  done: 'done',
  failed: 'failed',
  invalid: 'refused: the arguments are wrong',
  denied: 'denied',
  expired: 'not answered in time',
  unattended: 'nobody is here to answer',
  aborted: 'stopped',
  'timed-out': 'took too long',
  'unknown-tool': 'there is no such tool',
};

const PROGRESS_LINES = 4;

interface ActivityOptions {
  write(text: string): void;
  paint: Paint;
  /** Words of the answer stand on a line of their own before anything else is written. */
  endLine(): void;
}

export function activityPrinter({ write, paint, endLine }: ActivityOptions): AgentObserver {
  const describes = new Map<string, Description>();

  const line = (activity: AgentActivity, text: string): void => {
    endLine();
    const who = activity.agent === undefined ? '' : paint('dim', `[${plainLine(activity.agent.label, 40)}] `);
    write(`  ${who}${text}\n`);
  };

  function onTool(activity: AgentActivity, event: ToolRunEvent): void {
    if (event.type === 'tool-start') {
      describes.set(event.id, event.describe);
      line(activity, `${paint('cyan', '●')} ${toolTitle(event.name, event.describe)}`);
    } else if (event.type === 'tool-progress') {
      const last = plain(event.content).trimEnd().split('\n').slice(-PROGRESS_LINES);
      endLine();
      write(indent(last.map((each) => paint('dim', `│ ${each.slice(0, 200)}`))));
    } else if (event.type === 'tool-result') onResult(activity, event);
    // `tool-waiting` has no line: the approval prompt asks.
  }

  function onResult(activity: AgentActivity, result: ToolRunResult): void {
    const describe = result.describe ?? describes.get(result.id);
    describes.delete(result.id);
    const good = result.outcome === 'done' && !result.isError;
    const mark = good ? paint('green', '✓') : paint('red', '✗');
    const what = describe === undefined ? plainLine(result.name) : titleOf(describe);
    const end = result.outcome === 'done' && result.isError ? 'failed' : ENDS[result.outcome];
    line(activity, `${mark} ${what} ${paint('dim', `${end}, ${duration(result.durationMs)}`)}`);
    const lines =
      good && describe?.diff !== undefined
        ? diffLines(describe.diff, paint, 20)
        : resultLines(textOf(result.content), paint);
    write(indent(lines));
  }

  return (activity) => {
    if (activity.type === 'tool') onTool(activity, activity.event);
    else {
      const note = noteOf(activity, paint);
      if (note !== undefined) line(activity, note);
    }
  };
}

function noteOf(activity: Exclude<AgentActivity, { type: 'tool' }>, paint: Paint): string | undefined {
  switch (activity.type) {
    case 'agent-start':
      return `${paint('cyan', '●')} sub-agent: ${plainLine(activity.description)}`;
    case 'agent-end': {
      const { steps, cutShort } = activity;
      const why = cutShort === undefined ? '' : ` (${plainLine(cutShort)})`;
      return paint('dim', `sub-agent ended after ${steps} model call${steps === 1 ? '' : 's'}${why}`);
    }
    case 'compacted':
      return paint(
        'dim',
        `the conversation was summarised: ${activity.before} tokens are ${activity.after} now`,
      );
    case 'max-steps':
      return paint('yellow', `paused after ${activity.steps} model calls; say "go on" to continue`);
    // The answer itself is printed, with its words; there are no tools of a client here.
    case 'text':
    case 'thinking':
    case 'call-began':
    case 'call-input':
    case 'call-whole':
    case 'calls-dropped':
    case 'handed-back':
    case 'model-start':
    case 'model-end':
      return undefined;
  }
}

function toolTitle(name: string, describe: Description): string {
  const title = titleOf(describe);
  return title === '' ? plainLine(name) : title;
}

function textOf(content: readonly ToolResultContent[]): string {
  return content
    .map((block) =>
      block.type === 'text' ? block.text : `[${block.type === 'opaque' ? block.kind : block.type}]`,
    )
    .join('\n');
}
