/** Runs an agent for a tool call: its steps become progress, its report the result. */
import type { AgentReport, AgentTask, ToolContext } from '../runtime/context.js';
import { ToolError, type ToolProgress } from '../runtime/tool.js';

/** What no sub-agent has, whatever its parent has: agents of its own, and the user's attention. */
const NOT_FOR_SUB_AGENTS: ReadonlySet<string> = new Set([
  'Task',
  'Agent',
  'Architect',
  'AskUserQuestion',
  'ExitPlanMode',
]);

/** Only look. Bash is not among them: what a command does is not known before it runs. */
const READING_TOOLS: ReadonlySet<string> = new Set([
  'Read',
  'Glob',
  'Grep',
  'LS',
  'NotebookRead',
  'WebFetch',
  'WebSearch',
  'Think',
  'TodoRead',
  'TodoWrite',
]);

export type SubAgentReach = 'everything' | 'reading';

/** Of the tools that the parent has in this turn; never more. */
export function toolsForSubAgent(context: ToolContext, reach: SubAgentReach): string[] {
  return context.options.tools.filter(
    (name) => !NOT_FOR_SUB_AGENTS.has(name) && (reach === 'everything' || READING_TOOLS.has(name)),
  );
}

/** Why an agent cannot be run from here; undefined when it can. */
export function subAgentProblem(context: ToolContext): string | undefined {
  if (context.session.agent !== undefined) {
    return 'You are a sub-agent, and sub-agents do not start agents of their own. Do this part of the work yourself.';
  }
  if (context.runAgent === undefined) {
    return 'No agent can be started here. Do the work yourself with the other tools.';
  }
  return undefined;
}

export async function* runSubAgent(
  task: Omit<AgentTask, 'toolUseId'>,
  context: ToolContext,
): AsyncGenerator<ToolProgress, AgentReport, void> {
  const problem = subAgentProblem(context);
  if (problem !== undefined || context.runAgent === undefined) {
    throw new ToolError(problem ?? 'No agent can be started here.');
  }
  const agent = context.runAgent({ ...task, toolUseId: context.toolUseId });
  let ended = false;
  try {
    for (;;) {
      const step = await agent.next();
      if (step.done === true) {
        ended = true;
        return step.value;
      }
      const { content, messages } = step.value;
      yield {
        type: 'progress',
        content,
        ...(messages === undefined ? {} : { normalizedMessages: messages }),
        ...(task.tools === undefined ? {} : { tools: task.tools }),
      };
    }
  } finally {
    // Nobody reads on (the call was stopped): the agent must not go on by itself.
    if (!ended) await agent.return(NO_REPORT);
  }
}

const NO_REPORT: AgentReport = {
  text: '',
  usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
  turns: 0,
  toolCalls: 0,
  durationMs: 0,
  cutShort: 'aborted',
};

/** The report as the parent reads it. Throws ToolError where there is none. */
export function reportText(report: AgentReport): string {
  const text = report.text.trim();
  if (report.cutShort === undefined) {
    return text === '' ? 'The agent finished without a report. Check the result of its work yourself.' : text;
  }
  if (text === '') {
    throw new ToolError(
      `The agent was cut short (${report.cutShort}) before it reported anything. What it had done stays done: check before you try again.`,
      { data: reportData(report) },
    );
  }
  return `The agent was cut short (${report.cutShort}); its work may be incomplete. The last that it said:\n\n${text}`;
}

export function reportData(report: AgentReport) {
  const { usage, turns, toolCalls, durationMs, cutShort, details } = report;
  return {
    usage,
    turns,
    toolCalls,
    durationMs,
    ...(cutShort === undefined ? {} : { cutShort }),
    ...(details === undefined ? {} : { details }),
  };
}
