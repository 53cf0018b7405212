/** Data that looks like a flag becomes one. A name, a pattern or a path is never read as an option. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../support/cleanup.js';
import { runCommand } from '../../support/gateway.js';
import { type Attempt, MODEL, openAgent } from '../agent-probe.js';

const FILES = {
  '-e': 'plain\n',
  '--pre=evil.sh': 'plain\n',
  '-f': 'plain\n',
  '--files': 'plain\n',
  'evil.sh': '#!/bin/sh\ntouch ran\ncat "$1"\n',
  'a.txt': 'plain --pre=./evil.sh\n-e\n',
};

describe('searches', () => {
  it.each<[what: string, attempt: (root: string) => Attempt, found: RegExp]>([
    [
      'a pattern',
      (path) => ['Grep', { pattern: '--pre=./evil.sh', path, output_mode: 'content' }],
      /a\.txt:1:plain --pre/,
    ],
    ['a short pattern', (path) => ['Grep', { pattern: '-e', path, output_mode: 'content' }], /a\.txt:2:-e/],
    ['a file of patterns', (path) => ['Grep', { pattern: '-f/etc/passwd', path }], /No (?:matches|files)/],
    ['a glob', (path) => ['Grep', { pattern: 'plain', path, glob: '--pre=./evil.sh' }], /No|pre=evil/],
    ['a type', (path) => ['Grep', { pattern: 'plain', path, type: '-add=x:*' }], /type/i],
    ['a path', (root) => ['Grep', { pattern: 'plain', path: join(root, '--pre=evil.sh') }], /--pre=evil\.sh/],
    ['a relative path', () => ['Grep', { pattern: 'plain', path: '-e', output_mode: 'content' }], /plain/],
    ['a pattern of names', (path) => ['Glob', { pattern: '--pre=*', path }], /--pre=evil\.sh/],
    ['a name', (path) => ['Glob', { pattern: '-e', path }], /-e/],
    ['a folder', () => ['LS', { path: '--files' }], /not a folder/],
    ['a file', (root) => ['Read', { file_path: join(root, '-e') }], /plain/],
    ['a file that is new', (root) => ['Write', { file_path: join(root, '--new'), content: 'x' }], /--new/],
  ])('%s is what it says', async (_what, attempt, found) => {
    const agent = await openAgent({ files: FILES });
    const [outcome] = await agent.run(attempt(agent.root));
    expect(outcome?.text).toMatch(found);
    expect(await readdir(agent.root)).not.toContain('ran');
  });
});

describe('names over HTTP', () => {
  it.each(['--config=/etc/passwd', '-', '--', '--model', '-c', `${MODEL} --config x`, `--${MODEL}`])(
    'a model called %s is a name that nobody knows',
    async (model) => {
      const agent = await openAgent();
      const response = await agent.post({
        model,
        messages: [{ role: 'user', content: '--config=x --help' }],
      });
      expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('model')]);
      expect(agent.upstream.requests).toEqual([]);
    },
  );

  it.each(['--help', '-y', '--config=x', 'a b', '../x', 'a__b', ''])(
    'an MCP server cannot be called %j',
    async (name) => {
      const agent = await openAgent();
      const config = { type: 'stdio', command: 'touch', args: [join(agent.outside, 'ran')] };
      const added = await agent.api('POST', '/api/mcp', { name, config });
      expect([name, added.status]).toEqual([name, 400]);
      expect(await readdir(agent.outside)).toEqual([]);
    },
  );
});

describe('the command line', () => {
  it.each<[args: readonly string[]]>([
    [['chat', '--model', '--config=evil.yaml']],
    [['chat', '--model', '--config', 'evil.yaml']],
    [['start', '--log-level', '--config=evil.yaml']],
    [['trace', '--', '--config', 'evil.yaml']],
    [['start', 'x', '--config', 'evil.yaml']],
    [['trace', '--config=evil.yaml=x']],
    [['--config', '--port=1']],
  ])('%j does not take a flag for a value, nor a value for a flag', async (args) => {
    const { path: folder } = await tempFolder('toolgate-arguments');
    const ran = join(folder, 'ran');
    const server = { type: 'stdio', command: 'touch', args: [ran] };
    await writeFile(join(folder, 'evil.yaml'), JSON.stringify({ mcp_servers: { evil: server } }));
    const run = await runCommand({ folder, args });
    const { code } = await run.exited;
    expect([args, code]).toEqual([args, 2]);
    expect(await readdir(folder)).toEqual(['evil.yaml']);
  });
});
