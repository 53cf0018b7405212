/**
 * Names that a file system takes for the same. What only Windows knows (streams, short names,
 * trailing dots, UNC) are plain names here and are judged as such.
 */
import { describe, expect, it } from 'vitest';
import { probe } from '../policy-probe.js';

describe('one file, several spellings', () => {
  const rules = probe({
    mode: 'allow',
    deny: ['Read(./Secrets/**)', 'Read(.env)', 'Edit(./caf\u00e9)', 'Read(./e\u0301t\u00e9)'],
  });
  it.each([
    'secrets/a',
    'SECRETS/a',
    'Secrets/A',
    './secrets//a',
    'secrets/../Secrets/a',
    '.ENV',
    'sub/.Env',
    'x/.env/y',
    '\u00e9t\u00e9',
    'e\u0301te\u0301',
    '\u00c9T\u00c9',
  ])('a rule that denies means them all: %s', async (path) => {
    expect((await rules.read(path)).behaviour).toBe('deny');
    expect((await rules.bash(`cat '${path}'`)).behaviour).toBe('deny');
  });

  it('a rule that allows means the one that it says', async () => {
    const allowed = probe({ mode: 'deny', allow: ['Read(./Docs/**)', 'Read(./caf\u00e9)'] });
    expect((await allowed.read('Docs/a')).behaviour).toBe('allow');
    expect((await allowed.read('docs/a')).behaviour).toBe('deny');
    expect((await allowed.read('cafe\u0301')).behaviour).toBe('allow');
  });

  it("the gateway's own files are its own in every case", async () => {
    expect((await rules.read('TOOLGATE.YAML')).behaviour).toBe('deny');
    expect((await rules.edit('Toolgate.yaml')).behaviour).toBe('deny');
  });

  it('names of Windows are names', async () => {
    const allowed = probe({ allow: ['Read'], deny: ['Read(.env)'] });
    for (const name of ['C:', '.env::$DATA', 'GIT~1', 'x.', 'con', '\\\\server\\share']) {
      expect((await allowed.read(name)).behaviour, name).toBe('allow');
    }
  });
});
