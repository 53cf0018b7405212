import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../../test/support/cleanup.js';
import { loadConfig } from '../../config/load.js';
import { checkClaudeCodeEngine } from './claude-code.js';

async function modelsOf(models: object) {
  const { path } = await tempFolder();
  await writeFile(join(path, 'toolgate.yaml'), JSON.stringify({ models }));
  return (await loadConfig({ file: 'toolgate.yaml', cwd: path, env: { HOME: path } })).config.models;
}

const AGENT = { coder: { engine: 'claude-code', upstream: 'demo' } };

describe('the engine claude-code', () => {
  it('is not looked for where no model asks for it', async () => {
    expect(await checkClaudeCodeEngine(await modelsOf({ '*': { upstream: 'demo' } }))).toEqual([]);
  });

  it('is there with its program', async () => {
    const [check] = await checkClaudeCodeEngine(await modelsOf(AGENT));
    expect(check).toMatchObject({
      status: 'ok',
      finding: expect.stringMatching(/Agent SDK \d+\.\d+.*claude$/),
    });
  });

  it('fails with what to do where its package is missing', async () => {
    const resolve = () => {
      throw new Error('not found');
    };
    const [check] = await checkClaudeCodeEngine(await modelsOf(AGENT), { resolve });
    expect(check).toMatchObject({
      status: 'FAIL',
      finding: expect.stringContaining('npm install'),
      advice: expect.stringContaining('coder'),
    });
  });
});
