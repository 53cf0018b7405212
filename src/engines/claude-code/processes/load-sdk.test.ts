import { describe, expect, it } from 'vitest';
import { checkClaudeCode, loadClaudeSdk, SDK_VERSION } from './load-sdk.js';

const absent = (): string => {
  throw new Error('Cannot find module');
};

describe('checkClaudeCode', () => {
  it('finds what is installed', async () => {
    expect(await checkClaudeCode()).toMatchObject({ ok: true, sdkVersion: SDK_VERSION });
  });

  it('says how to install the SDK where it is absent', async () => {
    const found = await checkClaudeCode({ resolve: absent });
    expect(found).toMatchObject({
      ok: false,
      problem: expect.stringContaining(`npm install @anthropic-ai/claude-agent-sdk@${SDK_VERSION}`),
    });
  });

  it('says so where only its program for this platform is absent', async () => {
    const resolve = (file: string): string => (file.includes('-linux-') ? absent() : file);
    const found = await checkClaudeCode({ resolve, platform: 'linux', arch: 'x64' });
    expect(found).toMatchObject({ ok: false, problem: expect.stringContaining('--include=optional') });
  });

  it('knows platforms that Claude Code is not made for', async () => {
    const found = await checkClaudeCode({ platform: 'aix', arch: 'ppc64' });
    expect(found).toEqual({ ok: false, problem: 'There is no Claude Code for aix-ppc64.' });
  });
});

describe('loadClaudeSdk', () => {
  it('loads it', async () => {
    expect((await loadClaudeSdk()).query).toBeTypeOf('function');
  });
});
