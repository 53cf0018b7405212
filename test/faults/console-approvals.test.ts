/**
 * No approval is lost between a page of the console and the gateway. Agents ask, two pages of one
 * person show and decide at random, and on the way everything is dropped, delayed, repeated and
 * overtaken, connections are cut and the gateway is started again. In the end each question was
 * decided exactly once or has honestly expired, what was allowed ran once and nothing else ran, both
 * pages show what the store has, every click had its outcome, and no event that was lost on the way went
 * unnoticed.
 */
import { expect, it } from 'vitest';
import type { ApprovalWire } from '../../src/server/console-api/wire/approvals.js';
import { FaultNet } from './console-net.js';
import { type Click, Person } from './console-person.js';
import { ConsoleStorm, KEY, lineOf } from './console-storm.js';
import { count, SEED, TIMEOUT_MS } from './counts.js';
import { Random } from './random.js';

const PLAN = { sessions: count(4, 20), calls: count(5, 50), silentEvery: count(5, 25), expiresS: 2 };
const RESTARTS = count(1, 12);

it(
  `decides each of ${PLAN.sessions * PLAN.calls} questions exactly once or honestly not at all`,
  async () => {
    const storm = await ConsoleStorm.start(PLAN);
    const seeds = new Random(SEED);
    const headers = { authorization: `Bearer ${KEY}` };
    const pages = [1, 2].map(() => {
      const net = new FaultNet(new Random(seeds.below(2 ** 31)), () => storm.origin, headers);
      const person = new Person(net, new Random(seeds.below(2 ** 31)), (approval) => storm.ignores(approval));
      return { net, person };
    });
    for (const { person } of pages) person.client.start();
    const over = storm.run();
    await Promise.all([
      over,
      restartNowAndThen(
        storm,
        over,
        pages.map(({ person }) => person),
      ),
    ]);

    await Promise.all(pages.map(({ net }) => net.calm()));
    for (const { net } of pages) expect(net.unnoticed).toEqual([]);
    await Promise.all(pages.map(({ person }) => person.done()));
    await Promise.all(pages.map(({ person }) => quiet(person)));

    const approvals = await storm.approvals();
    const byId = new Map(approvals.map((approval) => [approval.id, approval]));
    expect(approvals.length).toBeGreaterThanOrEqual(PLAN.sessions * PLAN.calls);
    expect(approvals.flatMap(problemOfState)).toEqual([]);
    expect(problemsOf(approvals, await storm.ran())).toEqual([]);
    for (const { person } of pages) {
      expect(person.revived).toEqual([]);
      expect(person.clicks.flatMap((click) => problemOfClick(click, byId))).toEqual([]);
      expect(differences(person, byId)).toEqual([]);
      person.client.stop();
    }
    // The faults were there.
    const kinds = new Set(pages.flatMap(({ net }) => Object.keys(net.counts)));
    expect(kinds.size).toBeGreaterThanOrEqual(7);
  },
  // Waits for real clocks: expiries, and a gateway that stops.
  Math.max(TIMEOUT_MS, 120_000),
);

/** While questions wait: each time after some more clicks. */
async function restartNowAndThen(
  storm: ConsoleStorm,
  over: Promise<void>,
  people: readonly Person[],
): Promise<void> {
  const clicks = () => people.reduce((sum, person) => sum + person.clicks.length, 0);
  const [all, ended] = [PLAN.sessions * PLAN.calls, over.then(() => 'ended' as const)];
  for (let round = 1; round <= RESTARTS; round++) {
    const enough = until(() => clicks() >= (round * all) / (RESTARTS + 1), people);
    if ((await Promise.race([enough, ended])) === 'ended') return;
    await storm.restart();
  }
}

/** Resolves when the condition holds after a change of what some page shows. */
function until(condition: () => boolean, people: readonly Person[]): Promise<void> {
  return new Promise((resolve) => {
    const check = (): void => {
      if (!condition()) return;
      for (const end of ends) end();
      resolve();
    };
    const ends = people.map(({ client }) => client.store.subscribe(check));
    check();
  });
}

/** The page is connected, and nothing waits or runs in it. */
async function quiet(person: Person): Promise<void> {
  person.client.tabs.reconnect();
  const { store } = person.client;
  await until(() => {
    const { approvals, turns, connection } = store.get();
    const waits = [...approvals.values()].some(({ state }) => state === 'pending');
    return connection === 'live' && !waits && [...turns.values()].every(({ ended }) => ended !== undefined);
  }, [person]);
}

/** Somebody decided, or nobody did in time. */
function problemOfState({ state, decision, describe }: ApprovalWire): string[] {
  if (state === 'allowed' || state === 'denied' || state === 'expired') return [];
  return [`${describe.title} is ${state}: ${decision?.reason}`];
}

/** What ran is what was allowed, once. */
function problemsOf(approvals: readonly ApprovalWire[], ran: ReadonlyMap<string, number>): string[] {
  const allowed = new Set(
    approvals
      .filter(({ state }) => state === 'allowed')
      .map(({ describe }) => lineOf(describe.command ?? '')),
  );
  return [
    ...[...allowed]
      .filter((line) => ran.get(line) !== 1)
      .map((line) => `${line} was allowed and ran ${ran.get(line) ?? 0} times`),
    ...[...ran.keys()].filter((line) => !allowed.has(line)).map((line) => `${line} ran and was not allowed`),
  ];
}

/** What a click was said to have come to is what the store has. */
function problemOfClick(
  { approval, decision, result }: Click,
  stored: ReadonlyMap<string, ApprovalWire>,
): string[] {
  const state = stored.get(approval)?.state;
  const said = `${decision} of ${approval} (${state}): ${JSON.stringify(result?.kind)}`;
  switch (result?.kind) {
    case 'decided':
      if (decision === 'extend') return [];
      return state === (decision === 'allow' ? 'allowed' : 'denied') ? [] : [said];
    case 'already':
      return state === result.approval.state && state !== 'expired' ? [] : [said];
    case 'expired':
      return state === 'expired' ? [] : [said];
    default:
      return [said];
  }
}

/** What the page shows and the store does not have. */
function differences({ client }: Person, stored: ReadonlyMap<string, ApprovalWire>): string[] {
  const { approvals, turns } = client.store.get();
  const shown = [...approvals.values()].filter(({ id, state }) => stored.get(id)?.state !== state);
  const waiting = [...turns.values()].flatMap(({ parts }) =>
    parts.filter((part) => part.kind === 'tool' && part.card.state === 'waiting'),
  );
  return [
    ...shown.map(({ id, state }) => `${id} is shown as ${state}`),
    ...waiting.map(({ key }) => `${key} waits`),
  ];
}
