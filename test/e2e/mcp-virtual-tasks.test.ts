/** A call that waits for a person is a task for clients that know tasks (2026-07-28). */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { httpServer, testClient, textOf as wordsOf } from '../support/mcp-servers.js';
import { until } from '../support/until.js';
import { isRecord, type JsonRecord } from '../support/violation.js';
import {
  answerOf,
  api,
  decide,
  inWork,
  KEYS,
  lookIn,
  pending,
  sendStateless,
  startVirtual,
  stateless,
  textOf,
  type VirtualGateway,
} from './mcp-virtual-harness.js';

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const bash = (command: string) => ({ name: 'Bash', arguments: { command } });
const ask = { permissions: { mode: 'ask' } };

interface Asker {
  key?: string;
  capabilities?: JsonRecord;
}

async function send(
  gateway: VirtualGateway,
  method: string,
  params: JsonRecord,
  { key = 'key-of-bob', capabilities = TASKS }: Asker = {},
): Promise<JsonRecord> {
  const meta = { 'io.modelcontextprotocol/clientCapabilities': capabilities };
  return answerOf(await sendStateless(gateway, stateless(method, params, { meta }), { key }));
}

const resultOf = (answer: JsonRecord): JsonRecord => {
  if (!isRecord(answer['result'])) throw new Error(`no result: ${JSON.stringify(answer)}`);
  return answer['result'];
};

/** The id of the task that the call became. */
async function begin(gateway: VirtualGateway, command: string, asker: Asker = {}): Promise<string> {
  const created = resultOf(await send(gateway, 'tools/call', bash(command), asker));
  expect(created).toMatchObject({
    resultType: 'task',
    status: 'working',
    statusMessage: expect.stringContaining('Waiting for approval'),
    createdAt: expect.any(String),
    lastUpdatedAt: expect.any(String),
    ttlMs: expect.any(Number),
    pollIntervalMs: expect.any(Number),
  });
  return String(created['taskId']);
}

const get = async (gateway: VirtualGateway, taskId: string, asker: Asker = {}): Promise<JsonRecord> =>
  resultOf(await send(gateway, 'tasks/get', { taskId }, asker));

const ended = (gateway: VirtualGateway, taskId: string, asker: Asker = {}): Promise<JsonRecord> =>
  until(async () => {
    const task = await get(gateway, taskId, asker);
    return task['status'] !== 'working' && task['status'] !== 'input_required' && task;
  });

describe('a call that waits for a person', () => {
  it('is a task, whose result is there when somebody has allowed it', async () => {
    const gateway = await startVirtual(ask);
    await lookIn(gateway);
    const taskId = await begin(gateway, 'echo done > out; echo said');
    expect(await get(gateway, taskId)).toMatchObject({ resultType: 'complete', taskId, status: 'working' });
    await decide(gateway, await pending(gateway), { decision: 'allow' });
    const task = await ended(gateway, taskId);
    expect(task).toMatchObject({ status: 'completed', result: { isError: false } });
    expect(textOf(task['result'])).toContain('said');
    expect(await readFile(inWork(gateway, 'out'), 'utf8')).toBe('done\n');
    // A client that lost the answer may ask once more.
    expect(await get(gateway, taskId)).toMatchObject({ status: 'completed' });
  });

  it('that is refused is a completed task with an error for the model', async () => {
    const gateway = await startVirtual(ask);
    await lookIn(gateway);
    const taskId = await begin(gateway, 'touch it');
    await decide(gateway, await pending(gateway), { decision: 'deny', reason: 'not today' });
    const task = await ended(gateway, taskId);
    expect(task).toMatchObject({ status: 'completed', result: { isError: true } });
    expect(textOf(task['result'])).toContain('not today');
  });

  it('is withdrawn with its task', async () => {
    const gateway = await startVirtual(ask);
    await lookIn(gateway);
    const taskId = await begin(gateway, 'touch it');
    expect(resultOf(await send(gateway, 'tasks/cancel', { taskId }))).toMatchObject({
      resultType: 'complete',
    });
    expect(await ended(gateway, taskId)).toMatchObject({ status: 'cancelled' });
    await until(async () => {
      const { json } = await api(gateway, '/api/approvals?state=pending');
      return Array.isArray(json['data']) && json['data'].length === 0;
    });
    await expect(readFile(inWork(gateway, 'it'))).rejects.toThrow('ENOENT');
  });

  it('asks the person at the client where their key may decide', async () => {
    const gateway = await startVirtual(ask);
    const alice = { key: 'key-of-alice', capabilities: { ...TASKS, elicitation: { form: {} } } };
    const taskId = await begin(gateway, 'echo yes', alice);
    const task = await get(gateway, taskId, alice);
    const inputRequests = isRecord(task['inputRequests']) ? task['inputRequests'] : {};
    const [[key = '', question] = []] = Object.entries(inputRequests);
    expect(task).toMatchObject({ status: 'input_required' });
    expect(question).toMatchObject({
      method: 'elicitation/create',
      params: { message: expect.stringContaining('echo yes') },
    });
    const answer = (name: string) => ({ [name]: { action: 'accept', content: { decision: 'allow' } } });
    // An answer to something that was not asked decides nothing.
    await send(gateway, 'tasks/update', { taskId, inputResponses: answer('other') }, alice);
    expect(await get(gateway, taskId, alice)).toMatchObject({ status: 'input_required' });
    await send(gateway, 'tasks/update', { taskId, inputResponses: answer(key) }, alice);
    const { result } = await ended(gateway, taskId, alice);
    expect(textOf(result)).toContain('yes');
    const { json } = await api(gateway, '/api/approvals?state=all');
    expect(json['data']).toMatchObject([{ state: 'allowed', decision: { by: 'alice', via: 'mcp' } }]);
  });

  it('is followed to its result by a gateway that uses this one', async () => {
    const gateway = await startVirtual(ask);
    await lookIn(gateway);
    const client = testClient({
      inner: httpServer(`${gateway.url}/mcp/gateway?model=here`, {
        headers: { authorization: 'Bearer key-of-bob' },
      }),
    });
    await client.settled(AbortSignal.timeout(60_000));
    const calling = client.call('inner', 'Bash', { command: 'echo through both' });
    await decide(gateway, await pending(gateway), { decision: 'allow' });
    expect(wordsOf(await calling)).toContain('through both');
  });
});

describe('a task', () => {
  it('is unknown to every other key, as one that never was', async () => {
    const carol = { key: 'key-of-carol', name: 'carol', scopes: ['call', 'approve'], models: ['*'] };
    const gateway = await startVirtual({ ...ask, more: { server: { keys: [...KEYS, carol] } } });
    await lookIn(gateway);
    const taskId = await begin(gateway, 'echo mine');
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const params = { taskId, inputResponses: {} };
      const foreign = await send(gateway, method, params, { key: 'key-of-carol' });
      const madeUp = await send(gateway, method, { ...params, taskId: 'made-up' });
      expect(foreign).toMatchObject({ error: { code: -32602 } });
      expect(JSON.stringify(foreign)).toBe(JSON.stringify(madeUp).replace('made-up', taskId));
    }
    expect(await get(gateway, taskId)).toMatchObject({ status: 'working' });
  });

  it('is neither given to nor told to a client that does not say that it knows tasks', async () => {
    const gateway = await startVirtual(ask);
    await lookIn(gateway);
    const plain = { capabilities: {} };
    const waiting = send(gateway, 'tools/call', bash('echo plainly'), plain);
    await decide(gateway, await pending(gateway), { decision: 'allow' });
    const result = resultOf(await waiting);
    expect(result).toMatchObject({ resultType: 'complete', isError: false });
    const taskId = await begin(gateway, 'echo later');
    expect(await send(gateway, 'tasks/get', { taskId }, plain)).toMatchObject({
      error: { code: -32021, data: { requiredCapabilities: TASKS } },
    });
  });

  it('is not made of a call that nobody is asked about', async () => {
    const gateway = await startVirtual();
    const result = resultOf(await send(gateway, 'tools/call', bash('echo at once')));
    expect(result).toMatchObject({ resultType: 'complete' });
    expect(textOf(result)).toContain('at once');
  });
});
