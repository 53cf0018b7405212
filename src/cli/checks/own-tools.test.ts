import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../../test/support/cleanup.js';
import { checkOwnTools } from './own-tools.js';

describe('tools of one’s own', () => {
  it('are not spoken of where there are none', async () => {
    expect(await checkOwnTools([], '/')).toEqual([]);
  });

  it('are named, and what cannot be loaded is a failure with its reason', async () => {
    const { path } = await tempFolder();
    await writeFile(join(path, 'a.mjs'), "export const tool = { name: 'A', description: 'a', call() {} }");
    await writeFile(join(path, 'b.mjs'), "throw new Error('no database')");
    expect(await checkOwnTools(['.', './missing'], path)).toEqual([
      { status: 'ok', subject: 'own tools', finding: 'A' },
      expect.objectContaining({
        status: 'FAIL',
        finding: expect.stringContaining('b.mjs: It could not be loaded: no database'),
      }),
      expect.objectContaining({ status: 'FAIL', finding: expect.stringContaining('./missing') }),
    ]);
  });
});
