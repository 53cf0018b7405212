import { describe, expect, it } from 'vitest';
import { approvalBench, callOf, simplePolicy } from '../../../test/support/approval-bench.js';
import { turnOfLoop } from '../../../test/support/gate.js';
import type { AuditEntry } from '../../store/audit.js';
import type { Store } from '../../store/store.js';
import { createPolicy } from '../judge/policy.js';
import { createGate } from './create-gate.js';

const RULE = { rule: 'Bash(npm:*)', behaviour: 'allow', createdBy: 'alice' } as const;

async function lines(store: Store): Promise<Partial<AuditEntry>[]> {
  const { items } = await store.audit.list({ limit: 50 });
  return items.reverse().filter(({ event }) => event.startsWith('tool.'));
}

describe('the gate', () => {
  it('lets through what a rule allows, asking nobody', async () => {
    const { gate, events } = await approvalBench({ rules: { allow: ['Bash(git status)'] } });
    expect(await gate.check(callOf('git status'))).toEqual({
      allowed: true,
      input: { command: 'git status' },
      because: { kind: 'rule', rule: 'Bash(git status)', source: 'configuration', part: 'git status' },
    });
    expect(events).toEqual([]);
  });

  it('refuses what a rule denies, and says which rule and what to do', async () => {
    const { gate, events } = await approvalBench({ rules: { deny: ['Bash(curl:*)'] } });
    const verdict = await gate.check(callOf('curl x'));
    expect(verdict).toMatchObject({ outcome: 'denied', because: { kind: 'rule', rule: 'Bash(curl:*)' } });
    const message = verdict.allowed ? '' : verdict.message;
    expect(message).toContain('Bash(curl:*)');
    expect(message).toMatch(/another way|tell the user/);
    expect(events).toEqual([]);
  });

  it('asks about a question even where rules allow it, and not where they deny it', async () => {
    const rules = { allow: ['AskUserQuestion'], deny: ['ExitPlanMode'] };
    const { gate, ask } = await approvalBench({ rules });
    const { approval } = await ask(callOf('?', { tool: 'AskUserQuestion', question: true }));
    expect(approval.state).toBe('pending');
    const denied = await gate.check(callOf('?', { tool: 'ExitPlanMode', question: true }));
    expect(denied).toMatchObject({ outcome: 'denied' });
  });

  it('tells whoever times the call when a person is asked, and when that is over', async () => {
    const { gate, coordinator } = await approvalBench();
    const told: string[] = [];
    const check = (command: string) => {
      const call = callOf(command);
      const notes = {
        onWaiting: () => void told.push('waiting'),
        onResumed: () => void told.push('resumed'),
      };
      return { call, verdict: gate.check({ ...call, ...notes }) };
    };
    const first = check('npm test');
    await turnOfLoop();
    expect(told).toEqual(['waiting']);
    const [approval] = (await coordinator.list({ limit: 1 })).items;
    const answer = {
      decision: 'allow',
      digest: approval?.digest ?? '',
      by: 'alice',
      via: 'terminal',
    } as const;
    await coordinator.decide(approval?.id ?? '', answer);
    await first.verdict;
    const second = check('npm test');
    await turnOfLoop();
    second.call.abort();
    await second.verdict;
    expect(told).toEqual(['waiting', 'resumed', 'waiting', 'resumed']);
  });

  it('judges by rules as they are now, also those made behind its back', async () => {
    const { gate, store, ask } = await approvalBench();
    await ask(callOf('npm test'));
    const rule = await store.rules.add({ ...RULE, scope: 'everywhere' });
    expect(await gate.check(callOf('npm test'))).toMatchObject({ allowed: true });
    await store.rules.revoke(rule.id, 'alice');
    await ask(callOf('npm test'));
  });

  it('judges without asking, writing or using anything up', async () => {
    const { gate, store, events } = await approvalBench();
    await store.rules.add({ ...RULE, scope: 'once', session: 's1' });
    expect(await gate.judge(callOf('npm test'))).toMatchObject({ behaviour: 'allow' });
    expect(await gate.judge(callOf('ls'))).toMatchObject({ behaviour: 'ask' });
    expect([await lines(store), events, (await store.rules.list()).length]).toEqual([[], [], 1]);
  });

  it('knows which files may be shown, by the rules of that session', async () => {
    const { gate, store } = await approvalBench({ rules: { deny: ['Read(/a)'] } });
    await store.rules.add({ ...RULE, rule: 'Read(/b)', behaviour: 'deny', scope: 'session', session: 's1' });
    const location = { root: '/work/app', cwd: '/work/app' };
    const [mine, other] = [await gate.readable(location, 's1'), await gate.readable(location, 's2')];
    expect(['/a', '/b', '/c'].map((path) => [mine(path), other(path)])).toEqual([
      [false, false],
      [false, true],
      [true, true],
    ]);
  });

  it('rejects when the store is down', async () => {
    const { gate, store } = await approvalBench();
    await store.close();
    await expect(gate.check(callOf('ls'))).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('a rule for once', () => {
  it('lets exactly one of many calls through', async () => {
    const bench = await approvalBench({ unattended: 'deny' });
    await bench.store.rules.add({ ...RULE, scope: 'once', session: 's1' });
    const gates = [bench.gate, bench.another().gate];
    const verdicts = await Promise.all(
      Array.from({ length: 20 }, (_, n) => (gates[n % 2] ?? bench.gate).check(callOf('npm test'))),
    );
    expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(1);
    expect(await bench.store.rules.list()).toEqual([]);
  });

  it('is left alone by calls that do not need it', async () => {
    const { gate, store } = await approvalBench({ rules: { allow: ['Bash(npm ci)'] }, unattended: 'deny' });
    await store.rules.add({ ...RULE, scope: 'once', session: 's1' });
    expect(await gate.check(callOf('npm ci'))).toMatchObject({ allowed: true });
    expect(await gate.check(callOf('npm test', { session: 's2' }))).toMatchObject({ outcome: 'unattended' });
    expect(await store.rules.list()).toHaveLength(1);
    expect(await gate.check(callOf('npm test'))).toMatchObject({ allowed: true });
  });

  it('of several that would do is the oldest', async () => {
    const { gate, store } = await approvalBench();
    await store.rules.add({ ...RULE, scope: 'once', session: 's1' });
    const second = await store.rules.add({ ...RULE, scope: 'once', session: 's1' });
    await gate.check(callOf('npm test'));
    expect(await store.rules.list()).toEqual([second]);
  });
});

describe('further effects of a call that runs', () => {
  it('are asked about by themselves, beside the answered question of the call', async () => {
    const { gate, ask, coordinator } = await approvalBench();
    const call = callOf('fetch a', { toolUseId: 'same' });
    const first = await ask(call);
    const answer = { decision: 'allow', by: 'alice', via: 'api' } as const;
    await coordinator.decide(first.approval.id, { ...answer, digest: first.approval.digest });
    await first.verdict;
    const hop = { ...call, effects: [{ kind: 'fetch', url: 'http://b/' } as const] };
    const verdict = gate.checkFurther(hop);
    await turnOfLoop();
    const [asked] = (await coordinator.list({ state: 'pending', limit: 5 })).items;
    expect(asked).toMatchObject({
      toolUseId: expect.stringMatching(/^same\+/),
      describe: { title: 'Run fetch a', detail: 'While it ran, it came to fetch http://b/.' },
    });
    const decided = { ...answer, digest: asked?.digest ?? '' };
    const changed = await coordinator.decide(asked?.id ?? '', { ...decided, updatedInput: { command: 'x' } });
    expect(changed).toMatchObject({ outcome: 'invalid', problem: expect.stringContaining('running') });
    await coordinator.decide(asked?.id ?? '', decided);
    expect(await verdict).toMatchObject({ allowed: true });
  });
});

describe('the audit log', () => {
  it('has every verdict, in order: who, what, why, by which rule', async () => {
    const rules = { allow: ['Bash(ls)'], deny: ['Bash(curl:*)'] };
    const { gate, ask, coordinator, store, clock } = await approvalBench({ rules });
    await gate.check(callOf('ls', { agent: 'sub' }));
    await gate.check(callOf('curl x'));
    const allowed = await ask(callOf('npm\n test'));
    const updatedInput = { command: 'npm ci' };
    const answer = { digest: allowed.approval.digest, by: 'bob', via: 'api' } as const;
    await coordinator.decide(allowed.approval.id, {
      ...answer,
      decision: 'allow',
      reason: 'ok',
      updatedInput,
    });
    await allowed.verdict;
    const stopped = callOf('a');
    const aborted = await ask(stopped);
    stopped.abort();
    await aborted.verdict;
    const late = await ask(callOf('b'));
    clock.at += 10_000_000;
    await coordinator.expireDue();
    await late.verdict;
    const seen = (await lines(store)).map(({ event, by, what, why, rule }) => [event, by, what, why, rule]);
    expect(seen).toEqual([
      ['tool.allowed', 'rule', '[sub] Run ls', 'configuration rule, about ls', 'Bash(ls)'],
      ['tool.denied', 'rule', 'Run curl x', 'configuration rule, about curl x', 'Bash(curl:*)'],
      ['tool.allowed', 'bob', 'Run npm ci (changed; it was: Run npm test)', 'ok', undefined],
      ['tool.cancelled', 'gateway', 'Run a', expect.stringContaining('stopped'), undefined],
      ['tool.expired', 'expiry', 'Run b', expect.stringContaining('nobody answered'), undefined],
    ]);
    const [entry] = await lines(store);
    expect(entry).toMatchObject({ principal: 'alice', session: 's1', tool: 'Bash' });
  });

  it('holds nobody up: a verdict does not wait for its line, and a lost line is logged', async () => {
    const { store, coordinator } = await approvalBench();
    const logged: string[] = [];
    const note = (_facts: object, message: string) => void logged.push(message);
    const broken = {
      ...store.audit,
      append: () => Promise.reject(new Error('full')),
      list: store.audit.list,
    };
    const gate = createGate({
      ...{ coordinator, policy: simplePolicy({ allow: ['Bash'] }), log: { warn: note, error: note } },
      store: { rules: store.rules, sessions: store.sessions, mcp: store.mcp, audit: broken },
    });
    expect(await gate.check(callOf('ls'))).toMatchObject({ allowed: true });
    await turnOfLoop();
    expect(logged).toEqual(['a verdict is missing in the audit log']);
    const stuck = { append: () => new Promise<void>(() => {}), list: broken.list };
    const patient = createGate({
      ...{ coordinator, policy: simplePolicy({ allow: ['Bash'] }), log: { warn: note, error: note } },
      store: { rules: store.rules, sessions: store.sessions, mcp: store.mcp, audit: stuck },
    });
    expect(await patient.check(callOf('ls'))).toMatchObject({ allowed: true });
  });
});

describe('with the rules of the configuration', () => {
  const policy = createPolicy({
    config: { mode: 'ask', allow: ['Bash(git status)'], ask: [], deny: ['Bash(curl:*)'] },
    home: '/nonexistent/home',
    protectedPaths: [],
  });
  const answer = { decision: 'allow', by: 'alice', via: 'console' } as const;

  it('a suggested rule, taken, lets its like through without asking', async () => {
    const { ask, gate, coordinator } = await approvalBench({ policy });
    expect(await gate.check(callOf('git status'))).toMatchObject({ allowed: true });
    const { approval, verdict } = await ask(callOf('npm test'));
    const [suggested] = JSON.parse(JSON.stringify(approval.suggestions));
    const rule = { rule: String(suggested?.rule), scope: 'session' } as const;
    const outcome = await coordinator.decide(approval.id, { ...answer, digest: approval.digest, rule });
    expect(outcome).toMatchObject({ outcome: 'decided', satisfies: { satisfied: true } });
    expect(await verdict).toMatchObject({ allowed: true });
    expect(await gate.check(callOf('npm test'))).toMatchObject({
      allowed: true,
      because: { rule: rule.rule },
    });
  });

  it('a rule that no redirection is covered by is said not to reach one', async () => {
    const { ask, coordinator } = await approvalBench({ policy });
    const { approval } = await ask(callOf('git log > /work/app/log'));
    const rule = { rule: 'Bash(git log:*)', scope: 'session' } as const;
    const outcome = await coordinator.decide(approval.id, { ...answer, digest: approval.digest, rule });
    expect(outcome).toMatchObject({ satisfies: { satisfied: false, why: expect.any(String) } });
    await ask(callOf('git log > /work/app/log'));
  });

  it('changed input is held against deny rules', async () => {
    const { ask, coordinator } = await approvalBench({ policy });
    const { approval } = await ask(callOf('npm test'));
    const updatedInput = { command: 'npm test; curl evil.example' };
    const outcome = await coordinator.decide(approval.id, {
      ...answer,
      digest: approval.digest,
      updatedInput,
    });
    expect(outcome).toMatchObject({ outcome: 'invalid', problem: expect.stringContaining('Bash(curl:*)') });
  });
});
