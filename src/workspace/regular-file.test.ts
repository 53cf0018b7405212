import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closeAfterTest, tempFolder } from '../../test/support/cleanup.js';
import { FileError } from './file-error.js';
import { openRegularFile } from './regular-file.js';

async function folder(): Promise<string> {
  return realpath((await tempFolder()).path);
}

async function refusal(path: string): Promise<string> {
  try {
    const { handle } = await openRegularFile(path);
    await handle.close();
    return 'opened';
  } catch (error) {
    if (error instanceof FileError) return `${error.problem}: ${error.message}`;
    throw error;
  }
}

describe('openRegularFile', () => {
  it('opens a file', async () => {
    const path = join(await folder(), 'a');
    writeFileSync(path, 'x');
    expect(await refusal(path)).toBe('opened');
  });

  it('does not wait for a pipe', async () => {
    const path = join(await folder(), 'pipe');
    execFileSync('mkfifo', [path]);
    expect(await refusal(path)).toContain('a named pipe');
  });

  it('refuses devices, sockets and folders', async () => {
    const root = await folder();
    const server = createServer().listen(join(root, 'socket'));
    closeAfterTest(() => new Promise((resolve) => server.close(resolve)));
    await new Promise((resolve) => server.once('listening', resolve));
    expect(await refusal('/dev/zero')).toContain('a device');
    expect(await refusal(join(root, 'socket'))).toContain('a socket');
    expect(await refusal(root)).toContain('folder:');
  });

  it('refuses what the kernel makes up, the environment of the process above all', async () => {
    expect(await refusal(`/proc/${process.pid}/environ`)).toContain('made up by the kernel');
    expect(await refusal('/proc/cpuinfo')).toContain('made up by the kernel');
  });

  it('follows no link at the end of the path', async () => {
    const root = await folder();
    writeFileSync(join(root, 'target'), 'secret');
    symlinkSync('target', join(root, 'link'));
    expect(await refusal(join(root, 'link'))).toContain('moved:');
  });

  it('follows no folder that became a link after the path was resolved', async () => {
    const root = await folder();
    for (const name of ['inside', 'outside']) {
      mkdirSync(join(root, name));
      writeFileSync(join(root, name, 'a'), name);
    }
    renameSync(join(root, 'inside'), join(root, 'gone'));
    symlinkSync('outside', join(root, 'inside'));
    expect(await refusal(join(root, 'inside', 'a'))).toContain('moved:');
  });

  it('says what is missing', async () => {
    const root = await folder();
    writeFileSync(join(root, 'file'), '');
    expect(await refusal(join(root, 'none'))).toContain('missing:');
    expect(await refusal(join(root, 'file', 'below'))).toContain('a part of the path is a file');
  });
});
