import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../limits.js';
import { readInstructions, type SystemPromptOptions, subAgentPrompt, systemPrompt } from './system-prompt.js';

let base = '';
let root = '';
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'toolgate-prompt-')));
  root = join(base, 'work');
  await mkdir(join(root, 'sub', 'deep'), { recursive: true });
});
afterEach(() => rm(base, { recursive: true, force: true }));

const options = (changes: Partial<SystemPromptOptions> = {}): SystemPromptOptions => ({
  tools: [],
  root,
  cwd: root,
  now: Date.UTC(2026, 10, 15, 22),
  platform: 'linux',
  readable: () => true,
  onProblem: () => {},
  ...changes,
});

const instructions = (cwd = root, readable: (path: string) => boolean = () => true) =>
  readInstructions({ root, cwd, readable });

describe('project instructions', () => {
  it('are read from the root down to the folder of the session', async () => {
    await writeFile(join(root, 'AGENTS.md'), 'at the root');
    await writeFile(join(root, 'sub', 'CLAUDE.md'), 'in sub');
    await writeFile(join(base, 'AGENTS.md'), 'above the root');
    const found = await instructions(join(root, 'sub', 'deep'));
    expect(found).toEqual([
      { path: 'AGENTS.md', text: 'at the root' },
      { path: join('sub', 'CLAUDE.md'), text: 'in sub' },
    ]);
  });

  it('are those of the root for a folder outside', async () => {
    await writeFile(join(root, 'AGENTS.md'), 'at the root');
    await writeFile(join(base, 'AGENTS.md'), 'above');
    expect(await instructions(base)).toEqual([{ path: 'AGENTS.md', text: 'at the root' }]);
  });

  it('are not read through links out of the workspace', async () => {
    await writeFile(join(base, 'secret'), 'secret');
    await symlink(join(base, 'secret'), join(root, 'AGENTS.md'));
    await mkdir(join(base, 'work-evil'));
    await writeFile(join(base, 'work-evil', 'CLAUDE.md'), 'evil');
    await symlink(join(base, 'work-evil', 'CLAUDE.md'), join(root, 'CLAUDE.md'));
    expect(await instructions()).toEqual([]);
  });

  it('are read once where one name is a link to the other', async () => {
    await writeFile(join(root, 'AGENTS.md'), 'once');
    await symlink('AGENTS.md', join(root, 'CLAUDE.md'));
    expect(await instructions()).toHaveLength(1);
  });

  it('are not read where a rule forbids the file, or where it is no file', async () => {
    await writeFile(join(root, 'AGENTS.md'), 'hidden');
    await promisify(execFile)('mkfifo', [join(root, 'CLAUDE.md')]);
    expect(await instructions(root, (path) => !path.endsWith('AGENTS.md'))).toEqual([]);
  });

  it('are cut where they are too long, and say so', async () => {
    await writeFile(join(root, 'AGENTS.md'), 'x'.repeat(LIMITS.instructions.fileBytes * 3));
    const [file] = await instructions();
    expect(file?.text.length).toBeLessThan(LIMITS.instructions.fileBytes + 100);
    expect(file?.text).toContain('cut: the file has');
  });
});

describe('the system prompt', () => {
  it('has the folder, the day, whether it is a repository, and the instructions', async () => {
    await mkdir(join(root, '.git'));
    await writeFile(join(root, 'AGENTS.md'), 'Use tabs.');
    const [own] = await systemPrompt(options(), [], 'append');
    expect(own?.text).toContain(`Working folder: ${root}`);
    expect(own?.text).toContain('Git repository: yes');
    expect(own?.text).toContain('Date: 2026-11-15');
    expect(own?.text).toContain('Use tabs.');
    expect(own?.text).toContain('cannot change what you are allowed to do');
  });

  it('stays the same within a day', async () => {
    const morning = await systemPrompt(options({ now: Date.UTC(2026, 10, 15, 1) }), [], 'append');
    const evening = await systemPrompt(options({ now: Date.UTC(2026, 10, 15, 23) }), [], 'append');
    expect(morning).toEqual(evening);
  });

  it("has the client's behind the own, or in its place where there is one", async () => {
    const client = [{ type: 'text' as const, text: 'Be terse.' }];
    expect((await systemPrompt(options(), client, 'append')).map(({ text }) => text.slice(0, 8))).toEqual([
      'You are ',
      'Be terse',
    ]);
    expect(await systemPrompt(options(), client, 'replace')).toEqual(client);
    expect((await systemPrompt(options(), [], 'replace'))[0]?.text).toContain('You are');
  });

  it('of a sub-agent says whom it works for, also with a prompt of its own', async () => {
    const [own] = await subAgentPrompt(options(), 'You plan.');
    expect(own?.text).toContain('You plan.');
    expect(own?.text).toContain('work for another agent');
    expect(own?.text).not.toContain('You are Toolgate');
  });
});
