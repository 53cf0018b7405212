/** What an engine says about how a question should be put, as the person sees it who is asked. */
import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { AskHints } from '../../src/permissions/decision.js';
import { startServer } from '../e2e/server-harness.js';
import { type Asked, approvalBench, callOf } from '../support/approval-bench.js';
import { openPage, useBrowser } from '../support/browser.js';
import { goTo, PATIENCE, panelIs, panelOf, press } from './approvals-bench.js';
import { connected } from './console-world.js';

const browser = useBrowser();

const CONSOLE = fileURLToPath(new URL('../../console/dist', import.meta.url));

interface Shown extends Asked {
  page: Page;
  panel: Locator;
}

/** A question of an engine that says this about it, in the inbox: the only one is open by itself. */
async function ask(hints: AskHints): Promise<Shown> {
  const bench = await approvalBench();
  // The page counts the time that is left by itself.
  bench.clock.at = Date.now();
  const asked = await bench.ask(callOf('npm test', { principal: 'local', hints }));
  const { url, token } = await startServer({ approvals: bench.coordinator, consoleDir: CONSOLE });
  const { page } = await openPage(browser);
  page.setDefaultTimeout(PATIENCE.timeout);
  await page.goto(`${url}/#token=${token}`);
  await connected(page);
  await goTo(page, '#/inbox');
  const panel = panelOf(page, asked.approval);
  await panel.getByRole('button', { name: 'Allow once' }).waitFor();
  return { ...asked, page, panel };
}

const background = (element: Locator): Promise<string> =>
  element.evaluate((found) => found.ownerDocument.defaultView.getComputedStyle(found).backgroundColor);

/** Those of the buttons that are not as light as the row that they stand in. */
async function standingOut(panel: Locator): Promise<string[]> {
  const row = panel.locator('[data-armed]');
  const ground = await background(row);
  const names = ['Allow once', 'Deny'];
  const colours = await Promise.all(
    names.map((name) => background(row.getByRole('button', { name, exact: true }))),
  );
  return names.filter((_, index) => colours[index] !== ground);
}

describe('an approval question', () => {
  it('without hints offers to allow it, for always too, and warns of nothing', async () => {
    const { panel } = await ask({});
    await expect.poll(() => standingOut(panel), PATIENCE).toEqual(['Allow once']);
    await panel.getByRole('button', { name: 'Always allow…' }).waitFor();
    expect(await panel.innerText()).not.toMatch(/closer look|permanently|Outside/);
  });

  it('that the engine would rather have refused has the refusal stand out', async () => {
    const { panel, page, approval, verdict } = await ask({ defaultToNo: true });
    await expect.poll(() => standingOut(panel), PATIENCE).toEqual(['Deny']);
    await panel.getByText('the agent recommends denying this unless you are sure').waitFor();
    await press(panel, 'Deny');
    await panelIs(page, approval, 'denied');
    expect(await verdict).toMatchObject({ allowed: false });
  });

  it('of which no rule may be made has no choice for always, and can be allowed once', async () => {
    const { panel, page, approval, verdict } = await ask({ suppressAlways: true });
    await panel.getByText('This cannot be allowed permanently: you will be asked each time.').waitFor();
    expect(await panel.getByRole('button', { name: /always/i }).count()).toBe(0);
    await expect.poll(() => standingOut(panel), PATIENCE).toEqual(['Allow once']);
    await press(panel, 'Allow once');
    await panelIs(page, approval, 'allowed');
    expect(await verdict).toMatchObject({ allowed: true });
  });

  it('about a path outside of the folder names it', async () => {
    const { panel } = await ask({ blockedPath: '/etc/hosts' });
    await panel.getByText('Outside the folders it may work in: /etc/hosts').waitFor();
  });
});
