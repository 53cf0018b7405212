import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closeAfterTest } from '../../../test/support/cleanup.js';
import {
  createTestContext,
  runTool,
  type TestContext,
  type TestContextOptions,
} from '../../../test/support/tool-context.js';
import { LS_LIMITS, lsTool } from './ls.js';

async function context(script: string, options: TestContextOptions = {}): Promise<TestContext> {
  const made = await createTestContext(options);
  closeAfterTest(() => made.close());
  execFileSync('bash', ['-ec', script], { cwd: made.root });
  return made;
}

describe('LS', () => {
  it('shows what may be read and nothing else, not even by number', async () => {
    const given = await context('mkdir open closed; touch open/a closed/secret .env', {
      readable: (path) => !path.includes('closed') && !path.endsWith('.env'),
    });
    const { text } = await runTool(lsTool, {}, given);
    expect(text).toBe(`- ${given.root}/\n  - open/\n    - a`);
  });

  it('shows what lies high up before what lies deep, up to its cap', async () => {
    const given = await context('mkdir -p a z; touch a/{1..1500} z/last top');
    const { text, result } = await runTool(lsTool, {}, given);
    expect(text).toContain('  - top\n  - z/\n    - last');
    expect(text).toContain(`    - [${1500 - LS_LIMITS.entriesPerFolder} more]`);
    expect(text).toContain('some left out');
    expect(result.data).toMatchObject({ capped: true });
  });

  it('does not read a huge folder to its end', async () => {
    const given = await context('touch {1..6000}');
    const { text } = await runTool(lsTool, {}, given);
    expect(text.split('\n')).toHaveLength(1 + LS_LIMITS.entries + 1 + 2);
  });

  it('keeps a name with a line feed in one line', async () => {
    const given = await context("touch $'a\\n  - fake'");
    expect((await runTool(lsTool, {}, given)).text).toBe(`- ${given.root}/\n  - a\\x0a  - fake`);
  });

  it('reads the tree below its folder', async () => {
    const given = await context('mkdir dir; ln -s dir link');
    expect(await lsTool.effects?.({ path: 'link' }, given)).toEqual([
      { kind: 'read', path: join(given.root, 'link'), tree: true },
      { kind: 'read', path: join(given.root, 'dir'), tree: true },
    ]);
  });
});
