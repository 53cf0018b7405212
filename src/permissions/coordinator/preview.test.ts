import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { closeAfterTest, tempFolder } from '../../../test/support/cleanup.js';
import { REDACTED } from '../../config/redact.js';
import { openStore } from '../../store/open/open-store.js';
import type { Rule, RuleReach } from '../../store/rules.js';
import type { Store } from '../../store/store.js';
import type { Effect, JudgedToolCall } from '../decision.js';
import type { GatedToolCall, Verdict } from '../gate.js';
import { createPolicy, type Policy } from '../judge/policy.js';
import { auditEntry } from './create-gate.js';
import { createRulePreviews, type PreviewRequest, type RulePreviews } from './preview.js';
import { toShown } from './shown.js';

const NOW = 1_800_000_000_000;
const DAY_MS = 86_400_000;
const EVERYWHERE: RuleReach = { scope: 'everywhere' };
const ALLOWED: Verdict = { allowed: true, input: {}, because: { kind: 'mode', mode: 'allow' } };

interface Bench {
  root: string;
  store: Store;
  policy: Policy;
  previews: RulePreviews;
  clock: { at: number };
  /** Judged and let through. */
  judged(call: Partial<JudgedToolCall>): Promise<void>;
  command(command: string, more?: Partial<JudgedToolCall>): Promise<void>;
  preview(rule: string, more?: Partial<PreviewRequest>): ReturnType<RulePreviews['preview']>;
}

async function bench(config: Partial<Parameters<typeof createPolicy>[0]['config']> = {}): Promise<Bench> {
  const { path: root } = await tempFolder('preview');
  const clock = { at: NOW };
  const store = await openStore('sqlite::memory:', {
    baseDir: root,
    now: () => clock.at,
    redact: (text) => text.replaceAll('hunter2', REDACTED),
  });
  closeAfterTest(() => store.close());
  const policy = createPolicy({
    config: { mode: 'ask', allow: [], ask: [], deny: [], ...config },
    home: join(root, 'home'),
    protectedPaths: [],
  });
  const previews = createRulePreviews({ policy, store, now: () => clock.at });
  const judged = (call: Partial<JudgedToolCall>): Promise<void> =>
    store.audit.append(auditEntry(gateCall(root, call), ALLOWED));
  return {
    ...{ root, store, policy, previews, clock, judged },
    command: (command, more = {}) =>
      judged({ effects: [{ kind: 'command', command, cwd: root }], input: { command }, ...more }),
    preview: (rule, more = {}) => previews.preview({ rule, behaviour: 'allow', reach: EVERYWHERE, ...more }),
  };
}

function gateCall(root: string, call: Partial<JudgedToolCall>): GatedToolCall {
  return {
    principal: 'alice',
    session: 's1',
    toolUseId: 't1',
    tool: 'Bash',
    input: {},
    readOnly: false,
    needsPermissions: true,
    effects: [],
    location: { root, cwd: root },
    describe: { title: 'A call', kind: 'command', paths: [] },
    signal: new AbortController().signal,
    revise: async () => ({ problem: 'no' }),
    ...call,
  };
}

const file = (kind: 'read' | 'edit', path: string): Effect => ({ kind, path });

beforeAll(async () => {
  // The shell's grammar is loaded once.
  const { policy, root } = await bench();
  await policy.decide(gateCall(root, { effects: [{ kind: 'command', command: 'ls', cwd: root }] }), []);
});

describe('a preview', () => {
  it('shows which calls of late the rule would have let through, the newest first', async () => {
    const { command, preview, clock } = await bench();
    await command('npm test');
    clock.at += 1000;
    await command('npm test -- --watch');
    await command('npm test > out.txt');
    await command('git status');
    const found = await preview('Bash(npm test:*)');
    expect(found).toMatchObject({
      covers: 'every plain command that begins with `npm test`',
      lookedAt: 4,
      since: NOW,
      matched: 2,
    });
    expect(found.calls).toEqual([
      { at: NOW + 1000, session: 's1', tool: 'Bash', what: 'A call', verdict: 'allowed' },
      { at: NOW, session: 's1', tool: 'Bash', what: 'A call', verdict: 'allowed' },
    ]);
    expect((await preview('Bash(npm test -- --watch)')).matched).toBe(1);
    expect((await preview('Bash(npm publish:*)')).matched).toBe(0);
  });

  it('counts what it lets through together with the rules that are there', async () => {
    const { command, preview } = await bench({ allow: ['Bash(cat:*)'] });
    await command('cat a.txt | grep x');
    expect((await preview('Bash(grep:*)')).matched).toBe(1);
    expect((await preview('Bash(sort:*)')).matched).toBe(0);
  });

  it('knows commands however they are quoted', async () => {
    const { command, preview } = await bench();
    await command(`"npm" 'test'`);
    await command('np\\m test');
    expect((await preview('Bash(npm test:*)')).matched).toBe(2);
  });

  it('counts nothing that is denied anyway', async () => {
    const { command, preview } = await bench({ deny: ['Bash(npm publish:*)'] });
    await command('npm publish && npm test');
    expect((await preview('Bash(npm test:*)')).matched).toBe(0);
  });

  it('of a rule that denies or asks counts each call with a part that it is about', async () => {
    const { command, judged, preview, root } = await bench();
    await command('cat secret.txt');
    await judged({ tool: 'Read', effects: [file('read', join(root, 'secret.txt'))] });
    await judged({ tool: 'Grep', effects: [{ kind: 'read', path: join(root, 'src'), tree: true }] });
    await command('npm test && curl example.com');
    expect((await preview('Read(./secret.txt)', { behaviour: 'deny' })).matched).toBe(2);
    expect((await preview('Bash(curl:*)', { behaviour: 'ask' })).matched).toBe(1);
    expect((await preview('Bash(wget:*)', { behaviour: 'deny' })).matched).toBe(0);
  });

  it('knows files, hosts, MCP tools and the words of other tools', async () => {
    const { judged, preview, root } = await bench();
    await judged({ tool: 'Edit', effects: [file('edit', join(root, 'src/a.ts'))] });
    await judged({ tool: 'WebFetch', effects: [{ kind: 'fetch', url: 'https://docs.example/x' }] });
    await judged({ tool: 'mcp__docs__get', input: { secret: 'x' } });
    await judged({ tool: 'Task', input: { subagent_type: 'explore', prompt: 'x'.repeat(500) } });
    for (const rule of [
      'Edit(./src/**)',
      'WebFetch(domain:docs.example)',
      'mcp__docs',
      'Task(explore)',
      'Edit',
    ]) {
      expect((await preview(rule)).matched, rule).toBe(1);
    }
    expect((await preview('*')).matched).toBe(4);
    expect((await preview('Read')).matched).toBe(0);
  });

  it('looks at the last seven days, at 500 calls, and shows twenty', async () => {
    const { command, preview, clock } = await bench();
    await command('ls');
    clock.at += 8 * DAY_MS;
    expect(await preview('Bash(ls:*)')).toMatchObject({ lookedAt: 0, matched: 0, calls: [] });
    expect(await preview('Bash(ls:*)')).not.toHaveProperty('since');
    for (let n = 0; n < 510; n++) await command(`ls d${n}`);
    const found = await preview('Bash(ls:*)');
    expect([found.lookedAt, found.matched, found.calls.length]).toEqual([500, 500, 20]);
  });

  it('is about whom it may be: a key, a session, a folder', async () => {
    const { command, preview, root } = await bench();
    await command('ls', { principal: 'bob' });
    await command('ls', { session: 's2' });
    await command('ls', { location: { root: '/elsewhere', cwd: '/elsewhere' } });
    await command('ls');
    const count = async (more: Partial<PreviewRequest>) => (await preview('Bash(ls)', more)).matched;
    expect(await count({})).toBe(4);
    expect(await count({ principal: 'bob' })).toBe(1);
    expect(await count({ reach: { scope: 'session', session: 's2' } })).toBe(1);
    expect(await count({ reach: { scope: 'project', project: root } })).toBe(3);
  });

  it('keeps no secret of a call, and nothing of a huge one', async () => {
    const { command, store, preview } = await bench();
    await command('login --password hunter2');
    await command(`echo ${'x'.repeat(100_000)}`);
    const { items } = await store.audit.list({ limit: 9, calls: true });
    expect(items).toHaveLength(1);
    expect(JSON.stringify(items)).not.toContain('hunter2');
    expect((await preview('Bash(login:*)')).matched).toBe(1);
  });

  it('refuses a rule that cannot be read, in words', async () => {
    const { preview } = await bench();
    await expect(preview('Bash(')).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'rule',
      message: expect.stringContaining('expected'),
    });
    await expect(
      preview('Bash(ls)', { behaviour: 'deny', reach: { scope: 'once', session: 's1' } }),
    ).rejects.toMatchObject({ code: 'invalid_request' });
  });
});

describe('of a question', () => {
  async function asked(here: Bench, command: string, more: Partial<GatedToolCall> = {}) {
    const { root, store, policy } = here;
    const call = gateCall(root, {
      effects: [{ kind: 'command', command, cwd: root }],
      input: { command },
      ...more,
    });
    const decision = await policy.decide(call, []);
    const { approval } = await store.approvals.create({
      ...{ id: `a-${command}`, session: call.session, principal: call.principal },
      ...{ toolUseId: command, tool: call.tool, input: call.input, digest: 'd', suggestions: [] },
      describe: toShown(call, decision, false),
    });
    return approval;
  }

  it('says whether the rule decides it, and if not, why', async () => {
    const here = await bench({ ask: ['Bash(git push:*)'] });
    const approval = await asked(here, 'npm test > out.txt');
    expect(await here.preview('Bash(npm test:*)', { approval })).toMatchObject({
      satisfies: false,
      problem: expect.stringContaining('> out.txt'),
    });
    expect(await here.preview('Bash(npm test > out.txt)', { approval })).toMatchObject({ satisfies: true });
    const push = await asked(here, 'git push');
    expect(await here.preview('Bash(git push)', { approval: push })).toMatchObject({ satisfies: false });
    const elsewhere: RuleReach = { scope: 'session', session: 'other' };
    expect(await here.preview('Bash(npm test > out.txt)', { approval, reach: elsewhere })).toMatchObject({
      satisfies: false,
    });
  });

  it('counts it among those that match, as pending', async () => {
    const here = await bench();
    await asked(here, 'npm test');
    const { calls } = await here.preview('Bash(npm test:*)');
    expect(calls).toMatchObject([{ what: 'A call', verdict: 'pending', session: 's1' }]);
  });

  it('to a person, or with the engine against it, is decided by no rule', async () => {
    const here = await bench();
    const question = await asked(here, 'ls', { question: true });
    const dangerous = await asked(here, 'pwd', { hints: { suppressAlways: true } });
    for (const approval of [question, dangerous]) {
      expect(await here.preview('Bash', { approval })).toMatchObject({
        satisfies: false,
        problem: expect.stringMatching(/no rule/i),
      });
    }
  });
});

it('judges by the rules that people made, too', async () => {
  const { command, preview, store } = await bench();
  const made: Omit<Rule, 'id' | 'createdAt'> & RuleReach = {
    rule: 'Bash(cat:*)',
    behaviour: 'allow',
    createdBy: 'alice',
    scope: 'session',
    session: 's1',
  };
  await store.rules.add(made);
  await command('cat a | wc -l');
  await command('cat a | wc -l', { session: 's2' });
  expect((await preview('Bash(wc:*)')).matched).toBe(1);
});
