/**
 * A file is a policy because of where it lies, and anybody can put one there. The operator's file
 * is the one that was named or that lies where the gateway was started; a repository's can only narrow.
 */
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { candidateFiles, loadConfig } from '../../../src/config/load.js';
import { tempFolder } from '../../support/cleanup.js';
import { openAgent } from '../agent-probe.js';

const FILE = '.toolgate-permissions.yaml';
const missing = (path: string): Promise<boolean> =>
  stat(path).then(
    () => false,
    () => true,
  );

describe("the operator's configuration", () => {
  it.each<[what: string, env: Record<string, string>, second: string]>([
    ['with a home', { HOME: '/home/u' }, '/home/u/.config/toolgate/toolgate.yaml'],
    ['with a folder of settings', { HOME: '/home/u', XDG_CONFIG_HOME: '/x' }, '/x/toolgate/toolgate.yaml'],
    [
      'with a relative one',
      { HOME: '/home/u', XDG_CONFIG_HOME: 'x' },
      '/home/u/.config/toolgate/toolgate.yaml',
    ],
    ['with an empty home', { HOME: '' }, join(homedir(), '.config/toolgate/toolgate.yaml')],
  ])('is looked for in two places and no shared one, %s', (_what, env, second) => {
    expect(candidateFiles('/start', env)).toEqual(['/start/toolgate.yaml', second]);
  });

  it('is not found in folders above or below the one that was started in', async () => {
    const { path } = await tempFolder('toolgate-above');
    const start = join(path, 'a', 'b');
    await mkdir(join(start, '.toolgate'), { recursive: true });
    const home = join(path, 'home');
    for (const place of [path, join(path, 'a'), join(start, '.toolgate')]) {
      await writeFile(join(place, 'toolgate.yaml'), 'permissions: { mode: allow }\n');
    }
    const loaded = await loadConfig({ cwd: start, env: { HOME: home } });
    expect([loaded.file, loaded.config.permissions.mode]).toEqual([undefined, 'ask']);
  });
});

describe("a repository's file, through the whole gateway", () => {
  it.each([
    'mode: allow\nallow: ["*"]\n',
    'allow: [Bash]\n',
    'permissions: { mode: allow }\n',
    'unattended: allow\napproval_timeout_s: 0\n',
    'sandbox: off\n',
    'deny: []\nask: []\n',
  ])('allows nothing: %j', async (text) => {
    const agent = await openAgent({
      files: { [FILE]: text, '.env': 'the-secret' },
      permissions: { mode: 'ask', deny: ['Read(./.env)'], unattended: 'deny' },
    });
    const [ran, read] = await agent.run(
      ['Bash', { command: 'touch made' }],
      ['Read', { file_path: join(agent.root, '.env') }],
    );
    expect(ran).toMatchObject({ isError: true, text: expect.stringContaining('was not run') });
    expect(read).toMatchObject({ isError: true, text: expect.not.stringContaining('the-secret') });
    expect(await missing(join(agent.root, 'made'))).toBe(true);
  });

  it('narrows what the operator allows, and cannot be taken away by a tool that is allowed to edit', async () => {
    const agent = await openAgent({
      files: { [FILE]: 'deny: ["Bash(touch:*)"]\n' },
      permissions: { mode: 'allow', allow: ['Edit', 'Read'], unattended: 'deny' },
    });
    const path = join(agent.root, FILE);
    const [ran, read, written, removed, again] = await agent.run(
      ['Bash', { command: 'touch made' }],
      ['Read', { file_path: path }],
      ['Write', { file_path: path, content: 'deny: []\n' }],
      ['Bash', { command: `rm ${FILE}` }],
      ['Bash', { command: 'touch made' }],
    );
    expect(read?.isError).toBe(false);
    for (const outcome of [ran, written, removed, again]) expect(outcome?.isError).toBe(true);
    expect(await missing(join(agent.root, 'made'))).toBe(true);
    expect(await missing(path)).toBe(false);
  });
});
