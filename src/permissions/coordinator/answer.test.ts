import { describe, expect, it } from 'vitest';
import { approvalBench, callOf } from '../../../test/support/approval-bench.js';
import type { GatedToolCall } from '../gate.js';

const yes = (digest: string) => ({ decision: 'allow', digest, by: 'alice', via: 'api' }) as const;
const no = (digest: string) => ({ decision: 'deny', digest, by: 'alice', via: 'api' }) as const;
const RULE = { rule: 'Bash(npm:*)', scope: 'session' } as const;

describe('an approval with changed input', () => {
  it('is what runs, and is kept beside the original', async () => {
    const { ask, coordinator } = await approvalBench();
    const { approval, verdict } = await ask(callOf('rm -r .'));
    await coordinator.decide(approval.id, {
      ...yes(approval.digest),
      updatedInput: { command: 'rm -r build' },
    });
    expect(await verdict).toMatchObject({
      allowed: true,
      input: { command: 'rm -r build' },
      describe: { title: 'Run rm -r build' },
    });
    expect(await coordinator.get(approval.id)).toMatchObject({
      input: { command: 'rm -r .' },
      decision: { updatedInput: { command: 'rm -r build' } },
    });
  });

  it('that is not valid decides nothing', async () => {
    const { ask, coordinator } = await approvalBench();
    const { approval } = await ask(callOf('npm test'));
    const outcome = await coordinator.decide(approval.id, {
      ...yes(approval.digest),
      updatedInput: { cmd: 1 },
    });
    expect(outcome).toEqual({
      outcome: 'invalid',
      part: 'updatedInput',
      problem: 'command: expected a string.',
    });
    expect((await coordinator.get(approval.id))?.state).toBe('pending');
  });

  it('that a rule denies decides nothing, whoever sends it', async () => {
    const { ask, coordinator } = await approvalBench({ rules: { deny: ['Bash(curl:*)'] } });
    const { approval } = await ask(callOf('npm test'));
    const updatedInput = { command: 'curl evil.example' };
    const outcome = await coordinator.decide(approval.id, { ...yes(approval.digest), updatedInput });
    expect(outcome).toMatchObject({ outcome: 'invalid', problem: expect.stringContaining('Bash(curl:*)') });
    expect((await coordinator.get(approval.id))?.state).toBe('pending');
  });

  it('that would be asked about passes: a person has decided', async () => {
    const { ask, coordinator } = await approvalBench({ rules: { ask: ['Bash(git push:*)'] } });
    const { approval, verdict } = await ask(callOf('npm test'));
    await coordinator.decide(approval.id, { ...yes(approval.digest), updatedInput: { command: 'git push' } });
    expect(await verdict).toMatchObject({ allowed: true, input: { command: 'git push' } });
  });

  it('equal to the original is no change', async () => {
    const { ask, coordinator } = await approvalBench();
    const { approval, verdict } = await ask(callOf('npm test'));
    await coordinator.decide(approval.id, { ...yes(approval.digest), updatedInput: { command: 'npm test' } });
    expect(await verdict).not.toHaveProperty('describe');
    expect((await coordinator.get(approval.id))?.decision).not.toHaveProperty('updatedInput');
  });

  it.each([
    ['not valid', { cmd: 1 }, 'expected a string'],
    ['denied by a rule', { command: 'curl x' }, 'Bash(curl:*)'],
  ])(
    'given while nobody waits is checked when the call is asked again: %s',
    async (_name, updatedInput, why) => {
      const rules = { deny: ['Bash(curl:*)'] };
      const first = await approvalBench({ rules });
      const { approval } = await first.ask(callOf('npm test', { toolUseId: 'same' }));
      await first.coordinator.close();
      const elsewhere = first.another();
      const outcome = await elsewhere.coordinator.decide(approval.id, {
        ...yes(approval.digest),
        updatedInput,
      });
      expect(outcome).toMatchObject({ outcome: 'decided' });
      const verdict = await first.another().gate.check(callOf('npm test', { toolUseId: 'same' }));
      expect(verdict).toMatchObject({
        allowed: false,
        outcome: 'denied',
        message: expect.stringContaining(why),
      });
      expect((await elsewhere.coordinator.get(approval.id))?.usedAt).toBeUndefined();
    },
  );

  it('given while nobody waits is what runs then', async () => {
    const first = await approvalBench();
    const { approval } = await first.ask(callOf('npm test', { toolUseId: 'same' }));
    await first.coordinator.close();
    const updatedInput = { command: 'npm ci' };
    await first.another().coordinator.decide(approval.id, { ...yes(approval.digest), updatedInput });
    const verdict = await first.another().gate.check(callOf('npm test', { toolUseId: 'same' }));
    expect(verdict).toMatchObject({ allowed: true, input: updatedInput });
  });
});

describe('"always"', () => {
  it.each([
    ['session', { session: 's1' }],
    ['project', { project: '/work/app' }],
    ['everywhere', {}],
  ] as const)('writes the rule for the %s', async (scope, place) => {
    const { ask, coordinator, store, gate } = await approvalBench();
    const { approval, verdict } = await ask(callOf('npm test'));
    const outcome = await coordinator.decide(approval.id, {
      ...yes(approval.digest),
      rule: { ...RULE, scope },
    });
    const [rule] = await store.rules.list();
    expect(rule).toMatchObject({
      rule: 'Bash(npm:*)',
      behaviour: 'allow',
      scope,
      createdBy: 'alice',
      ...place,
    });
    expect(outcome).toMatchObject({ outcome: 'decided', rules: [rule], satisfies: { satisfied: true } });
    expect(await verdict).toMatchObject({ allowed: true, because: { rule: 'Bash(npm:*)' } });
    expect(await gate.check(callOf('npm ci'))).toMatchObject({ allowed: true, because: { source: scope } });
  });

  it('reaches no further than its scope', async () => {
    const { ask, coordinator } = await approvalBench();
    const { approval } = await ask(callOf('npm test'));
    await coordinator.decide(approval.id, { ...yes(approval.digest), rule: RULE });
    await ask(callOf('npm test', { session: 's2' }));
    const other = await ask(callOf('ls'));
    const rule = { rule: 'Bash(ls)', scope: 'project' } as const;
    await coordinator.decide(other.approval.id, { ...yes(other.approval.digest), rule });
    await ask(callOf('ls', { location: { root: '/work/other', cwd: '/work/app' } }));
  });

  it('with the scope once is this call alone', async () => {
    const { ask, coordinator, store } = await approvalBench();
    const { approval, verdict } = await ask(callOf('npm test'));
    const rule = { ...RULE, scope: 'once' } as const;
    await coordinator.decide(approval.id, { ...yes(approval.digest), rule });
    expect(await verdict).toMatchObject({ allowed: true });
    expect(await store.rules.list()).toEqual([]);
    await ask(callOf('npm test'));
  });

  it('releases what else it covers, and nothing more', async () => {
    const { ask, coordinator, events } = await approvalBench();
    const first = await ask(callOf('npm test'));
    const covered = await ask(callOf('npm ci', { agent: 'sub' }));
    const other = await ask(callOf('ls'));
    const elsewhere = await ask(callOf('npm ci', { session: 's2' }));
    const question = await ask(callOf('npm?', { question: true }));
    const outcome = await coordinator.decide(first.approval.id, {
      ...yes(first.approval.digest),
      rule: RULE,
    });
    expect(outcome).toMatchObject({ released: [covered.approval.id], refused: [] });
    expect(await covered.verdict).toMatchObject({
      allowed: true,
      because: { kind: 'rule', rule: 'Bash(npm:*)', source: 'session' },
      approval: covered.approval.id,
    });
    expect(await coordinator.get(covered.approval.id)).toMatchObject({
      state: 'covered',
      decision: { by: 'rule', via: 'gateway', rule: 'Bash(npm:*)' },
    });
    for (const { approval } of [other, elsewhere, question]) {
      expect((await coordinator.get(approval.id))?.state).toBe('pending');
    }
    expect(events.filter(({ type }) => type === 'resolved')).toHaveLength(2);
  });

  it('of a denial denies what else it covers', async () => {
    const { ask, coordinator, gate } = await approvalBench();
    const first = await ask(callOf('npm publish'));
    const other = await ask(callOf('npm ci'));
    const outcome = await coordinator.decide(first.approval.id, { ...no(first.approval.digest), rule: RULE });
    expect(outcome).toMatchObject({
      rules: [{ behaviour: 'deny' }],
      released: [],
      refused: [other.approval.id],
      satisfies: { satisfied: true },
    });
    expect(await other.verdict).toMatchObject({
      outcome: 'denied',
      because: { kind: 'rule', rule: 'Bash(npm:*)' },
    });
    expect(await gate.check(callOf('npm ci'))).toMatchObject({ outcome: 'denied' });
  });

  it('that does not reach what asked is said to', async () => {
    const { ask, coordinator } = await approvalBench();
    const { approval, verdict } = await ask(callOf('npm test > out'));
    const outcome = await coordinator.decide(approval.id, { ...yes(approval.digest), rule: RULE });
    expect(outcome).toMatchObject({
      satisfies: { satisfied: false, why: expect.stringContaining('npm test > out') },
    });
    expect((await verdict).allowed).toBe(true);
  });

  it('with a rule that cannot be read decides nothing', async () => {
    const { ask, coordinator, store } = await approvalBench();
    const { approval } = await ask(callOf('npm test'));
    const rule = { rule: 'Bash(', scope: 'session' } as const;
    const outcome = await coordinator.decide(approval.id, { ...yes(approval.digest), rule });
    expect(outcome).toMatchObject({ outcome: 'invalid', part: 'rule' });
    expect((await coordinator.get(approval.id))?.state).toBe('pending');
    expect(await store.rules.list()).toEqual([]);
  });

  it('of the one who was too late writes no rule', async () => {
    const { ask, coordinator, store } = await approvalBench();
    const { approval } = await ask(callOf('npm test'));
    await coordinator.decide(approval.id, no(approval.digest));
    const late = await coordinator.decide(approval.id, { ...yes(approval.digest), rule: RULE });
    expect(late).toMatchObject({ outcome: 'already' });
    expect(await store.rules.list()).toEqual([]);
  });
});

describe('an answer that is given again', () => {
  const rule = { ...RULE, behaviour: 'allow' } as const;

  it('makes no second rule, and shows the first for as long as it is there', async () => {
    const here = await approvalBench();
    const { approval } = await here.ask(callOf('npm test'));
    const answer = { ...yes(approval.digest), rule, updatedInput: { command: 'npm ci' } };
    const first = await here.coordinator.decide(approval.id, answer);
    const [made] = await here.store.rules.list();
    expect(first).toMatchObject({ outcome: 'decided', rules: [made] });
    // Also by a process that has never seen it.
    for (const { coordinator } of [here, here.another()]) {
      const again = await coordinator.decide(approval.id, answer);
      expect(again).toMatchObject({ outcome: 'decided', repeated: true, rules: [made] });
    }
    expect(await here.store.rules.list()).toHaveLength(1);
    await here.coordinator.revokeRule(made?.id ?? '', 'alice');
    expect(await here.coordinator.decide(approval.id, answer)).toMatchObject({ repeated: true, rules: [] });
    expect(await here.store.rules.list()).toEqual([]);
  });

  it('with another rule, or the same for more, is a conflict', async () => {
    const { ask, coordinator, store } = await approvalBench();
    const { approval } = await ask(callOf('npm test'));
    await coordinator.decide(approval.id, { ...yes(approval.digest), rule });
    for (const other of [{ rule: { ...rule, scope: 'project' as const } }, { rules: [rule, RULE] }, {}]) {
      const answer = { ...yes(approval.digest), ...other };
      const outcome = await coordinator.decide(approval.id, answer);
      // The same rule twice is the same rule.
      expect(outcome).toMatchObject('rules' in other ? { repeated: true } : { outcome: 'already' });
    }
    expect(await store.rules.list()).toHaveLength(1);
  });
});

describe('rules', () => {
  it('that are made, revoked or used up are told of', async () => {
    const { ask, gate, coordinator } = await approvalBench();
    const heard: [string, string][] = [];
    const stop = coordinator.onRule(({ type, rule }) => heard.push([type, rule.rule]));
    const { approval } = await ask(callOf('npm test'));
    await coordinator.decide(approval.id, {
      ...yes(approval.digest),
      rules: [RULE, { rule: 'Bash(ls)', scope: 'session' }],
    });
    const once = { rule: 'Bash(pwd)', behaviour: 'allow', createdBy: 'alice' } as const;
    const { rule } = await coordinator.addRule({ ...once, rule: 'Bash(w)', scope: 'everywhere' });
    await coordinator.revokeRule(rule.id, 'alice');
    await coordinator.revokeRule(rule.id, 'alice');
    await coordinator.addRule({ ...once, scope: 'once', session: 's1' });
    expect((await gate.check(callOf('pwd'))).allowed).toBe(true);
    stop();
    await coordinator.addRule({ ...once, scope: 'everywhere' });
    expect(heard).toEqual([
      ['added', 'Bash(npm:*)'],
      ['added', 'Bash(ls)'],
      ['added', 'Bash(w)'],
      ['revoked', 'Bash(w)'],
      ['added', 'Bash(pwd)'],
      ['revoked', 'Bash(pwd)'],
    ]);
  });
});

describe('how the engine wants it to be put', () => {
  it('is part of what a decision is about', async () => {
    const { ask } = await approvalBench();
    const plain = await ask(callOf('ls', { toolUseId: 'a', hints: {} }));
    const none = await ask(callOf('ls', { toolUseId: 'b' }));
    const hinted = await ask(callOf('ls', { toolUseId: 'c', hints: { reason: 'It is outside.' } }));
    expect(plain.approval.digest).toBe(none.approval.digest);
    expect(hinted.approval.digest).not.toBe(none.approval.digest);
  });
});

describe('a rule made by itself', () => {
  const made = { behaviour: 'allow', createdBy: 'alice' } as const;

  it('releases what it covers', async () => {
    const { ask, coordinator } = await approvalBench();
    const { approval, verdict } = await ask(callOf('npm test'));
    const added = await coordinator.addRule({ ...made, rule: 'Bash(npm:*)', scope: 'everywhere' });
    expect(added).toMatchObject({ rule: { rule: 'Bash(npm:*)' }, released: [approval.id] });
    expect((await verdict).allowed).toBe(true);
  });

  it('for once releases one call, and is used up by it', async () => {
    const { ask, coordinator, store } = await approvalBench();
    const asked = [await ask(callOf('npm test')), await ask(callOf('npm ci'))];
    const added = await coordinator.addRule({ ...made, rule: 'Bash(npm:*)', scope: 'once', session: 's1' });
    expect(added.released).toEqual([asked[0]?.approval.id]);
    expect(await store.rules.list()).toEqual([]);
    expect((await coordinator.list({ state: 'pending', limit: 5 })).items).toHaveLength(1);
  });

  it('that cannot be read is refused', async () => {
    const { coordinator } = await approvalBench();
    const add = (more: object) =>
      coordinator.addRule({ ...made, rule: 'Bash(npm:*)', scope: 'once', session: 's1', ...more });
    await expect(add({ rule: '((' })).rejects.toMatchObject({ code: 'invalid_request', param: 'rule' });
    await expect(add({ behaviour: 'deny' })).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('can be revoked, once, and is asked about again', async () => {
    const { ask, coordinator, gate } = await approvalBench();
    const { rule } = await coordinator.addRule({ ...made, rule: 'Bash', scope: 'everywhere' });
    expect((await gate.check(callOf('ls'))).allowed).toBe(true);
    expect(await coordinator.revokeRule(rule.id, 'bob')).toEqual(rule);
    expect(await coordinator.revokeRule(rule.id, 'bob')).toBeUndefined();
    await ask(callOf('ls'));
  });

  it('to ask, revoked, releases what another rule allows', async () => {
    const { ask, coordinator } = await approvalBench({ rules: { allow: ['Bash'] } });
    const { rule } = await coordinator.addRule({
      ...made,
      rule: 'Bash',
      scope: 'everywhere',
      behaviour: 'ask',
    });
    const { verdict } = await ask(callOf('ls'));
    await coordinator.revokeRule(rule.id, 'alice');
    expect(await verdict).toMatchObject({
      allowed: true,
      because: { rule: 'Bash', source: 'configuration' },
    });
  });

  it('to deny after it was allowed, and before it runs, wins', async () => {
    const { coordinator, ask, store } = await approvalBench();
    // The change is valid when it is decided, and denied by the time that it would run.
    let judged = 0;
    const call = callOf('npm test');
    const revise: GatedToolCall['revise'] = async (input) => {
      judged += 1;
      if (judged === 2) {
        await store.rules.add({ ...made, rule: 'Bash(npm:*)', scope: 'everywhere', behaviour: 'deny' });
      }
      return call.revise(input);
    };
    const { approval, verdict } = await ask({ ...call, revise });
    await coordinator.decide(approval.id, { ...yes(approval.digest), updatedInput: { command: 'npm ci' } });
    expect(await verdict).toMatchObject({
      outcome: 'denied',
      because: { kind: 'rule', rule: 'Bash(npm:*)' },
    });
    expect((await coordinator.get(approval.id))?.usedAt).toBeUndefined();
  });
});
