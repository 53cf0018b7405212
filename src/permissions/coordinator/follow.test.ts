/** What another node does with approvals and rules, as the bus says it. No timer goes off here. */
import { expect, it } from 'vitest';
import { approvalBench, callOf, START } from '../../../test/support/approval-bench.js';

const about = (id: string) => [{ kind: 'approval', id }] as const;

it('a decision at another node lets the waiting call go on at once', async () => {
  const a = await approvalBench();
  const b = a.another();
  const { approval, verdict } = await a.ask(callOf('make'));
  const { id, digest } = approval;
  await b.coordinator.follow(about(id));
  await b.coordinator.decide(id, { decision: 'allow', digest, by: 'alice', via: 'console' });
  await a.coordinator.follow(about(id));
  expect(await verdict).toMatchObject({ allowed: true });
  expect(a.events.map(({ type }) => type)).toEqual(['requested', 'resolved']);
  expect(b.events.map(({ type }) => type)).toEqual(['requested', 'resolved']);
});

it('what this node said itself is not said again when the bus brings it back', async () => {
  const a = await approvalBench();
  const { approval, verdict } = await a.ask(callOf('make'));
  const { id, digest } = approval;
  await a.coordinator.follow(about(id));
  a.clock.at += 1000;
  await a.coordinator.extend(id, { name: 'alice', via: 'api' });
  await a.coordinator.follow([...about(id), ...about(id)]);
  await a.coordinator.decide(id, { decision: 'deny', digest, by: 'alice', via: 'api' });
  await a.coordinator.follow(about(id));
  await verdict;
  expect(a.events.map(({ type }) => type)).toEqual(['requested', 'updated', 'resolved']);
});

it('more time that another node gave is known here, and said once', async () => {
  const a = await approvalBench();
  const b = a.another();
  const { approval } = await a.ask(callOf('make'));
  await b.coordinator.follow(about(approval.id));
  a.clock.at = START + 1000;
  await a.coordinator.extend(approval.id, { name: 'alice', via: 'api' });
  await b.coordinator.follow(about(approval.id));
  await b.coordinator.follow(about(approval.id));
  expect(b.events.map(({ type }) => type)).toEqual(['requested', 'updated']);
});

it('a rule of another node decides what waits here, and is said once', async () => {
  const a = await approvalBench();
  const b = a.another();
  const { verdict } = await a.ask(callOf('make'));
  const said: string[] = [];
  a.coordinator.onRule(({ type }) => void said.push(type));
  const { rule } = await b.coordinator.addRule({
    ...{ rule: 'Bash(make)', behaviour: 'allow', scope: 'everywhere', createdBy: 'root' },
  });
  const change = { kind: 'rule', what: 'added', rule } as const;
  await a.coordinator.follow([change]);
  await a.coordinator.follow([change]);
  expect(await verdict).toMatchObject({ allowed: true });
  expect(said).toEqual(['added']);
});

it('a question is asked where somebody is present at another node, and refused where nobody is any more', async () => {
  const told = new Map<string, readonly (string | null)[]>();
  const presence = {
    put: async (node: string, present: readonly { principal: string | null }[]) => {
      told.set(
        node,
        present.map(({ principal }) => principal),
      );
    },
    isThere: async (principal: string) =>
      [...told.values()].flat().some((each) => each === null || each === principal),
  };
  const a = await approvalBench({ unattended: 'deny' });
  const { approvals, rules, mcp, sessions } = a.store;
  const store = { approvals, rules, mcp, sessions, presence };
  const [here, there] = [a.another({ store }), a.another({ store })];
  const other = there.coordinator.attend('bob');
  const leave = there.coordinator.attend('alice');
  const { approval } = await here.ask(callOf('make'));
  expect(approval.principal).toBe('alice');
  leave();
  expect(await here.gate.check(callOf('make again'))).toMatchObject({ allowed: false });
  other();
  await there.coordinator.close();
  expect([...told.values()]).toEqual([[]]);
});
