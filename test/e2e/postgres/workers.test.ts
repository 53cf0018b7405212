/** `start --workers 2` as a process on a real PostgreSQL: one port, two workers, and what happens when one ends. */
import { once } from 'node:events';
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bash, HeldStep, lookup, says, words } from '../../faults/agent-script.js';
import { closeAfterTest, tempFolder } from '../../support/cleanup.js';
import { type GatewayProcess, runCommand } from '../../support/gateway.js';
import { startPostgres, type TestPostgres } from '../../support/postgres.js';
import { allGone, descendants } from '../../support/processes.js';
import { ScriptedAgentModel } from '../../support/scripted-agent-model.js';
import { startUpstream } from '../../support/scripted-upstream.js';
import { parseSseText } from '../../support/sse.js';
import { until } from '../../support/until.js';
import { isRecord, type JsonRecord } from '../../support/violation.js';
import { NEWEST, stateless } from '../mcp-virtual-harness.js';
import { textIn, user } from './nodes-harness.js';

let server: TestPostgres;
let database = '';
let store = '';

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.close());
beforeEach(async () => {
  database = await server.create();
  store = server.url(database);
});

const KEY = 'key-of-the-workers';
const FINAL = 'All of it was said once.';

interface Answered {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
}

/** One connection, which stays with the worker that it was given to. */
class Connection {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
    closeAfterTest(() => this.#agent.destroy());
  }

  /** Resolves at the head of the answer. */
  async begin(method: string, path: string, body?: object, more: object = {}): Promise<IncomingMessage> {
    const sent = request(this.#url + path, {
      ...{ method, agent: this.#agent },
      headers: {
        ...{ authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        'anthropic-version': '2023-06-01',
        ...more,
      },
    }).end(body === undefined ? undefined : JSON.stringify(body));
    const [answer]: IncomingMessage[] = await once(sent, 'response');
    if (answer === undefined) throw new Error('no answer');
    return answer;
  }

  async ask(method: string, path: string, body?: object, more?: object): Promise<Answered> {
    const answer = await this.begin(method, path, body, more);
    return { status: answer.statusCode ?? 0, headers: answer.headers, text: await text(answer) };
  }
}

interface Shown {
  type: string;
  state?: string;
  session?: { running?: boolean; interrupted?: boolean };
}

/** What a page on that connection is shown, from its snapshot on. */
async function watch(connection: Connection): Promise<{ events: Shown[] }> {
  const events: Shown[] = [];
  const stream = await connection.begin('GET', '/api/events');
  let rest = '';
  stream
    .setEncoding('utf8')
    .on('error', () => {})
    .on('data', (piece: string) => {
      const found = parseSseText(rest + piece);
      rest = found.rest;
      for (const { data } of found.events) events.push(JSON.parse(data));
    });
  closeAfterTest(() => stream.destroy());
  await until(() => events.some(({ type }) => type === 'snapshot'));
  return { events };
}

const turn = (messages: readonly object[], model = 'agent') => ({
  ...{ model, max_tokens: 999, stream: true, messages },
  tools: [{ name: 'lookup', description: 'Looks it up.', input_schema: { type: 'object' } }],
});

async function startTwo(options: { permissions?: object; key?: object; drain?: number } = {}) {
  const { permissions = { mode: 'allow' }, key = {}, drain = 0 } = options;
  const model = new ScriptedAgentModel();
  const upstream = await startUpstream((asked, index) => model.script(asked, index));
  const { path } = await tempFolder('toolgate-workers');
  const work = join(await realpath(path), 'work');
  await mkdir(work);
  const config = {
    server: {
      drain_s: drain,
      keys: [{ name: 'storm', key: KEY, scopes: ['call', 'approve', 'admin'], ...key }],
    },
    upstreams: { scripted: upstream.config('anthropic-messages') },
    models: {
      agent: { engine: 'native', upstream: 'scripted', model: 'm', cwd: work, tools: ['Bash'] },
      plain: { upstream: 'scripted', model: 'm' },
    },
    ...{ permissions, sandbox: 'off', store },
  };
  const gateway = await started(config);
  // Each goes to the worker with the fewest connections: they are on both.
  const [one, other] = [new Connection(gateway.url), new Connection(gateway.url)];
  for (const each of [one, other]) await each.ask('GET', '/healthz');
  return { gateway, one, other, model, config, work };
}

async function started(config: object): Promise<GatewayProcess> {
  const run = await runCommand({
    config,
    args: ['start', '--port', '0', '--workers', '2', '--config', 'toolgate.yaml', '--log-level', 'info'],
  });
  await run.listening();
  // A worker outlives its primary for as long as it drains.
  const workers = workersOf(run);
  closeAfterTest(async () => {
    await run.kill();
    await allGone(workers);
  });
  return run;
}

const workersOf = ({ pid }: GatewayProcess) => descendants(pid).filter(({ parent }) => parent === pid);

interface LogLine {
  msg: string;
  worker?: number;
  id?: string;
}

const MCP = '/mcp/gateway?model=agent';
const ACCEPT = { accept: 'application/json, text/event-stream' };

/** A client of 2026-07-28 that knows tasks. */
const speakMcp = (connection: Connection, method: string, params: JsonRecord): Promise<Answered> => {
  const meta = {
    'io.modelcontextprotocol/clientCapabilities': {
      extensions: { 'io.modelcontextprotocol/tasks': {} },
    },
  };
  return connection.ask('POST', MCP, stateless(method, params, { meta }), {
    ...ACCEPT,
    ...{ 'mcp-protocol-version': NEWEST, 'mcp-method': method },
    'mcp-name': String(params['taskId'] ?? params['name']),
  });
};

const speakOldMcp = (connection: Connection, session: string | undefined, method: string, params: object) =>
  connection.ask(
    'POST',
    MCP,
    { jsonrpc: '2.0', id: 7, method, params },
    { ...ACCEPT, ...(session === undefined ? {} : { 'mcp-session-id': session }) },
  );

const resultIn = ({ text: sent }: Answered): JsonRecord => {
  const message: unknown = JSON.parse(sent.match(/^data: (.+)$/m)?.[1] ?? sent);
  if (!isRecord(message) || !isRecord(message['result'])) throw new Error(`no result: ${sent}`);
  return message['result'];
};

const logOf = ({ stderr }: GatewayProcess): LogLine[] =>
  stderr.split('\n').flatMap((line): LogLine[] => (line.startsWith('{') ? [JSON.parse(line)] : []));

/** The worker that answered. */
const workerOf = (gateway: GatewayProcess, { headers }: Answered): Promise<number> =>
  until(
    () => logOf(gateway).find(({ id, msg }) => msg === 'request' && id === headers['request-id'])?.worker,
  );

const holderOf = async (): Promise<number> => {
  const [row] = await until(async () => {
    const rows = await server.query('SELECT owner FROM leases', database);
    return rows.length > 0 && rows;
  });
  return Number(String(row?.['owner']).split('/')[1]);
};

describe('two workers on one port', () => {
  it('say so in one line, both answer, their figures are one page, and SIGTERM ends all with 0', async () => {
    const { gateway, one, other, model } = await startTwo();
    const workers = workersOf(gateway);
    expect(workers).toHaveLength(2);
    expect(gateway.stdout).toMatch(
      /^toolgate listens on http:\/\/127\.0\.0\.1:\d+ · console http:\S+ · 2 workers\n/,
    );
    expect(gateway.stdout.match(/listens on/g)).toHaveLength(1);
    model.play('Here.', [words(FINAL)]);
    model.play('There.', [words(FINAL)]);
    const [here, there] = [
      await one.ask('POST', '/v1/messages', turn([user('Here.')], 'plain')),
      await other.ask('POST', '/v1/messages', turn([user('There.')], 'plain')),
    ];
    expect([textIn(here.text), textIn(there.text)]).toEqual([FINAL, FINAL]);
    const both = [await workerOf(gateway, here), await workerOf(gateway, there)];
    expect(both.sort()).toEqual([1, 2]);
    for (const connection of [one, other]) {
      const page = (await connection.ask('GET', '/metrics')).text;
      expect(page).toMatch(/^toolgate_requests_total\{route="\/v1\/messages".*status="200".*\} 2$/m);
      expect(page.match(/^# TYPE toolgate_requests_total/gm)).toHaveLength(1);
      expect(page.match(/^toolgate_store_up /gm)).toHaveLength(1);
      expect(page).toMatch(/^toolgate_store_up 1$/m);
    }
    gateway.signal('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    await allGone(workers);
  });

  it('give a key its requests a minute once, not to each worker', async () => {
    const { one, other } = await startTwo({ key: { rpm: 4 } });
    const statuses: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      for (const each of [one, other]) statuses.push((await each.ask('GET', '/v1/models')).status);
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(4);
    expect(statuses.filter((status) => status === 429)).toHaveLength(4);
  });

  it('show what the other one does as it does it, and that it has ended where that is killed', async () => {
    const { gateway, one, other, model } = await startTwo();
    const held = new HeldStep(words(FINAL), 'half');
    model.play('Watched.', [held.steps]);
    const page = await watch(other);
    const answer = await one.begin('POST', '/v1/messages', turn([user('Watched.')]));
    answer.on('error', () => {}).resume();
    await held.gate.reached;
    await until(() => page.events.some(({ type }) => type === 'text'));
    expect(page.events.find(({ type }) => type === 'turn')).toMatchObject({ state: 'began', model: 'agent' });
    process.kill(await holderOf(), 'SIGKILL');
    const end = await until(() => page.events.find(({ state }) => state === 'ended'));
    expect(end).toMatchObject({
      end: 'broken',
      error: { message: expect.stringMatching(/The node \S+\/\d, /) },
    });
    held.gate.open();
    await until(() => page.events.some(({ session }) => session?.running === false && session.interrupted));
    // The one in its place: it ends with the others only when it has begun.
    await until(() => logOf(gateway).filter(({ msg }) => msg === 'listening').length === 3);
  });

  it('go on with each others sessions: a tool result, and a question that is decided', async () => {
    const { one, other, model, work } = await startTwo({ permissions: { mode: 'ask', unattended: 'wait' } });
    model.play('Look.', [
      says('', lookup('look_1')),
      says('', bash('bash_1', 'echo ran >> ran.txt')),
      words(FINAL),
    ]);
    const handed = await one.ask('POST', '/v1/messages', turn([user('Look.')]));
    expect(handed.text).toContain('look_1');
    const id = /"id":"([^"]*look_1[^"]*)"/.exec(handed.text)?.[1] ?? '';
    const call = { type: 'tool_use', id, name: 'lookup', input: { word: 'look_1' } };
    const result = { type: 'tool_result', tool_use_id: id, content: 'found' };
    const history = [
      user('Look.'),
      { role: 'assistant', content: [call] },
      { role: 'user', content: [result] },
    ];
    const answer = other.ask('POST', '/v1/messages', turn(history));
    const waiting = await until(async () => {
      const { data } = JSON.parse((await one.ask('GET', '/api/approvals?state=pending')).text);
      return data[0];
    });
    const decision = { decision: 'allow', digest: waiting.digest };
    expect((await one.ask('POST', `/api/approvals/${waiting.id}`, decision)).status).toBe(200);
    expect(textIn((await answer).text)).toBe(FINAL);
    expect(await readFile(join(work, 'ran.txt'), 'utf8')).toBe('ran\n');
  });

  it('one that is killed is started again, and the retry of its client is answered by the other', async () => {
    const { gateway, one, model } = await startTwo();
    const held = new HeldStep(words(FINAL), 'half');
    model.play('Killed.', [held.steps]);
    const broken = await one.begin('POST', '/v1/messages', turn([user('Killed.')]));
    await held.gate.reached;
    const killed = await holderOf();
    expect(workersOf(gateway).map(({ pid }) => pid)).toContain(killed);
    process.kill(killed, 'SIGKILL');
    await expect(text(broken)).rejects.toThrow();
    held.gate.open();
    const again = new Connection(gateway.url);
    const answer = await again.ask('POST', '/v1/messages', turn([user('Killed.')]));
    expect(textIn(answer.text)).toBe(FINAL);
    await until(() => logOf(gateway).some(({ msg }) => msg === 'a worker listens again'));
    const now = workersOf(gateway).map(({ pid }) => pid);
    expect(now).toHaveLength(2);
    expect(now).not.toContain(killed);
    gateway.signal('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });

  it('answer for what MCP clients hold at the other, and say so where that one was killed', async () => {
    const { gateway, one, other } = await startTwo({ permissions: { mode: 'ask' } });
    await one.ask('GET', '/api/approvals?state=pending');
    const taskId = resultIn(
      await speakMcp(one, 'tools/call', { name: 'Bash', arguments: { command: 'ls' } }),
    )['taskId'];
    const there = await speakMcp(other, 'tasks/get', { taskId });
    expect(resultIn(there)).toMatchObject({ taskId, status: 'working' });
    const holder = String(there.headers['x-toolgate-node']);
    const opened = await speakOldMcp(one, undefined, 'initialize', {
      ...{ protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'old', version: '1' } },
    });
    const session = String(opened.headers['mcp-session-id']);
    const listed = await speakOldMcp(other, session, 'tools/list', {});
    expect(listed.headers['x-toolgate-node']).toBe(holder);
    expect(listed.text).toContain('"Bash"');
    const [node] = await server.query(`SELECT instance FROM nodes WHERE name = '${holder}'`, database);
    process.kill(Number(String(node?.['instance']).split('/')[1]), 'SIGKILL');
    await until(() => logOf(gateway).some(({ msg }) => msg === 'a worker listens again'));
    const lost = await speakMcp(other, 'tasks/get', { taskId });
    expect(lost.text).toContain('the gateway that ran it was stopped');
    expect((await speakOldMcp(other, session, 'tools/list', {})).status).toBe(404);
  });

  it('SIGHUP loads the file again in both', async () => {
    const { gateway, one, other, config } = await startTwo();
    const models = { ...config.models, fresh: { upstream: 'scripted', model: 'm' } };
    await writeFile(join(gateway.folder, 'toolgate.yaml'), JSON.stringify({ ...config, models }));
    gateway.signal('SIGHUP');
    for (const each of [one, other]) {
      await until(async () => (await each.ask('GET', '/v1/models')).text.includes('"fresh"'));
    }
    expect(gateway.running).toBe(true);
  });

  it('one that is started again has what was loaded last, also where the file is wrong by then', async () => {
    const { gateway, config } = await startTwo();
    const file = join(gateway.folder, 'toolgate.yaml');
    const keys = [...config.server.keys, { name: 'late', key: 'late-key', scopes: ['call'] }];
    const lateIsKnown = async (): Promise<boolean> => {
      const headers = { authorization: 'Bearer late-key' };
      const answers = await Promise.all([1, 2].map(() => fetch(`${gateway.url}/v1/models`, { headers })));
      return answers.every(({ status }) => status === 200);
    };
    await writeFile(file, JSON.stringify({ ...config, server: { ...config.server, keys } }));
    gateway.signal('SIGHUP');
    const reloads = () => logOf(gateway).filter(({ msg }) => msg === 'the configuration was reloaded').length;
    await until(() => reloads() === 2);
    await writeFile(file, 'server: [\n');
    for (const { pid } of workersOf(gateway)) process.kill(pid, 'SIGKILL');
    await until(() => logOf(gateway).filter(({ msg }) => msg === 'a worker listens again').length === 2);
    expect(await lateIsKnown()).toBe(true);
    expect((await new Connection(gateway.url).ask('GET', '/v1/models')).status).toBe(200);
  });

  it('end when the primary is killed', async () => {
    const { gateway } = await startTwo();
    const workers = workersOf(gateway);
    expect(workers).toHaveLength(2);
    await gateway.kill();
    await allGone(workers);
  });

  it('are ended at once by a second signal', async () => {
    const { gateway, one, model } = await startTwo({ drain: 600 });
    const workers = workersOf(gateway);
    const held = new HeldStep(words(FINAL), 'half');
    model.play('Long.', [held.steps]);
    const broken = await one.begin('POST', '/v1/messages', turn([user('Long.')]));
    await held.gate.reached;
    gateway.signal('SIGTERM');
    await until(() =>
      logOf(gateway).some(({ msg, worker }) => msg.startsWith('draining') && worker === undefined),
    );
    gateway.signal('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 143, signal: null });
    await allGone(workers);
    await expect(text(broken)).rejects.toThrow();
    held.gate.open();
  });

  it('start again at once where all of them were killed', async () => {
    const { gateway, config } = await startTwo();
    const workers = workersOf(gateway);
    for (const { pid } of workers) process.kill(pid, 'SIGKILL');
    await gateway.kill();
    await allGone(workers);
    const again = await started(config);
    expect((await new Connection(again.url).ask('GET', '/readyz')).status).toBe(200);
  });
});

describe('the address of one worker alone', () => {
  it('answers nobody but other workers', async () => {
    const { gateway } = await startTwo();
    const nodes = await server.query('SELECT name, address FROM nodes ORDER BY name', database);
    expect(nodes.map(({ name }) => String(name).split('/')[1])).toEqual(['1', '2']);
    for (const { address } of nodes) {
      expect(address).not.toBe(gateway.url);
      for (const path of ['/', '/v1/models', '/api/status', '/metrics']) {
        const answer = await new Connection(String(address)).ask('GET', path);
        expect(answer.status, path).toBe(403);
        expect(answer.text).toContain(gateway.url);
      }
    }
  });
});

describe('workers that cannot be', () => {
  const run = async (config: object, ...args: string[]) => {
    const command = await runCommand({
      config,
      args: ['start', '--config', 'toolgate.yaml', '--log-level', 'silent', ...args],
    });
    const { code } = await command.exited;
    return { code, stdout: command.stdout, stderr: command.stderr };
  };

  it('SQLite is refused with what to do', async () => {
    const { code, stdout, stderr } = await run({ server: { port: 0 } }, '--workers', '2');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('set `store: postgres://…`, or start without --workers');
  });

  it.each(['0', '-1', '1.5', 'many', '65'])('--workers %s is wrong usage', async (given) => {
    const { code, stderr } = await run({ server: { port: 0 } }, `--workers=${given}`);
    expect(code).toBe(2);
    expect(stderr).toContain(`--workers takes a number from 1 to 64, not \`${given}\`.`);
  });

  it('a port in use is said once, and none is left', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    closeAfterTest(() => taken.close());
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const { code, stderr } = await run({ server: { port }, store }, '--workers', '2');
    expect(code).toBe(1);
    expect(stderr.match(new RegExp(`Port ${port} on 127.0.0.1 is in use`, 'g'))).toHaveLength(1);
  });

  it('what a worker cannot open is said once, and none is left', async () => {
    const wrong = server.url(database, 'toolgate', 'not-the-password');
    const { code, stderr } = await run({ server: { port: 0 }, store: wrong }, '--workers', '2');
    expect(code).toBe(1);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).not.toContain('not-the-password');
  });
});
