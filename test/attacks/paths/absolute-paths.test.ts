/** An absolute path goes past a limit that only relative ones are held to. */
import { describe, expect, it } from 'vitest';
import { probe } from '../policy-probe.js';

const OUTSIDE = [
  '/etc/passwd',
  '//etc/passwd',
  '/etc/./passwd',
  '/proc/self/root/etc/passwd',
  '/proc/version',
  '/',
  '/..',
  '../outside/x',
  '../../../../../../etc/passwd',
  'src/../../outside/x',
];

describe('a bare file rule covers the workspace only', () => {
  const rules = probe({ allow: ['Read', 'Edit', 'Grep', 'Glob', 'LS', 'Write', 'Bash(cat:*)'] });
  it.each(OUTSIDE)('not %s', async (path) => {
    expect((await rules.read(path)).behaviour).not.toBe('allow');
    expect((await rules.edit(path)).behaviour).not.toBe('allow');
    for (const tool of ['Grep', 'Glob', 'LS']) {
      const effect = {
        kind: 'read',
        path: path.startsWith('/') ? path : `${rules.root}/${path}`,
        tree: true,
      } as const;
      expect((await rules.judge({ tool, effects: [effect] })).behaviour, tool).not.toBe('allow');
    }
    expect((await rules.bash(`cat ${path}`)).behaviour).not.toBe('allow');
  });

  it('mode read-only reads the workspace only', async () => {
    const readOnly = probe({ mode: 'read-only' });
    expect((await readOnly.read('a')).behaviour).toBe('allow');
    expect((await readOnly.bash('cat a')).behaviour).toBe('allow');
    for (const path of OUTSIDE) {
      expect((await readOnly.read(path)).behaviour, path).toBe('deny');
      expect((await readOnly.bash(`cat ${path}`)).behaviour, path).toBe('deny');
    }
  });

  it('never the environment or the memory of a process', async () => {
    const open = probe({ mode: 'allow', allow: ['*'] });
    for (const path of [
      '/proc/self/environ',
      `/proc/${process.pid}/environ`,
      '/proc/1/mem',
      '/proc/self/task/1/environ',
      '/proc/thread-self/fd/3',
    ]) {
      expect((await open.read(path)).behaviour, path).toBe('deny');
      expect((await open.bash(`cat ${path}`)).behaviour, path).toBe('deny');
      expect((await open.bash(`cat < ${path}`)).behaviour, path).toBe('deny');
    }
  });
});
