import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../../test/support/cleanup.js';
import { loadConfig } from '../../config/load.js';
import { checkClaudeCodeEngine } from './claude-code.js';

async function loadedWith(models: object) {
  const { path } = await tempFolder();
  await writeFile(join(path, 'toolgate.yaml'), JSON.stringify({ models }));
  return loadConfig({ file: 'toolgate.yaml', cwd: path, env: { HOME: path } });
}

/** A machine without it, neither beside the gateway nor in the home folder. */
async function without() {
  const resolve = () => {
    throw new Error('not found');
  };
  return { resolve, env: { HOME: (await tempFolder()).path } };
}

const AGENT = { coder: { engine: 'claude-code', upstream: 'demo' } };

describe('the engine claude-code', () => {
  it('is not looked for where no model asks for it', async () => {
    expect(await checkClaudeCodeEngine(await loadedWith({ '*': { upstream: 'demo' } }), 'toolgate')).toEqual(
      [],
    );
  });

  it('is there with its program', async () => {
    const [check] = await checkClaudeCodeEngine(await loadedWith(AGENT), 'toolgate');
    expect(check).toMatchObject({
      status: 'ok',
      finding: expect.stringMatching(/Agent SDK \d+\.\d+.*claude$/),
    });
  });

  it('fails with what to do where its package is missing', async () => {
    const [check] = await checkClaudeCodeEngine(await loadedWith(AGENT), 'toolgate', await without());
    expect(check).toMatchObject({
      status: 'FAIL',
      finding: expect.stringContaining('toolgate add claude-code'),
      advice: expect.stringContaining('coder'),
    });
  });

  it('is named where there is no file, and no model for want of it', async () => {
    const { path } = await tempFolder();
    const loaded = await loadConfig({ cwd: path, env: { HOME: path } });
    const [check] = await checkClaudeCodeEngine(loaded, 'npx toolgate', await without());
    expect(check).toMatchObject({
      status: 'warn',
      advice: expect.stringContaining('npx toolgate add claude-code'),
    });
  });
});
