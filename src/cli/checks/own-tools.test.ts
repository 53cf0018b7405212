import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../../test/support/cleanup.js';
import { configSchema } from '../../config/schema.js';
import { checkOwnTools } from './own-tools.js';

const toolsConfig = (paths: string[]) => configSchema.shape.tools.parse({ paths });

describe('tools of one’s own', () => {
  it('are not spoken of where there are none', async () => {
    expect(await checkOwnTools(toolsConfig([]), '/')).toEqual([]);
  });

  it('are named, and what cannot be loaded is a failure with its reason', async () => {
    const { path } = await tempFolder();
    await writeFile(join(path, 'a.mjs'), "export const tool = { name: 'A', description: 'a', call() {} }");
    await writeFile(join(path, 'b.mjs'), "throw new Error('no database')");
    expect(await checkOwnTools(toolsConfig(['.', './missing']), path)).toEqual([
      { status: 'ok', subject: 'own tools', finding: 'A' },
      expect.objectContaining({
        status: 'FAIL',
        finding: expect.stringContaining('b.mjs: It could not be loaded: no database'),
      }),
      expect.objectContaining({ status: 'FAIL', finding: expect.stringContaining('./missing') }),
    ]);
  });

  it('are not said to be fine where a built-in, or another of them, has their name', async () => {
    const { path } = await tempFolder();
    const tool = (name: string) => `export const tool = { name: '${name}', description: 'a', call() {} }`;
    await writeFile(join(path, 'a.mjs'), tool('Read'));
    await writeFile(join(path, 'b.mjs'), tool('Mine'));
    await writeFile(join(path, 'c.mjs'), tool('Mine'));
    expect(await checkOwnTools(toolsConfig(['.']), path)).toEqual([
      { status: 'ok', subject: 'own tools', finding: 'Mine' },
      {
        status: 'warn',
        subject: 'own tools',
        finding: 'Read is off',
        advice: 'The name Read is taken by a built-in tool. Give it another name.',
      },
      expect.objectContaining({ status: 'warn', finding: 'Mine is off' }),
    ]);
  });
});
