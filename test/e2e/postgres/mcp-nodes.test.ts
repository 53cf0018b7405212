/** MCP clients whose requests come to one node and then to the other, in both eras of the protocol. */
import {
  Client as NewestClient,
  StreamableHTTPClientTransport as NewestTransport,
} from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { closeAfterTest } from '../../support/cleanup.js';
import { oddServer } from '../../support/mcp-servers.js';
import { startPostgres, type TestPostgres } from '../../support/postgres.js';
import { until } from '../../support/until.js';
import { isRecord, type JsonRecord } from '../../support/violation.js';
import { answerOf, NEWEST, sendStateless, stateless, textOf } from '../mcp-virtual-harness.js';
import { api, KEYS, type NodeBed, startNodes, type TestNode } from './nodes-harness.js';

let server: TestPostgres;
let store = '';

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.close());
beforeEach(async () => {
  store = server.url(await server.create());
});

const PATH = '/mcp/gateway?model=agent';
const ASK = { permissions: { mode: 'ask' } };
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const FORMS = { elicitation: { form: {} } };
const bash = (command: string) => ({ name: 'Bash', arguments: { command } });

interface Sent {
  key?: keyof typeof KEYS;
  capabilities?: JsonRecord;
  signal?: AbortSignal;
}

const post = (
  { gateway }: TestNode,
  method: string,
  params: JsonRecord,
  { key = 'storm', capabilities = {}, ...rest }: Sent = {},
): Promise<Response> => {
  const meta = { 'io.modelcontextprotocol/clientCapabilities': capabilities };
  return sendStateless(gateway, stateless(method, params, { meta }), {
    ...{ key: KEYS[key], path: PATH, headers: { connection: 'close' } },
    ...rest,
  });
};

const send = async (...given: Parameters<typeof post>): Promise<JsonRecord> => answerOf(await post(...given));

const resultOf = (answer: JsonRecord): JsonRecord => {
  if (!isRecord(answer['result'])) throw new Error(`no result: ${JSON.stringify(answer)}`);
  return answer['result'];
};

/** Each request goes to the other node than the one before. */
function alternating({ a, b }: NodeBed): { fetch: typeof fetch; nodes: (string | null)[] } {
  const nodes: (string | null)[] = [];
  let turn = 0;
  return {
    nodes,
    fetch: async (address, init) => {
      const { gateway } = [a, b][turn++ % 2] ?? a;
      const { pathname, search } = new URL(String(address));
      const response = await fetch(gateway.url + pathname + search, init);
      nodes.push(response.headers.get('x-toolgate-node'));
      return response;
    },
  };
}

const requestInit = { headers: { authorization: `Bearer ${KEYS.storm}` } };

const begunTask = async (node: TestNode, command: string): Promise<string> => {
  await api(node, 'GET', '/api/approvals?state=pending');
  const created = resultOf(await send(node, 'tools/call', bash(command), { capabilities: TASKS }));
  expect(created).toMatchObject({ resultType: 'task', status: 'working' });
  return String(created['taskId']);
};

const sessionOn = async ({ gateway }: TestNode): Promise<string> => {
  const answer = await speak(gateway.url, undefined, 'initialize', {
    ...{ protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'old', version: '1' } },
  });
  await answer.text();
  return answer.headers.get('mcp-session-id') ?? '';
};

/** A request of the older era, written by hand. */
const speak = (
  url: string,
  session: string | undefined,
  method: string,
  params: object,
  key: keyof typeof KEYS = 'storm',
) =>
  fetch(url + PATH, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${KEYS[key]}`, 'content-type': 'application/json' },
      ...{ accept: 'application/json, text/event-stream', connection: 'close' },
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
  });

describe('a client of 2026-07-28 that comes to another node each time', () => {
  it('goes on with its shell, and its answers to questions find the call', async () => {
    const bed = await startNodes(store, ASK);
    const client = new NewestClient(
      { name: 'test', version: '2' },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: NEWEST } } },
    );
    client.setRequestHandler('elicitation/create', async () => ({
      ...{ action: 'accept' as const, content: { decision: 'allow' } },
    }));
    const { fetch: either, nodes } = alternating(bed);
    await client.connect(
      new NewestTransport(new URL(bed.a.gateway.url + PATH), { requestInit, fetch: either }),
    );
    closeAfterTest(() => client.close());
    const first = await client.callTool(bash('mkdir deep && cd deep && echo there'));
    expect(textOf(first)).toContain('there');
    const handle = first._meta?.['toolgate/state'];
    for (let round = 0; round < 2; round += 1) {
      const next = await client.callTool({
        name: 'Bash',
        arguments: { command: 'pwd', toolgate_state: handle },
      });
      expect(next).toMatchObject({ isError: false, _meta: { 'toolgate/state': handle } });
      expect(textOf(next)).toContain('/work/deep');
    }
    // Of each call and its answer one at least had to be forwarded.
    expect(nodes.filter((node) => node !== null).length).toBeGreaterThanOrEqual(3);
    for (const { wire } of [bed.a, bed.b]) expect(wire.seen).not.toContain(KEYS.storm);
  });

  it('asks for its task, answers its form, gets its result and cancels it at any of them', async () => {
    const { a, b, linesOf } = await startNodes(store, ASK);
    const taskId = await begunTask(a, 'echo once >> out; echo said');
    const both = { capabilities: { ...TASKS, ...FORMS } };
    const there = await post(b, 'tasks/get', { taskId }, both);
    expect(there.headers.get('x-toolgate-node')).toBe('a');
    const asked = resultOf(await answerOf(there));
    expect(asked).toMatchObject({ taskId, status: 'input_required' });
    const [form = ''] = Object.keys(isRecord(asked['inputRequests']) ? asked['inputRequests'] : {});
    const inputResponses = { [form]: { action: 'accept', content: { decision: 'allow' } } };
    await send(b, 'tasks/update', { taskId, inputResponses }, both);
    const done = await until(async () => {
      const task = resultOf(await send(b, 'tasks/get', { taskId }, { capabilities: TASKS }));
      return task['status'] === 'completed' && task;
    });
    expect(textOf(done['result'])).toContain('said');
    expect(await linesOf('out')).toEqual(['once']);
    const other = await begunTask(b, 'echo twice >> out');
    await send(a, 'tasks/cancel', { taskId: other }, { capabilities: TASKS });
    await until(async () => {
      const task = resultOf(await send(a, 'tasks/get', { taskId: other }, { capabilities: TASKS }));
      return task['status'] === 'cancelled';
    });
    expect(await linesOf('out')).toEqual(['once']);
  });

  it('is told what the protocol says of its request, as on the node itself', async () => {
    const { a, b } = await startNodes(store, ASK);
    const taskId = await begunTask(a, 'echo later');
    const [here, there] = [await post(a, 'tasks/get', { taskId }), await post(b, 'tasks/get', { taskId })];
    expect(there.status).toBe(here.status);
    expect(there.headers.get('x-toolgate-node')).toBe('a');
    expect(await answerOf(there)).toEqual(await answerOf(here));
  });
});

describe('what a key holds on one node', () => {
  it('is unknown to another key on the other, which does not even ask', async () => {
    const { a, b } = await startNodes(store, ASK);
    const taskId = await begunTask(a, 'echo mine');
    const session = await sessionOn(a);
    const state = await send(a, 'tools/call', bash('true'), { capabilities: TASKS });
    const calm = { key: 'calm', capabilities: TASKS } as const;
    expect(await send(b, 'tasks/get', { taskId }, calm)).toMatchObject({ error: { code: -32_602 } });
    expect((await speak(b.gateway.url, session, 'tools/list', {}, 'calm')).status).toBe(404);
    const retried = await send(
      b,
      'tools/call',
      { ...bash('true'), requestState: resultOf(state)['taskId'] },
      { key: 'calm', capabilities: FORMS },
    );
    expect(textOf(retried['result'])).toContain('does not know this call');
    expect(a.wire.seen).not.toContain('x-toolgate-forward:');
    expect(resultOf(await send(b, 'tasks/get', { taskId }, { capabilities: TASKS }))).toMatchObject({
      status: 'working',
    });
  });

  it('is said to be out of reach while its node does not answer', async () => {
    const { a, b } = await startNodes(store, ASK);
    const taskId = await begunTask(a, 'echo never');
    const session = await sessionOn(a);
    a.wire.cut();
    const silent = await post(b, 'tasks/get', { taskId }, { capabilities: TASKS });
    expect(silent.status).toBe(503);
    expect(silent.headers.get('retry-after')).not.toBeNull();
    expect(await answerOf(silent)).toMatchObject({
      error: { message: expect.stringContaining('The node a, which has what this request goes on with') },
    });
    const old = await speak(b.gateway.url, session, 'tools/list', {});
    expect(old.status).toBe(503);
  });

  it('ends in an answer where its node breaks off in the middle of a call', async () => {
    const { a, b, linesOf } = await startNodes(store);
    const handle = resultOf(await send(a, 'tools/call', bash('true')))['_meta'];
    const state = isRecord(handle) ? handle['toolgate/state'] : undefined;
    const calling = post(b, 'tools/call', {
      name: 'Bash',
      arguments: { command: 'echo begun > out; sleep 600', toolgate_state: state },
    });
    await until(async () => (await linesOf('out')).length > 0);
    const answer = await calling;
    expect(answer.headers.get('x-toolgate-node')).toBe('a');
    a.wire.cut();
    expect(await answerOf(answer)).toMatchObject({
      ...{ id: 1, error: { message: expect.stringContaining('The node a was answering this request') } },
    });
  });
});

describe('a session of the older era', () => {
  it('goes on with its shell and ends at whichever node its client comes to', async () => {
    const bed = await startNodes(store);
    const client = new Client({ name: 'test', version: '1' });
    const { fetch: either, nodes } = alternating(bed);
    const transport = new StreamableHTTPClientTransport(new URL(bed.a.gateway.url + PATH), {
      ...{ requestInit, fetch: either },
    });
    await client.connect(transport);
    closeAfterTest(() => client.close());
    await client.callTool(bash('mkdir deep && cd deep'));
    for (let round = 0; round < 3; round += 1) {
      expect(textOf(await client.callTool(bash('pwd')))).toContain('/work/deep');
    }
    expect(new Set(nodes.filter((node) => node !== null))).toEqual(new Set(['a']));
    const session = transport.sessionId;
    await transport.terminateSession();
    for (const { gateway } of [bed.a, bed.b]) {
      expect((await speak(gateway.url, session, 'tools/list', {})).status).toBe(404);
    }
  });

  it('of HTTP with SSE takes its messages at another node than the one that has the stream', async () => {
    const { a, b } = await startNodes(store);
    const stream = await fetch(a.gateway.url + PATH, {
      headers: { authorization: `Bearer ${KEYS.storm}`, accept: 'text/event-stream' },
    });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    let seen = '';
    const read = async (wanted: string): Promise<void> => {
      while (!seen.includes(wanted)) seen += (await reader?.read())?.value ?? '';
    };
    await read('\n\n');
    const endpoint = /data: (\S+)/.exec(seen)?.[1] ?? '';
    const message = {
      ...{ jsonrpc: '2.0', id: 7, method: 'initialize' },
      params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'o', version: '1' } },
    };
    const sent = await fetch(b.gateway.url + endpoint, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEYS.storm}`, 'content-type': 'application/json' },
      body: JSON.stringify(message),
    });
    expect(sent.status).toBe(202);
    await read('"id":7');
    await reader?.cancel();
  });
});

describe('a server that is added at one node', () => {
  it('is connected at the other, and gone from both when the other removes it', async () => {
    const { a, b } = await startNodes(store);
    const { type, command, args } = oddServer();
    const body = { name: 'odd', config: { type, command, args } };
    const listed = async (node: TestNode): Promise<string[]> =>
      JSON.parse((await api(node, 'GET', '/api/mcp')).text).data.map(
        ({ name, state }: { name: string; state: string }) => `${name} ${state}`,
      );
    expect((await api(a, 'POST', '/api/mcp', { body })).status).toBe(201);
    await until(async () => (await listed(b)).includes('odd connected'));
    const { tools } = resultOf(await send(b, 'tools/list', {}));
    expect(JSON.stringify(tools)).toContain('mcp__odd__');
    expect((await api(b, 'DELETE', '/api/mcp/odd')).status).toBe(204);
    await until(async () => (await listed(a)).length === 0);
    expect((await api(a, 'DELETE', '/api/mcp/odd')).status).toBe(404);
    // Another one of its name is another server.
    const other = { name: 'odd', config: { type, command, args: [...args, 'again'] } };
    expect((await api(b, 'POST', '/api/mcp', { body: other })).status).toBe(201);
    await until(async () => (await listed(a)).includes('odd connected'));
  });
});
