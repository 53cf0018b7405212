/** Files that the gateway itself executes, and folders above what is its own. */
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { probe } from '../policy-probe.js';

const WRITES = [
  'echo x > tools/a.mjs',
  'echo x >> tools/new.mjs',
  'touch tools/a.mjs',
  'cp x tools/a.mjs',
  'cp x tools',
  'cp -t tools x',
  'cp -ttools x',
  'cp --targ=tools x',
  'mv x tools/a.mjs',
  'mv tools other',
  'mv . ../y',
  'mv parts other',
  'mv parts/servers other',
  'rm tools/a.mjs',
  'rm -rf tools',
  'rm -rf .',
  'rm -rf parts',
  'rmdir parts',
  'sed -i s/a/b/ tools/a.mjs',
  'tee tools/a.mjs',
  'ln -sf x tools/a.mjs',
  'ln -s tools/a.mjs y',
  'cp -r evil/tools .',
  'cp -r evil/. .',
  'cp evil/docs.mjs parts/servers',
  'rsync -a evil/ .',
  'chmod -R 777 parts',
  'unheard-of tools/a.mjs',
  'node -e \'fs.writeFileSync("tools/a.mjs", 1)\'',
  'echo x > linked/a.mjs',
  'cd tools && touch a.mjs',
  "bash -c 'echo x > tools/a.mjs'",
];

function workspace(allow: string[]) {
  const made = probe({ mode: 'allow', allow, executed: ['tools', 'parts/servers/docs.mjs'] });
  for (const file of ['tools/a.mjs', 'parts/servers/docs.mjs', 'evil/tools/a.mjs', 'evil/docs.mjs', 'x'])
    made.write(file);
  symlinkSync(join(made.root, 'tools'), join(made.root, 'linked'));
  return made;
}

describe('what the gateway runs', () => {
  const open = workspace([
    'Bash',
    'Edit',
    'Write',
    'Edit(./tools/a.mjs)',
    'Edit(./tools/**)',
    ...WRITES.map((command) => `Bash(${command})`),
  ]);
  it.each(WRITES)('no command changes it, whatever the rules: %s', async (command) => {
    const { behaviour, because } = await open.bash(command);
    expect(behaviour).toBe('deny');
    expect(because.kind).toBe('protected');
  });

  it.each([
    'tools/a.mjs',
    'tools/new.mjs',
    'tools',
    'linked/b.mjs',
    'TOOLS/a.mjs',
    'parts/servers/docs.mjs',
    'parts',
    'parts/servers',
    '.',
  ])('no tool changes it: %s', async (path) => {
    const { behaviour, because } = await open.edit(path);
    expect(behaviour).toBe('deny');
    expect(because).toMatchObject({
      kind: 'protected',
      what: expect.stringContaining('the gateway runs it'),
    });
  });

  it('is read as everything else', async () => {
    for (const command of [
      'cat tools/a.mjs',
      'grep -r x tools',
      'ls tools',
      'node tools/a.mjs',
      'cp tools/a.mjs y',
      'git add tools',
    ]) {
      expect((await open.bash(command)).behaviour, command).toBe('allow');
    }
    expect((await open.read('tools/a.mjs')).behaviour).toBe('allow');
    const asked = probe({ mode: 'ask', ask: ['Read(./tools/**)'], executed: ['tools'] });
    expect((await asked.read('tools/a.mjs')).behaviour).toBe('ask');
  });

  it('leaves its neighbours alone', async () => {
    for (const command of [
      'echo x > toolsy',
      'cp x parts/servers/other.mjs',
      'cp x .',
      'mv x y',
      'mv x parts',
      'rm x',
      'mkdir parts/new',
      'cp -r evil parts',
    ]) {
      expect((await open.bash(command)).behaviour, command).toBe('allow');
    }
    expect((await open.edit('parts/servers/other.mjs')).behaviour).toBe('allow');
  });
});

describe("folders that hold the gateway's own files", () => {
  const commands = [
    'mv .toolgate x',
    'mv .toolgate/ x',
    'mv -t x .toolgate',
    'rm -rf .toolgate',
    'rm -r .',
    'rm -rf sub',
    'rmdir sub',
    'mv sub x',
    'mv . ../y',
    'mv ../work ../y',
    'rename a b sub',
    'chmod -R 000 sub',
    'chown -R x sub',
    'cp evil/toolgate.yaml .',
    'mv evil/toolgate.yaml .',
    'cp -t . evil/toolgate.yaml',
    'cp -r evil/. .',
    'sudo mv sub x',
    'cd sub && mv ../.toolgate x',
    'find . -exec mv sub x +',
  ];
  const own = probe({
    mode: 'allow',
    allow: ['Bash', ...commands.map((command) => `Bash(${command})`)],
    own: ['.toolgate/store.db', 'sub/deep/secret'],
  });
  for (const file of ['.toolgate/store.db', 'sub/deep/secret', 'evil/toolgate.yaml', 'x/a', 'toolgate.yaml'])
    own.write(file);
  it.each(commands)('are not moved or removed, whatever the rules: %s', async (command) => {
    expect((await own.bash(command)).behaviour).toBe('deny');
  });

  it.each(['git clean -fdx', 'find . -name x -delete'])(
    'are asked about where not all of it goes: %s',
    async (command) => {
      const open = probe({ mode: 'allow', own: ['.toolgate/store.db'] });
      open.write('.toolgate/store.db');
      expect((await open.bash(command)).behaviour).toBe('ask');
    },
  );

  it('what lies beside them is', async () => {
    for (const command of ['mv x y', 'rm -rf x', 'mv x/a .', 'cp x/a .', 'cp -r x evil']) {
      expect((await own.bash(command)).behaviour, command).toBe('allow');
    }
  });
});
