/** /api/approvals and /api/rules over HTTP, on a real store and coordinator. */
import { describe, expect, it } from 'vitest';
import type { KeyOptions } from '../../src/server/access/key-ring.js';
import type { Limits } from '../../src/server/http/limits.js';
import { approvalBench, type Bench, type BenchOptions, callOf, START } from '../support/approval-bench.js';
import { PAGE } from '../support/sign-in-world.js';
import { startServer } from './server-harness.js';

const KEYS: readonly KeyOptions[] = [
  { key: 'k-alice', name: 'alice', scopes: ['call', 'approve'], models: ['*'] },
  { key: 'k-bob', name: 'bob', scopes: ['approve'], models: ['*'] },
  { key: 'k-root', name: 'root', scopes: ['call', 'approve', 'admin'], models: ['*'] },
  { key: 'k-eve', name: 'eve', scopes: ['call'], models: ['*'] },
];

interface Reply {
  status: number;
  body: Body;
}

interface Body {
  [field: string]: unknown;
  data?: Body[];
  error?: { type: string; message: string; param: string | null; code?: string };
}

type Request = (method: string, path: string, body?: unknown, key?: string | null) => Promise<Reply>;

interface ApiBench extends Bench {
  request: Request;
  url: string;
}

interface StartOptions extends BenchOptions {
  keys?: readonly KeyOptions[];
  limits?: Partial<Limits>;
}

async function start(options: StartOptions = {}): Promise<ApiBench> {
  const { keys = KEYS, limits = {}, ...rest } = options;
  const bench = await approvalBench(rest);
  const { url, token } = await startServer({
    keys,
    limits,
    approvals: bench.coordinator,
    parts: { rules: bench.store.rules, sessions: bench.store.sessions },
    permissions: { mode: 'ask', allow: ['Read'], ask: [], deny: ['Bash(curl:*)'] },
  });
  const request: Request = async (method, path, body, key = keys.length > 0 ? 'k-alice' : token) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const parsed: Body = JSON.parse(await answer.text());
    return { status: answer.status, body: parsed };
  };
  return { ...bench, request, url };
}

describe('GET /api/approvals', () => {
  it('shows what waits, whole', async () => {
    const { ask, request } = await start();
    const { approval } = await ask(callOf('npm test', { agent: 'sub-1', toolUseId: 'toolu_x' }));
    const { status, body } = await request('GET', '/api/approvals');
    expect(status).toBe(200);
    expect(body).toMatchObject({ next: null, now: expect.any(String) });
    expect(body.data).toEqual([
      {
        id: approval.id,
        session: 's1',
        key: 'alice',
        agent: 'sub-1',
        agent_label: null,
        tool_use_id: 'toolu_x',
        tool: 'Bash',
        input: { command: 'npm test' },
        describe: { title: 'Run npm test', kind: 'command', paths: [], command: 'npm test' },
        why: 'No rule is about "npm test".',
        risks: ['writes'],
        cwd: '/work/app',
        project: '/work/app',
        question: false,
        suggestions: [
          {
            rule: 'Bash(npm test)',
            behaviour: 'allow',
            covers: 'this command',
            source: 'gateway',
            scope: null,
          },
        ],
        hints: {
          default_to_no: false,
          suppress_always: false,
          blocked_path: null,
          reason: null,
          title: null,
          description: null,
          mcp_server: null,
        },
        digest: approval.digest,
        state: 'pending',
        created_at: new Date(START).toISOString(),
        expires_at: new Date(START + 1_800_000).toISOString(),
        used_at: null,
        decision: null,
      },
    ]);
    expect((await request('GET', `/api/approvals/${approval.id}`)).body).toEqual(body.data?.[0]);
  });

  it('shows a key its own, an administrator all, and a key without the scope none', async () => {
    const { ask, request } = await start();
    const { approval } = await ask(callOf('a'));
    await ask(callOf('b', { principal: 'bob' }));
    const count = async (key: string) =>
      (await request('GET', '/api/approvals', undefined, key)).body.data?.length;
    expect([await count('k-alice'), await count('k-bob'), await count('k-root')]).toEqual([1, 1, 2]);
    expect((await request('GET', '/api/approvals', undefined, 'k-eve')).status).toBe(403);
    expect((await request('GET', '/api/approvals', undefined, null)).status).toBe(401);
    const path = `/api/approvals/${approval.id}`;
    expect((await request('GET', path, undefined, 'k-bob')).status).toBe(404);
    expect((await request('GET', path, undefined, 'k-root')).status).toBe(200);
  });

  it('is for whoever has the console token where there are no keys', async () => {
    const { ask, request } = await start({ keys: [] });
    await ask(callOf('a', { principal: 'local' }));
    expect((await request('GET', '/api/approvals')).body.data).toHaveLength(1);
    expect((await request('GET', '/api/approvals', undefined, null)).status).toBe(401);
  });

  it('filters by state and session, in pages', async () => {
    const { ask, request, coordinator } = await start();
    for (const session of ['s1', 's1', 's2']) await ask(callOf('a', { session }));
    const [first] = (await coordinator.list({ limit: 1 })).items;
    const answer = { decision: 'deny', digest: first?.digest ?? '', by: 'alice', via: 'api' } as const;
    await coordinator.decide(first?.id ?? '', answer);
    const count = async (query: string) =>
      (await request('GET', `/api/approvals?${query}`)).body.data?.length;
    expect(await count('state=all')).toBe(3);
    expect(await count('state=denied')).toBe(1);
    expect(await count('session=s1')).toBe(2);
    const page = await request('GET', '/api/approvals?state=all&limit=2');
    expect(page.body.data).toHaveLength(2);
    expect(await count(`state=all&cursor=${String(page.body['next'])}`)).toBe(1);
    for (const query of ['state=open', 'limit=0', 'cursor=x']) {
      const refused = await request('GET', `/api/approvals?${query}`);
      expect([refused.status, refused.body.error?.param]).toEqual([400, query.split('=')[0]]);
    }
  });

  it('does not show what has expired as if it waited', async () => {
    const { ask, request, clock } = await start();
    await ask(callOf('a'));
    clock.at += 10_000_000;
    expect((await request('GET', '/api/approvals')).body.data).toEqual([]);
  });

  it('counts whoever looks as present for a minute', async () => {
    const { gate, ask, request, clock } = await start({ unattended: 'deny' });
    expect(await gate.check(callOf('a'))).toMatchObject({ outcome: 'unattended' });
    await request('GET', '/api/approvals', undefined, 'k-bob');
    expect(await gate.check(callOf('a'))).toMatchObject({ outcome: 'unattended' });
    await request('GET', '/api/approvals');
    await ask(callOf('a'));
    clock.at += 60_000;
    expect(await gate.check(callOf('a'))).toMatchObject({ outcome: 'unattended' });
    await request('GET', '/api/approvals', undefined, 'k-root');
    await ask(callOf('a'));
  });
});

describe('POST /api/approvals/:id', () => {
  it('allows, and the call goes on', async () => {
    const { ask, request } = await start();
    const { approval, verdict } = await ask(callOf('npm test'));
    const { status, body } = await request('POST', `/api/approvals/${approval.id}`, {
      decision: 'allow',
      digest: approval.digest,
      reason: 'fine',
      unknown: 1,
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      state: 'allowed',
      decision: { by: 'alice', via: 'api', reason: 'fine', at: new Date(START).toISOString() },
      repeated: false,
      rule: null,
      released: [],
      refused: [],
    });
    expect(await verdict).toMatchObject({ allowed: true });
  });

  it('answers a retry with 200, and everyone else with 409: by whom, what, when', async () => {
    const { ask, request } = await start();
    const { approval } = await ask(callOf('npm test'));
    const path = `/api/approvals/${approval.id}`;
    const deny = { decision: 'deny', digest: approval.digest };
    await request('POST', path, deny);
    expect(await request('POST', path, deny)).toMatchObject({ status: 200, body: { repeated: true } });
    for (const [answer, key] of [
      [{ ...deny, decision: 'allow' }, 'k-alice'],
      [deny, 'k-root'],
    ] as const) {
      const { status, body } = await request('POST', path, answer, key);
      expect(status).toBe(409);
      expect(body.error).toMatchObject({ type: 'conflict', code: 'already_decided' });
      expect(body.error?.message).toMatch(/already denied by alice \(api\) at 20/);
      expect(body).toMatchObject({ approval: { state: 'denied', decision: { by: 'alice' } } });
      expect(body['request_id']).toMatch(/^req_/);
    }
  });

  it('answers 410 when it has expired, 404 when there is none or it is another key’s', async () => {
    const { ask, request, clock } = await start();
    const { approval } = await ask(callOf('npm test'));
    const answer = { decision: 'allow', digest: approval.digest };
    const path = `/api/approvals/${approval.id}`;
    expect((await request('POST', '/api/approvals/apr_none', answer)).status).toBe(404);
    expect((await request('POST', path, answer, 'k-bob')).status).toBe(404);
    expect((await request('POST', path, answer, 'k-eve')).status).toBe(403);
    clock.at += 10_000_000;
    const { status, body } = await request('POST', path, answer);
    expect([status, body.error?.code]).toEqual([410, 'expired']);
    expect(body).toMatchObject({ approval: { state: 'expired' } });
  });

  it('answers 409 to a digest of something else, and shows what is asked', async () => {
    const { ask, request } = await start();
    const { approval } = await ask(callOf('npm test'));
    const answer = { decision: 'allow', digest: 'old' };
    const { status, body } = await request('POST', `/api/approvals/${approval.id}`, answer);
    expect([status, body.error?.code]).toEqual([409, 'digest_mismatch']);
    expect(body).toMatchObject({ approval: { state: 'pending', digest: approval.digest } });
  });

  it('lets an administrator decide for another key', async () => {
    const { ask, request } = await start();
    const { approval, verdict } = await ask(callOf('npm test'));
    const answer = { decision: 'allow', digest: approval.digest };
    await request('POST', `/api/approvals/${approval.id}`, answer, 'k-root');
    expect(await verdict).toMatchObject({ because: { kind: 'person', by: 'root' } });
  });

  it('says that it was the console where a cookie decided', async () => {
    const { ask, url, store } = await start();
    const { approval } = await ask(callOf('npm test'));
    const headers = { 'content-type': 'application/json', origin: url, ...PAGE };
    const login = await fetch(`${url}/api/session`, {
      ...{ method: 'POST', headers, body: JSON.stringify({ token: 'k-alice' }) },
    });
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
    const decided = await fetch(`${url}/api/approvals/${approval.id}`, {
      method: 'POST',
      headers: { ...headers, cookie },
      body: JSON.stringify({ decision: 'allow', digest: approval.digest }),
    });
    expect(decided.status).toBe(200);
    expect((await store.approvals.get(approval.id))?.decision).toMatchObject({ by: 'alice', via: 'console' });
  });

  it.each<[string, unknown, string | null]>([
    ['decision', { decision: 'maybe', digest: 'd' }, 'decision'],
    ['no decision', { digest: 'd' }, 'decision'],
    ['digest', { decision: 'allow', digest: 1 }, 'digest'],
    ['no digest', { decision: 'allow' }, 'digest'],
    ['reason', { decision: 'allow', digest: 'd', reason: 1 }, 'reason'],
    ['rule', { decision: 'allow', digest: 'd', rule: 'Bash' }, 'rule'],
    ['rule.rule', { decision: 'allow', digest: 'd', rule: { scope: 'session' } }, 'rule.rule'],
    ['rule.scope', { decision: 'allow', digest: 'd', rule: { rule: 'Bash', scope: 'all' } }, 'rule.scope'],
    ['a list', [], null],
    ['no JSON', '{', null],
    ['nothing', '', null],
  ])('refuses a wrong %s with 400 that names it, and decides nothing', async (_name, body, param) => {
    const { ask, request, coordinator } = await start();
    const { approval } = await ask(callOf('npm test'));
    const refused = await request('POST', `/api/approvals/${approval.id}`, body);
    expect([refused.status, refused.body.error?.param]).toEqual([400, param]);
    expect((await coordinator.get(approval.id))?.state).toBe('pending');
  });

  it('takes an input as large as a request may be, and refuses a body beyond that', async () => {
    const { ask, request } = await start({ limits: { bodyBytes: 4_000_000 } });
    const { approval, verdict } = await ask(callOf('npm test'));
    const answer = { decision: 'allow', digest: approval.digest };
    const path = `/api/approvals/${approval.id}`;
    expect((await request('POST', path, { ...answer, x: 'x'.repeat(4_000_000) })).status).toBe(413);
    const command = `echo ${'x'.repeat(2_000_000)}`;
    expect((await request('POST', path, { ...answer, updatedInput: { command } })).status).toBe(200);
    expect(await verdict).toMatchObject({ allowed: true, input: { command } });
  });

  it('runs changed input, and answers 422 to one that cannot run', async () => {
    const { ask, request } = await start({ rules: { deny: ['Bash(curl:*)'] } });
    const { approval, verdict } = await ask(callOf('npm test'));
    const path = `/api/approvals/${approval.id}`;
    const answer = { decision: 'allow', digest: approval.digest };
    for (const updatedInput of [{ nothing: 1 }, { command: 'curl x' }, null]) {
      const { status, body } = await request('POST', path, { ...answer, updatedInput });
      expect([status, body.error?.param]).toEqual([422, 'updatedInput']);
      expect(body.error?.message).toContain('Nothing was decided.');
    }
    await request('POST', path, { ...answer, updatedInput: { command: 'npm ci' } });
    expect(await verdict).toMatchObject({ allowed: true, input: { command: 'npm ci' } });
  });

  it('makes a rule with the decision, releases what it covers, and says what it does not reach', async () => {
    const { ask, request } = await start();
    const first = await ask(callOf('npm test > log'));
    const other = await ask(callOf('npm ci'));
    const { body } = await request('POST', `/api/approvals/${first.approval.id}`, {
      decision: 'allow',
      digest: first.approval.digest,
      rule: { rule: 'Bash(npm:*)', scope: 'session' },
    });
    expect(body).toMatchObject({
      rule: { rule: 'Bash(npm:*)', behaviour: 'allow', scope: 'session', session: 's1', created_by: 'alice' },
      released: [other.approval.id],
      satisfies: false,
      satisfies_problem: expect.stringContaining('npm test > log'),
    });
    expect(await other.verdict).toMatchObject({ allowed: true });
  });

  it('leaves rules beyond the session to administrators, and refuses one that cannot be read', async () => {
    const { ask, request, store, coordinator } = await start();
    const { approval } = await ask(callOf('npm test'));
    const path = `/api/approvals/${approval.id}`;
    const answer = (rule: string, scope: string) => ({
      ...{ decision: 'allow', digest: approval.digest, rule: { rule, scope } },
    });
    for (const scope of ['project', 'everywhere']) {
      const { status, body } = await request('POST', path, answer('Bash', scope));
      expect([status, body.error?.param]).toEqual([403, 'rule.scope']);
    }
    const unreadable = await request('POST', path, answer('Bash(', 'session'));
    expect([unreadable.status, unreadable.body.error?.param]).toEqual([400, 'rule.rule']);
    expect((await coordinator.get(approval.id))?.state).toBe('pending');
    expect((await request('POST', path, answer('Bash', 'project'), 'k-root')).status).toBe(200);
    expect(await store.rules.list()).toMatchObject([{ scope: 'project', project: '/work/app' }]);
  });
});

describe('POST /api/approvals/:id/extend', () => {
  it('shows how the engine wants it to be put, and makes no rule where it says so', async () => {
    const { ask, request, store, coordinator } = await start();
    const hints = {
      defaultToNo: true,
      suppressAlways: true,
      blockedPath: '/etc/hosts',
      reason: 'It is outside.',
      title: 'Claude wants to run it',
      description: 'With access to /etc',
      mcpServer: { name: 'docs', source: 'project' },
    };
    const describe = { title: 'Run x', kind: 'command', paths: [], agent: 'look around' } as const;
    const { approval } = await ask(callOf('x', { hints, describe }));
    const path = `/api/approvals/${approval.id}`;
    expect((await request('GET', path)).body).toMatchObject({
      agent_label: 'look around',
      hints: {
        default_to_no: true,
        suppress_always: true,
        blocked_path: '/etc/hosts',
        reason: 'It is outside.',
        title: 'Claude wants to run it',
        description: 'With access to /etc',
        mcp_server: { name: 'docs', source: 'project' },
      },
    });
    const answer = { decision: 'allow', digest: approval.digest };
    for (const more of [
      { rule: { rule: 'Bash(x)', scope: 'session' } },
      { updatedPermissions: [{ rule: 'Bash(x)' }] },
    ]) {
      const refused = await request('POST', path, { ...answer, ...more });
      expect(refused).toMatchObject({
        status: 400,
        body: { error: { message: expect.stringMatching(/no rule can be made.*Nothing was decided/s) } },
      });
    }
    expect((await coordinator.get(approval.id))?.state).toBe('pending');
    expect(await store.rules.list()).toEqual([]);
    expect((await request('POST', path, answer)).status).toBe(200);
  });

  it('takes updates of the Agent SDK and suggestions as rules, and names what it leaves out', async () => {
    const { ask, request, store } = await start();
    const { approval, verdict } = await ask(callOf('npm test'));
    const other = await ask(callOf('npm ci'));
    const path = `/api/approvals/${approval.id}`;
    const body = {
      approved: true,
      digest: approval.digest,
      updatedPermissions: [
        {
          type: 'addRules',
          rules: [
            { toolName: 'Bash', ruleContent: 'npm:*' },
            { toolName: 'Bash', ruleContent: 'git * x' },
          ],
          behavior: 'allow',
          destination: 'session',
        },
        { type: 'addDirectories', directories: ['/srv'], destination: 'session' },
        { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
        { rule: 'Bash(npm:*)', scope: 'session', behaviour: 'allow', covers: 'x', source: 'engine' },
      ],
    };
    const texts = ['Bash(npm:*)', 'Read(//srv/**)', 'Edit(//srv/**)'];
    const { status, body: decided } = await request('POST', path, body);
    expect(status).toBe(200);
    expect(decided).toMatchObject({
      repeated: false,
      rule: { rule: 'Bash(npm:*)', scope: 'session' },
      rules: texts.map((rule) => ({ rule })),
      left_out: [expect.stringContaining('git * x'), expect.stringContaining('setMode')],
      released: [other.approval.id],
      satisfies: true,
      decision: { rule: texts.join(', ') },
    });
    expect((await verdict).allowed).toBe(true);
    expect((await request('POST', path, body)).body).toMatchObject({
      repeated: true,
      rules: texts.map((rule) => ({ rule })),
    });
    expect((await store.rules.list()).map(({ rule }) => rule)).toEqual(texts);
  });

  it('refuses updates that it cannot read, contradictions, and rules for more than the key may make', async () => {
    const { ask, request, store, coordinator } = await start();
    const { approval } = await ask(callOf('npm test'));
    const path = `/api/approvals/${approval.id}`;
    const add = { type: 'addRules', rules: [{ toolName: 'Bash' }], behavior: 'allow' };
    const cases: [object, number, RegExp][] = [
      [{ decision: 'allow', updatedPermissions: [{ type: 'x' }] }, 400, /updatedPermissions\.0/],
      [{ decision: 'allow', updatedPermissions: {} }, 400, /updatedPermissions/],
      [{ decision: 'allow', approved: false }, 400, /decision/],
      [{}, 400, /decision/],
      [{ decision: 'deny', updatedPermissions: [{ rule: 'Bash(x)' }] }, 400, /updatedPermissions/],
      [{ approved: true, updatedPermissions: [{ ...add, destination: 'userSettings' }] }, 403, /admin/],
      [{ approved: true, updatedPermissions: [{ rule: 'Bash(' }] }, 400, /Nothing was decided/],
    ];
    for (const [body, status, message] of cases) {
      const refused = await request('POST', path, { digest: approval.digest, ...body });
      expect([refused.status, refused.body.error?.message], JSON.stringify(body)).toEqual([
        status,
        expect.stringMatching(message),
      ]);
    }
    expect((await coordinator.get(approval.id))?.state).toBe('pending');
    expect(await store.rules.list()).toEqual([]);
  });

  it('gives a key without the scope nothing to decide, extend or make rules with', async () => {
    const { ask, request, coordinator } = await start();
    const { approval } = await ask(callOf('a', { principal: 'eve' }));
    const path = `/api/approvals/${approval.id}`;
    const requests: [string, string, unknown?][] = [
      ['GET', '/api/approvals'],
      ['GET', path],
      ['POST', path, { decision: 'allow', digest: approval.digest }],
      ['POST', `${path}/extend`, {}],
      ['POST', '/api/rules', { rule: 'Bash', behaviour: 'allow', scope: 'session', session: 's1' }],
      ['POST', '/api/rules/preview', { rule: 'Bash', scope: 'everywhere' }],
      ['POST', '/api/rules/test', { tool: 'Bash', input: {} }],
      ['DELETE', '/api/rules/x'],
    ];
    for (const [method, at, body] of requests) {
      expect((await request(method, at, body, 'k-eve')).status, `${method} ${at}`).toBe(403);
    }
    expect((await coordinator.get(approval.id))?.state).toBe('pending');
  });

  it('gives more time, and none to what is over', async () => {
    const { ask, request, clock } = await start();
    const { approval } = await ask(callOf('npm test'));
    clock.at += 60_000;
    const path = `/api/approvals/${approval.id}/extend`;
    const { status, body } = await request('POST', path);
    expect([status, body['expires_at']]).toEqual([200, new Date(clock.at + 1_800_000).toISOString()]);
    expect((await request('POST', path, undefined, 'k-bob')).status).toBe(404);
    clock.at += 10_000_000;
    expect((await request('POST', path)).status).toBe(410);
    const other = await ask(callOf('ls'));
    const answer = { decision: 'deny', digest: other.approval.digest };
    await request('POST', `/api/approvals/${other.approval.id}`, answer);
    expect((await request('POST', `/api/approvals/${other.approval.id}/extend`)).status).toBe(409);
    expect((await request('POST', '/api/approvals/apr_none/extend')).status).toBe(404);
  });
});

describe('/api/rules', () => {
  const rule = { rule: 'Bash(npm:*)', behaviour: 'allow' };

  it('shows the configured rules and those that people made, with who made them', async () => {
    const { request } = await start();
    await request('POST', '/api/rules', { ...rule, scope: 'everywhere' }, 'k-root');
    const { body } = await request('GET', '/api/rules');
    expect(body).toEqual({
      mode: 'ask',
      data: [
        { id: null, rule: 'Bash(curl:*)', behaviour: 'deny', source: 'configuration' },
        { id: null, rule: 'Read', behaviour: 'allow', source: 'configuration' },
        {
          ...rule,
          id: expect.any(String),
          source: 'everywhere',
          scope: 'everywhere',
          created_by: 'root',
          created_at: new Date(START).toISOString(),
        },
      ],
    });
    expect((await request('GET', '/api/rules', undefined, 'k-eve')).status).toBe(200);
  });

  it('makes one, which releases what waits', async () => {
    const { ask, request } = await start();
    const { approval, verdict } = await ask(callOf('npm test'));
    const { status, body } = await request('POST', '/api/rules', {
      ...rule,
      scope: 'session',
      session: 's1',
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ ...rule, session: 's1', released: [approval.id], refused: [] });
    expect(await verdict).toMatchObject({ allowed: true });
  });

  it('takes one for a session from its own key and administrators alone', async () => {
    const { ask, request, store } = await start();
    const session = {
      principal: 'alice',
      model: 'm',
      engine: 'native',
      state: 'live',
      expiresAt: START * 2,
    } as const;
    await store.sessions.create({ id: 'known', ...session });
    await ask(callOf('ls', { session: 'asked' }));
    const status = async (id: string, key: string) =>
      (await request('POST', '/api/rules', { ...rule, scope: 'session', session: id }, key)).status;
    expect([await status('known', 'k-alice'), await status('asked', 'k-alice')]).toEqual([201, 201]);
    expect([await status('known', 'k-bob'), await status('asked', 'k-bob')]).toEqual([404, 404]);
    expect([await status('none', 'k-alice'), await status('none', 'k-root')]).toEqual([404, 201]);
    expect(await status('known', 'k-eve')).toBe(403);
    const seen = async (key: string) =>
      (await request('GET', '/api/rules', undefined, key)).body.data?.length;
    expect([await seen('k-alice'), await seen('k-bob'), await seen('k-root')]).toEqual([4, 2, 5]);
    const applies = await request('GET', '/api/rules?session=known', undefined, 'k-root');
    expect(applies.body.data).toHaveLength(3);
  });

  it.each<[object, number, string]>([
    [{ ...rule, scope: 'session' }, 400, 'session'],
    [{ ...rule, scope: 'project' }, 400, 'project'],
    [{ ...rule, scope: 'project', project: './relative' }, 400, 'project'],
    [{ ...rule, scope: 'here' }, 400, 'scope'],
    [{ rule: 'Bash', scope: 'everywhere' }, 400, 'behaviour'],
    [{ rule: 'Bash(', behaviour: 'allow', scope: 'everywhere' }, 400, 'rule'],
    [{ rule: 7, behaviour: 'allow', scope: 'everywhere' }, 400, 'rule'],
    [{ ...rule, behaviour: 'deny', scope: 'once', session: 's1' }, 400, 'rule'],
  ])('refuses %j', async (body, status, param) => {
    const { request, store } = await start();
    const refused = await request('POST', '/api/rules', body, 'k-root');
    expect([refused.status, refused.body.error?.param]).toEqual([status, param]);
    expect(await store.rules.list()).toEqual([]);
  });

  it('revokes by path or query: one’s own for a session, everything for administrators', async () => {
    const { request, store } = await start();
    const add = async (scope: object, createdBy: string) =>
      (await store.rules.add({ rule: 'Bash', behaviour: 'allow', scope: 'everywhere', ...scope, createdBy }))
        .id;
    const session = { scope: 'session', session: 's1' } as const;
    const [own, other, wide] = [
      await add(session, 'alice'),
      await add(session, 'root'),
      await add({}, 'alice'),
    ];
    expect((await request('DELETE', '/api/rules')).body.error?.param).toBe('id');
    expect((await request('DELETE', `/api/rules/${own}`, undefined, 'k-bob')).status).toBe(404);
    expect((await request('DELETE', `/api/rules/${own}`, undefined, 'k-eve')).status).toBe(403);
    expect((await request('DELETE', `/api/rules/${own}`)).body).toMatchObject({ id: own, rule: 'Bash' });
    expect((await request('DELETE', `/api/rules/${own}`)).status).toBe(404);
    expect((await request('DELETE', `/api/rules/${other}`)).status).toBe(404);
    expect((await request('DELETE', `/api/rules/${wide}`)).status).toBe(403);
    expect((await request('DELETE', `/api/rules?id=${wide}`, undefined, 'k-root')).status).toBe(200);
    expect((await request('DELETE', `/api/rules?id=${other}`, undefined, 'k-root')).status).toBe(200);
    expect(await store.rules.list()).toEqual([]);
  });
});
