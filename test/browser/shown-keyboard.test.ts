/** A whole visit without a mouse: only keys, and what has the focus. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useBrowser } from '../support/browser.js';
import { call, callsAnswer, textAnswer } from '../support/wire.js';
import { type ApprovalBench, cardIs, startBench } from './approvals-bench.js';
import { connected, openConsole, tokenOf } from './console-world.js';

const browser = useBrowser();
let bench: ApprovalBench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(async () => {
  await bench.close();
});

/** How a screen reader would call what has the focus. */
const FOCUSED = `(() => {
  const element = document.activeElement;
  if (element === null || element === document.body) return '';
  const labels = element.labels === undefined || element.labels === null ? [] : [...element.labels];
  const read = element.cloneNode(true);
  for (const hidden of read.querySelectorAll('[aria-hidden=true]')) hidden.remove();
  return (element.ariaLabel ?? labels[0]?.textContent ?? read.textContent ?? '').trim();
})()`;

const MOST_STEPS = 60;

/** Goes on until something with that name has the focus. */
async function tabTo(page: Page, name: string | RegExp, key = 'Tab'): Promise<void> {
  const passed: string[] = [];
  for (let step = 0; step < MOST_STEPS; step++) {
    const focused: string = await page.evaluate(FOCUSED);
    if (typeof name === 'string' ? focused === name : name.test(focused)) return;
    passed.push(focused);
    await page.keyboard.press(key);
  }
  throw new Error(`${name} is not reached; passed: ${passed.join(' → ')}`);
}

describe('without a mouse', { timeout: 90_000 }, () => {
  it('one signs in, asks, denies, makes and revokes a rule, and signs out', async () => {
    const turn = bench.model.play('clean the folder', [
      callsAnswer(call('Bash', { command: 'rm -rf build' }, 'k-1')),
      callsAnswer(call('Bash', { command: 'make clean' }, 'k-2')),
      textAnswer('It is clean.'),
    ]);
    const { page } = await openConsole(browser, bench.gateway.url);
    const { keyboard } = page;
    await page.getByRole('form').waitFor();
    await keyboard.insertText(tokenOf(bench.gateway));
    await keyboard.press('Enter');
    await connected(page);

    await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor();
    await tabTo(page, 'Message');
    await keyboard.type('clean the folder');
    await keyboard.press('Enter');
    await page.locator('[data-armed="true"]').waitFor();
    await tabTo(page, 'Deny with reason…', 'Shift+Tab');
    await keyboard.press('Enter');
    const reason = page.getByRole('textbox', { name: 'Reason' });
    await reason.and(page.locator(':focus')).waitFor();
    await keyboard.press('Escape');
    await page.getByRole('button', { name: 'Deny with reason…' }).and(page.locator(':focus')).waitFor();
    await keyboard.press('Enter');
    await reason.and(page.locator(':focus')).waitFor();
    await keyboard.type('Use make clean.');
    await tabTo(page, 'Deny with this reason');
    await page.locator('[data-armed="true"]').waitFor();
    await keyboard.press('Enter');
    await cardIs(page, 'k-1', 'denied');

    const second = await bench.asked('k-2');
    expect(JSON.stringify(turn.requests.at(-1)?.told)).toContain('Use make clean.');
    await page.locator(`[data-approval="${second.id}"] [data-armed="true"]`).waitFor();
    await tabTo(page, 'Always allow…');
    await keyboard.press('Enter');
    await page.getByText('It covers this call.').waitFor();
    await tabTo(page, /^Allow, and always allow/);
    await page.locator(`[data-approval="${second.id}"] [data-armed="true"]`).waitFor();
    await keyboard.press('Enter');
    await page.getByText('It is clean.').waitFor();
    expect((await bench.approvalOf('k-2')).decision).toMatchObject({ via: 'console' });

    await tabTo(page, /^Inbox/, 'Shift+Tab');
    await keyboard.press('Enter');
    await page.getByText('Nothing is waiting for you').waitFor();
    await tabTo(page, /^Rules/);
    await keyboard.press('Enter');
    await page.getByText('Bash(make clean').first().waitFor();
    await tabTo(page, /^Revoke/);
    await keyboard.press('Enter');
    const dialog = page.getByRole('alertdialog').or(page.getByRole('dialog'));
    // Until it has the focus, the button behind it has, which is called nearly the same.
    await dialog.and(page.locator(':focus-within')).waitFor();
    await tabTo(page, 'Revoke');
    await keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    await page.getByText('Bash(make clean').first().waitFor({ state: 'detached' });

    await tabTo(page, /^Settings/, 'Shift+Tab');
    await keyboard.press('Enter');
    await page.getByRole('region', { name: 'Settings' }).waitFor();
    await tabTo(page, 'Sign out');
    await keyboard.press('Enter');
    await page.getByText('You are not signed in.').waitFor();
  });
});
