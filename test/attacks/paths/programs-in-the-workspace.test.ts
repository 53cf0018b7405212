/** What the gateway runs itself, outside of every rule and of the sandbox, when it lies in the workspace. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Attempt, openAgent } from '../agent-probe.js';

const TOOL = "export const tool = { name: 'Mine', description: 'Mine.', call: async () => 'fine' };\n";
const SERVER = 'process.stdin.resume();\n';
const EVIL = 'evil';

const files = { 'tools/mine.mjs': TOOL, 'mcp/server.mjs': SERVER, 'free.txt': 'free\n' };
const rest = {
  tools: { paths: ['../work/tools'] },
  mcp_servers: { own: { type: 'stdio', command: process.execPath, args: ['../work/mcp/server.mjs'] } },
};

const ATTEMPTS: readonly (readonly [string, (root: string) => readonly Attempt[]])[] = [
  [
    'an edit of an own tool',
    (root) => [
      ['Read', { file_path: join(root, 'tools/mine.mjs') }],
      ['Edit', { file_path: join(root, 'tools/mine.mjs'), old_string: 'fine', new_string: EVIL }],
    ],
  ],
  ['a new own tool', (root) => [['Write', { file_path: join(root, 'tools/new.mjs'), content: EVIL }]]],
  [
    'a new program of a server',
    (root) => [
      ['Read', { file_path: join(root, 'mcp/server.mjs') }],
      ['Write', { file_path: join(root, 'mcp/server.mjs'), content: EVIL }],
    ],
  ],
  ['a command that names it', () => [['Bash', { command: `echo ${EVIL} > mcp/server.mjs` }]]],
  ['a command that moves its folder', () => [['Bash', { command: 'mv tools gone' }]]],
];

describe('what the gateway runs itself', () => {
  it.each(ATTEMPTS)('is not changed by %s', async (_what, attempts) => {
    const agent = await openAgent({ files, rest });
    const outcomes = await agent.run(...attempts(agent.root));
    expect(outcomes.at(-1)?.isError).toBe(true);
    expect(readFileSync(join(agent.root, 'tools/mine.mjs'), 'utf8')).toBe(TOOL);
    expect(readFileSync(join(agent.root, 'mcp/server.mjs'), 'utf8')).toBe(SERVER);
  });

  it('is not changed by a script in the sandbox, which changes what else it likes', async () => {
    const script = [
      `echo ${EVIL} > mcp/server.mjs`,
      `echo ${EVIL} > tools/new.mjs`,
      'mv mcp mcp-old',
      'rm -rf tools',
      'echo changed > free.txt',
    ].join('\n');
    const agent = await openAgent({ sandbox: 'required', files: { ...files, 'x.sh': script }, rest });
    await agent.run(['Bash', { command: 'sh x.sh' }]);
    expect(readFileSync(join(agent.root, 'free.txt'), 'utf8')).toBe('changed\n');
    expect(readFileSync(join(agent.root, 'tools/mine.mjs'), 'utf8')).toBe(TOOL);
    expect(readFileSync(join(agent.root, 'mcp/server.mjs'), 'utf8')).toBe(SERVER);
    expect(() => readFileSync(join(agent.root, 'tools/new.mjs'))).toThrow(/ENOENT/);
  });

  it('can be read', async () => {
    const agent = await openAgent({ files, rest });
    const [outcome] = await agent.run(['Read', { file_path: join(agent.root, 'tools/mine.mjs') }]);
    expect(outcome).toMatchObject({ isError: false });
    expect(outcome?.text).toContain('Mine');
  });
});
