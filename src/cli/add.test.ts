import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/cleanup.js';
import { findNpm } from './add.js';

async function program(...path: string[]): Promise<string> {
  const file = join(...path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, '#!/bin/sh\n', { mode: 0o755 });
  return file;
}

describe('findNpm', () => {
  it('takes the one that came with Node, before any on the PATH', async () => {
    const { path } = await tempFolder();
    const node = join(path, 'bin/node');
    const own = await program(path, 'lib/node_modules/npm/bin/npm-cli.js');
    await program(path, 'other/npm');
    expect(await findNpm({ PATH: join(path, 'other') }, node)).toEqual([node, own]);
  });

  it('takes one on the PATH, with Node where it is a script', async () => {
    const { path } = await tempFolder();
    const node = join(path, 'bin/node');
    const script = await program(path, 'share/npm/bin/npm-cli.js');
    await mkdir(join(path, 'links'));
    await symlink(script, join(path, 'links/npm'));
    const wrapper = await program(path, 'wrappers/npm');
    expect(await findNpm({ PATH: join(path, 'links') }, node)).toEqual([node, script]);
    expect(await findNpm({ PATH: join(path, 'wrappers') }, node)).toEqual([wrapper]);
  });

  it('takes none that the working folder could have brought', async () => {
    const { path } = await tempFolder();
    await program(path, 'project/node_modules/.bin/npm');
    const PATH = [join(path, 'project/node_modules/.bin'), '.', '', 'node_modules/.bin'].join(delimiter);
    expect(await findNpm({ PATH }, join(path, 'bin/node'))).toBeUndefined();
  });
});
