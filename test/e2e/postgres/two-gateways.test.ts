/** Two gateways on one PostgreSQL: what is asked, decided, made or ended at one holds at the other. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConsoleEvent } from '../../../src/server/console-api/wire/events.js';
import type { KeyWire, NewKeyWire } from '../../../src/server/console-api/wire/keys.js';
import { type EventOf, EventReader } from '../../support/event-reader.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { cutListeners, muteNotifications, startPostgres, type TestPostgres } from '../../support/postgres.js';
import { until } from '../../support/until.js';
import type { JsonRecord } from '../../support/violation.js';
import { answerOf, sendStateless, stateless } from '../mcp-virtual-harness.js';

let server: TestPostgres;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.close());

const ROOT = 'key-of-root';
const ALICE = 'key-of-alice';
const BOB = 'key-of-bob';

const configOf = (store: string, more: object = {}) => ({
  store,
  server: {
    keys: [
      { key: ROOT, name: 'root', scopes: ['call', 'approve', 'admin'] },
      { key: ALICE, name: 'alice', scopes: ['call', 'approve'] },
      { key: BOB, name: 'bob', scopes: ['call', 'approve'] },
    ],
  },
  models: { agent: { engine: 'native', upstream: 'demo', tools: 'none' } },
  permissions: { mode: 'ask' },
  sandbox: 'off',
  ...more,
});

interface Nodes {
  a: TestGateway;
  b: TestGateway;
  database: string;
  store: string;
}

async function start(database?: string): Promise<Nodes> {
  const name = database ?? (await server.create());
  const store = server.url(name);
  const a = await startTestGateway({ config: configOf(store) });
  const b = await startTestGateway({ config: configOf(store) });
  return { a, b, database: name, store };
}

async function api<T = JsonRecord>(
  { url }: Pick<TestGateway, 'url'>,
  method: string,
  path: string,
  { key = ROOT, body }: { key?: string; body?: object } = {},
): Promise<{ status: number; json: T }> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: JSON.parse((await response.text()) || '{}') };
}

/** A call that waits until a person has decided. */
async function ask(gateway: TestGateway, command: string): Promise<JsonRecord> {
  const call = { name: 'approval_prompt', arguments: { tool_name: 'Bash', input: { command } } };
  return answerOf(
    await sendStateless(gateway, stateless('tools/call', call), { path: '/mcp/auth', key: ALICE }),
  );
}

/** A person is at this gateway, and the other knows. */
async function look({ url }: TestGateway, key: string, database: string): Promise<EventReader> {
  const reader = await EventReader.open(url, { key });
  const name = key === ROOT ? '' : key.slice('key-of-'.length);
  await until(
    async () =>
      (await server.query(`SELECT 1 FROM presence WHERE principal = '${name}'`, database)).length > 0,
  );
  return reader;
}

type ApprovalEvent = EventOf<'approval'>;
const about =
  (command: string, what: ApprovalEvent['what']) =>
  (event: ConsoleEvent): event is ApprovalEvent =>
    event.type === 'approval' &&
    event.what === what &&
    JSON.stringify(event.approval.input).includes(command);

const allow = (gateway: TestGateway, { approval }: ApprovalEvent, key: string, more: object = {}) =>
  api(gateway, 'POST', `/api/approvals/${approval.id}`, {
    key,
    body: { decision: 'allow', digest: approval.digest, ...more },
  });

describe('an approval that is asked at one gateway', () => {
  it.each<[string, (database: string) => Promise<void>]>([
    ['as it is', async () => {}],
    ['where listeners have been cut off', (database) => cutListeners(server, database)],
    ['where notifications never come', async () => {}],
  ])('is seen, decided and over at the other: %s', async (how, disturb) => {
    const isMute = how === 'where notifications never come';
    const database = await server.create();
    if (isMute) await muteNotifications(server, database);
    const { a, b } = await start(database);
    const [alice, bob, root] = [
      await look(b, ALICE, database),
      await look(b, BOB, database),
      await EventReader.open(b.url, { key: ROOT }),
    ];
    await disturb(database);
    // Nobody is at A: without knowing of those at B it would refuse the call at once.
    const answer = ask(a, 'make it');
    const asked = await alice.until(about('make it', 'requested'));
    await root.until(about('make it', 'requested'));
    expect((await allow(b, asked, BOB)).status).toBe(404);
    expect((await allow(b, asked, ALICE)).status).toBe(200);
    expect(JSON.stringify(await answer)).toContain('allow');
    await alice.until(about('make it', 'resolved'));
    await root.until(about('make it', 'resolved'));
    // Of a second key: asked at the same gateway, and read at the same one.
    expect(bob.of('approval')).toEqual([]);
    expect(alice.of('approval').map(({ what }) => what)).toEqual(['requested', 'resolved']);
    expect([...alice.gaps, ...bob.gaps, ...root.gaps]).toEqual([]);
  });

  it('is decided by a rule that is made at the other, which both show', async () => {
    const { a, b, database } = await start();
    const [atA, atB] = [await look(a, ROOT, database), await look(b, ROOT, database)];
    const answer = ask(a, 'git log');
    await atB.until(about('git log', 'requested'));
    const rule = { rule: 'Bash(git log:*)', behaviour: 'allow', scope: 'everywhere' };
    expect((await api(b, 'POST', '/api/rules', { body: rule })).status).toBe(201);
    expect(JSON.stringify(await answer)).toContain('allow');
    const isRule = (event: ConsoleEvent): event is EventOf<'rule'> => event.type === 'rule';
    const { rule: made } = await atA.until(isRule);
    expect((await api(a, 'DELETE', `/api/rules/${made.id}`)).status).toBeLessThan(300);
    const isRevoked = (event: ConsoleEvent): boolean => isRule(event) && event.what === 'revoked';
    await Promise.all([atA.until(isRevoked), atB.until(isRevoked)]);
    expect([atA.of('rule').length, atB.of('rule').length]).toEqual([2, 2]);
  });

  it('is refused at once where nobody is at either', async () => {
    const { a } = await start();
    expect(JSON.stringify(await ask(a, 'make'))).toContain('deny');
  });
});

describe('what one gateway is told', () => {
  it('ends a revoked key at the other, with the stream that it reads', async () => {
    const { a, b } = await start();
    const body = { name: 'carol', scopes: ['call', 'approve'], models: ['*'] };
    const { json: made } = await api<NewKeyWire>(a, 'POST', '/api/keys', { body });
    const stream = await EventReader.open(b.url, { key: made.secret });
    expect(stream.status).toBe(200);
    const { json: listed } = await api<{ data: KeyWire[] }>(b, 'GET', '/api/keys');
    const id = listed.data.find(({ name }) => name === 'carol')?.id;
    expect((await api(a, 'DELETE', `/api/keys/${id}`)).status).toBe(200);
    await stream.ended;
    expect((await api(b, 'GET', '/api/sessions', { key: made.secret })).status).toBe(401);
  });

  it('shows its sessions at the other, to their own key alone', async () => {
    const { a, b, database } = await start();
    const [alice, bob] = [await look(b, ALICE, database), await look(b, BOB, database)];
    const said = { model: 'agent', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] };
    const answer = await fetch(`${a.url}/v1/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ALICE}`, 'content-type': 'application/json' },
      body: JSON.stringify(said),
    });
    await answer.text();
    const id = answer.headers.get('x-session-id');
    const its = (event: ConsoleEvent): event is EventOf<'session'> =>
      event.type === 'session' && event.session.id === id;
    expect((await alice.until(its)).what).toBe('created');
    await alice.until((event) => its(event) && event.what === 'changed' && !event.session.running);
    // The other gateway labels it, and both say so.
    const labels = { key: ALICE, body: { title: 'Named' } };
    const told = await look(a, ALICE, database);
    expect((await api(b, 'PATCH', `/api/sessions/${id}`, labels)).status).toBe(200);
    const isNamed = (event: ConsoleEvent): boolean =>
      event.type === 'session' && 'title' in event.session && event.session.title === 'Named';
    for (const reader of [told, alice]) await reader.until((event) => its(event) && isNamed(event));
    expect((await api(a, 'PATCH', `/api/sessions/${id}`, { ...labels, key: BOB })).status).toBe(404);
    expect((await api(a, 'DELETE', `/api/sessions/${id}`, { key: ALICE })).status).toBeLessThan(300);
    await alice.until((event) => its(event) && event.what === 'deleted');
    expect(bob.of('session')).toEqual([]);
    expect(alice.of('session').filter(({ what }) => what === 'created')).toHaveLength(1);
  });

  it('is loaded from its file by the other as well', async () => {
    const { a, b, store } = await start();
    const models = {
      agent: { engine: 'native', upstream: 'demo', tools: 'none' },
      second: { upstream: 'demo' },
    };
    await writeFile(join(b.folder, 'toolgate.yaml'), JSON.stringify(configOf(store, { models })));
    expect((await api(a, 'POST', '/api/reload')).status).toBe(200);
    await until(async () => {
      const { json } = await api<{ data: { id: string }[] }>(b, 'GET', '/v1/models');
      return json.data.some(({ id }) => id === 'second');
    });
  });
});
