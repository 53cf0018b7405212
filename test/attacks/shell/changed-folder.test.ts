/** `cd` first, so that a relative name means another file. */
import { describe, expect, it } from 'vitest';
import { probe } from '../policy-probe.js';

describe('a folder is changed before a relative name', () => {
  const rules = {
    allow: [
      'Bash(cd:*)',
      'Bash(pushd:*)',
      'Bash(popd:*)',
      'Bash(cat:*)',
      'Bash(touch:*)',
      'Bash(ls:*)',
      'Read',
      'Edit',
    ],
    deny: ['Read(./private/**)', 'Edit(./private/**)'],
  };
  it.each([
    'cd private && cat key',
    'cd ./private; cat key',
    'cd src/../private && cat key',
    'cd src && cd ../private && cat key',
    'pushd private && cat key',
    'cd private || cat key',
    'cd -- private && cat ./key',
    'cd private\ncat key',
    'cd private && touch new',
    '(cd private; cat key)',
    'cd private && echo x > new',
    'cd "private" && cat key',
    'env -C private cat key',
    'git -C private show key',
    'make -C private key',
  ])('a rule that denies sees where it ends: %j', async (command) => {
    const workspace = probe({ mode: 'allow', ...rules });
    workspace.write('private/key');
    workspace.write('src/a');
    expect((await workspace.bash(command)).behaviour).toBe('deny');
  });

  it('is read from where the session is', async () => {
    const workspace = probe({ mode: 'allow', ...rules });
    workspace.write('private/key');
    expect((await workspace.bash('cat key', `${workspace.root}/private`)).behaviour).toBe('deny');
    expect((await workspace.bash('cat ../key', `${workspace.root}/private`)).behaviour).toBe('allow');
  });

  it.each([
    'cd $X && cat key',
    'cd - && cat key',
    'popd && cat key',
    'cd ~x && cat key',
    'cd `pwd` && cat key',
  ])('needs a person where the folder is not in the text: %s', async (command) => {
    expect((await probe(rules).bash(command)).behaviour).toBe('ask');
  });

  it('needs a rule where it leaves the workspace', async () => {
    const workspace = probe(rules);
    workspace.write('src/a');
    for (const command of [
      'cd / && cat etc/passwd',
      `cd ${workspace.outside} && ls`,
      'cd .. && ls',
      'cd && ls',
      'cd src && cat ../../outside/x',
    ]) {
      expect((await workspace.bash(command)).behaviour, command).toBe('ask');
    }
    expect((await workspace.bash('cd src && cat a')).behaviour).toBe('allow');
  });

  it('does not mistake a `cd` that may have failed for one that succeeded', async () => {
    const workspace = probe({ mode: 'allow', deny: ['Read(./key)'] });
    workspace.write('key');
    workspace.write('sub/key');
    expect((await workspace.bash('cd sub && cat key')).behaviour).toBe('allow');
    for (const command of [
      'cd sub; cat key',
      'cd sub || cat key',
      'cd sub | cat key',
      'cd sub && ls; cat key',
    ]) {
      expect((await workspace.bash(command)).behaviour, command).toBe('deny');
    }
  });
});
