import { afterEach, describe, expect, it } from 'vitest';
import { createTestContext, runTool, type TestContext } from '../../test/support/tool-context.js';
import { thinkTool } from './think.js';

let context: TestContext | undefined;
afterEach(async () => context?.close());

describe('Think', () => {
  it('keeps the thought for people and answers shortly', async () => {
    context = await createTestContext();
    const { text, result } = await runTool(thinkTool, { thought: ' one way, or the other ' }, context);
    expect(text).toBe('Noted.');
    expect(result.data).toEqual({ thought: 'one way, or the other' });
    const shown = await thinkTool.describe({ thought: 'x' }, context);
    expect(shown).toMatchObject({ kind: 'think', detail: 'x' });
  });

  it('takes no empty and no endless thought', () => {
    for (const thought of ['', '   ', 'x'.repeat(50_001)]) {
      expect(thinkTool.inputSchema?.safeParse({ thought }).success).toBe(false);
    }
  });

  it('is harmless by nature', () => {
    const input = { thought: 'x' };
    expect(thinkTool.needsPermissions(input)).toBe(false);
    expect(thinkTool.isReadOnly(input)).toBe(true);
  });
});
