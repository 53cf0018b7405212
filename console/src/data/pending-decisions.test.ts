import { describe, expect, it } from 'vitest';
import type { ApprovalWire, DecidedWire } from '../../../src/server/console-api/wire/approvals.js';
import { ManualClock, settled } from '../../../test/support/manual-world.js';
import { approvalOf } from '../../../test/support/scripted-gateway.js';
import { ApiError, type Request, Unreachable } from './api.js';
import { DECISION_TIMES, Decisions } from './pending-decisions.js';
import { noteApproval } from './reducer/apply-event.js';
import { INITIAL_STATE, StateStore } from './reducer/console-state.js';

const ASKED = approvalOf('apr_1');
const ALLOWED: ApprovalWire = {
  ...ASKED,
  state: 'allowed',
  decision: { at: ASKED.created_at, by: 'alice', via: 'console' },
};
const DECIDED: DecidedWire = {
  ...ALLOWED,
  repeated: false,
  rule: null,
  rules: [],
  released: [],
  refused: [],
};

type Answer = { give: unknown } | { refuse: number; body?: object } | 'lost' | 'silent';

function decisionsOn(...answers: Answer[]) {
  const clock = new ManualClock();
  const store = new StateStore(noteApproval(INITIAL_STATE, ASKED));
  const sent: { path: string; body: unknown }[] = [];
  const request: Request = (_method, path, body, signal) => {
    sent.push({ path, body });
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    return new Promise((resolve, reject) => {
      if (answer === 'silent') signal?.addEventListener('abort', () => reject(new Error('aborted')));
      else if (answer === undefined || answer === 'lost') reject(new Unreachable('gone'));
      else if ('give' in answer) resolve(JSON.parse(JSON.stringify(answer.give)));
      else reject(new ApiError(answer.refuse, answer.body));
    });
  };
  return { clock, store, sent, decisions: new Decisions({ ...clock, request, store }) };
}

const refusal = (code: string, approval: ApprovalWire): object => ({
  error: { message: code, type: 'x', param: null, code },
  approval,
});

describe('a decision', () => {
  it('is told with the digest of what was shown, and is known before its event comes', async () => {
    const { decisions, store, sent } = decisionsOn({ give: DECIDED });
    const result = await decisions.decide(ASKED, { decision: 'allow', reason: 'fine' });
    expect(sent).toEqual([
      { path: '/api/approvals/apr_1', body: { decision: 'allow', reason: 'fine', digest: ASKED.digest } },
    ]);
    expect(result).toEqual({ kind: 'decided', decided: DECIDED });
    expect(store.get().approvals.get('apr_1')).toEqual(ALLOWED);
  });

  it('is sent again, as it was, until there is an answer', async () => {
    const { decisions, clock, sent } = decisionsOn(
      'lost',
      'lost',
      { refuse: 503 },
      { give: { ...DECIDED, repeated: true } },
    );
    const told = decisions.decide(ASKED, { decision: 'allow' });
    await clock.pass(60_000);
    expect(await told).toMatchObject({ kind: 'decided', decided: { repeated: true } });
    expect(sent).toHaveLength(4);
    expect(new Set(sent.map((each) => JSON.stringify(each))).size).toBe(1);
  });

  it('is sent again when no answer comes at all', async () => {
    const { decisions, clock } = decisionsOn('silent', { give: DECIDED });
    const told = decisions.decide(ASKED, { decision: 'allow' });
    await settled();
    await clock.pass(DECISION_TIMES.answerMs + DECISION_TIMES.firstRetryMs);
    expect(await told).toMatchObject({ kind: 'decided' });
  });

  it('is on its way once, however often it is clicked', async () => {
    const { decisions, sent } = decisionsOn({ give: DECIDED });
    const first = decisions.decide(ASKED, { decision: 'allow' });
    expect(decisions.isDeciding('apr_1')).toBe(true);
    expect(decisions.decide(ASKED, { decision: 'deny' })).toBe(first);
    await first;
    expect(sent).toHaveLength(1);
    expect(decisions.isDeciding('apr_1')).toBe(false);
  });

  it('is sent at once when the connection is back', async () => {
    const { decisions, store, clock, sent } = decisionsOn('lost', 'lost', 'lost', 'lost', 'lost', {
      give: DECIDED,
    });
    store.set({ ...store.get(), connection: 'lost' });
    const told = decisions.decide(ASKED, { decision: 'allow' });
    await clock.pass(6_000);
    expect(sent).toHaveLength(5);
    store.set({ ...store.get(), connection: 'live' });
    expect(await told).toMatchObject({ kind: 'decided' });
  });

  it.each([
    [409, 'already_decided', 'already'],
    [409, 'digest_mismatch', 'changed'],
    [410, 'expired', 'expired'],
  ] as const)('that comes to %i %s shows how it stands', async (status, code, kind) => {
    const approval: ApprovalWire = { ...ASKED, state: kind === 'expired' ? 'expired' : 'denied' };
    const { decisions, store } = decisionsOn({ refuse: status, body: refusal(code, approval) });
    expect(await decisions.decide(ASKED, { decision: 'allow' })).toEqual({ kind, approval, message: code });
    expect(store.get().approvals.get('apr_1')?.state).toBe(approval.state);
  });

  it('that cannot be used is refused with the reason, and can be made anew', async () => {
    const body = { error: { message: 'Not a rule.', type: 'x', param: 'rule.rule', code: null } };
    const { decisions, store } = decisionsOn({ refuse: 400, body }, { give: DECIDED });
    expect(await decisions.decide(ASKED, { decision: 'allow' })).toEqual({
      kind: 'refused',
      message: 'Not a rule.',
      param: 'rule.rule',
    });
    expect(store.get().approvals.get('apr_1')?.state).toBe('pending');
    expect(await decisions.decide(ASKED, { decision: 'allow' })).toMatchObject({ kind: 'decided' });
  });

  it('ends with what the events say where no answer can be had', async () => {
    const { decisions, store, clock } = decisionsOn('lost');
    const told = decisions.decide(ASKED, { decision: 'allow' });
    await clock.pass(2_000);
    store.update((state) => noteApproval(state, { ...ASKED, state: 'expired' }));
    await clock.pass(60_000);
    expect(await told).toMatchObject({ kind: 'expired', approval: { state: 'expired' } });
  });

  it('says so when the gateway fails again and again', async () => {
    const { decisions, clock } = decisionsOn({ refuse: 500, body: { error: { message: 'Broken.' } } });
    const told = decisions.decide(ASKED, { decision: 'allow' });
    await clock.pass(60_000);
    expect(await told).toMatchObject({ kind: 'refused', message: 'Broken.' });
  });

  it('for more time gives more time, which nothing takes back', async () => {
    const later = { ...ASKED, expires_at: '2026-01-01T02:00:00.000Z' };
    const { decisions, store, sent } = decisionsOn({ give: later });
    expect(await decisions.extend(ASKED)).toMatchObject({ kind: 'decided', decided: { released: [] } });
    expect(sent[0]?.path).toBe('/api/approvals/apr_1/extend');
    store.update((state) => noteApproval(state, ASKED));
    expect(store.get().approvals.get('apr_1')?.expires_at).toBe(later.expires_at);
  });
});
