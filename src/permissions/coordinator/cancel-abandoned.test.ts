import { expect, it, vi } from 'vitest';
import { approvalBench, callOf } from '../../../test/support/approval-bench.js';

const REASON = 'The conversation went on without this call.';

it('cancels what nobody waits for any more, tells of it, and takes no answer then', async () => {
  const before = await approvalBench();
  const { approval } = await before.ask(callOf('npm test'));
  const { approval: sub } = await before.ask(callOf('npm ci', { agent: 'sub-1' }));
  const { approval: other } = await before.ask(callOf('npm test', { session: 's2' }));
  const { coordinator, events, store } = before.another();
  await coordinator.cancelAbandoned('s1', REASON);
  const cancelled = { state: 'cancelled', decision: { by: 'gateway', via: 'gateway', reason: REASON } };
  expect(await store.approvals.get(approval.id)).toMatchObject(cancelled);
  expect(await store.approvals.get(sub.id)).toMatchObject(cancelled);
  expect((await store.approvals.get(other.id))?.state).toBe('pending');
  expect(events.map(({ type, approval: { id } }) => [type, id]).toSorted()).toEqual(
    [approval, sub].map(({ id }) => ['resolved', id]).toSorted(),
  );
  const { id, digest } = approval;
  expect(await coordinator.decide(id, { decision: 'allow', digest, by: 'alice', via: 'api' })).toMatchObject({
    outcome: 'already',
    approval: cancelled,
  });
});

it('leaves what a call waits for, also one that goes on with an old question', async () => {
  const before = await approvalBench();
  const { approval: old } = await before.ask(callOf('npm test', { toolUseId: 'old' }));
  const { coordinator, store, ask } = before.another();
  const { approval: again } = await ask(callOf('npm test', { toolUseId: 'old' }));
  const { approval: fresh } = await ask(callOf('npm ci', { toolUseId: 'fresh' }));
  expect(again.id).toBe(old.id);
  await coordinator.cancelAbandoned('s1', REASON);
  expect((await store.approvals.get(again.id))?.state).toBe('pending');
  expect((await store.approvals.get(fresh.id))?.state).toBe('pending');
});

it('leaves what was asked later, elsewhere', async () => {
  const here = await approvalBench();
  const elsewhere = here.another();
  const { approvals } = here.store;
  const list = approvals.list.bind(approvals);
  let asked = '';
  vi.spyOn(approvals, 'list').mockImplementationOnce(async (query) => {
    here.clock.at += 1;
    asked = (await elsewhere.ask(callOf('npm test'))).approval.id;
    return list(query);
  });
  await here.coordinator.cancelAbandoned('s1', REASON);
  expect((await approvals.get(asked))?.state).toBe('pending');
});

it('cancels as many as there are', async () => {
  const before = await approvalBench();
  const asked = Array.from({ length: 230 }, (_, n) => callOf('npm test', { toolUseId: `c${n}` }));
  await Promise.all(asked.map((call) => before.ask(call)));
  const { coordinator, store } = before.another();
  await coordinator.cancelAbandoned('s1', REASON);
  expect((await store.approvals.waiting(['s1'])).size).toBe(0);
});

it('leaves everything to the next gateway once it stops', async () => {
  const { ask, coordinator, store } = await approvalBench();
  const { approval, verdict } = await ask(callOf('npm test'));
  await coordinator.close();
  await verdict;
  await coordinator.cancelAbandoned('s1', REASON);
  expect((await store.approvals.get(approval.id))?.state).toBe('pending');
});
