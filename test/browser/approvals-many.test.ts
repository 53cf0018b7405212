/** Several questions, tabs and agents at once: each is decided once, and everyone sees how. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useBrowser } from '../support/browser.js';
import { shots } from '../support/screenshots.js';
import { resultsIn } from '../support/told.js';
import { call, callsAnswer, textAnswer } from '../support/wire.js';
import {
  type ApprovalBench,
  byAge,
  cardIs,
  cardOf,
  chatRoute,
  goTo,
  inboxIsOpen,
  openItem,
  PATIENCE,
  panelIs,
  panelOf,
  press,
  startBench,
} from './approvals-bench.js';

const FILES = Object.fromEntries(
  Array.from({ length: 8 }, (_, index) => [`f${index}.txt`, `text ${index}\n`]),
);

const browser = useBrowser();
let bench: ApprovalBench;
beforeAll(async () => {
  bench = await startBench({ files: FILES, permissions: { ask: ['Read'] } });
});
afterAll(async () => {
  await bench.close();
});

const read = (name: string) => callsAnswer(call('Read', { file_path: bench.path('f0.txt') }, `${name}-0`));

/** Sub-agents that work side by side, each with a call to ask about. */
function helpers(name: string, count: number) {
  const indexes = Array.from({ length: count }, (_, index) => index);
  for (const index of indexes) {
    bench.model.play(`${name}: look into file ${index}`, [
      callsAnswer(call('Read', { file_path: bench.path(`f${index}.txt`) }, `${name}-${index}`)),
      ({ told }) => textAnswer(`Seen: ${resultsIn(told).map((result) => result.text)}`),
    ]);
  }
  return callsAnswer(
    ...indexes.map((index) =>
      call(
        'Task',
        {
          description: `Helper ${index}`,
          prompt: `${name}: look into file ${index}`,
          subagent_type: 'Explore',
        },
        `${name}-task-${index}`,
      ),
    ),
  );
}

describe('many approvals', { timeout: 60_000 }, () => {
  it('decides eight at once in any order, each for its own call', async () => {
    const turn = bench.model.play('read eight files', [helpers('eight', 8), textAnswer('Read them.')]);
    const said = bench.say('read eight files');
    const { page } = await bench.open(browser, '#/inbox');
    const order = [5, 0, 7, 2, 6, 1, 4, 3];
    // Each that still comes in moves the buttons of the others.
    for (const index of order) await bench.asked(`eight-${index}`);
    for (const index of order) {
      const approval = await bench.approvalOf(`eight-${index}`);
      await openItem(page, approval);
      await press(panelOf(page, approval), index % 2 === 0 ? 'Allow once' : 'Deny');
      await panelIs(page, approval, index % 2 === 0 ? 'allowed' : 'denied');
    }
    await said;
    const results = resultsIn(turn.requests.at(-1)?.told ?? []);
    expect(results).toHaveLength(8);
    for (const [index, result] of results.entries()) {
      expect(result.text.includes(`text ${index}`)).toBe(index % 2 === 0);
    }
  });

  it('has a pending one again after a reload, with its buttons', async () => {
    bench.model.play('wait for a reload', [read('reload'), textAnswer('Reloaded.')]);
    const said = bench.say('wait for a reload');
    const approval = await bench.asked('reload-0');
    const { page } = await bench.open(browser, chatRoute(approval));
    await panelOf(page, approval).waitFor();
    await page.reload();
    await press(panelOf(page, approval), 'Allow once');
    await said;
    await cardIs(page, 'reload-0', 'success');
    await page.reload();
    await cardIs(page, 'reload-0', 'success');
  });

  it('opens the question that a link names, and says of a decided one who decided it', async () => {
    bench.model.play('an older one waits', [read('older'), textAnswer('Older.')]);
    bench.model.play('a newer one waits', [read('newer'), textAnswer('Newer.')]);
    const saidOlder = bench.say('an older one waits');
    const older = await bench.asked('older-0');
    const saidNewer = bench.say('a newer one waits');
    const newer = await bench.asked('newer-0');
    const { page } = await bench.open(browser, `#/inbox?approval=${newer.id}`);
    await panelIs(page, newer, 'pending');
    expect(await panelOf(page, older).count()).toBe(0);
    await press(panelOf(page, newer), 'Allow once');
    await saidNewer;
    await bench.api('POST', `/api/approvals/${older.id}`, { decision: 'deny', digest: older.digest });
    await saidOlder;
    // A page of its own: it was not there when the question was decided.
    const later = await bench.openTab(page, `#/inbox?approval=${older.id}`);
    await panelIs(later.page, older, 'denied');
    expect(await panelOf(later.page, older).innerText()).toContain('Denied by');
    await goTo(later.page, '#/inbox?approval=apr_gone');
    await later.page.getByText('The question that the link leads to is not there').waitFor();
  });

  it('shows in every tab what one of them decided, and keeps what was typed in another', async () => {
    bench.model.play('two tabs look', [read('tabs'), textAnswer('Seen.')]);
    const said = bench.say('two tabs look');
    const approval = await bench.asked('tabs-0');
    const one = await bench.open(browser, chatRoute(approval));
    const two = await bench.openTab(one.page, '#/inbox');
    await openItem(two.page, approval);
    const typing = panelOf(two.page, approval);
    await typing.getByRole('button', { name: 'Deny with reason…' }).click();
    await typing.getByLabel('Reason').fill('I was about to say no.');
    await press(panelOf(one.page, approval), 'Allow once');
    await said;
    await panelIs(two.page, approval, 'allowed');
    expect(await typing.innerText()).toContain('Allowed by you (console)');
    expect(await typing.innerText()).toContain('I was about to say no.');
    expect((await bench.approvalOf('tabs-0')).state).toBe('allowed');
  });

  it('says whose a question of a sub-agent is, and shows it inside of the card that started it', async () => {
    bench.model.play('start a helper', [
      callsAnswer(call('Task', { description: 'Look around', prompt: 'helper looks around now' }, 'task-1')),
      textAnswer('The helper is done.'),
    ]);
    bench.model.play('helper looks around now', [
      callsAnswer(call('Bash', { command: 'echo from-the-helper' }, 'inner-1')),
      textAnswer('Seen all.'),
    ]);
    const said = bench.say('start a helper');
    const approval = await bench.asked('inner-1');
    expect(approval.agent).not.toBeNull();
    const { page } = await bench.open(browser, chatRoute(approval));
    const inner = cardOf(page, 'task-1').locator('[data-card="inner-1"]');
    const panel = inner.locator(`[data-approval="${approval.id}"]`);
    await panel.waitFor();
    expect(await panel.innerText()).toContain('The sub-agent “Look around” wants to run');
    await press(panel, 'Allow once');
    await said;
    await cardIs(page, 'task-1', 'success');
    await page.getByText('The helper is done.').waitFor();
    expect((await bench.approvalOf('inner-1')).state).toBe('allowed');
  });
});

describe('the inbox', { timeout: 60_000 }, () => {
  it('lists what waits by session, and decides together only what was looked at', async () => {
    bench.model.play('three for the inbox', [helpers('inbox', 3), textAnswer('Inbox.')]);
    const said = bench.say('three for the inbox');
    const asked = await Promise.all([0, 1, 2].map((index) => bench.asked(`inbox-${index}`)));
    const approvals = asked.toSorted(byAge);
    bench.model.play('one of another session', [
      callsAnswer(call('Bash', { command: 'echo other' }, 'other-1')),
      textAnswer('Other.'),
    ]);
    const other = bench.say('one of another session');
    const short = await bench.asked('other-1');
    const { page } = await bench.open(browser, '#/inbox');
    const group = page.getByRole('region', { name: 'three for the inbox' });
    await group.waitFor();
    const items = approvals.map(({ id }) => group.locator(`[data-inbox-item="${id}"]`));
    for (const item of items) await item.waitFor();
    const [first, second, third] = items;
    if (first === undefined || second === undefined || third === undefined) throw new Error('no items');
    await inboxIsOpen(page);
    const boxOf = (item: typeof first) => item.getByRole('checkbox');
    expect(await boxOf(third).isDisabled()).toBe(true);
    // The oldest is open already; the next one is opened, and both are closed again.
    await second.getByRole('button', { name: /Read/ }).first().click();
    for (const item of [first, second]) {
      await item.getByRole('button', { name: /Read/, expanded: true }).click();
      await boxOf(item).check();
    }
    // A row that shows all of a short command is looked at; the third is left out, and that is said.
    await page.getByRole('button', { name: 'Select all that can be decided together' }).click();
    await page.getByText('3 selected in 2 sessions').waitFor();
    await page.getByText('1 is left out').waitFor();
    await shots(page, 'inbox-together');
    await press(page.locator('main'), 'Allow 3 once');
    await other;
    expect((await bench.approvalOf('other-1')).decision).toMatchObject({ by: 'local', via: 'console' });
    expect((await bench.approvals()).map(({ id }) => id)).not.toContain(short.id);
    for (const item of [first, second]) await item.getByText('Allowed by you (console)').first().waitFor();
    expect((await bench.approvals()).map(({ id }) => id)).toEqual([approvals[2]?.id]);

    await third.getByRole('button', { name: 'Later', exact: true }).click();
    await page.getByRole('menuitem', { name: 'In 15 minutes' }).click();
    await page.getByRole('heading', { name: 'Put aside' }).waitFor();
    await expect.poll(() => page.title(), PATIENCE).not.toMatch(/^\(/);
    await page.getByRole('button', { name: 'Bring back' }).click();
    await expect.poll(() => page.title(), PATIENCE).toMatch(/^\(1\)/);
    await third.getByRole('button', { name: /Read/ }).first().click();
    await press(third, 'Deny');
    await said;
    await page.getByRole('heading', { name: 'Recent decisions' }).waitFor();
    await page.getByRole('table').getByText('Denied by you (console)').first().waitFor();
  });

  it('is empty with a word about it', async () => {
    const { page } = await bench.open(browser, '#/inbox');
    await page.getByText('Nothing is waiting for you').waitFor();
  });
});
