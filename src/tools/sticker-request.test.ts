import { afterEach, describe, expect, it } from 'vitest';
import {
  createTestContext,
  enablementOf,
  runTool,
  type TestContext,
} from '../../test/support/tool-context.js';
import { stickerRequestTool } from './sticker-request.js';

let context: TestContext | undefined;
afterEach(async () => context?.close());

describe('StickerRequest', () => {
  it('is off, with the way to switch it on', async () => {
    expect(await enablementOf(stickerRequestTool({ enabled: false }))).toMatchObject({
      enabled: false,
      reason: expect.stringContaining('tools.sticker'),
    });
    expect(await enablementOf(stickerRequestTool({ enabled: true }))).toBe(true);
  });

  it('gives a sticker and asks for nothing', async () => {
    context = await createTestContext();
    const tool = stickerRequestTool({ enabled: true });
    const { text } = await runTool(tool, { trigger: 'stickers please' }, context);
    expect(text).toContain('every call, answered');
    expect(text).toContain('No personal data is needed');
    const withAddress = { trigger: 'x', address: 'Main Street 1' };
    expect(tool.inputSchema?.safeParse(withAddress).success).toBe(false);
  });
});
