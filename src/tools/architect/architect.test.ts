import { afterEach, describe, expect, it } from 'vitest';
import {
  createTestContext,
  enablementOf,
  runTool,
  type TestContext,
} from '../../../test/support/tool-context.js';
import type { AgentProgress, AgentReport, AgentTask } from '../runtime/context.js';
import { architectTool } from './architect.js';

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
