/** Answers on a bad line: each arrives once or is honestly too late, and the page says which. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApprovalWire } from '../../src/server/console-api/wire/approvals.js';
import { useBrowser } from '../support/browser.js';
import { type CutProxy, startCutProxy } from '../support/cut-proxy.js';
import { call, callsAnswer, textAnswer } from '../support/wire.js';
import {
  type ApprovalBench,
  cardIs,
  cardOf,
  chatRoute,
  goTo,
  PATIENCE,
  panelIs,
  panelOf,
  press,
  startBench,
} from './approvals-bench.js';
import { connected, openConsole, tokenOf } from './console-world.js';

const PATIENT = { timeout: 120_000 };

const browser = useBrowser();
let bench: ApprovalBench;
beforeAll(async () => {
  bench = await startBench({ server: { public_hosts: ['127.0.0.1'] } });
});
afterAll(async () => {
  await bench.close();
});

const bash = (command: string, id: string) => callsAnswer(call('Bash', { command }, id));

/** The page, with a wire before it that can be cut. */
async function openOver(wire: CutProxy, approval: ApprovalWire): Promise<Page> {
  const { page } = await openConsole(browser, `${wire.url}/#token=${tokenOf(bench.gateway)}`);
  await connected(page);
  await goTo(page, chatRoute(approval));
  await panelOf(page, approval).locator('[data-armed="true"]').waitFor();
  return page;
}

const linesOf = async (name: string) =>
  (await readFile(bench.path(name), 'utf8').catch(() => '')).split('\n');

describe('a decision on a line that breaks', PATIENT, () => {
  it('made while it is down is told as on its way, and arrives once when it is back', async () => {
    bench.model.play('line is down', [bash('echo ran >> down.txt', 'down-1'), textAnswer('It ran.')]);
    const said = bench.say('line is down');
    const approval = await bench.asked('down-1');
    const wire = await startCutProxy(bench.gateway.url);
    const page = await openOver(wire, approval);
    const panel = panelOf(page, approval);
    wire.cut();
    await connected(page, 'lost');
    await panel.getByText('a decision is sent again until the gateway answers').waitFor();
    await press(panel, 'Allow once');
    await panel.getByRole('status').getByText('You allowed it. Your answer is on its way.').waitFor();
    // Nobody can say the opposite meanwhile by accident.
    expect(await panel.getByRole('button', { name: 'Deny', exact: true }).isDisabled()).toBe(true);
    expect(await panel.getAttribute('data-approval-state')).toBe('pending');
    expect((await bench.approvalOf('down-1')).state).toBe('pending');
    expect(await linesOf('down.txt')).toEqual(['']);
    wire.mend();
    await said;
    await cardIs(page, 'down-1', 'success');
    expect(await linesOf('down.txt')).toEqual(['ran', '']);
    await cardOf(page, 'down-1').getByRole('button', { expanded: false }).first().click();
    expect(await panel.innerText()).toContain('Allowed by you (console)');
    expect(await panel.innerText()).not.toContain('too late');
  });

  it('of which the answer is lost is sent again, and is the same decision', async () => {
    bench.model.play('answer is lost', [bash('echo ran >> lost.txt', 'lost-1'), textAnswer('It ran.')]);
    const said = bench.say('answer is lost');
    const approval = await bench.asked('lost-1');
    const wire = await startCutProxy(bench.gateway.url);
    const page = await openOver(wire, approval);
    const sent: (string | null)[] = [];
    await page.route(`**/api/approvals/${approval.id}`, async (route) => {
      sent.push(route.request().postData());
      if (sent.length > 1) return route.continue();
      // It arrives, and the line breaks before its answer is back.
      await route.fetch();
      wire.cut();
      return route.abort('connectionreset');
    });
    await press(panelOf(page, approval), 'Allow once');
    await said;
    wire.mend();
    await cardIs(page, 'lost-1', 'success');
    await expect.poll(() => sent.length, PATIENCE).toBeGreaterThan(1);
    expect(new Set(sent).size).toBe(1);
    expect(await linesOf('lost.txt')).toEqual(['ran', '']);
    await cardOf(page, 'lost-1').getByRole('button', { expanded: false }).first().click();
    expect(await panelOf(page, approval).innerText()).not.toContain('too late');
    expect((await bench.approvalOf('lost-1')).decision).toMatchObject({ via: 'console' });
  });

  it('that somebody else was faster with is told as too late', async () => {
    bench.model.play('other is faster', [bash('echo ran >> other.txt', 'other-1'), textAnswer('Denied.')]);
    const said = bench.say('other is faster');
    const approval = await bench.asked('other-1');
    const wire = await startCutProxy(bench.gateway.url);
    const page = await openOver(wire, approval);
    const panel = panelOf(page, approval);
    wire.cut();
    await connected(page, 'lost');
    await press(panel, 'Allow once');
    await bench.api('POST', `/api/approvals/${approval.id}`, {
      decision: 'deny',
      digest: approval.digest,
      reason: 'Faster.',
    });
    await said;
    wire.mend();
    await panelIs(page, approval, 'denied');
    await panel.getByText('Your answer came too late and had no effect.').waitFor();
    expect(await panel.innerText()).toContain('Denied by you (api)');
    await page
      .getByText('Your answer came too late and had no effect. Run echo ran >> other.txt')
      .first()
      .waitFor();
    await cardIs(page, 'other-1', 'denied');
    expect(await linesOf('other.txt')).toEqual(['']);
  });
});

describe('a press that arrives after the end of its time', PATIENT, () => {
  it('says so, and nothing runs', async () => {
    const short = await startBench({ permissions: { approval_timeout_s: 10 } });
    short.model.play('too late', [bash('echo ran >> late.txt', 'late-1'), textAnswer('I go on.')]);
    // All of the time is there for the press.
    const { page } = await short.open(browser, '#/');
    await connected(page);
    const said = short.say('too late');
    const approval = await short.asked('late-1');
    await goTo(page, chatRoute(approval));
    const panel = panelOf(page, approval);
    const answers: number[] = [];
    await page.route(`**/api/approvals/${approval.id}`, async (route) => {
      await said;
      const response = await route.fetch();
      answers.push(response.status());
      await route.fulfill({ response });
    });
    await press(panel, 'Allow once');
    await panelIs(page, approval, 'expired');
    await panel.getByText('Your answer came too late and had no effect.').waitFor();
    expect(await panel.innerText()).toContain('This does not count as a denial');
    await cardIs(page, 'late-1', 'expired');
    expect(await cardOf(page, 'late-1').getByRole('button', { name: 'Allow once' }).count()).toBe(0);
    await expect.poll(() => answers, PATIENCE).toEqual([410]);
    expect(await readFile(short.path('late.txt'), 'utf8').catch(() => 'nothing')).toBe('nothing');
  });
});
