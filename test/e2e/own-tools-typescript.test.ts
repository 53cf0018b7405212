/** Tools of one's own in TypeScript, loaded by the command as it is built, from a folder that has nothing else in it. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../support/cleanup.js';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway.js';
import { until } from '../support/until.js';
import { api, connect, KEYS, textOf } from './mcp-virtual-harness.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const EXAMPLE = join(ROOT, 'examples/tools/line-count.ts');
const SECRET = 'upstream-secret-0123456789';

/** The sketches of the classic interface: a command and a file, as generators. */
const CLASSIC = `import { readFile } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';

const commandSchema = z.strictObject({
  command: z.string().describe('The command to execute'),
  timeout: z.number().optional().describe('Optional timeout in milliseconds (max 600000)'),
});

export const ShellTool = {
  name: 'Shell',
  userFacingName: () => 'Shell',
  async description({ command }: { command?: string }) { return command ?? 'Executes bash commands'; },
  inputSchema: commandSchema,
  isEnabled: async () => true,
  isReadOnly: () => false,
  needsPermissions: () => true,
  prompt: async (options?: unknown) => 'Runs a command.',
  async *call(input: unknown, context: any, canUseTool?: any) {
    const { command } = commandSchema.parse(input);
    const hasPermission = await canUseTool?.(ShellTool, input, context);
    if (!hasPermission?.result) throw new Error('Permission denied');
    const other = await canUseTool?.('Write', { file_path: 'x', content: '' }, context);
    yield { type: 'progress', content: 'running', tools: [ShellTool] };
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { signal: context.abortController.signal });
    const facts = [context.options.slowAndCapableModel, Object.keys(context.readFileTimestamps).length, other.result];
    yield { type: 'result', resultForAssistant: stdout + facts.join(' '), data: { stdout } };
  },
  renderToolUseMessage: (input: { command: string }) => \`$ \${input.command}\`,
  renderToolUseRejectedMessage: () => ({ type: 'Text', props: {} }),
  renderResultForAssistant: (content: string) => content.trim(),
};

export const FileReadTool = {
  name: 'FileRead',
  description: async () => 'Reads a file.',
  inputSchema: z.strictObject({ file_path: z.string(), limit: z.number().optional() }),
  isEnabled: () => true,
  isReadOnly: () => true,
  needsPermissions: () => false,
  validateInput: async ({ file_path }: { file_path: string }) =>
    file_path.startsWith('/') ? { result: true } : { result: false, message: 'The path must be absolute.' },
  async *call({ file_path, limit }: { file_path: string; limit?: number }) {
    const lines = (await readFile(file_path, 'utf-8')).split('\\n').slice(0, limit);
    yield {
      type: 'result',
      resultForAssistant: lines.map((line, index) => \`\${index + 1}→\${line}\`).join('\\n'),
      data: { totalLines: lines.length },
    };
  },
};

export const tools = [ShellTool, FileReadTool];
`;

const FILES: Readonly<Record<string, string>> = {
  'classic.ts': CLASSIC,
  'greet.mts': `import { defineTool, ToolContext, OwnTool } from 'toolgate/tools';
import { greeting } from './_words.js';
import { mark } from './_mark';
enum Tone { Plain, Loud }
const definition: OwnTool<unknown> = defineTool({
  name: 'Greet',
  description: 'Greets.',
  isEnabled: (asker?: { key?: string }) => asker?.key !== 'bob' || { enabled: false, reason: 'Not for bob.' },
  call: async (_input: unknown, context: ToolContext) => greeting(context.session.principal) + mark + Tone[Tone.Loud],
});
export default definition;
`,
  '_words.ts': "export const greeting = (name: string): string => 'Hello ' + name;\n",
  '_mark.ts': "export const mark: string = '! ';\n",
  'fails.ts': `interface Far { away: true }
type Line3 = Far;

import { defineTool } from 'toolgate/tools';
export const tool = defineTool({
  name: 'Fails',
  description: 'Fails.',
  call: async (): Promise<string> => {
    throw new Error('The printer is out of ink (${SECRET})');
  },
});
`,
  'broken.ts': 'export const tool = {\n  name: string = ,\n};\n',
  'view.tsx': 'export const tool = <b />;\n',
  'types.d.ts': 'export type X = 1;\n',
};

async function folderOfTools(files: Readonly<Record<string, string>>): Promise<string> {
  const { path } = await tempFolder('tools');
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  return realpath(path);
}

async function start(tools: string): Promise<GatewayProcess & { work: string }> {
  const work = await realpath((await tempFolder('work')).path);
  const gateway = await startGatewayProcess({
    logLevel: 'error',
    config: {
      server: { keys: KEYS },
      upstreams: { one: { dialect: 'openai-chat', base_url: 'http://127.0.0.1:9/v1', api_key: SECRET } },
      models: { here: { engine: 'native', upstream: 'demo', cwd: work } },
      permissions: { mode: 'allow', deny: ['Write'] },
      sandbox: 'off',
      tools: { paths: [tools] },
    },
  });
  return Object.assign(gateway, { work });
}

describe('tools in TypeScript', () => {
  it('load and run from a folder without packages, types, enums and neighbours included', async () => {
    const gateway = await start(await folderOfTools(FILES));
    const { client } = await connect(gateway);
    const call = async (name: string, input: object = {}): Promise<string> =>
      textOf(await client.callTool({ name, arguments: { ...input } }));

    expect(await call('Greet')).toBe('Hello alice! Loud');
    const bob = await connect(gateway, { key: 'key-of-bob' });
    const offered = async ({ client: each }: typeof bob): Promise<string[]> =>
      (await each.listTools()).tools.map(({ name }) => name);
    expect(await offered({ ...bob, client })).toContain('Greet');
    expect(await offered(bob)).not.toContain('Greet');
    expect(await offered(bob)).toContain('Fails');

    // The sketches of the classic interface: permission asked, progress, result, validation.
    expect(await call('Shell', { command: 'echo hi' })).toBe('hi\nhere 0 false');
    await writeFile(join(gateway.work, 'a.txt'), 'one\ntwo\n');
    const path = join(gateway.work, 'a.txt');
    expect(await call('FileRead', { file_path: path, limit: 1 })).toBe('1→one');
    expect(await call('FileRead', { file_path: 'a.txt' })).toBe('The path must be absolute.');
    expect(await call('FileRead', { file_path: `${path}x` })).toContain('ENOENT: no such file');

    // An ordinary error, without the secrets of the configuration; its line is that of the source.
    expect(await call('Fails')).toBe('The printer is out of ink ([redacted])');
    await until(async () => /fails\.ts:9:11/.test(gateway.stderr));

    const { json } = await api(gateway, '/api/tools');
    const off = (Array.isArray(json['data']) ? json['data'] : []).filter(
      ({ source, enabled }) => source === 'own' && !enabled,
    );
    expect(off.map(({ name, reason }) => [name.split('/').at(-1), reason])).toEqual([
      ['view.tsx', expect.stringContaining('.ts, .mts, .js or .mjs')],
      ['broken.ts', expect.stringMatching(/could not be loaded: .*broken\.ts:2:17/)],
    ]);
    await gateway.close();
  });

  it('load and are type-checked against a package that was packed and unpacked elsewhere', async () => {
    const { path } = await tempFolder('app');
    const run = promisify(execFile);
    const packed = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', path], {
      cwd: ROOT,
    });
    const [{ filename }]: [{ filename: string }] = JSON.parse(packed.stdout);
    const modules = join(path, 'node_modules');
    await mkdir(join(modules, 'toolgate'), { recursive: true });
    await run('tar', ['xzf', join(path, filename), '--strip-components=1', '-C', join(modules, 'toolgate')]);
    for (const name of await readdir(join(ROOT, 'node_modules'))) {
      if (name !== 'toolgate') await symlink(join(ROOT, 'node_modules', name), join(modules, name));
    }
    const elsewhere = await folderOfTools({});
    await copyFile(EXAMPLE, join(elsewhere, 'line-count.ts'));
    const config = join(elsewhere, 'gateway.yaml');
    await writeFile(config, JSON.stringify({ tools: { paths: ['.'] }, sandbox: 'off' }));
    const doctor = await run(
      process.execPath,
      [join(modules, 'toolgate/bin/toolgate.js'), 'doctor', '--config', config],
      { cwd: elsewhere, env: { PATH: process.env['PATH'], HOME: elsewhere } },
    ).catch((error: { stdout: string }) => error);
    expect(doctor.stdout).toMatch(/own tools +LineCount/);

    await mkdir(join(path, 'src'));
    await copyFile(EXAMPLE, join(path, 'src/line-count.ts'));
    await writeFile(
      join(path, 'src/wrong.ts'),
      "import { defineTool } from 'toolgate/tools';\ndefineTool({ name: 1, description: 'x', call: () => 'x' });\n",
    );
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const options = '--noEmit --strict --module nodenext --target es2023 --types node'.split(' ');
    const checked = await run(
      process.execPath,
      [tsc, ...options, 'src/line-count.ts', 'src/wrong.ts', '--skipLibCheck'],
      { cwd: path },
    ).catch((error: { stdout: string }) => error);
    expect(checked.stdout.trim().split('\n')).toEqual([
      expect.stringMatching(/^src\/wrong\.ts\(2,14\): error TS2322: Type 'number'/),
    ]);
  });
});
