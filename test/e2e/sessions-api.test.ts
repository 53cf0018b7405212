/** `/api/sessions`: conversations with agents, for the people who had them. */
import { access, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/core/errors.js';
import { EventReader } from '../support/event-reader.js';
import { startGatewayProcess, type TestGateway } from '../support/gateway.js';
import { gone } from '../support/mcp-servers.js';
import { inDialect } from '../support/scripted-answers.js';
import { startUpstream } from '../support/scripted-upstream.js';
import { anthropicClient } from '../support/sdk.js';
import { until } from '../support/until.js';
import { call, callsAnswer, textAnswer } from '../support/wire.js';
import { repository, startAgent } from './native-agent-harness.js';
import { startServer } from './server-harness.js';

const KEYS = [
  { key: 'secret-of-alice', name: 'alice', scopes: ['call'] },
  { key: 'secret-of-bob', name: 'bob', scopes: ['call'] },
  { key: 'secret-of-root', name: 'root', scopes: ['call', 'admin'] },
];
const SERVER = { rest: { server: { keys: KEYS } } };

const LOOKUP = {
  name: 'lookup',
  description: 'Looks a city up',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
};

const ask = (content: string) => ({
  model: 'coder',
  max_tokens: 1000,
  messages: [{ role: 'user' as const, content }],
});

const as = (gateway: TestGateway, who: string) =>
  anthropicClient(gateway.url, { apiKey: `secret-of-${who}` });

interface Told {
  status: number;
  body: Record<string, unknown>;
}

async function api(
  { url }: Pick<TestGateway, 'url'>,
  who: string,
  path: string,
  method = 'GET',
  sent?: object,
): Promise<Told> {
  const headers = { authorization: `Bearer secret-of-${who}`, 'content-type': 'application/json' };
  const body = sent && JSON.stringify(sent);
  const response = await fetch(`${url}/api/sessions${path}`, { method, headers, ...(body && { body }) });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
}

const idsIn = ({ body }: Told): string[] => {
  const { data } = body;
  return Array.isArray(data) ? data.map(({ id }: { id: string }) => id) : [];
};

/** One turn, and the session that it made. */
async function converse(gateway: TestGateway, who: string, content: string): Promise<string> {
  const { response } = await as(gateway, who).messages.create(ask(content)).withResponse();
  return response.headers.get('x-session-id') ?? '';
}

describe('the list', () => {
  it('has the newest first, page by page, each key its own', async () => {
    const repo = await repository({ a: 'a' });
    const answers = ['one', 'two', 'three', 'four'].map((text) => textAnswer(text));
    const { gateway } = await startAgent('openai-chat', repo.root, answers, SERVER);
    const mine: string[] = [];
    for (const text of ['first', 'second', 'third']) mine.push(await converse(gateway, 'alice', text));
    const other = await converse(gateway, 'bob', 'fourth');
    expect(new Set([...mine, other]).size).toBe(4);
    const whole = await api(gateway, 'alice', '');
    expect(whole.status).toBe(200);
    expect(idsIn(whole)).toEqual(mine.toReversed());
    expect(whole.body['next']).toBeNull();
    const page = await api(gateway, 'alice', '?limit=2');
    expect(idsIn(page)).toEqual(mine.toReversed().slice(0, 2));
    expect(page.body['total']).toBe(3);
    const rest = await api(
      gateway,
      'alice',
      `?limit=2&cursor=${encodeURIComponent(String(page.body['next']))}`,
    );
    expect(idsIn(rest)).toEqual([mine[0]]);
    expect(idsIn(await api(gateway, 'root', ''))).toEqual([other, ...mine.toReversed()]);
    expect(idsIn(await api(gateway, 'root', '?key=bob'))).toEqual([other]);
    expect(idsIn(await api(gateway, 'alice', '?key=bob'))).toEqual(mine.toReversed());
    expect((await api(gateway, 'alice', '?key=bob')).body['total']).toBe(3);
    expect((await api(gateway, 'root', '')).body['total']).toBe(4);
    expect((await api(gateway, 'root', '?search=first')).body['total']).toBeNull();
  });

  it('is searched, and filtered by state', async () => {
    const repo = await repository({ a: 'a' });
    const { gateway } = await startAgent(
      'openai-chat',
      repo.root,
      [textAnswer('one'), callsAnswer(call('lookup', { city: 'Bern' }, 'c1'))],
      SERVER,
    );
    const done = await converse(gateway, 'alice', 'paint the fence');
    const { response } = await as(gateway, 'alice')
      .messages.create({ ...ask('where is it'), tools: [LOOKUP] })
      .withResponse();
    const parked = response.headers.get('x-session-id');
    expect(idsIn(await api(gateway, 'alice', '?search=fence'))).toEqual([done]);
    expect(idsIn(await api(gateway, 'alice', '?state=parked'))).toEqual([parked]);
    const wrong = await api(gateway, 'alice', '?state=asleep');
    expect(wrong).toMatchObject({ status: 400, body: { error: { param: 'state' } } });
  });
});

describe('one session', () => {
  it('is shown as the model has it, with what waits and what it took', async () => {
    const repo = await repository({ 'notes.txt': 'the answer is 42' });
    const { gateway } = await startAgent(
      'openai-chat',
      repo.root,
      [
        {
          ...callsAnswer(call('Read', { file_path: repo.path('notes.txt') }, 'c1')),
          usage: { input: 10, output: 1 },
        },
        { ...callsAnswer(call('lookup', { city: 'Bern' }, 'c2')), usage: { input: 20, output: 2 } },
      ],
      { ...SERVER, model: { price: { input: 1, output: 10 } } },
    );
    const { response } = await as(gateway, 'alice')
      .messages.create({ ...ask('what is it'), tools: [LOOKUP] })
      .withResponse();
    const id = response.headers.get('x-session-id');
    const { status, body } = await api(gateway, 'alice', `/${id}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id,
      key: 'alice',
      model: 'coder',
      engine: 'native',
      state: 'parked',
      parent: null,
      open_calls: [{ name: 'lookup', input: { city: 'Bern' } }],
      pending_approvals: 0,
      usage: { requests: 1, errors: 0, input_tokens: 30, output_tokens: 3, cost_usd: 0.00006 },
    });
    const { messages } = body;
    expect(messages).toMatchObject([
      { role: 'user', content: [{ type: 'text', text: 'what is it' }] },
      { role: 'assistant', content: [{ type: 'tool_use', name: 'Read' }] },
      { role: 'user', content: [{ type: 'tool_result', is_error: false }] },
      { role: 'assistant', content: [{ type: 'tool_use', name: 'lookup' }] },
    ]);
    expect(JSON.stringify(messages)).toContain('the answer is 42');
    expect(String(body['expires_at'])).toMatch(/^\d{4}-.*Z$/);
  });

  it.each(['GET', 'DELETE', 'fork'])(
    'of another key is unknown to %s, and one that is none as well',
    async (what) => {
      const repo = await repository({ a: 'a' });
      const { gateway } = await startAgent('openai-chat', repo.root, [textAnswer('one')], SERVER);
      const id = await converse(gateway, 'alice', 'hi');
      const method = what === 'fork' ? 'POST' : what;
      const path = (session: string) => (what === 'fork' ? `/${session}/fork` : `/${session}`);
      for (const [who, session] of [
        ['bob', id],
        ['alice', 'ses_nothing'],
      ] as const) {
        const told = await api(gateway, who, path(session), method);
        expect(told).toMatchObject({ status: 404, body: { error: { type: 'not_found', param: 'id' } } });
      }
      expect((await api(gateway, 'root', path(id), method)).status).toBeLessThan(300);
    },
  );

  it('that has expired is unknown', async () => {
    const session = {
      id: 's_1',
      principal: 'local',
      model: 'm',
      engine: 'native',
      state: 'expired',
      createdAt: 0,
      updatedAt: 0,
      expiresAt: 1,
      metadata: {},
    } as const;
    const { url, token } = await startServer({
      sessions: {
        list: async () => ({ items: [session] }),
        count: async () => 0,
        get: async () => session,
        read: async () => ({ session, messages: [], readable: [], open: [], records: [] }),
        fork: async () => session,
        label: async () => session,
        delete: async () => true,
        running: async () => [],
        standing: () => undefined,
        stop: async () => false,
        elsewhere: async () => undefined,
        delivered: () => {},
      },
    });
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${url}/api/sessions/s_1`, { headers })).status).toBe(404);
    expect((await fetch(`${url}/api/sessions/s_1`, { headers, method: 'DELETE' })).status).toBe(404);
    expect((await fetch(`${url}/api/sessions?state=expired`, { headers })).status).toBe(200);
  });
});

describe('a session that is deleted', () => {
  it('takes its running turn and the command of it along, and is unknown from then on', async () => {
    const repo = await repository({ a: 'a' });
    const { gateway } = await startAgent(
      'openai-chat',
      repo.root,
      [
        {
          parts: [
            { type: 'text', text: 'Running.' },
            call('Bash', { command: 'echo $$ > pid; sleep 300; touch made', description: 'x' }, 'c1'),
          ],
        },
      ],
      SERVER,
    );
    const stream = as(gateway, 'alice').messages.stream(ask('run it'));
    const ended = expect(stream.finalMessage()).rejects.toThrow();
    const { response } = await stream.withResponse();
    const id = response.headers.get('x-session-id') ?? '';
    const pid = await pidIn(repo.path('pid'));
    expect((await api(gateway, 'alice', `/${id}`, 'DELETE')).status).toBe(204);
    await ended;
    await gone(pid);
    await expect(access(repo.path('made'))).rejects.toThrow();
    expect((await api(gateway, 'alice', `/${id}`)).status).toBe(404);
    expect(idsIn(await api(gateway, 'alice', ''))).toEqual([]);
    const again = as(gateway, 'alice').messages.create(ask('more'), { headers: { 'x-session-id': id } });
    await expect(again).rejects.toMatchObject({ status: 404 });
  });
});

describe('what people make of a session', () => {
  const start = async () => {
    const { root } = await repository({ a: 'a' });
    return startAgent('openai-chat', root, [textAnswer('One.'), textAnswer('Two.')], SERVER);
  };

  it('is its title, a pin and a place in the archive, which other readers hear of', async () => {
    const { gateway } = await start();
    const first = await converse(gateway, 'alice', 'first things');
    const second = await converse(gateway, 'alice', 'second things');
    const reader = await EventReader.open(gateway.url, { key: 'secret-of-alice' });
    const change = (labels: object) => api(gateway, 'alice', `/${first}`, 'PATCH', labels);
    const title = '  The\tfence\u202e \u0007of\n🌳\ud800 ';
    expect(await change({ title, pinned: true })).toMatchObject({
      status: 200,
      body: { id: first, title: 'The fence of 🌳\ufffd', pinned: true, archived: false },
    });
    await reader.until(
      (event) => event.type === 'session' && event.what === 'changed' && event.session.pinned,
    );
    expect(idsIn(await api(gateway, 'alice', '?pinned=true'))).toEqual([first]);
    // A label is no use of the session.
    expect(idsIn(await api(gateway, 'alice', ''))).toEqual([second, first]);
    expect((await change({ archived: true })).body).toMatchObject({ pinned: true, archived: true });
    expect(idsIn(await api(gateway, 'alice', ''))).toEqual([second]);
    expect(idsIn(await api(gateway, 'alice', '?status=idle'))).toEqual([second]);
    expect(idsIn(await api(gateway, 'alice', '?search=fence'))).toEqual([]);
    expect(idsIn(await api(gateway, 'alice', '?archived=only'))).toEqual([first]);
    expect(idsIn(await api(gateway, 'alice', '?archived=include&search=fence'))).toEqual([first]);
    expect((await api(gateway, 'alice', `/${first}`)).body).toMatchObject({ total: 2 });
    expect((await change({ archived: false, pinned: false, title: ' ' })).body).toMatchObject({
      title: 'first things',
      pinned: false,
      archived: false,
    });
  });

  it('is for its key and for administrators, and has its bounds', async () => {
    const { gateway } = await start();
    const id = await converse(gateway, 'alice', 'of alice');
    const change = (who: string, labels: object) => api(gateway, who, `/${id}`, 'PATCH', labels);
    expect(await change('bob', { title: 'mine' })).toMatchObject({
      status: 404,
      body: { error: { code: 'session_not_found' } },
    });
    expect(await change('root', { title: 'x'.repeat(120) })).toMatchObject({ status: 200 });
    for (const [labels, message] of [
      [{ title: 'x'.repeat(121) }, 'title: at most 120 characters'],
      [{ title: 7 }, 'title'],
      [{ pinned: 'yes' }, 'pinned'],
      [{}, 'expected title, pinned, archived or mode'],
    ] as const) {
      expect(await change('alice', labels), message).toMatchObject({
        status: 400,
        body: { error: { message: expect.stringContaining(message) } },
      });
    }
    expect((await api(gateway, 'alice', `/${id}`)).body).toMatchObject({ title: 'x'.repeat(120) });
    expect((await api(gateway, 'alice', '?archived=maybe')).status).toBe(400);
  });
});

describe('a fork', () => {
  it('goes on by its own id, apart from what it was made of, also after a restart', async () => {
    const repo = await repository({ a: 'a' });
    const upstream = await startUpstream(
      ['The word is kiwi.', 'Forked.', 'Original.'].map((text) => inDialect(textAnswer(text))),
    );
    const config = {
      server: { keys: KEYS },
      upstreams: { scripted: upstream.config('openai-chat') },
      models: { coder: { engine: 'native', upstream: 'scripted', model: 'm', cwd: repo.root } },
      sandbox: 'off',
    };
    const before = await startGatewayProcess({ config });
    const id = await converse(before, 'alice', 'say a word');
    const forked = await api(before, 'alice', `/${id}/fork`, 'POST');
    expect(forked).toMatchObject({ status: 201, body: { parent: id, key: 'alice', model: 'coder' } });
    const fork = String(forked.body['id']);
    expect(fork).not.toBe(id);
    await before.kill();
    const after = await startGatewayProcess({ config, folder: before.folder });
    const go = (session: string) =>
      as(after, 'alice')
        .messages.create(ask('go on'), { headers: { 'x-session-id': session } })
        .withResponse();
    const { response } = await go(fork);
    expect(response.headers.get('x-session-id')).toBe(fork);
    expect(response.headers.get('x-toolgate-attach')).toBe('continue');
    expect(upstream.requests[1]?.text).toContain('The word is kiwi.');
    await go(id);
    expect(upstream.requests[2]?.text).toContain('The word is kiwi.');
    expect(upstream.requests[2]?.text).not.toContain('Forked.');
    expect(idsIn(await api(after, 'alice', ''))).toEqual([id, fork]);
  });

  it('that is refused is refused in the shape of the API', async () => {
    const session = {
      id: 's_1',
      principal: 'local',
      model: 'm',
      engine: 'native',
      state: 'live',
      createdAt: 0,
      updatedAt: 0,
      expiresAt: 1,
      metadata: {},
    } as const;
    const { url, token } = await startServer({
      sessions: {
        list: async () => ({ items: [] }),
        count: async () => 0,
        get: async () => session,
        read: async () => undefined,
        fork: () => Promise.reject(new GatewayError('conflict', 'Busy.')),
        label: async () => undefined,
        delete: async () => false,
        running: async () => [],
        standing: () => undefined,
        stop: async () => false,
        elsewhere: async () => undefined,
        delivered: () => {},
      },
    });
    const headers = { authorization: `Bearer ${token}` };
    const refused = await fetch(`${url}/api/sessions/s_1/fork`, { headers, method: 'POST' });
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({ error: { type: 'conflict', message: 'Busy.' } });
  });
});

async function pidIn(path: string): Promise<number> {
  return until(async () => {
    const text = await readFile(path, 'utf8').catch(() => '');
    return text.endsWith('\n') && Number(text);
  });
}
