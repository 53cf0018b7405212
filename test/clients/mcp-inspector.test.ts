/** The MCP inspector as it is installed, on /mcp/gateway with the official servers behind it. */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { api, startVirtual, textOf, type VirtualGateway } from '../e2e/mcp-virtual-harness.js';
import { tempFolder } from '../support/cleanup.js';
import { everythingServer, filesystemServer, newestServer, stdioServer } from '../support/mcp-servers.js';
import { until } from '../support/until.js';
import { isRecord, type JsonRecord } from '../support/violation.js';
import { ClientProcess } from './client-process.js';
import { clientProgram } from './programs.js';

/** How it speaks; it sends version and capabilities with each request in the era that it calls modern. */
const LANES = {
  'streamable HTTP of 2026-07-28': ['--transport', 'http', '--protocol-era', 'modern'],
  'streamable HTTP with sessions': ['--transport', 'http', '--protocol-era', 'legacy'],
  'HTTP with SSE': ['--transport', 'sse', '--protocol-era', 'legacy'],
} as const;

/** A test starts eight programs one after the other, four servers beside them. */
const TIMEOUT_MS = 300_000;

/** It is installed in the folder of the inspector. */
function memoryServer(file: string) {
  const modules = dirname(clientProgram('MCP inspector')).replace(/(node_modules)\/.*$/, '$1');
  return stdioServer([join(modules, '@modelcontextprotocol/server-memory/dist/index.js')], {
    env: { MEMORY_FILE_PATH: file },
  });
}

interface World {
  gateway: VirtualGateway;
  folder: string;
  memory: string;
}

async function open(): Promise<World> {
  const { path: folder } = await tempFolder('inspected');
  const memory = join(folder, 'memory.jsonl');
  const mcpServers = {
    every: everythingServer(),
    files: filesystemServer(folder),
    memory: memoryServer(memory),
    newest: newestServer('only'),
  };
  const gateway = await startVirtual({ mcpServers, permissions: { deny: ['mcp__every__get-env'] } });
  await until(async () => {
    const { json } = await api(gateway, '/api/mcp');
    const servers = Array.isArray(json['data']) ? json['data'] : [];
    return servers.length === 4 && servers.every(({ state }) => state === 'connected');
  });
  return { gateway, folder, memory };
}

interface Inspected {
  code: number | null;
  result: JsonRecord;
  report: string;
}

/** One run of the inspector is one connection. */
async function inspect(
  { gateway, folder }: World,
  lane: readonly string[],
  [method, ...more]: readonly [string, ...string[]],
  key = 'key-of-alice',
): Promise<Inspected> {
  const launcher = clientProgram('MCP inspector');
  const args = [
    ...[launcher, '--cli', '--server-url', `${gateway.url}/mcp/gateway?model=here`, ...lane],
    ...['--header', `Authorization: Bearer ${key}`, '--format', 'json', '--connect-timeout', '120000'],
    ...['--method', method, ...more],
  ];
  const program = new ClientProcess(clientProgram('Node 24'), args, { cwd: folder, env: { HOME: folder } });
  const code = await program.exited;
  const result = program.events.at(-1)?.['result'];
  return { code, result: isRecord(result) ? result : {}, report: program.report() };
}

/** As `inspect`, of a run that goes well. */
const answers =
  (world: World, lane: readonly string[]) =>
  async (...request: readonly [string, ...string[]]): Promise<JsonRecord> => {
    const { code, result, report } = await inspect(world, lane, request);
    expect(code, report).toBe(0);
    return result;
  };

const named = (list: unknown, key: string): unknown[] =>
  Array.isArray(list) ? list.map((each: JsonRecord) => each[key]) : [];

describe.each(Object.entries(LANES))('the MCP inspector over %s', { timeout: TIMEOUT_MS }, (_name, lane) => {
  it('lists and calls the tools of the gateway and of the official servers', async () => {
    const world = await open();
    const answer = answers(world, lane);
    const call = (name: string, input: object) =>
      answer('tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(input));

    const { tools } = await answer('tools/list');
    expect(named(tools, 'name')).toEqual(
      expect.arrayContaining([
        'Bash',
        'mcp__every__echo',
        'mcp__files__write_file',
        'mcp__memory__create_entities',
        'mcp__newest__echo',
      ]),
    );
    const bash = await call('Bash', { command: 'echo from the inspector' });
    expect(textOf(bash)).toContain('from the inspector');
    expect(await call('mcp__every__get-sum', { a: 2, b: 3 })).toMatchObject({
      content: [{ type: 'text', text: expect.stringContaining('5') }],
    });
    expect(await call('mcp__newest__echo', { message: 'hello' })).toMatchObject({
      content: [{ type: 'text', text: 'Echo: hello' }],
    });
    await call('mcp__files__write_file', { path: join(world.folder, 'a.txt'), content: 'written' });
    expect(await readFile(join(world.folder, 'a.txt'), 'utf8')).toBe('written');
    const entity = { name: 'Ada', entityType: 'person', observations: ['wrote the first program'] };
    await call('mcp__memory__create_entities', { entities: [entity] });
    expect(await readFile(world.memory, 'utf8')).toContain('wrote the first program');
    // Another connection: what the server keeps is there.
    expect(await call('mcp__memory__read_graph', {})).toMatchObject({
      content: [{ type: 'text', text: expect.stringContaining('wrote the first program') }],
    });
  });

  it('reads resources and prompts', async () => {
    const world = await open();
    const answer = answers(world, lane);
    const { resources } = await answer('resources/list');
    expect(named(resources, 'uri')).toContain('toolgate:newest/note:///one');
    const { resourceTemplates } = await answer('resources/templates/list');
    expect(named(resourceTemplates, 'uriTemplate')).toContain('toolgate:newest/note:///{name}');
    expect(await answer('resources/read', '--uri', 'toolgate:newest/note:///two')).toMatchObject({
      contents: [{ uri: 'toolgate:newest/note:///two', text: 'The note two.' }],
    });
    const { prompts } = await answer('prompts/list');
    expect(named(prompts, 'name')).toContain('mcp__newest__greet');
    expect(
      await answer('prompts/get', '--prompt-name', 'mcp__newest__greet', '--prompt-args', 'who=Ada'),
    ).toMatchObject({ messages: [{ role: 'user', content: { type: 'text', text: 'Greet Ada.' } }] });
  });

  it('is told what it may not do', async () => {
    const world = await open();
    const denied = await inspect(world, lane, ['tools/call', '--tool-name', 'mcp__every__get-env']);
    expect(denied.report).toContain('mcp__every__get-env');
    expect(denied.result).toMatchObject({ isError: true });
    const stranger = await inspect(world, lane, ['tools/list'], 'key-of-nobody');
    expect(stranger.code, stranger.report).not.toBe(0);
    expect(stranger.result).not.toHaveProperty('tools');
  });
});
