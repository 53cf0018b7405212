/** Trying rules, and what the pages of the console ask besides, on a whole gateway. */
import { describe, expect, it } from 'vitest';
import { replay } from '../../src/cli/trace/replay.js';
import { parseTraceFile } from '../../src/cli/trace/trace-file.js';
import type { RulePreview, RuleTest } from '../../src/server/console-api/wire/approvals.js';
import type { StatusWire } from '../../src/server/console-api/wire/status.js';
import type { UsageWire } from '../../src/server/console-api/wire/usage.js';
import { startTestGateway } from '../support/gateway.js';
import { atNoon } from '../support/noon.js';
import { recordUsage } from '../support/usage-rows.js';
import { call } from '../support/wire.js';
import { type Repository, repository, startAgent } from './native-agent-harness.js';

const KEYS = [
  { key: 'k-alice', name: 'alice', scopes: ['call', 'approve'] },
  { key: 'k-bob', name: 'bob', team: 'web', scopes: ['call', 'approve'] },
  { key: 'k-root', name: 'root', scopes: ['call', 'approve', 'admin'] },
];

interface Refusal {
  error: { message: string; param: string | null };
}

interface Api {
  repo: Repository;
  url: string;
  /** As alice, unless another key is named. */
  get<T>(path: string, key?: string): Promise<T>;
  post<T>(path: string, body: object, key?: string): Promise<{ status: number; body: T }>;
  /** A turn of the agent, to its end. */
  say(text: string, key?: string): Promise<string>;
}

async function start(
  steps: Parameters<typeof startAgent>[2],
  permissions: object = { mode: 'allow' },
): Promise<Api> {
  const repo = await repository({ 'a.txt': 'alpha\n', 'src/b.ts': 'b\n' });
  const { gateway } = await startAgent('openai-chat', repo.root, steps, {
    rest: { server: { keys: KEYS }, permissions, traces: { bodies: true } },
  });
  const { url } = gateway;
  const send = (method: string, path: string, body: object | undefined, key: string): Promise<Response> =>
    fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    repo,
    url,
    get: async (path, key = 'k-alice') => JSON.parse(await (await send('GET', path, undefined, key)).text()),
    async post(path, body, key = 'k-alice') {
      const answer = await send('POST', path, body, key);
      return { status: answer.status, body: JSON.parse(await answer.text()) };
    },
    async say(text, key = 'k-alice') {
      const body = { model: 'coder', max_tokens: 100, messages: [{ role: 'user', content: text }] };
      const answer = await send('POST', '/v1/messages', body, key);
      expect(answer.status).toBe(200);
      return answer.headers.get('x-session-id') ?? '';
    },
  };
}

const bash = (command: string, id: string) => call('Bash', { command, description: 'x' }, id);
const done = { parts: [{ type: 'text' as const, text: 'Done.' }] };

describe('POST /api/rules/preview', () => {
  it('shows what a rule would have decided of the calls that were made', async () => {
    const api = await start([
      { parts: [bash('cat a.txt', 'c1'), bash('wc -l a.txt > n.txt', 'c2')] },
      { parts: [call('Read', { file_path: 'a.txt' }, 'c3')] },
      done,
    ]);
    const session = await api.say('Go');
    const preview = async (body: object, key?: string): Promise<RulePreview> =>
      (await api.post<RulePreview>('/api/rules/preview', { scope: 'everywhere', ...body }, key)).body;
    expect(await preview({ rule: 'Bash(cat:*)' })).toMatchObject({
      covers: 'every plain command that begins with `cat`',
      looked_at: 3,
      matched: 1,
      calls: [{ session, tool: 'Bash', what: expect.stringContaining('cat a.txt'), verdict: 'allowed' }],
      satisfies: null,
    });
    expect(await preview({ rule: 'Bash(wc:*)' })).toMatchObject({ matched: 0 });
    expect(await preview({ rule: 'Read(./a.txt)', behaviour: 'deny' })).toMatchObject({ matched: 3 });
    expect(await preview({ rule: 'Read', scope: 'session', session })).toMatchObject({ matched: 1 });
    const project = { scope: 'project', project: api.repo.root };
    expect(await preview({ rule: 'Read', ...project })).toMatchObject({ matched: 1 });
    // Another key's calls are nobody else's business, but an administrator's.
    expect(await preview({ rule: '*' }, 'k-bob')).toMatchObject({ looked_at: 0, matched: 0, since: null });
    expect(await preview({ rule: '*' }, 'k-root')).toMatchObject({ looked_at: 3 });
  });

  it('says of a question whether the rule decides it, and refuses what it cannot read', async () => {
    const api = await start([{ parts: [bash('wc -l a.txt > n.txt', 'c1')] }, done], {
      mode: 'ask',
      unattended: 'wait',
    });
    const turn = api.say('Go');
    const approval = await waitingOf(api);
    const preview = (rule: string, more: object = {}, key?: string) =>
      api.post<RulePreview & Refusal>(
        '/api/rules/preview',
        { rule, scope: 'session', approval: approval.id, ...more },
        key,
      );
    expect((await preview('Bash(wc:*)')).body).toMatchObject({
      satisfies: false,
      satisfies_problem: expect.stringContaining('redirects'),
    });
    expect((await preview('Bash(wc -l a.txt > n.txt)')).body).toMatchObject({
      satisfies: true,
      satisfies_problem: null,
      matched: 1,
      calls: [{ verdict: 'pending' }],
    });
    expect((await preview('Bash(')).body.error).toMatchObject({
      param: 'rule',
      message: expect.stringContaining('expected'),
    });
    expect((await preview('Bash', { scope: 'x' })).status).toBe(400);
    expect((await preview('Bash', {}, 'k-bob')).status).toBe(404);
    expect((await preview('Bash', { approval: null, session: 'none' })).status).toBe(404);
    const answer = { decision: 'deny', digest: approval.digest };
    await api.post(`/api/approvals/${approval.id}`, answer);
    await turn;
  });
});

async function waitingOf(api: Api): Promise<{ id: string; digest: string }> {
  for (;;) {
    const { data } = await api.get<{ data: { id: string; digest: string }[] }>('/api/approvals');
    const [first] = data;
    if (first !== undefined) return first;
  }
}

describe('POST /api/rules/test', () => {
  const RULES = {
    mode: 'ask',
    allow: ['Bash(git log:*)', 'Read'],
    deny: ['Read(./.env)', 'mcp__docs__drop'],
  };

  it('says what the rules say and why, through the tool’s own account of the call', async () => {
    const api = await start([done], RULES);
    const test = async (tool: string, input: object): Promise<RuleTest> =>
      (await api.post<RuleTest>('/api/rules/test', { tool, input, project: api.repo.root })).body;
    expect(await test('Bash', { command: 'git log -3' })).toMatchObject({
      behaviour: 'allow',
      rule: 'Bash(git log:*)',
      source: 'configuration',
      why: expect.stringContaining('Bash(git log:*)'),
      suggestions: [],
    });
    expect(await test('Bash', { command: 'git log && npm test' })).toMatchObject({
      behaviour: 'ask',
      rule: null,
      source: 'mode ask',
      describe: { command: 'git log && npm test' },
      suggestions: [{ rule: 'Bash(git log && npm test)', source: 'gateway' }],
    });
    expect(await test('Read', { file_path: 'src/b.ts' })).toMatchObject({ behaviour: 'allow', rule: 'Read' });
    expect(await test('Grep', { pattern: 'x', path: '.env' })).toMatchObject({ behaviour: 'deny' });
    expect(await test('Bash', { command: 'cat .env' })).toMatchObject({
      behaviour: 'deny',
      rule: 'Read(./.env)',
    });
    expect(await test('mcp__docs__drop', { any: 1 })).toMatchObject({ behaviour: 'deny' });
    expect(await test('mcp__docs__get', {})).toMatchObject({
      behaviour: 'ask',
      suggestions: [{ rule: 'mcp__docs__get' }],
    });
    expect(await test('Nothing', {})).toMatchObject({ behaviour: 'ask', rule: null });
    const questions = [{ question: 'Which?', header: 'W', options: [{ label: 'a' }, { label: 'b' }] }];
    expect(await test('AskUserQuestion', { questions })).toMatchObject({ behaviour: 'ask', suggestions: [] });
  });

  it('holds the rules of the session that it names, and asks and writes nothing', async () => {
    const api = await start([done], RULES);
    const session = await api.say('Hello');
    const rule = { rule: 'Bash(touch:*)', behaviour: 'allow', scope: 'session', session };
    await api.post('/api/rules', rule);
    const test = (more: object, key?: string) =>
      api.post<RuleTest>('/api/rules/test', { tool: 'Bash', input: { command: 'touch x' }, ...more }, key);
    expect((await test({ session })).body).toMatchObject({ behaviour: 'allow', source: 'session' });
    expect((await test({})).body).toMatchObject({ behaviour: 'ask' });
    expect((await test({ session }, 'k-bob')).status).toBe(404);
    expect(await api.get('/api/approvals?state=all')).toMatchObject({ data: [] });
    const { body } = await api.post<RulePreview>('/api/rules/preview', { rule: '*', scope: 'everywhere' });
    expect(body.looked_at).toBe(0);
  });

  it('says what is wrong with an input that the tool does not take, and with a request', async () => {
    const api = await start([done], RULES);
    const refused = (body: object) => api.post<Refusal>('/api/rules/test', body);
    expect(await refused({ tool: 'Bash', input: { cmd: 'ls' } })).toMatchObject({
      status: 422,
      body: { error: { param: 'input', message: expect.stringContaining('command') } },
    });
    expect((await refused({ tool: 'Bash', input: 'ls' })).body.error.param).toBe('input');
    expect((await refused({ tool: 'Bash', input: { command: 'ls' }, project: 'x' })).body.error.param).toBe(
      'project',
    );
    for (const project of ['/', '/no-such-folder']) {
      expect(await refused({ tool: 'Bash', input: { command: 'ls' }, project })).toMatchObject({
        status: 404,
        body: { error: { param: 'project' } },
      });
    }
    expect((await refused({ tool: '', input: {} })).status).toBe(400);
  });
});

describe('GET /api/status', () => {
  it('says what is connected and how it is set up, to each key its own', async () => {
    const api = await start([done], { mode: 'ask', approval_timeout_s: 60, unattended: 'wait' });
    const before = await api.get<StatusWire>('/api/status');
    expect(before).toMatchObject({
      version: '0.0.0-test',
      url: api.url,
      keys: { configured: true, name: 'alice', scopes: ['call', 'approve'] },
      models: { total: 1, agents: 1 },
      mcp: { total: 0, states: {} },
      store: { kind: 'sqlite', location: null },
      sandbox: { active: false, reason: 'off', advice: expect.any(String) },
      approvals: { mode: 'ask', timeout_s: 60, unattended: 'wait', pending: 0 },
      traces: { bodies: true },
    });
    expect(before.tools.enabled).toBeGreaterThan(10);
    const upstream = before.upstreams.find(({ name }) => name === 'scripted');
    expect(upstream).toMatchObject({ dialect: 'openai-chat', state: 'unknown', last_answer_at: null });
    expect(upstream?.host).toMatch(/^127\.0\.0\.1:\d+$/);
    await api.say('Hello');
    const after = await api.get<StatusWire>('/api/status', 'k-root');
    expect(after.upstreams.find(({ name }) => name === 'scripted')).toMatchObject({ state: 'ok' });
    expect(after.store.location).toEqual(expect.any(String));
  });
});

describe('GET /api/usage', () => {
  atNoon();

  it('sums up by hour or day, beside models and keys', async () => {
    const api = await start([done, done]);
    await api.say('Hello');
    await api.say('Hello', 'k-bob');
    const rows = async (query: string) =>
      (await api.get<{ data: Record<string, unknown>[] }>(`/api/usage?${query}`, 'k-root')).data;
    const hour = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d$/);
    expect(await rows('by=key&bucket=hour')).toMatchObject([
      { hour, key: 'alice', requests: 1, errors: 0, max_latency_ms: expect.any(Number) },
      { hour, key: 'bob', requests: 1 },
    ]);
    expect(await rows('by=model&bucket=day')).toMatchObject([
      { day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), model: 'coder', requests: 2 },
    ]);
    expect(await rows('by=hour,model&bucket=hour')).toMatchObject([{ hour, model: 'coder', requests: 2 }]);
    expect(await rows('by=team')).toMatchObject([
      { team: '', requests: 1 },
      { team: 'web', requests: 1 },
    ]);
    expect(await api.get('/api/usage?bucket=week')).toMatchObject({ error: { param: 'bucket' } });
  });

  it('comes in pages, to each key its own rows alone', async () => {
    const gateway = await startTestGateway({ config: { server: { keys: KEYS } } });
    const get = async (query: string, key: string): Promise<UsageWire & Refusal> => {
      const headers = { authorization: `Bearer ${key}` };
      return JSON.parse(await (await fetch(`${gateway.url}/api/usage?${query}`, { headers })).text());
    };
    await recordUsage(gateway, [
      ...Array.from({ length: 501 }, (_, n) => ({ principal: 'alice', session: `s${n}` })),
      { principal: 'bob', session: 'of-bob' },
      { principal: 'bob', session: 'of-bob' },
    ]);
    const first = await get('by=session', 'k-root');
    expect(first.data).toHaveLength(500);
    expect(first.data[0]).toMatchObject({ session: 'of-bob', requests: 2 });
    expect(first.total).toMatchObject({ requests: 503, unpriced_requests: 503 });
    const cursor = first.next ?? '';
    const rest = await get(`by=session&cursor=${cursor}`, 'k-root');
    expect(rest).toMatchObject({ total: { requests: 503 }, next: null, from: first.from, to: first.to });
    expect(new Set([...first.data, ...rest.data].map(({ session }) => session)).size).toBe(502);
    // The cursor of an administrator opens nothing to another key.
    const own = await get(`by=session&sort=cost&cursor=${cursor}`, 'k-bob');
    expect(own.data.every(({ session }) => session === 'of-bob')).toBe(true);
    expect(await get('by=session', 'k-bob')).toMatchObject({ total: { requests: 2 }, next: null });
    expect(await get('by=session&top=1', 'k-root')).toMatchObject({
      data: [{ session: 'of-bob' }, { others: true, requests: 501 }],
    });
    for (const wrong of ['cursor=x', 'limit=501', 'top=0', 'sort=name']) {
      const [param = ''] = wrong.split('=');
      expect(await get(wrong, 'k-root'), wrong).toMatchObject({ error: { param } });
    }
  });

  it('has percentiles of each row, and histograms for those who ask', async () => {
    const gateway = await startTestGateway({ config: { server: { keys: KEYS } } });
    const headers = { authorization: 'Bearer k-root' };
    const get = async (query: string): Promise<UsageWire & Refusal> =>
      JSON.parse(await (await fetch(`${gateway.url}/api/usage?${query}`, { headers })).text());
    await recordUsage(gateway, [
      ...Array.from({ length: 18 }, () => ({ model: 'a', latencyMs: 400, firstTokenMs: 20 })),
      { model: 'a', latencyMs: 8000, firstTokenMs: 104 },
      { model: 'a', latencyMs: 30_000 },
      { model: 'b', latencyMs: 12, status: 500 },
    ]);
    const { data } = await get('by=model');
    expect(data).toMatchObject([
      // The middle of what is counted together: 400 to 415, 7936 to 8191.
      { model: 'a', p50_latency_ms: 408, p95_latency_ms: 8064, max_latency_ms: 30_000 },
      { model: 'b', p50_latency_ms: 12, p95_latency_ms: 12, mean_latency_ms: 12 },
    ]);
    expect(data).toMatchObject([
      { p50_first_token_ms: 20, p95_first_token_ms: 106 },
      { p50_first_token_ms: null, p95_first_token_ms: null },
    ]);
    expect(data.flatMap(Object.keys).filter((name) => name.includes('histogram'))).toEqual([]);
    expect((await get('by=model&histograms=1')).data).toMatchObject([
      {
        latency_histogram: [
          [400, 18],
          [7936, 1],
          [29_696, 1],
        ],
        first_token_histogram: [
          [20, 18],
          [104, 1],
        ],
      },
      { latency_histogram: [[12, 1]], first_token_histogram: [] },
    ]);
    expect(await get('histograms=all')).toMatchObject({
      error: { message: 'histograms: expected 1 or 0.', param: 'histograms' },
    });
  });
});

describe('GET /api/traces', () => {
  it('filters by model, status and session, and gives a file that replays', async () => {
    const api = await start([done]);
    const session = await api.say('Hello');
    type Listed = { data: { id: string; summary: { session?: string } }[] };
    const list = async (query: string) => (await api.get<Listed>(`/api/traces?${query}`)).data;
    const [trace] = await list('model=coder');
    expect(trace?.summary.session).toBe(session);
    for (const [query, count] of [
      [`session=${session}`, 1],
      ['session=other', 0],
      ['status=2xx', 1],
      ['status=200', 1],
      ['status=5xx', 0],
      ['errors=1', 0],
      ['model=other', 0],
    ] as const) {
      expect(await list(query), query).toHaveLength(count);
    }
    expect(await api.get('/api/traces?status=x')).toMatchObject({ error: { param: 'status' } });
    const answer = await fetch(`${api.url}/api/traces/${trace?.id}?download=1`, {
      headers: { 'x-api-key': 'k-alice' },
    });
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${trace?.id}.trace.json"`);
    const file = parseTraceFile(await answer.text());
    expect(file).toMatchObject({ request: trace?.id, model: 'coder', inbound: { path: '/v1/messages' } });
    expect((await replay(file)).lines.length).toBeGreaterThan(0);
  });
});
