import { afterEach, describe, expect, it } from 'vitest';
import {
  createTestContext,
  enablementOf,
  runTool,
  type TestContext,
  type TestContextOptions,
} from '../../test/support/tool-context.js';
import type { AgentProgress, AgentReport, AgentTask } from './runtime/context.js';
import { ToolError } from './runtime/tool.js';
import { architectTool, taskTool } from './task.js';

const contexts: TestContext[] = [];
afterEach(async () => {
  await Promise.all(contexts.splice(0).map((context) => context.close()));
});

const REPORT: AgentReport = {
  text: ' found it ',
  usage: { inputTokens: 10, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 },
  turns: 3,
  toolCalls: 5,
  durationMs: 7,
};

const WORK = { description: 'Find it', prompt: 'Where is it?' };

async function open(report: Partial<AgentReport> = {}, more: TestContextOptions = {}) {
  const tasks: AgentTask[] = [];
  const context = await createTestContext({
    options: { tools: ['Read', 'Grep', 'Bash', 'Edit', 'Task', 'Architect', 'AskUserQuestion', 'mcp__a__b'] },
    async *runAgent(task: AgentTask): AsyncGenerator<AgentProgress, AgentReport, void> {
      tasks.push(task);
      yield {
        content: 'reading',
        messages: [{ role: 'assistant', content: [{ type: 'text', text: 'hm' }] }],
      };
      yield { content: 'thinking' };
      return { ...REPORT, ...report };
    },
    ...more,
  });
  contexts.push(context);
  return { context, tasks };
}

describe('Task', () => {
  it('passes on what the agent does, and gives its report', async () => {
    const { context, tasks } = await open();
    const { progress, text, result } = await runTool(taskTool, { ...WORK, model: 'small' }, context);
    expect(text).toBe('found it');
    expect(result.data).toMatchObject({
      agentType: 'general-purpose',
      turns: 3,
      toolCalls: 5,
      usage: REPORT.usage,
    });
    expect(progress.map(({ content }) => content)).toEqual(['reading', 'thinking']);
    expect(progress[0]?.normalizedMessages).toHaveLength(1);
    expect(tasks).toMatchObject([{ description: 'Find it', prompt: 'Where is it?', model: 'small' }]);
  });

  it('gives the agent no more tools than its parent has, and no agents or questions of its own', async () => {
    const { context, tasks } = await open();
    await runTool(taskTool, WORK, context);
    expect(tasks[0]?.tools).toEqual(['Read', 'Grep', 'Bash', 'Edit', 'mcp__a__b']);
  });

  it('gives an agent that explores only tools that look', async () => {
    const { context, tasks } = await open();
    await runTool(taskTool, { ...WORK, subagent_type: 'explore' }, context);
    expect(tasks[0]).toMatchObject({ kind: 'Explore', tools: ['Read', 'Grep'] });
  });

  it('is known as Agent too, and passes over fields that it does not use', async () => {
    const { context } = await open();
    expect(taskTool.aliases).toEqual(['Agent']);
    const extra = { ...WORK, effort: 'high', name: 'x', mode: 'bypassPermissions', run_in_background: false };
    expect((await runTool(taskTool, extra, context)).text).toBe('found it');
  });

  it.each([
    [{ run_in_background: true }, /not run in the background/],
    [{ isolation: 'worktree' }, /isolation is not offered/],
    [{ subagent_type: 'wizard' }, /no agent of the kind "wizard".*general-purpose, Explore, Plan/],
  ])('refuses %j', async (extra, message) => {
    const { context, tasks } = await open();
    await expect(runTool(taskTool, { ...WORK, ...extra }, context)).rejects.toThrow(message);
    expect(tasks).toEqual([]);
  });

  it('is not for sub-agents, nor where no agent can be run', async () => {
    const { context } = await open({}, { agent: { id: 'a1', label: 'Find it' } });
    await expect(runTool(taskTool, WORK, context)).rejects.toThrow(/do not start agents of their own/);
    const bare = await createTestContext();
    contexts.push(bare);
    await expect(runTool(taskTool, WORK, bare)).rejects.toThrow(/No agent can be started here/);
  });

  it('is honest about an agent that was cut short or said nothing', async () => {
    const cut = await open({ cutShort: 'max_turns' });
    expect((await runTool(taskTool, WORK, cut.context)).text).toMatch(
      /^The agent was cut short \(max_turns\); its work may be incomplete[\s\S]*found it$/,
    );
    const silent = await open({ text: '' });
    expect((await runTool(taskTool, WORK, silent.context)).text).toContain('finished without a report');
    const lost = await open({ text: '', cutShort: 'aborted' });
    await expect(runTool(taskTool, WORK, lost.context)).rejects.toThrow(ToolError);
  });

  it('ends the agent when nobody reads on', async () => {
    let ended = false;
    const { context } = await open(
      {},
      {
        async *runAgent() {
          try {
            for (;;) yield { content: 'busy' };
          } finally {
            ended = true;
          }
        },
      },
    );
    const run = taskTool.call(WORK, context);
    await run.next();
    await run.return();
    expect(ended).toBe(true);
  });
});

let context: TestContext | undefined;
afterEach(async () => context?.close());

describe('Architect', () => {
  it('is off, with the way to switch it on', async () => {
    expect(await enablementOf(architectTool({ enabled: false }))).toMatchObject({
      enabled: false,
      reason: expect.stringContaining('tools.architect'),
    });
    expect(await enablementOf(architectTool({ enabled: true }))).toBe(true);
  });

  it('has an agent that can only read make the plan', async () => {
    const tasks: AgentTask[] = [];
    context = await createTestContext({
      options: { tools: ['Architect', 'Bash', 'Edit', 'Glob', 'Read', 'Task', 'Write'] },
      async *runAgent(task): AsyncGenerator<AgentProgress, AgentReport, void> {
        tasks.push(task);
        yield { content: 'looking' };
        return {
          text: 'the plan',
          usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 },
          turns: 1,
          toolCalls: 0,
          durationMs: 1,
        };
      },
    });
    const input = { prompt: 'Add a cache', context: 'It must be small.' };
    const { text } = await runTool(architectTool({ enabled: true }), input, context);
    expect(text).toBe('the plan');
    expect(tasks).toHaveLength(1);
    expect(tasks[0]).toMatchObject({
      prompt: 'Add a cache\n\nWhat is already known:\nIt must be small.',
      tools: ['Glob', 'Read'],
      systemPrompt: expect.stringContaining('software architect'),
    });
  });

  it('says so where no agent can be run', async () => {
    context = await createTestContext();
    await expect(runTool(architectTool({ enabled: true }), { prompt: 'x' }, context)).rejects.toThrow(
      /No agent can be started here/,
    );
  });
});
