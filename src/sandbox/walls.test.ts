import { expect, it } from 'vitest';
import { seatbeltCommand } from './walls.js';

it('writes a profile with the same walls', async () => {
  const script = await seatbeltCommand('echo hello', {
    plan: {
      mounts: [
        { path: '/work/project', kind: 'writable' },
        { path: '/work/project/.git/hooks', kind: 'read-only' },
        { path: '/home/me/.ssh', kind: 'hidden-folder' },
      ],
      searched: { roots: [], repositories: [] },
      watched: [{ root: '/work/project', path: '/work/project/.git/commondir' }],
    },
    tmp: '/work/tmp',
    proxyPort: undefined,
    bash: '/bin/bash',
  });
  expect(script).toContain('sandbox-exec');
  expect(script).toContain('echo hello');
  for (const path of [
    '/work/project',
    '/work/project/.git/hooks',
    '/home/me/.ssh',
    '/work/project/.git/commondir',
  ]) {
    expect(script).toContain(path);
  }
});
