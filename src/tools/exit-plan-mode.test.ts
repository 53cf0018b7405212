import { afterEach, describe, expect, it } from 'vitest';
import { createTestContext, runTool, type TestContext } from '../../test/support/tool-context.js';
import { exitPlanModeTool } from './exit-plan-mode.js';

let context: TestContext | undefined;
afterEach(async () => context?.close());

describe('ExitPlanMode', () => {
  it('is a question that shows the plan', async () => {
    context = await createTestContext();
    expect(exitPlanModeTool.question).toBe(true);
    expect(exitPlanModeTool.needsPermissions({ plan: 'x' })).toBe(true);
    const shown = await exitPlanModeTool.describe({ plan: '# Plan' }, context);
    expect(shown).toMatchObject({ kind: 'question', detail: '# Plan' });
    expect(shown.questions?.[0]?.options).toHaveLength(2);
  });

  it('gives back the plan that was approved, which a person may have changed', async () => {
    context = await createTestContext();
    const { text, result } = await runTool(
      exitPlanModeTool,
      { plan: 'changed', allowedPrompts: [] },
      context,
    );
    expect(text).toMatch(/The user approved the plan\.[\s\S]*\n\nchanged$/);
    expect(result.data).toEqual({ plan: 'changed' });
  });

  it('needs a plan', () => {
    expect(exitPlanModeTool.inputSchema?.safeParse({}).success).toBe(false);
    expect(exitPlanModeTool.inputSchema?.safeParse({ plan: ' ' }).success).toBe(false);
  });
});
