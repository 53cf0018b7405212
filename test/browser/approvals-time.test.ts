/** Time: how much is left, more of it, and what is said when it is over. */
import { describe, expect, it, vi } from 'vitest';
import { useBrowser } from '../support/browser.js';
import { gate } from '../support/gate.js';
import { call, callsAnswer, textAnswer } from '../support/wire.js';
import {
  type ApprovalBench,
  cardIs,
  cardOf,
  chatRoute,
  goTo,
  PATIENCE,
  panelOf,
  press,
  startBench,
} from './approvals-bench.js';
import { connected } from './console-world.js';

const browser = useBrowser();

const bash = (command: string, id: string) => callsAnswer(call('Bash', { command }, id));
const left = async (bench: ApprovalBench, id: string) =>
  Date.parse((await bench.approvalOf(id)).expires_at ?? '');

describe('the time of an approval', { timeout: 60_000 }, () => {
  it('is counted down by the clock of the gateway, stands out at the end, and can be extended', async () => {
    const bench = await startBench({ permissions: { approval_timeout_s: 100 } });
    bench.model.play('count down', [bash('echo time', 'time-1'), textAnswer('Time.')]);
    const said = bench.say('count down');
    const approval = await bench.asked('time-1');
    // A browser whose clock is an hour behind.
    const { page } = await bench.open(browser, '#/inbox');
    await page.clock.install({ time: Date.now() - 3_600_000 });
    await page.reload();
    const panel = panelOf(page, approval);
    await panel.getByText(/^1 min \d+ sec left to answer$|^\d+ sec left to answer$/).waitFor();
    expect(await panel.locator('[data-urgent="true"]').count()).toBe(1);
    const before = await left(bench, 'time-1');
    await panel.getByRole('button', { name: 'Extend' }).click();
    await expect.poll(() => left(bench, 'time-1'), PATIENCE).toBeGreaterThan(before);
    const extended = await left(bench, 'time-1');
    // Whoever begins to answer gets the whole time again, once.
    await panel.getByRole('button', { name: 'Deny with reason…' }).click();
    await expect.poll(() => left(bench, 'time-1'), PATIENCE).toBeGreaterThan(extended);
    const again = await left(bench, 'time-1');
    await panel.getByLabel('Reason').fill('Not now.');
    await press(panel, 'Deny with this reason');
    await said;
    expect(await left(bench, 'time-1')).toBe(again);
  });

  it('is given to whoever begins to answer while more of it is asked for already', async () => {
    const bench = await startBench({ permissions: { approval_timeout_s: 100 } });
    bench.model.play('ask for more', [bash('echo more', 'more-1'), textAnswer('More.')]);
    const said = bench.say('ask for more');
    const approval = await bench.asked('more-1');
    const { page } = await bench.open(browser, chatRoute(approval));
    const panel = panelOf(page, approval);
    const held = gate();
    let asked = 0;
    await page.route('**/api/approvals/*/extend', async (route) => {
      asked += 1;
      if (asked === 1) await held.pass();
      await route.continue();
    });
    await panel.getByRole('button', { name: 'Extend' }).click();
    await held.reached;
    await panel.getByRole('button', { name: 'Deny with reason…' }).click();
    await panel.getByLabel('Reason').fill('Not now.');
    held.open();
    await expect.poll(() => asked, PATIENCE).toBe(2);
    await press(panel, 'Deny with this reason');
    await said;
  });

  it('ends with an honest word, and the agent can be asked again', async () => {
    const bench = await startBench({ permissions: { approval_timeout_s: 3 } });
    const turn = bench.model.play('nobody answers', [bash('echo late', 'over-1'), textAnswer('I go on.')]);
    // It has to hear of the question before the end of it.
    const { page } = await bench.open(browser, '#/');
    await connected(page);
    const said = bench.say('nobody answers');
    const approval = await vi.waitFor(() => bench.approvalOf('over-1'), PATIENCE);
    await goTo(page, chatRoute(approval));
    await cardIs(page, 'over-1', 'expired');
    await said;
    const card = cardOf(page, 'over-1');
    expect(await panelOf(page, approval).innerText()).toContain('This does not count as a denial');
    expect(JSON.stringify(turn.requests.at(-1)?.told)).toContain('not a refusal');
    expect(await card.getByRole('button', { name: 'Allow once' }).count()).toBe(0);
    bench.model.play('was not answered in time', [textAnswer('I try it again.')]);
    await card.getByRole('button', { name: 'Ask again' }).click();
    await page.getByText('I try it again.').waitFor();
  });
});
