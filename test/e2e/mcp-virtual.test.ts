/** `/mcp/gateway` with the official client: the gateway's tools, as they are elsewhere. */
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import {
  ErrorCode,
  McpError,
  type Progress,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../support/cleanup.js';
import { deferred } from '../support/gate.js';
import { everythingServer } from '../support/mcp-servers.js';
import { allGone, descendants } from '../support/processes.js';
import { until } from '../support/until.js';
import {
  api,
  connect,
  decide,
  inWork,
  lookIn,
  pending,
  startVirtual,
  textOf,
} from './mcp-virtual-harness.js';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('the tools of the gateway', () => {
  it('are listed with their schema and what they are known to do', async () => {
    const gateway = await startVirtual();
    const { client } = await connect(gateway);
    expect(client.getServerVersion()).toMatchObject({ name: 'gateway' });
    const { tools } = await client.listTools();
    const named = new Map(tools.map((tool) => [tool.name, tool]));
    const { json } = await api(gateway, '/api/tools');
    const listed = new Map(
      (Array.isArray(json['data']) ? json['data'] : []).map((tool) => [tool.name, tool.input_schema]),
    );
    for (const name of ['Read', 'Bash', 'Edit', 'Grep', 'TodoWrite']) {
      expect(named.get(name)?.inputSchema).toEqual(listed.get(name));
    }
    expect(named.get('Read')?.annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false });
    expect(named.get('Write')?.annotations).toMatchObject({ readOnlyHint: false });
    expect(named.get('Bash')?.annotations).toMatchObject({ readOnlyHint: false });
    expect(named.get('WebFetch')?.annotations).toMatchObject({ openWorldHint: true });
    // They need a model, and this client brings its own.
    expect(named.has('Task')).toBe(false);
  });

  it('run in the folder of the model entry, with state of their own for each session', async () => {
    const gateway = await startVirtual();
    await writeFile(inWork(gateway, 'a.txt'), 'one\n');
    await mkdir(inWork(gateway, 'sub'));
    const { client } = await connect(gateway);
    const other = await connect(gateway);
    const edit = { file_path: 'a.txt', old_string: 'one', new_string: 'two' };
    expect(await client.callTool({ name: 'Edit', arguments: edit })).toMatchObject({ isError: true });
    expect(textOf(await client.callTool({ name: 'Read', arguments: { file_path: 'a.txt' } }))).toContain(
      'one',
    );
    expect(await other.client.callTool({ name: 'Edit', arguments: edit })).toMatchObject({ isError: true });
    expect(await client.callTool({ name: 'Edit', arguments: edit })).toMatchObject({ isError: false });
    expect(await readFile(inWork(gateway, 'a.txt'), 'utf8')).toBe('two\n');
    await client.callTool({ name: 'Bash', arguments: { command: 'cd sub' } });
    expect(textOf(await client.callTool({ name: 'Bash', arguments: { command: 'pwd' } }))).toContain('/sub');
    expect(
      textOf(await other.client.callTool({ name: 'Bash', arguments: { command: 'pwd' } })),
    ).not.toContain('/sub');
  });

  it('are those of the first agent that the key may use, in its folder, where no model is named', async () => {
    const { path } = await tempFolder();
    const agent = (cwd: string, tools: unknown) => ({ engine: 'native', upstream: 'demo', cwd, tools });
    const limited = { name: 'mallory', scopes: ['call'] };
    const gateway = await startVirtual({
      more: {
        server: {
          keys: [
            { ...limited, key: 'key-of-mallory', models: ['relayed', 'hers'] },
            { ...limited, key: 'key-of-nobody', name: 'nobody', models: ['relayed'] },
          ],
        },
        models: {
          here: agent(path, 'all'),
          relayed: { upstream: 'demo' },
          hers: agent(path, ['Bash']),
        },
      },
    });
    const { client } = await connect(gateway, { key: 'key-of-mallory', query: '' });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['Bash']);
    const where = await client.callTool({ name: 'Bash', arguments: { command: 'pwd' } });
    expect(textOf(where)).toContain(await realpath(path));
    await expect(connect(gateway, { key: 'key-of-mallory', query: '?model=here' })).rejects.toThrow(
      'may not use',
    );
    await expect(connect(gateway, { key: 'key-of-nobody', query: '' })).rejects.toThrow('may use no agent');
  });

  it('count against the rate of the key', async () => {
    const keys = [{ key: 'key-of-alice', name: 'alice', scopes: ['call'], models: ['*'], rpm: 4 }];
    const gateway = await startVirtual({ more: { server: { keys } } });
    // Its first words are two: initialize, and that it is.
    const { client } = await connect(gateway);
    await client.listTools();
    await client.listTools();
    await expect(client.listTools()).rejects.toThrow('has used up its requests a minute');
  });

  it('count in a batch one by one', async () => {
    const keys = [{ key: 'key-of-alice', name: 'alice', scopes: ['call'], models: ['*'], rpm: 4 }];
    const gateway = await startVirtual({ more: { server: { keys } } });
    const ping = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' });
    const post = (body: unknown) =>
      fetch(`${gateway.url}/mcp/gateway`, {
        method: 'POST',
        headers: {
          authorization: 'Bearer key-of-alice',
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
      });
    const refused = await post([1, 2, 3, 4, 5].map(ping));
    expect(refused.status).toBe(429);
  });

  it('are those that the model entry offers', async () => {
    const gateway = await startVirtual({ tools: ['Read', 'Grep'] });
    const { client } = await connect(gateway);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['Read', 'Grep']);
    const refused = await client.callTool({ name: 'Bash', arguments: { command: 'ls' } }).catch((e) => e);
    expect(refused).toBeInstanceOf(McpError);
    expect(refused).toMatchObject({
      code: ErrorCode.InvalidParams,
      message: expect.stringContaining('Bash'),
    });
  });

  it('give images as images and failures as errors', async () => {
    const gateway = await startVirtual();
    await writeFile(inWork(gateway, 'pixel.png'), Buffer.from(PIXEL, 'base64'));
    const { client } = await connect(gateway);
    const image = await client.callTool({ name: 'Read', arguments: { file_path: 'pixel.png' } });
    expect(image['content']).toContainEqual({ type: 'image', data: PIXEL, mimeType: 'image/png' });
    const missing = await client.callTool({ name: 'Read', arguments: { file_path: 'missing.txt' } });
    expect(missing).toMatchObject({ isError: true, _meta: { 'toolgate/outcome': expect.any(String) } });
    const invalid = await client.callTool({ name: 'Read', arguments: { path: 7 } });
    expect(textOf(invalid)).toContain('file_path');
  });

  it('obey the rules of the gateway', async () => {
    const gateway = await startVirtual({ permissions: { deny: ['Read(./.env)'] } });
    await writeFile(inWork(gateway, '.env'), 'SECRET=1');
    const { client } = await connect(gateway);
    const denied = await client.callTool({ name: 'Read', arguments: { file_path: '.env' } });
    expect(denied).toMatchObject({ isError: true, _meta: { 'toolgate/outcome': 'denied' } });
    expect(textOf(denied)).toMatch(/Read was not run.*Read\(\.\/\.env\)/);
  });

  it('of MCP servers keep their names, schemas and hints', async () => {
    const gateway = await startVirtual({ mcpServers: { every: everythingServer() } });
    const { client } = await connect(gateway);
    const echo = await until(async () =>
      (await client.listTools()).tools.find(({ name }) => name === 'mcp__every__echo'),
    );
    expect(echo.inputSchema).toMatchObject({ properties: { message: { type: 'string' } } });
    const said = await client.callTool({ name: 'mcp__every__echo', arguments: { message: '你好' } });
    expect(textOf(said)).toContain('你好');
  });

  it('that come and go are announced', async () => {
    const gateway = await startVirtual();
    const { client } = await connect(gateway);
    let changed = deferred();
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed.resolve());
    // The stream for news is opened by itself, behind the first answer.
    await client.listTools();
    const { args, command, type } = everythingServer();
    await api(gateway, '/api/mcp', { body: { name: 'late', config: { type, command, args } } });
    await changed.promise;
    const has = async () => (await client.listTools()).tools.some(({ name }) => name === 'mcp__late__echo');
    expect(await has()).toBe(true);
    changed = deferred();
    await api(gateway, '/api/mcp/late', { method: 'DELETE' });
    await changed.promise;
    expect(await has()).toBe(false);
  });
});

describe('approvals', () => {
  it('are asked for under the key of the client, and its progress says so', async () => {
    const gateway = await startVirtual({ permissions: { mode: 'ask' } });
    const { client } = await connect(gateway, { key: 'key-of-bob' });
    await lookIn(gateway);
    const told = deferred<Progress>();
    const calling = client.callTool({ name: 'Bash', arguments: { command: 'echo asked' } }, undefined, {
      onprogress: (progress) => {
        if (progress.message?.startsWith('Waiting for approval')) told.resolve(progress);
      },
    });
    expect((await told.promise).message).toBe('Waiting for approval: Run echo asked');
    const approval = await pending(gateway);
    expect(approval).toMatchObject({ tool: 'Bash', input: { command: 'echo asked' } });
    expect((await decide(gateway, approval, { decision: 'allow' })).status).toBe(200);
    expect(textOf(await calling)).toContain('asked');
  });

  it('that change the input say so in the result', async () => {
    const gateway = await startVirtual({ permissions: { mode: 'ask' } });
    const { client } = await connect(gateway);
    await lookIn(gateway);
    const calling = client.callTool({ name: 'Bash', arguments: { command: 'echo original' } });
    const updatedInput = { command: 'echo after' };
    await decide(gateway, await pending(gateway), { decision: 'allow', updatedInput });
    const result = await calling;
    expect(textOf(result)).toMatch(/A person changed the input.*echo after/);
    expect(textOf(result)).not.toContain('original');
  });

  it('that nobody could give are refused at once, with what to do', async () => {
    const gateway = await startVirtual({ permissions: { mode: 'ask' } });
    const { client } = await connect(gateway);
    const result = await client.callTool({ name: 'Bash', arguments: { command: 'echo x' } });
    expect(result).toMatchObject({ isError: true, _meta: { 'toolgate/outcome': 'unattended' } });
    expect(textOf(result)).toContain('nobody is connected who could give it');
  });

  it('that time out are not called a refusal', async () => {
    const gateway = await startVirtual({ permissions: { mode: 'ask', approval_timeout_s: 1 } });
    const { client } = await connect(gateway);
    await lookIn(gateway);
    const result = await client.callTool({ name: 'Bash', arguments: { command: 'echo x' } });
    expect(result).toMatchObject({ isError: true, _meta: { 'toolgate/outcome': 'expired' } });
    expect(textOf(result)).toContain('That is not a refusal');
  });

  it('are withdrawn when the client cancels', async () => {
    const gateway = await startVirtual({ permissions: { mode: 'ask' } });
    const { client } = await connect(gateway);
    await lookIn(gateway);
    const controller = new AbortController();
    const calling = client
      .callTool({ name: 'Bash', arguments: { command: 'echo x' } }, undefined, { signal: controller.signal })
      .catch((error: unknown) => error);
    const approval = await pending(gateway);
    controller.abort();
    expect(await calling).toBeInstanceOf(Error);
    const decided = await until(async () => {
      const { json } = await api(gateway, `/api/approvals/${String(approval['id'])}`);
      return json['state'] !== 'pending' && json['state'];
    });
    expect(decided).toBe('cancelled');
  });
});

describe('a call that takes long', () => {
  it('keeps a client alive that gives up on silence', async () => {
    const gateway = await startVirtual({ limits: { progressMs: 50 } });
    const { client } = await connect(gateway);
    const heard: Progress[] = [];
    const result = await client.callTool(
      { name: 'Bash', arguments: { command: 'sleep 3; echo done' } },
      undefined,
      { timeout: 2000, resetTimeoutOnProgress: true, onprogress: (progress) => void heard.push(progress) },
    );
    expect(textOf(result)).toContain('done');
    expect(heard.length).toBeGreaterThan(3);
  });

  it('ends with its process when the client cancels', async () => {
    const gateway = await startVirtual();
    const { client } = await connect(gateway);
    const controller = new AbortController();
    const started = deferred();
    const calling = client
      .callTool({ name: 'Bash', arguments: { command: 'echo up; sleep 61.7; true' } }, undefined, {
        signal: controller.signal,
        onprogress: ({ message }) => {
          if (message?.trim() === 'up') started.resolve();
        },
      })
      .catch(() => {});
    await started.promise;
    const sleeping = descendants(process.pid).filter(({ command }) => command.includes('sleep 61.7'));
    expect(sleeping).not.toEqual([]);
    controller.abort();
    await calling;
    await allGone(sleeping);
  });
});
