/** The MCP client on official servers, over every transport. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asTool, mcpTools } from '../../src/mcp/client/as-tool.js';
import { createTodoList } from '../../src/tools/runtime/context.js';
import { tempFolder } from '../support/cleanup.js';
import {
  everythingServer,
  filesystemServer,
  httpServer,
  isRunning,
  oddServer,
  startEverything,
  testClient,
  textOf,
} from '../support/mcp-servers.js';

const settle = (): AbortSignal => AbortSignal.timeout(45_000);

describe('change events', () => {
  it('of a server are told: as it is added, connects, is lost and removed', async () => {
    const client = testClient({}, { retries: false });
    const heard: string[] = [];
    const stop = client.onChange(({ name, state }) => heard.push(`${name} ${state}`));
    await client.add('every', everythingServer());
    await client.reconnect('every');
    await client.remove('every');
    expect(heard.filter((line, index) => line !== heard[index - 1])).toEqual([
      'every connecting',
      'every connected',
      'every connecting',
      'every connected',
      'every closed',
    ]);
    stop();
    const count = heard.length;
    await client.add('every', everythingServer());
    expect(heard).toHaveLength(count);
  });
});

describe('the filesystem server', () => {
  it('lists, reads and writes', async () => {
    const { path } = await tempFolder('mcp-files');
    await writeFile(join(path, 'a.txt'), 'hello\n');
    const client = testClient({ files: filesystemServer(path) });
    await client.settled(settle());
    const read = await client.call('files', 'read_text_file', { path: join(path, 'a.txt') });
    expect(textOf(read)).toBe('hello\n');
    expect(read.isError).toBe(false);
    await client.call('files', 'write_file', { path: join(path, 'b.txt'), content: 'new' });
    expect(await readFile(join(path, 'b.txt'), 'utf8')).toBe('new');
    const outside = await client.call('files', 'read_text_file', { path: '/etc/passwd' });
    expect(outside.isError).toBe(true);
    expect(textOf(outside)).toContain('Access denied');
  });
});

const TRANSPORTS = {
  stdio: async () => ({ config: everythingServer(), kill: undefined }),
  http: async () => {
    const server = await startEverything('streamableHttp');
    return { config: httpServer(`${server.url}/mcp`), kill: server.kill };
  },
  sse: async () => {
    const server = await startEverything('sse');
    const { type: _type, ...rest } = httpServer(`${server.url}/sse`);
    return { config: { ...rest, type: 'sse' as const }, kill: server.kill };
  },
};

describe.each(Object.entries(TRANSPORTS))('the everything server over %s', (_name, start) => {
  it('is connected, and its tools work', async () => {
    const { config } = await start();
    const client = testClient({ every: config });
    await client.settled(settle());
    expect(client.status()).toMatchObject([
      {
        name: 'every',
        state: 'connected',
        serverInfo: { name: 'mcp-servers/everything' },
        shared: true,
        persistent: true,
      },
    ]);
    expect(textOf(await client.call('every', 'echo', { message: 'hi' }))).toBe('Echo: hi');
    const image = await client.call('every', 'get-tiny-image');
    expect(image.content[1]).toMatchObject({
      type: 'image',
      source: { type: 'base64', mediaType: 'image/png' },
    });
    const structured = await client.call('every', 'get-structured-content', { location: 'New York' });
    expect(structured.structured).toMatchObject({ conditions: expect.any(String) });
    const resource = await client.call('every', 'get-resource-reference', {
      resourceType: 'Text',
      resourceId: 1,
    });
    expect(textOf(resource)).toContain('Resource demo://resource/dynamic/text/1:\n');
    expect(textOf(await client.call('every', 'get-resource-links', { count: 1 }))).toContain(
      'Resource link demo://',
    );
    const wrong = await client.call('every', 'get-sum', { a: 'x' });
    expect(wrong.isError).toBe(true);
  });

  it('reports progress', async () => {
    const { config } = await start();
    const client = testClient({ every: config });
    await client.settled(settle());
    const steps: unknown[] = [];
    await client.call(
      'every',
      'trigger-long-running-operation',
      { duration: 0.1, steps: 3 },
      {
        onProgress: (step) => steps.push(step),
      },
    );
    expect(steps).toEqual([
      { progress: 1, total: 3 },
      { progress: 2, total: 3 },
      { progress: 3, total: 3 },
    ]);
  });

  it('a call that is given up ends at once, and the connection serves the next', async () => {
    const { config } = await start();
    const client = testClient({ every: config });
    await client.settled(settle());
    const control = new AbortController();
    const call = client.call(
      'every',
      'trigger-long-running-operation',
      { duration: 3600, steps: 36_000 },
      {
        signal: control.signal,
        onProgress: () => control.abort(new Error('enough')),
      },
    );
    await expect(call).rejects.toThrow('enough');
    expect(textOf(await client.call('every', 'echo', { message: 'next' }))).toBe('Echo: next');
  });

  it('answers go to the session that asked, however they overlap', async () => {
    const { config } = await start();
    const client = testClient({ every: config });
    await client.settled(settle());
    const asked = Array.from({ length: 40 }, (_, index) => `session-${index % 2} question ${index}`);
    const answers = await Promise.all(
      asked.map((message, index) =>
        client.call('every', 'echo', { message }, { session: `session-${index % 2}` }),
      ),
    );
    expect(answers.map(textOf)).toEqual(asked.map((message) => `Echo: ${message}`));
  });
});

describe.each(['streamableHttp', 'sse'] as const)('a remote server over %s', (transport) => {
  it('that dies is noticed, and a call says so', async () => {
    const server = await startEverything(transport);
    const { type: _type, ...rest } = httpServer(`${server.url}${transport === 'sse' ? '/sse' : '/mcp'}`);
    const client = testClient({ every: { ...rest, type: transport === 'sse' ? 'sse' : 'http' } });
    await client.settled(settle());
    const tool = client.tools().find(({ name }) => name === 'mcp__every__echo');
    await server.kill();
    await tool?.call({ message: 'x' }, { signal: new AbortController().signal });
    const status = await client.until('every', ({ state }) => state === 'failed');
    expect(status.retryAt).toBeGreaterThan(0);
    expect(client.tools()).toEqual([]);
    const refused = await tool?.call({ message: 'x' }, { signal: new AbortController().signal });
    expect(refused?.isError).toBe(true);
    expect(refused && textOf(refused)).toMatch(
      /^The MCP server "every" is not connected: .*The call was not made\.$/,
    );
  });

  it('gets the configured headers with every request', async () => {
    const server = await startEverything(transport);
    const { type: _type, ...rest } = httpServer(`${server.url}${transport === 'sse' ? '/sse' : '/mcp'}`, {
      headers: { 'X-Team': 'blue' },
    });
    const client = testClient({ every: { ...rest, type: transport === 'sse' ? 'sse' : 'http' } });
    await client.settled(settle());
    await client.call('every', 'echo', { message: 'x' });
    await client.close();
    const heads = server.received().match(/(?:GET|POST|DELETE) \/\S* HTTP\/1\.1(?:\r\n.+)+/g) ?? [];
    expect(heads.length).toBeGreaterThan(2);
    expect(heads.filter((head) => !/\r\nx-team: blue/i.test(head))).toEqual([]);
  });
});

describe('a server kept for each session', () => {
  it('is one process for each, ended with the session', async () => {
    const client = testClient({ odd: oddServer('plain', { shared: false }) });
    await client.settled(settle());
    const pidOf = async (session: string): Promise<number> =>
      Number(textOf(await client.call('odd', 'pid', {}, { session })));
    const [first, second] = await Promise.all([pidOf('a'), pidOf('b')]);
    expect(first).not.toBe(second);
    expect(await pidOf('a')).toBe(first);
    await client.closeSession('a');
    expect([first, second].map(isRunning)).toEqual([false, true]);
    expect(client.status()).toMatchObject([{ shared: false, state: 'connected' }]);
  });

  it('has the tools of its own process', async () => {
    const client = testClient({ odd: oddServer('plain', { shared: false }) });
    await client.settled(settle());
    const count = (session?: string): number => client.tools(session).length;
    const before = count();
    await client.call('odd', 'grow', {}, { session: 'a' });
    // The list is asked for before the next answer.
    await client.call('odd', 'echo', {}, { session: 'a' });
    expect([count('a'), count('b'), count()]).toEqual([before + 1, before, before]);
  });
});

describe('as tools of the runtime', () => {
  it('are never read-only by their own word, and may run together by it', async () => {
    const client = testClient({ every: everythingServer() });
    await client.settled(settle());
    const source = mcpTools(client);
    const tools = await source.tools();
    const echo = tools.find(({ name }) => name === 'mcp__every__echo');
    expect(echo?.isReadOnly({})).toBe(false);
    expect(echo?.isConcurrencySafe({})).toBe(true);
    expect(echo?.needsPermissions({})).toBe(true);
    expect(await source.tools()).toEqual(tools);
  });

  it('pass on progress and the result', async () => {
    const client = testClient({ odd: oddServer() });
    await client.settled(settle());
    const [tool] = client.tools().filter(({ name }) => name === 'mcp__odd__progress');
    if (tool === undefined) throw new Error('no tool');
    const context = {
      signal: new AbortController().signal,
      toolUseId: 't',
      options: {},
      session: {
        id: 's',
        principal: 'p',
        cwd: '/',
        todos: createTodoList(),
        jobs: { add() {}, get: () => undefined, list: () => [], close: async () => {} },
        scratch: async () => '/',
        memoryDir: '/',
      },
    };
    const yields: unknown[] = [];
    const made = asTool(tool);
    // Of the context a tool of a server uses these alone.
    for await (const each of made.call({ steps: 1 }, Object.assign(Object.create(null), context)))
      yields.push(each);
    expect(yields).toMatchObject([
      { type: 'progress', content: 'step 1 (1 of 1)' },
      { type: 'result', isError: false, resultForAssistant: [{ type: 'text', text: 'done' }] },
    ]);
  });
});
