import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../test/support/cleanup.js';
import { configSchema } from '../config/schema.js';
import { executedPaths } from './own-files.js';

it('the paths that the gateway executes are own tools and programs of MCP servers, not their data', async () => {
  const { path } = await tempFolder();
  await mkdir(join(path, 'mcp'));
  await mkdir(join(path, 'docs'));
  for (const name of ['mcp/server.mjs', 'mcp/hook.js', 'mcp/data.db', 'mcp/run', 'docs/a.md']) {
    await writeFile(join(path, name), '');
  }
  await chmod(join(path, 'mcp/run'), 0o755);
  const config = configSchema.parse({
    tools: { paths: ['./tools', '/elsewhere/tools'] },
    mcp_servers: {
      a: {
        type: 'stdio',
        command: 'node',
        args: ['--require=./mcp/hook.js', './mcp/server.mjs', 'mcp/data.db'],
      },
      b: { type: 'stdio', command: './mcp/run', args: ['.', './docs', 'docs/a.md', './missing.js', ''] },
      c: { type: 'http', url: 'http://127.0.0.1:1/mcp' },
    },
  });
  expect(executedPaths(config, path)).toEqual([
    join(path, 'tools'),
    '/elsewhere/tools',
    join(path, 'mcp/hook.js'),
    join(path, 'mcp/server.mjs'),
    join(path, 'mcp/run'),
  ]);
});
