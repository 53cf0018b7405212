/** The folder that the model works in becomes the folder that it may work in. */
import { describe, expect, it } from 'vitest';
import { probe } from '../policy-probe.js';

describe('the current folder', () => {
  it('moves nothing but the meaning of relative names', async () => {
    const { judge, root, outside } = probe({ allow: ['Read', 'Edit', 'Bash(cat:*)'] });
    const location = { root, cwd: outside };
    const file = { kind: 'read', path: `${outside}/x` } as const;
    expect((await judge({ tool: 'Read', effects: [file], location })).behaviour).toBe('ask');
    const command = { kind: 'command', command: 'cat x', cwd: outside } as const;
    expect((await judge({ tool: 'Bash', effects: [command], location })).behaviour).toBe('ask');
    const back = { kind: 'command', command: `cat ${root}/x`, cwd: outside } as const;
    expect((await judge({ tool: 'Bash', effects: [back], location })).behaviour).toBe('allow');
  });
});
