/** A file of the repository turns permissions off. It can only ever narrow. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { probe } from '../policy-probe.js';

const FILE = '.toolgate-permissions.yaml';

describe("a repository's own file", () => {
  it.each([
    'mode: allow\n',
    'allow: ["*"]\n',
    'allow: [Bash, Edit]\nmode: allow\n',
    '{"allow":["Bash(rm:*)"]}',
  ])('cannot allow: %j', async (text) => {
    const workspace = probe({ mode: 'ask', deny: ['Read(./.env)'] });
    workspace.write(FILE, text);
    expect((await workspace.bash('rm x')).behaviour).toBe('ask');
    expect((await workspace.edit('a')).behaviour).toBe('ask');
    expect((await workspace.read('.env')).behaviour).toBe('deny');
    expect(workspace.warnings.join()).toMatch(/can only narrow/);
  });

  it('can deny and ask', async () => {
    const workspace = probe({ mode: 'allow', allow: ['Read'] });
    workspace.write(FILE, 'deny: ["Read(./key)", "Bash(curl:*)"]\nask: ["Edit(./src/**)"]\n');
    expect(await workspace.read('key')).toMatchObject({
      behaviour: 'deny',
      because: { source: 'repository' },
    });
    expect((await workspace.bash('curl x')).behaviour).toBe('deny');
    expect((await workspace.edit('src/a')).behaviour).toBe('ask');
    expect((await workspace.read('a')).behaviour).toBe('allow');
  });

  it.each([
    'deny: "Read"\n',
    'deny: [42]\n',
    'deny: ["Read("]\n',
    'denny: ["Read"]\n',
    '- Read\n',
    'just text\n',
    'deny: [\n',
    '\x00\x01',
    'a: &a [*a]\n',
    `deny: ["${'x'.repeat(70_000)}"]\n`,
  ])('is not passed over where it cannot be understood: %j', async (text) => {
    const workspace = probe({ mode: 'allow', allow: ['Read'] });
    workspace.write(FILE, text);
    expect((await workspace.read('a')).behaviour).toBe('ask');
    expect((await workspace.bash('ls')).behaviour).toBe('ask');
    expect(workspace.warnings).not.toEqual([]);
  });

  it('is not read through a link, from a folder or from a pipe', async () => {
    const linked = probe({ mode: 'allow' });
    writeFileSync(join(linked.outside, 'rules'), 'deny: []\n');
    symlinkSync(join(linked.outside, 'rules'), join(linked.root, FILE));
    expect((await linked.read('a')).behaviour).toBe('ask');
    const folder = probe({ mode: 'allow' });
    mkdirSync(join(folder.root, FILE));
    expect((await folder.read('a')).behaviour).toBe('ask');
  });

  it('is followed when it changes, warned of once, and asked about when it is written', async () => {
    const workspace = probe({ mode: 'allow', allow: ['Edit'] });
    expect((await workspace.read('a')).behaviour).toBe('allow');
    workspace.write(FILE, 'deny: [Read]\nmode: allow\n');
    expect((await workspace.read('a')).behaviour).toBe('deny');
    expect((await workspace.read('a')).behaviour).toBe('deny');
    expect(workspace.warnings).toHaveLength(1);
    expect((await workspace.edit(FILE)).behaviour).toBe('ask');
    expect((await workspace.bash(`rm ${FILE}`)).behaviour).toBe('ask');
    rmSync(join(workspace.root, FILE));
    expect((await workspace.read('a')).behaviour).toBe('allow');
  });

  it('is the one in the root: no other file of the repository counts', async () => {
    const workspace = probe({ mode: 'ask' });
    workspace.write('toolgate.yaml', 'permissions: { mode: allow }\n');
    workspace.write('.claude/settings.json', '{"permissions":{"allow":["*"]}}');
    workspace.write(`sub/${FILE}`, 'deny: [Bash]\n');
    expect((await workspace.edit('a')).behaviour).toBe('ask');
    expect((await workspace.bash('ls')).behaviour).toBe('ask');
  });
});
