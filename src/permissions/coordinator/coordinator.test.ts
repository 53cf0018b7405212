import { describe, expect, it } from 'vitest';
import { approvalBench, callOf, START, TIMEOUT_MS } from '../../../test/support/approval-bench.js';
import { turnOfLoop } from '../../../test/support/gate.js';
import { GatewayError } from '../../core/errors.js';
import { StopError } from '../../core/stopping.js';

const yes = (digest: string, by = 'alice') => ({ decision: 'allow', digest, by, via: 'api' }) as const;
const no = (digest: string, by = 'bob') => ({ decision: 'deny', digest, by, via: 'console' }) as const;

describe('asking', () => {
  it('is stored with what is shown before anyone hears of it', async () => {
    const { ask, events, store } = await approvalBench();
    const { approval } = await ask(callOf('npm test', { agent: 'sub-1' }));
    expect(events).toEqual([{ type: 'requested', approval }]);
    expect(approval).toMatchObject({
      session: 's1',
      principal: 'alice',
      agent: 'sub-1',
      tool: 'Bash',
      input: { command: 'npm test' },
      describe: { title: 'Run npm test', asked: { why: 'No rule is about "npm test".' } },
      suggestions: [{ rule: 'Bash(npm test)' }],
      expiresAt: START + TIMEOUT_MS,
      state: 'pending',
    });
    expect(await store.approvals.get(approval.id)).toEqual(approval);
  });

  it('runs what was allowed, once, and says who allowed it', async () => {
    const { ask, coordinator, events, store } = await approvalBench();
    const { approval, verdict } = await ask(callOf('npm test'));
    const outcome = await coordinator.decide(approval.id, { ...yes(approval.digest), reason: 'fine' });
    expect(outcome).toMatchObject({ outcome: 'decided', approval: { state: 'allowed' }, released: [] });
    expect(await verdict).toEqual({
      allowed: true,
      input: { command: 'npm test' },
      because: { kind: 'person', by: 'alice', via: 'api', reason: 'fine' },
      approval: approval.id,
    });
    expect((await store.approvals.get(approval.id))?.usedAt).toBe(START);
    expect(await store.approvals.use(approval.id)).toBe(false);
    expect(events.map(({ type }) => type)).toEqual(['requested', 'resolved']);
  });

  it('passes on the reason of a denial', async () => {
    const { ask, coordinator } = await approvalBench();
    const { approval, verdict } = await ask(callOf('rm -r src'));
    await coordinator.decide(approval.id, { ...no(approval.digest), reason: 'Use git clean' });
    const refused = await verdict;
    expect(refused).toMatchObject({
      allowed: false,
      outcome: 'denied',
      because: { kind: 'person', by: 'bob', via: 'console', reason: 'Use git clean' },
    });
    expect(!refused.allowed && refused.message).toMatch(/"bob" refused.*They said: Use git clean\./);
  });

  it('takes the first decision and tells the others who and what', async () => {
    const { ask, coordinator, events } = await approvalBench();
    const { approval, verdict } = await ask(callOf('npm test'));
    const { id, digest } = approval;
    const outcomes = await Promise.all([
      coordinator.decide(id, no(digest)),
      coordinator.decide(id, yes(digest)),
      coordinator.decide(id, yes(digest, 'carol')),
    ]);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['decided', 'already', 'already']);
    expect(outcomes[1]).toMatchObject({ approval: { state: 'denied', decision: { by: 'bob' } } });
    expect(events.filter(({ type }) => type === 'resolved')).toHaveLength(1);
    expect(await verdict).toMatchObject({ outcome: 'denied' });
  });

  it('takes no decision about something else than was shown, and none about nothing', async () => {
    const { ask, coordinator } = await approvalBench();
    const { approval } = await ask(callOf('npm test'));
    expect(await coordinator.decide(approval.id, yes('other'))).toMatchObject({ outcome: 'mismatch' });
    expect(await coordinator.decide('apr_none', yes('other'))).toEqual({ outcome: 'unknown' });
    expect((await coordinator.get(approval.id))?.state).toBe('pending');
  });

  it('answers a repeated decision as before, and one that differs as a conflict', async () => {
    const { ask, coordinator } = await approvalBench();
    const { approval } = await ask(callOf('npm test'));
    const { id, digest } = approval;
    const answer = { ...yes(digest), reason: 'ok', updatedInput: { command: 'npm ci' } };
    await coordinator.decide(id, answer);
    expect(await coordinator.decide(id, answer)).toMatchObject({ outcome: 'decided', repeated: true });
    for (const other of [
      { ...answer, reason: 'hm' },
      { ...answer, via: 'console' as const },
      { ...answer, by: 'bob' },
      { ...answer, updatedInput: { command: 'ls' } },
      { ...answer, rule: { rule: 'Bash', scope: 'session' as const } },
      no(digest, 'alice'),
    ]) {
      expect(await coordinator.decide(id, other)).toMatchObject({ outcome: 'already' });
    }
  });

  it('binds the digest to the input, the place and what is shown', async () => {
    const { ask } = await approvalBench();
    const digest = async (more: object) => (await ask(callOf('ls', more))).approval.digest;
    const describe = { title: 'Run ls', kind: 'command', paths: [], command: 'ls', diff: '+1' } as const;
    const digests = await Promise.all([
      digest({}),
      digest({ session: 's2' }),
      digest({ principal: 'bob' }),
      digest({ agent: 'a' }),
      digest({ tool: 'Shell' }),
      digest({ input: { command: 'ls', timeout: 1 } }),
      digest({ location: { root: '/work/app', cwd: '/work/app/src' } }),
      digest({ describe }),
    ]);
    expect(new Set(digests).size).toBe(digests.length);
    expect(await digest({})).toBe(digests[0]);
  });
});

describe('a listener of approvals', () => {
  it('that throws is logged, and the others still hear', async () => {
    const { ask, coordinator, events, logged } = await approvalBench();
    coordinator.subscribe(() => {
      throw new Error('broken');
    });
    const heard: string[] = [];
    const stop = coordinator.subscribe(({ type }) => void heard.push(type));
    await ask(callOf('ls'));
    stop();
    await ask(callOf('ls'));
    expect([events.length, heard, logged.length]).toEqual([2, ['requested'], 2]);
  });
});

describe('time', () => {
  it('runs out honestly: no answer is not a refusal', async () => {
    const { ask, coordinator, clock } = await approvalBench();
    const { approval, verdict } = await ask(callOf('npm test'));
    clock.at += TIMEOUT_MS;
    await coordinator.expireDue();
    const expired = await verdict;
    expect(expired).toMatchObject({ allowed: false, outcome: 'expired', because: { kind: 'expiry' } });
    const message = expired.allowed ? '' : expired.message;
    expect(message).toContain('nobody answered the request for approval within 30 minutes');
    expect(message).toContain('not a refusal');
    expect(message).not.toMatch(/denied|refused/);
    expect(await coordinator.decide(approval.id, yes(approval.digest))).toMatchObject({ outcome: 'expired' });
  });

  it('is up also for the one who decides too late', async () => {
    const { ask, coordinator, clock, events } = await approvalBench();
    const { approval, verdict } = await ask(callOf('npm test'));
    clock.at += TIMEOUT_MS;
    expect(await coordinator.decide(approval.id, yes(approval.digest))).toMatchObject({ outcome: 'expired' });
    expect(await verdict).toMatchObject({ outcome: 'expired' });
    expect(events.at(-1)).toMatchObject({ type: 'resolved', approval: { state: 'expired' } });
  });

  it('goes off by itself at the next expiry', async () => {
    const { ask, clock } = await approvalBench({ timeoutMs: 1 });
    const { verdict } = await ask(callOf('npm test'));
    clock.at += 1;
    expect(await verdict).toMatchObject({ outcome: 'expired' });
  });

  it('is extended by the whole time-out from now, and never shortened', async () => {
    const { ask, coordinator, clock, events } = await approvalBench();
    const { approval, verdict } = await ask(callOf('npm test'));
    clock.at += TIMEOUT_MS - 1;
    const by = { name: 'alice', via: 'api' };
    expect(await coordinator.extend(approval.id, by)).toMatchObject({
      outcome: 'extended',
      approval: { expiresAt: clock.at + TIMEOUT_MS },
    });
    expect(events.at(-1)?.type).toBe('updated');
    clock.at += TIMEOUT_MS - 1;
    await coordinator.expireDue();
    expect((await coordinator.get(approval.id))?.state).toBe('pending');
    clock.at += 1;
    expect(await coordinator.extend(approval.id, by)).toMatchObject({ outcome: 'expired' });
    expect(await verdict).toMatchObject({ outcome: 'expired' });
    expect(await coordinator.extend('apr_none', by)).toEqual({ outcome: 'unknown' });
  });

  it('does not run for a question to the user', async () => {
    const { ask, coordinator, clock } = await approvalBench();
    const { approval, verdict } = await ask(callOf('which?', { tool: 'AskUserQuestion', question: true }));
    expect([approval.expiresAt, approval.suggestions]).toEqual([undefined, []]);
    clock.at += 100 * TIMEOUT_MS;
    await coordinator.expireDue();
    expect((await coordinator.get(approval.id))?.state).toBe('pending');
    await coordinator.decide(approval.id, { ...yes(approval.digest), updatedInput: { command: 'this' } });
    expect(await verdict).toMatchObject({ allowed: true, input: { command: 'this' } });
  });
});

describe('with nobody there', () => {
  it('refuses at once, says what to add and where to connect, and keeps nothing', async () => {
    const { gate, coordinator } = await approvalBench({ unattended: 'deny' });
    const verdict = await gate.check(callOf('npm test'));
    expect(verdict).toMatchObject({ outcome: 'unattended', because: { kind: 'unattended' } });
    const message = verdict.allowed ? '' : verdict.message;
    expect(message).toContain('"Bash(npm test)"');
    expect(message).toContain('permissions.allow');
    expect(message).toContain('/api/approvals');
    expect(message).toContain('not a refusal');
    expect((await coordinator.list({ limit: 5 })).items).toEqual([]);
  });

  it('answers a question as not asked, instead of waiting without end', async () => {
    const { gate } = await approvalBench({ unattended: 'deny' });
    const verdict = await gate.check(callOf('which?', { question: true }));
    expect(verdict).toMatchObject({ outcome: 'unattended' });
    expect(verdict.allowed ? '' : verdict.message).toMatch(/was not asked.*assumption/);
  });

  it('waits where that is configured', async () => {
    const { ask } = await approvalBench({ unattended: 'wait' });
    expect((await ask(callOf('npm test'))).approval.state).toBe('pending');
  });

  it.each<[string, string | undefined, boolean]>([
    ['the same key', 'alice', true],
    ['an administrator', undefined, true],
    ['another key', 'bob', false],
  ])('is not the case with %s there, until it leaves', async (_who, principal, counts) => {
    const { ask, gate, coordinator, clock } = await approvalBench({ unattended: 'deny' });
    const leave = coordinator.attend(principal);
    const alsoLeave = coordinator.attend(principal);
    leave();
    leave();
    if (counts) await ask(callOf('npm test'));
    else expect(await gate.check(callOf('npm test'))).toMatchObject({ outcome: 'unattended' });
    alsoLeave();
    expect(await gate.check(callOf('npm test'))).toMatchObject({ outcome: 'unattended' });
    coordinator.seen(principal);
    clock.at += 59_999;
    if (counts) await ask(callOf('npm test'));
    clock.at += 1;
    expect(await gate.check(callOf('npm test'))).toMatchObject({ outcome: 'unattended' });
  });
});

describe('an abort of an approval', () => {
  it('withdraws the question; it is not a denial', async () => {
    const { ask, coordinator, events } = await approvalBench();
    const call = callOf('npm test');
    const { approval, verdict } = await ask(call);
    call.abort();
    expect(await verdict).toMatchObject({ outcome: 'cancelled', because: { kind: 'abort' } });
    expect(events.at(-1)).toMatchObject({ type: 'resolved', approval: { state: 'cancelled' } });
    expect(await coordinator.decide(approval.id, yes(approval.digest))).toMatchObject({
      outcome: 'already',
      approval: { state: 'cancelled' },
    });
  });

  it('before it is asked asks nobody', async () => {
    const { gate, coordinator } = await approvalBench();
    const call = callOf('npm test');
    call.abort();
    expect(await gate.check(call)).toMatchObject({ outcome: 'cancelled' });
    expect((await coordinator.list({ limit: 5 })).items).toEqual([]);
  });

  it('that comes while the row is written withdraws it', async () => {
    const { gate, coordinator } = await approvalBench();
    const call = callOf('npm test');
    const verdict = gate.check(call);
    call.abort();
    expect(await verdict).toMatchObject({ outcome: 'cancelled' });
    expect((await coordinator.list({ state: 'pending', limit: 5 })).items).toEqual([]);
  });

  it('after which it is asked again is a new question', async () => {
    const { ask } = await approvalBench();
    const call = callOf('npm test', { toolUseId: 'again' });
    const first = await ask(call);
    call.abort();
    await first.verdict;
    const second = await ask(callOf('npm test', { toolUseId: 'again' }));
    expect(second.approval).toMatchObject({ state: 'pending' });
    expect(second.approval.id).not.toBe(first.approval.id);
  });

  it('with an error that only has the same status withdraws the question', async () => {
    const { ask, coordinator } = await approvalBench();
    const call = callOf('npm test');
    const { approval, verdict } = await ask(call);
    call.abort(new GatewayError('unavailable', 'The store does not answer.'));
    expect(await verdict).toMatchObject({ outcome: 'cancelled', because: { kind: 'abort' } });
    expect((await coordinator.get(approval.id))?.state).toBe('cancelled');
  });

  it('because the gateway stops leaves the question open', async () => {
    const { ask, coordinator } = await approvalBench();
    const call = callOf('npm test');
    const { approval, verdict } = await ask(call);
    call.abort(new StopError('gateway-stops', 'unavailable', 'The gateway is shutting down.'));
    expect(await verdict).toMatchObject({ outcome: 'cancelled', because: { kind: 'closing' } });
    expect((await coordinator.get(approval.id))?.state).toBe('pending');
  });
});

describe('an answer before the turn of its call', () => {
  const itself = () => callOf('npm test', { toolUseId: 'same' });
  const early = () => ({ ...itself(), ahead: true });

  it('is used by the call and not before', async () => {
    const { ask, coordinator, gate, store, events } = await approvalBench();
    const { approval, verdict } = await ask(early());
    await coordinator.decide(approval.id, yes(approval.digest));
    expect(await verdict).toMatchObject({ allowed: true, approval: approval.id });
    expect((await store.approvals.get(approval.id))?.usedAt).toBeUndefined();
    expect(await gate.check(itself())).toMatchObject({ allowed: true, approval: approval.id });
    expect((await store.approvals.get(approval.id))?.usedAt).toBe(START);
    expect(events.map(({ type }) => type)).toEqual(['requested', 'resolved']);
  });

  it('is there for the call after a restart that came before its turn', async () => {
    const { ask, coordinator, another } = await approvalBench();
    const { approval, verdict } = await ask(early());
    await coordinator.decide(approval.id, yes(approval.digest));
    await verdict;
    await coordinator.close();
    const { gate, events } = another();
    expect(await gate.check(early())).toMatchObject({ allowed: true });
    expect(await gate.check(itself())).toMatchObject({ allowed: true, approval: approval.id });
    expect(events).toEqual([]);
  });

  it('is the answer, also where it is no', async () => {
    const { ask, coordinator, gate, events } = await approvalBench();
    const { approval, verdict } = await ask(early());
    await coordinator.decide(approval.id, no(approval.digest));
    expect(await verdict).toMatchObject({ outcome: 'denied' });
    expect(await gate.check(itself())).toMatchObject({ outcome: 'denied', because: { by: 'bob' } });
    expect(events.map(({ type }) => type)).toEqual(['requested', 'resolved']);
  });

  it.each([
    ['in this process', false],
    ['after a restart', true],
  ])('is the answer also where a rule that was made later allows the call, %s', async (_when, restart) => {
    const { ask, coordinator, gate, another } = await approvalBench();
    const refused = await ask(early());
    await coordinator.decide(refused.approval.id, no(refused.approval.digest));
    await refused.verdict;
    const changed = { ...callOf('npm run deploy', { toolUseId: 'edited' }), ahead: true };
    const edited = await ask(changed);
    const updatedInput = { command: 'npm run stage' };
    await coordinator.decide(edited.approval.id, { ...yes(edited.approval.digest), updatedInput });
    await edited.verdict;
    await coordinator.addRule({ rule: 'Bash', behaviour: 'allow', scope: 'everywhere', createdBy: 'bob' });
    const later = restart ? another().gate : gate;
    expect(await later.check(itself())).toMatchObject({ outcome: 'denied', because: { by: 'bob' } });
    expect(await later.check({ ...changed, ahead: false })).toMatchObject({
      allowed: true,
      input: updatedInput,
      because: { kind: 'person' },
    });
    expect(await later.check(callOf('npm test'))).toMatchObject({ because: { kind: 'rule' } });
  });

  it('keeps no rule from allowing the call where it was about something else', async () => {
    const { ask, coordinator, gate, events } = await approvalBench();
    const { approval, verdict } = await ask(early());
    await coordinator.decide(approval.id, no(approval.digest));
    await verdict;
    await coordinator.addRule({ rule: 'Bash', behaviour: 'allow', scope: 'everywhere', createdBy: 'bob' });
    const call = itself();
    const other = { ...call, describe: { ...call.describe, title: 'Run it elsewhere' } };
    expect(await gate.check(other)).toMatchObject({ allowed: true, because: { kind: 'rule' } });
    expect(events.map(({ type }) => type)).toEqual(['requested', 'resolved']);
  });

  it('is not waited for any more where the call would do something else in its turn', async () => {
    const { ask, coordinator, store } = await approvalBench();
    const first = await ask(early());
    const call = itself();
    const again = await ask({ ...call, describe: { ...call.describe, title: 'Run it elsewhere' } });
    expect((await store.approvals.get(first.approval.id))?.decision?.reason).toMatch(/has changed since/);
    expect(await first.verdict).toMatchObject({ outcome: 'cancelled' });
    await coordinator.decide(again.approval.id, yes(again.approval.digest));
    expect(await again.verdict).toMatchObject({ allowed: true });
  });

  it('is written down once, when it is used', async () => {
    const { ask, coordinator, gate, store } = await approvalBench();
    const { approval, verdict } = await ask(early());
    await coordinator.decide(approval.id, yes(approval.digest));
    await verdict;
    const lines = async () =>
      (await store.audit.list({ limit: 10 })).items.filter(({ event }) => event === 'tool.allowed');
    expect(await lines()).toEqual([]);
    await gate.check(itself());
    await expect.poll(async () => (await lines()).length).toBe(1);
  });
});

describe('a restart', () => {
  it('finds the question that waits, under the same id, also with nobody there yet', async () => {
    const first = await approvalBench();
    const { approval, verdict } = await first.ask(callOf('npm test', { toolUseId: 'same' }));
    await first.coordinator.close();
    expect(await verdict).toMatchObject({ outcome: 'cancelled', because: { kind: 'closing' } });
    const second = first.another({ unattended: 'deny' });
    const again = await second.ask(callOf('npm test', { toolUseId: 'same' }));
    expect(again.approval).toEqual(approval);
    expect(second.events).toEqual([{ type: 'requested', approval }]);
    await second.coordinator.decide(approval.id, yes(approval.digest));
    expect(await again.verdict).toMatchObject({ allowed: true, approval: approval.id });
  });

  it('uses the decision that was made meanwhile, once, without asking', async () => {
    const first = await approvalBench();
    const { approval } = await first.ask(callOf('npm test', { toolUseId: 'same' }));
    await first.coordinator.close();
    const meanwhile = first.another();
    await meanwhile.coordinator.decide(approval.id, yes(approval.digest));
    const second = first.another();
    const call = callOf('npm test', { toolUseId: 'same' });
    expect(await second.gate.check(call)).toMatchObject({ allowed: true, approval: approval.id });
    expect(second.events).toEqual([]);
  });

  it('keeps a denial and an expiry that came meanwhile', async () => {
    const bench = await approvalBench();
    const denied = await bench.ask(callOf('a', { toolUseId: 'denied' }));
    await bench.ask(callOf('b', { toolUseId: 'expired' }));
    await bench.coordinator.close();
    await bench.another().coordinator.decide(denied.approval.id, no(denied.approval.digest));
    bench.clock.at += TIMEOUT_MS;
    await bench.store.approvals.expireDue();
    const { gate } = bench.another();
    expect(await gate.check(callOf('a', { toolUseId: 'denied' }))).toMatchObject({ outcome: 'denied' });
    expect(await gate.check(callOf('b', { toolUseId: 'expired' }))).toMatchObject({ outcome: 'expired' });
  });

  it('asks again about what had begun, and says that it may have run', async () => {
    const first = await approvalBench();
    const { approval } = await first.ask(callOf('npm publish', { toolUseId: 'same' }));
    await first.coordinator.decide(approval.id, yes(approval.digest));
    const second = first.another();
    const again = await second.ask(callOf('npm publish', { toolUseId: 'same' }));
    expect(again.approval.id).not.toBe(approval.id);
    expect(again.approval.describe).toMatchObject({
      asked: { why: expect.stringContaining('may have done its work already') },
    });
    // And the question about the question is found again as well.
    const third = first.another();
    expect((await third.ask(callOf('npm publish', { toolUseId: 'same' }))).approval).toEqual(again.approval);
  });

  it('asks anew when what it would do has changed, and withdraws the old question', async () => {
    const first = await approvalBench();
    const { approval } = await first.ask(callOf('npm test', { toolUseId: 'same' }));
    await first.coordinator.close();
    const second = first.another();
    const again = await second.ask(callOf('npm run build', { toolUseId: 'same' }));
    expect(again.approval.input).toEqual({ command: 'npm run build' });
    expect(await second.coordinator.get(approval.id)).toMatchObject({
      state: 'cancelled',
      decision: { reason: expect.stringContaining('has changed') },
    });
  });
});

describe('an id that an upstream uses twice', () => {
  it('is another question each time, whatever became of the last', async () => {
    const { ask, coordinator } = await approvalBench();
    const ids = new Set<string>();
    for (const decision of [yes, no, yes, no, no]) {
      const { approval, verdict } = await ask(callOf('ls', { toolUseId: 'call_0' }));
      ids.add(approval.id);
      await coordinator.decide(approval.id, decision(approval.digest));
      expect((await verdict).allowed).toBe(decision === yes);
    }
    expect(ids.size).toBe(5);
  });

  it('at once for two different things is two questions', async () => {
    const { ask } = await approvalBench();
    const asked = await Promise.all(
      ['ls', 'rm -r .'].map((command) => ask(callOf(command, { toolUseId: 'call_0' }))),
    );
    expect(asked.map(({ approval }) => approval.input)).toEqual([{ command: 'ls' }, { command: 'rm -r .' }]);
  });

  it('is one question while it waits, and runs once', async () => {
    const { ask, gate, coordinator, events } = await approvalBench();
    const first = await ask(callOf('ls', { toolUseId: 'call_0' }));
    const second = gate.check(callOf('ls', { toolUseId: 'call_0' }));
    await turnOfLoop();
    await coordinator.decide(first.approval.id, yes(first.approval.digest));
    const verdicts = [await first.verdict, await second];
    expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(1);
    expect(verdicts.find(({ allowed }) => !allowed)).toMatchObject({ because: { kind: 'used' } });
    expect(events.map(({ type }) => type)).toEqual(['requested', 'resolved']);
  });
});

describe('another node', () => {
  it('decides what waits here', async () => {
    const here = await approvalBench();
    const there = here.another();
    const { approval, verdict } = await here.ask(callOf('npm test'));
    await there.coordinator.decide(approval.id, yes(approval.digest));
    await here.coordinator.refresh();
    expect(await verdict).toMatchObject({ allowed: true });
    expect(here.events.at(-1)).toMatchObject({ type: 'resolved', approval: { state: 'allowed' } });
  });

  it('decides what waits here, and it is noticed without being told', async () => {
    const here = await approvalBench({ pollMs: 1 });
    const { approval, verdict } = await here.ask(callOf('npm test'));
    await here.another().coordinator.decide(approval.id, no(approval.digest));
    expect(await verdict).toMatchObject({ outcome: 'denied' });
  });

  it('makes a rule that covers what waits here', async () => {
    const here = await approvalBench();
    const { approval, verdict } = await here.ask(callOf('npm test'));
    const rule = { scope: 'session', session: 's1', rule: 'Bash(npm:*)', behaviour: 'allow' } as const;
    await here.another().coordinator.addRule({ ...rule, createdBy: 'alice' });
    await here.coordinator.refresh();
    expect(await verdict).toMatchObject({ allowed: true, because: { kind: 'rule', rule: 'Bash(npm:*)' } });
    expect((await here.coordinator.get(approval.id))?.state).toBe('covered');
  });
});
