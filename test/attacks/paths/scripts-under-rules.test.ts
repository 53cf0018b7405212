/** Scripts of the workspace, run by the agent, against the rules that bind it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openAgent } from '../agent-probe.js';

const RULES = 'deny: ["Read(./own.key)"]\n';
const READ = `for (const path of ['.env', 'secrets/deep/a', 'own.key', 'app/x.pem', 'open.txt']) {
  try { console.log(require('node:fs').readFileSync(path, 'utf8')); } catch (error) { console.log(error.code); }
}`;
const PLANT = `rm -f .toolgate-permissions.yaml; echo '{}' > .toolgate-permissions.yaml; mv .toolgate-permissions.yaml x
echo 'permissions: { mode: allow }' > toolgate.yaml; echo '{}' > .mcp.json; echo script-shell=evil > .npmrc
mkdir -p .husky .toolgate; echo evil > .husky/pre-commit; echo evil > .toolgate/x; echo done`;

describe('a script that the agent may run', () => {
  it('reads nothing that the rules deny, and everything else', async () => {
    const agent = await openAgent({
      sandbox: 'required',
      permissions: { deny: ['Read(./.env)', 'Read(./secrets/**)', 'Read(*.pem)'] },
      files: {
        '.toolgate-permissions.yaml': RULES,
        '.env': 'hidden-1',
        'secrets/deep/a': 'hidden-2',
        'own.key': 'hidden-3',
        'app/x.pem': 'hidden-4',
        'open.txt': 'shown',
        'read.js': READ,
      },
    });
    const [outcome] = await agent.run(['Bash', { command: 'node read.js' }]);
    expect(outcome?.text).toContain('shown');
    expect(outcome?.text).not.toMatch(/hidden-\d/);
  });

  it('neither takes a rule of the repository away nor plants one of its own', async () => {
    const agent = await openAgent({
      sandbox: 'required',
      files: { '.toolgate-permissions.yaml': RULES, 'plant.sh': PLANT },
    });
    const [outcome] = await agent.run(['Bash', { command: 'sh plant.sh' }]);
    expect(outcome?.text).toContain('done');
    expect(readFileSync(join(agent.root, '.toolgate-permissions.yaml'), 'utf8')).toBe(RULES);
    for (const path of ['toolgate.yaml', '.mcp.json', '.npmrc', '.husky', '.toolgate']) {
      expect(existsSync(join(agent.root, path)), path).toBe(false);
    }
    expect(outcome?.text).toMatch(/\.npmrc is now .*\.npmrc\.set-aside/);
  });
});
