/** The virtual servers without sessions (2026-07-28): what each request says, whose state it goes on with. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../support/cleanup.js';
import { deferred } from '../support/gate.js';
import { everythingServer } from '../support/mcp-servers.js';
import { allGone, descendants } from '../support/processes.js';
import { until } from '../support/until.js';
import { isRecord } from '../support/violation.js';
import {
  answerOf,
  api,
  connect,
  connectNewest,
  decide,
  inWork,
  lookIn,
  NEWEST,
  pending,
  sendStateless,
  startVirtual,
  stateless,
  textOf,
} from './mcp-virtual-harness.js';

const handleOf = (result: unknown): string => {
  const meta = isRecord(result) && isRecord(result['_meta']) ? result['_meta'] : {};
  return String(meta['toolgate/state']);
};

describe('a client of 2026-07-28', () => {
  it('finds out what the server is, lists and calls without a session', async () => {
    const gateway = await startVirtual();
    const { client, seen } = await connectNewest(gateway, { mode: 'auto' });
    expect(client.getNegotiatedProtocolVersion()).toBe(NEWEST);
    expect(client.getServerVersion()).toMatchObject({ name: 'gateway' });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['Read', 'Bash']));
    const called = await client.callTool({ name: 'Bash', arguments: { command: 'pwd' } });
    expect(textOf(called)).toContain(gateway.work);
    expect(seen.length).toBeGreaterThan(2);
    expect(seen.map(({ headers }) => headers.get('mcp-session-id')).filter(Boolean)).toEqual([]);
  });

  it('is answered beside clients of the older era, on the same address', async () => {
    const gateway = await startVirtual();
    const [older, newer] = [await connect(gateway), await connectNewest(gateway)];
    const call = { name: 'Bash', arguments: { command: 'echo both' } };
    expect(textOf(await older.client.callTool(call))).toContain('both');
    expect(textOf(await newer.client.callTool(call))).toContain('both');
    const plain = (await older.client.listTools()).tools.map(({ name }) => name);
    expect((await newer.client.listTools()).tools.map(({ name }) => name)).toEqual(plain);
  });

  it('is told what kind a result is, for how long and for whom a list holds', async () => {
    const gateway = await startVirtual();
    const list = async () => answerOf(await sendStateless(gateway, stateless('tools/list')));
    const first = await list();
    expect(first).toMatchObject({
      result: { resultType: 'complete', ttlMs: 10_000, cacheScope: 'private', tools: expect.any(Array) },
    });
    expect(await list()).toEqual(first);
    expect(await answerOf(await sendStateless(gateway, stateless('server/discover')))).toMatchObject({
      result: {
        resultType: 'complete',
        supportedVersions: [NEWEST],
        capabilities: { tools: { listChanged: true } },
        ttlMs: expect.any(Number),
        cacheScope: 'private',
      },
    });
    const call = stateless('tools/call', { name: 'Bash', arguments: { command: 'echo x' } });
    expect(await answerOf(await sendStateless(gateway, call))).toMatchObject({
      id: 1,
      result: { resultType: 'complete', isError: false },
    });
  });

  it('is refused where its headers say something else than its body', async () => {
    const gateway = await startVirtual();
    const call = stateless('tools/call', { name: 'Bash', arguments: { command: 'touch ran' } });
    for (const headers of [
      { 'mcp-name': 'Read' },
      { 'mcp-method': 'tools/list' },
      { 'mcp-method': undefined },
      { 'mcp-name': undefined },
      { 'mcp-protocol-version': '2025-11-25' },
    ]) {
      const response = await sendStateless(gateway, call, { headers });
      expect([headers, response.status, await response.json()]).toMatchObject([
        headers,
        400,
        { jsonrpc: '2.0', id: 1, error: { code: -32_020 } },
      ]);
    }
    await expect(readFile(inWork(gateway, 'ran'))).rejects.toThrow('ENOENT');
  });

  it('of a revision that is not known is told which are', async () => {
    const gateway = await startVirtual();
    const version = '2031-01-01';
    const response = await sendStateless(gateway, stateless('tools/list', {}, { version }), {
      headers: { 'mcp-protocol-version': version },
    });
    const supported = [NEWEST, '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
    const answer: unknown = await response.json();
    expect([response.status, answer]).toMatchObject([
      400,
      { error: { code: -32_022, data: { requested: version } } },
    ]);
    const error = isRecord(answer) && isRecord(answer['error']) ? answer['error'] : {};
    const named = isRecord(error['data']) ? error['data']['supported'] : undefined;
    expect(named).toEqual(expect.arrayContaining(supported));
    // Each of them is spoken.
    for (const old of supported.slice(1)) {
      const opened = await fetch(`${gateway.url}/mcp/gateway?model=here`, {
        method: 'POST',
        headers: {
          ...{ authorization: 'Bearer key-of-alice', 'content-type': 'application/json' },
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({
          ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
          params: { protocolVersion: old, capabilities: {}, clientInfo: { name: 'old', version: '1' } },
        }),
      });
      expect(await answerOf(opened)).toMatchObject({ result: { protocolVersion: old } });
    }
  });

  it('needs a key with the scope call, and an origin that is ours', async () => {
    const gateway = await startVirtual();
    const list = stateless('tools/list');
    expect((await sendStateless(gateway, list, { key: 'nobody' })).status).toBe(401);
    expect((await sendStateless(gateway, list, { key: 'key-of-eve' })).status).toBe(403);
    const origin = { origin: 'https://evil.example' };
    expect((await sendStateless(gateway, list, { headers: origin })).status).toBe(403);
  });

  it('gets no more than so many answers of its key at once', async () => {
    const gateway = await startVirtual({ limits: { exchangesOfKey: 1 } });
    const listen = stateless('subscriptions/listen', { notifications: { toolsListChanged: true } });
    const stop = new AbortController();
    const open = await sendStateless(gateway, listen, { signal: stop.signal });
    expect(open.status).toBe(200);
    const refused = await sendStateless(gateway, stateless('tools/list'));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    expect((await sendStateless(gateway, stateless('tools/list'), { key: 'key-of-bob' })).status).toBe(200);
    stop.abort();
    await until(async () => (await sendStateless(gateway, stateless('tools/list'))).status === 200);
  });
});

describe('the state of tools without a session', () => {
  it('is begun by a call without a handle, and gone on with by one that has it', async () => {
    const gateway = await startVirtual();
    await mkdir(inWork(gateway, 'sub'));
    await writeFile(inWork(gateway, 'a.txt'), 'one\n');
    const { client } = await connectNewest(gateway);
    const bash = (command: string, more: object = {}) =>
      client.callTool({ name: 'Bash', arguments: { command, ...more } });
    const first = await bash('cd sub');
    const toolgate_state = handleOf(first);
    // The model reads it, too.
    expect(textOf(first)).toContain(`toolgate_state: ${toolgate_state}`);
    const second = await bash('pwd', { toolgate_state });
    expect(textOf(second)).toContain('/sub');
    expect(textOf(second)).not.toContain('toolgate_state');
    expect(handleOf(second)).toBe(toolgate_state);
    const fresh = await bash('pwd');
    expect(textOf(fresh)).not.toContain('/sub');
    expect(handleOf(fresh)).not.toBe(toolgate_state);

    const edit = { file_path: '../a.txt', old_string: 'one', new_string: 'two', toolgate_state };
    expect(await client.callTool({ name: 'Edit', arguments: edit })).toMatchObject({ isError: true });
    await client.callTool({ name: 'Read', arguments: { file_path: '../a.txt', toolgate_state } });
    expect(await client.callTool({ name: 'Edit', arguments: edit })).toMatchObject({ isError: false });
  });

  it('is offered as an argument to clients without a session alone', async () => {
    const gateway = await startVirtual({ mcpServers: { every: everythingServer() } });
    const { client } = await connectNewest(gateway);
    const older = await connect(gateway);
    const named = await until(async () => {
      const { tools } = await client.listTools({}, { cacheMode: 'bypass' });
      return tools.some(({ name }) => name === 'mcp__every__echo') && new Map(tools.map((t) => [t.name, t]));
    });
    expect(named.get('Bash')?.inputSchema.properties).toHaveProperty('toolgate_state');
    // All clients share its connection: it is given nothing to remember.
    expect(named.get('mcp__every__echo')?.inputSchema.properties).not.toHaveProperty('toolgate_state');
    const echoed = await client.callTool({ name: 'mcp__every__echo', arguments: { message: 'hello' } });
    expect(textOf(echoed)).toBe('Echo: hello');
    expect(JSON.stringify((await older.client.listTools()).tools)).not.toContain('toolgate_state');
  });

  it('is of no use to another key, in another workspace, or after a restart', async () => {
    const gateway = await startVirtual();
    const { client } = await connectNewest(gateway);
    const toolgate_state = handleOf(await client.callTool({ name: 'Bash', arguments: { command: 'pwd' } }));
    const call = { name: 'Bash', arguments: { command: 'touch taken', toolgate_state } };
    const others = [
      await connectNewest(gateway, { key: 'key-of-bob' }),
      await connectNewest(gateway, { query: '' }),
      await connectNewest(await startVirtual()),
    ];
    for (const other of others) {
      const refused = await other.client.callTool(call);
      expect(refused).toMatchObject({ isError: true, _meta: { 'toolgate/outcome': 'invalid' } });
      expect(textOf(refused)).toContain('Leave toolgate_state out');
    }
    for (const wrong of [7, null, {}, 'made up']) {
      const made = { name: 'Bash', arguments: { command: 'touch taken', toolgate_state: wrong } };
      expect(await client.callTool(made)).toMatchObject({ isError: true });
    }
    await expect(readFile(inWork(gateway, 'taken'))).rejects.toThrow('ENOENT');
    expect(await client.callTool(call)).toMatchObject({ isError: false });
  });

  it('that is unused for long ends, and takes its commands with it', async () => {
    const gateway = await startVirtual({ limits: { idleMs: 1, sweepMs: 5 } });
    const { client } = await connectNewest(gateway);
    const command = 'sleep 61.7';
    await client.callTool({ name: 'Bash', arguments: { command, run_in_background: true } });
    await until(() => descendants(process.pid).every((each) => !each.command.includes(command)));
  });

  it('is bounded for each key: the longest unused one goes', async () => {
    const gateway = await startVirtual({ limits: { sessionsOfKey: 2 } });
    const { client } = await connectNewest(gateway);
    const bob = await connectNewest(gateway, { key: 'key-of-bob' });
    const begin = async (from: typeof client) =>
      handleOf(await from.callTool({ name: 'Bash', arguments: { command: 'pwd' } }));
    const bobs = await begin(bob.client);
    const states = [await begin(client), await begin(client), await begin(client)];
    const goesOn = async (from: typeof client, toolgate_state: string) =>
      !(await from.callTool({ name: 'Bash', arguments: { command: 'pwd', toolgate_state } })).isError;
    expect(await Promise.all(states.map((state) => goesOn(client, state)))).toEqual([false, true, true]);
    expect(await goesOn(bob.client, bobs)).toBe(true);
  });
});

describe('a call without a session', () => {
  it('obeys the rules of the gateway', async () => {
    const gateway = await startVirtual({ permissions: { deny: ['Bash(touch:*)'] } });
    const { client } = await connectNewest(gateway);
    const denied = await client.callTool({ name: 'Bash', arguments: { command: 'touch it' } });
    expect(denied).toMatchObject({ isError: true, _meta: { 'toolgate/outcome': 'denied' } });
    await expect(readFile(inWork(gateway, 'it'))).rejects.toThrow('ENOENT');
    await expect(client.callTool({ name: 'Task', arguments: {} })).rejects.toThrow('no tool called "Task"');
  });

  it('waits for a person with signs of life, and runs once allowed', async () => {
    const gateway = await startVirtual({ permissions: { mode: 'ask' } });
    const { client } = await connectNewest(gateway, { key: 'key-of-bob' });
    await lookIn(gateway);
    const told = deferred<string>();
    const calling = client.callTool(
      { name: 'Bash', arguments: { command: 'echo asked' } },
      {
        onprogress: ({ message }) => {
          if (message?.startsWith('Waiting for approval')) told.resolve(message);
        },
      },
    );
    expect(await told.promise).toBe('Waiting for approval: Run echo asked');
    await decide(gateway, await pending(gateway), { decision: 'allow' });
    expect(textOf(await calling)).toContain('asked');
  });

  it('ends with its process, or its question, when the client hangs up', async () => {
    const gateway = await startVirtual({ permissions: { ask: ['Bash(echo:*)'] } });
    const { client } = await connectNewest(gateway);
    await lookIn(gateway);
    const command = 'sleep 63.1';
    const running = new AbortController();
    const sleeping = client.callTool(
      { name: 'Bash', arguments: { command } },
      { signal: running.signal, timeout: 60_000 },
    );
    const runs = () => descendants(process.pid).filter((each) => each.command.includes(command));
    const processes = await until(() => runs().length > 0 && runs());
    running.abort();
    await expect(sleeping).rejects.toThrow();
    await allGone(processes);
    const asking = new AbortController();
    const asked = client.callTool(
      { name: 'Bash', arguments: { command: 'echo asked' } },
      { signal: asking.signal },
    );
    const { id } = await pending(gateway);
    asking.abort();
    await expect(asked).rejects.toThrow();
    await until(async () => {
      const { json } = await api(gateway, `/api/approvals/${String(id)}`);
      return json['state'] === 'cancelled';
    });
  });

  it('that waits for a person does not hold up a gateway that stops, and its question stays', async () => {
    const gateway = await startVirtual({ permissions: { mode: 'ask' } });
    const { client } = await connectNewest(gateway);
    await lookIn(gateway);
    const calling = client.callTool({ name: 'Bash', arguments: { command: 'echo late' } });
    const { id } = await pending(gateway);
    await gateway.close();
    expect(await calling).toMatchObject({ isError: true, _meta: { 'toolgate/outcome': 'aborted' } });
    const again = await startVirtual({ permissions: { mode: 'ask' }, gatewayFolder: gateway.folder });
    expect(await pending(again)).toMatchObject({ id });
  });
});

describe('news of tools without a session', () => {
  it('comes to a client that listens, until the gateway stops', async () => {
    const gateway = await startVirtual();
    const { client } = await connectNewest(gateway);
    const changed = deferred();
    client.setNotificationHandler('notifications/tools/list_changed', () => changed.resolve());
    const subscription = await client.listen({ toolsListChanged: true });
    const { args, command, type } = everythingServer();
    await api(gateway, '/api/mcp', { body: { name: 'late', config: { type, command, args } } });
    await changed.promise;
    const { tools } = await client.listTools({}, { cacheMode: 'bypass' });
    expect(tools.map(({ name }) => name)).toContain('mcp__late__echo');
    await gateway.close();
    expect(await subscription.closed).toBe('graceful');
  });
});

describe('approval_prompt without a session', () => {
  const prompt = (command: string, tool_name = 'Bash') => ({
    name: 'approval_prompt',
    arguments: { tool_name, input: { command } },
  });

  it('judges by the folder that the client names when it is asked', async () => {
    const { path } = await tempFolder('roots');
    const gateway = await startVirtual({ permissions: { mode: 'ask', unattended: 'deny', allow: ['Read'] } });
    const read = {
      name: 'approval_prompt',
      arguments: { tool_name: 'Read', input: { file_path: `${path}/a` } },
    };
    const there = await connectNewest(gateway, { server: 'auth', query: '', roots: [path] });
    expect(textOf(await there.client.callTool(read))).toContain('"behavior":"allow"');
    const elsewhere = await connectNewest(gateway, { server: 'auth', query: '' });
    expect(textOf(await elsewhere.client.callTool(read))).toContain('"behavior":"deny"');
    const hostile = stateless('tools/call', {
      ...read,
      inputResponses: { roots: { roots: [{ uri: 'file://%2f%2fhost/x' }, { uri: 7 }, 'x'] } },
    });
    const answer = await answerOf(await sendStateless(gateway, hostile, { path: '/mcp/auth' }));
    expect(textOf(answer['result'])).toContain('"behavior":"deny"');
  });

  it('keeps rules for the session of a folder, and of a key', async () => {
    const gateway = await startVirtual({ permissions: { mode: 'ask' } });
    const { client } = await connectNewest(gateway, { server: 'auth', query: '' });
    const bob = await connectNewest(gateway, { server: 'auth', query: '', key: 'key-of-bob' });
    await lookIn(gateway);
    const asked = client.callTool(prompt('make it'));
    const rule = { rule: 'Bash(make it)', scope: 'session' };
    await decide(gateway, await pending(gateway), { decision: 'allow', rule });
    expect(textOf(await asked)).toContain('"behavior":"allow"');
    expect(textOf(await client.callTool(prompt('make it')))).toContain('"behavior":"allow"');
    const bobs = bob.client.callTool(prompt('make it'));
    await decide(gateway, await pending(gateway), { decision: 'deny' });
    expect(textOf(await bobs)).toContain('"behavior":"deny"');
  });
});
