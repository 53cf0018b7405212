import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../../../test/support/cleanup.js';
import { ADD_COMMAND, checkClaudeCode, loadClaudeSdk, SDK_VERSION, sdkFolder } from './load-sdk.js';

const absent = (): string => {
  throw new Error('Cannot find module');
};

const PLATFORM = { platform: 'linux', arch: 'x64' };

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** A home folder in which `toolgate add claude-code` has run. */
async function homeWithSdk(): Promise<{ HOME: string; folder: string }> {
  const HOME = (await tempFolder()).path;
  return { HOME, folder: await installSdk(sdkFolder({ HOME })) };
}

async function installSdk(below: string): Promise<string> {
  const folder = join(below, 'node_modules/@anthropic-ai');
  const manifest = { name: '@anthropic-ai/claude-agent-sdk', version: '7.8.9', main: 'sdk.mjs' };
  await write(join(folder, 'claude-agent-sdk/package.json'), JSON.stringify(manifest));
  await write(join(folder, 'claude-agent-sdk/sdk.mjs'), 'export const query = () => {};');
  await write(join(folder, 'claude-agent-sdk-linux-x64/claude'), '');
  await chmod(join(folder, 'claude-agent-sdk-linux-x64/claude'), 0o755);
  return folder;
}

describe('checkClaudeCode', () => {
  it('finds what is installed beside the gateway, before what was added', async () => {
    const env = await homeWithSdk();
    expect(await checkClaudeCode({ env })).toMatchObject({ ok: true, sdkVersion: SDK_VERSION });
  });

  it('finds what was added', async () => {
    const env = await homeWithSdk();
    expect(await checkClaudeCode({ resolve: absent, env, ...PLATFORM })).toEqual({
      ok: true,
      sdkVersion: '7.8.9',
      main: join(env.folder, 'claude-agent-sdk/sdk.mjs'),
      binary: join(env.folder, 'claude-agent-sdk-linux-x64/claude'),
    });
  });

  it('finds what was added where only the program is absent beside the gateway', async () => {
    const env = await homeWithSdk();
    const resolve = (file: string): string => (file.includes('-linux-') ? absent() : file);
    expect(await checkClaudeCode({ resolve, env, ...PLATFORM })).toMatchObject({ sdkVersion: '7.8.9' });
  });

  it.each(['.', '.local', '.local/state', '.local/state/toolgate'])(
    'takes no package of the folder %s above the one that add writes, which an agent may write',
    async (above) => {
      const HOME = (await tempFolder()).path;
      await installSdk(join(HOME, above));
      const absentBeside = { resolve: absent, env: { HOME }, ...PLATFORM };
      expect(await checkClaudeCode(absentBeside)).toMatchObject({ ok: false });
      await mkdir(sdkFolder({ HOME }), { recursive: true });
      expect(await checkClaudeCode(absentBeside)).toMatchObject({ ok: false });
    },
  );

  it('says how to install it where it is absent', async () => {
    const env = { HOME: (await tempFolder()).path };
    expect(await checkClaudeCode({ resolve: absent, env })).toMatchObject({
      ok: false,
      problem: expect.stringContaining(ADD_COMMAND),
      addable: true,
    });
  });

  it('knows platforms that Claude Code is not made for', async () => {
    const found = await checkClaudeCode({ platform: 'aix', arch: 'ppc64' });
    expect(found).toEqual({ ok: false, problem: 'There is no Claude Code for aix-ppc64.', addable: false });
  });
});

describe('loadClaudeSdk', () => {
  it('loads it', async () => {
    expect((await loadClaudeSdk()).query).toBeTypeOf('function');
  });
});
