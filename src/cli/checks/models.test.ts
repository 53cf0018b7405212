import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../../test/support/cleanup.js';
import { loadConfig } from '../../config/load.js';
import { configSchema } from '../../config/schema.js';
import { checkClaudeCodeEngine, checkOwnTools, checkPrices } from './models.js';

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

describe('prices', () => {
  const remote = (base_url: string) => ({ dialect: 'openai-chat', base_url });
  const found = (upstreams: object) => checkPrices(configSchema.parse({ upstreams }));

  it('are said with their date, and who has none', () => {
    expect(found({ demo: { dialect: 'demo' } })).toEqual([]);
    const [check] = found({
      up: remote('https://api.openai.com/v1'),
      local: remote('http://127.0.0.1:1/v1'),
    });
    expect(check).toMatchObject({
      status: 'ok',
      finding: expect.stringMatching(
        /^list prices of \d{4}-\d\d-\d\d for models of up; nothing is listed for local:/,
      ),
    });
  });
});
