/** The side bar: recent conversations as they stand, and what people make of them. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeProblems } from '../support/axe.js';
import { useBrowser } from '../support/browser.js';
import { shots } from '../support/screenshots.js';
import { openSignedIn } from './console-world.js';
import {
  comeTo,
  complaints,
  goTo,
  HOSTILE,
  isWithinWidth,
  KEYS,
  narrow,
  PATIENT,
  rowsOf,
  startWorld,
  unhurt,
  type World,
} from './pages-harness.js';

const browser = useBrowser();
const WIDE = { viewport: { width: 1280, height: 800 } };

let world: World;
let page: Page;
beforeAll(async () => {
  world = await startWorld();
  ({ page } = await openSignedIn(browser, world.gateway, WIDE));
});
afterAll(() => world.close());

const recent = (on: Page) => on.getByRole('region', { name: 'Recent conversations' });
const entry = (on: Page, text: string) => recent(on).getByRole('listitem').filter({ hasText: text });
const listed = (on: Page, list: string) => recent(on).getByRole('list', { name: list }).getByRole('listitem');

async function choose(on: Page, text: string, item: string): Promise<void> {
  await entry(on, text).hover();
  await entry(on, text).getByRole('button', { name: 'Actions for' }).click();
  await on.getByRole('menuitem', { name: item }).click();
}

describe('the side bar', PATIENT, () => {
  it('shows a conversation as soon as there is one, with its state, and leads to it', async () => {
    const world = await startWorld();
    const { page, problems } = await openSignedIn(browser, world.gateway, WIDE);
    await recent(page).waitFor();
    const asked = world.say('coder', 'RUN touch a');
    await entry(page, 'RUN touch a').getByText('Waiting for you').waitFor();
    const busy = world.say('coder', 'HOLD on');
    await entry(page, 'HOLD on').getByText('Working').waitFor();
    await world.api('POST', '/api/chat', { model: 'coder', content: 'FAIL at once' });
    await entry(page, 'FAIL at once').getByText('Interrupted').waitFor();
    const { session } = await world.say('coder', 'paint the fence');
    await choose(page, 'RUN touch a', 'Pin');
    await listed(page, 'Pinned').filter({ hasText: 'RUN touch a' }).waitFor();
    await entry(page, 'paint the fence').getByRole('link').click();
    await page.waitForURL(`${world.gateway.url}/#/chat/${session}`);
    await page.locator('main').getByText('It is done.').waitFor();
    await entry(page, 'paint the fence').locator('[aria-current="page"]').waitFor();
    await shots(page, 'side-bar');
    expect(await axeProblems(page)).toEqual([]);
    world.held.open();
    await entry(page, 'HOLD on').getByText('Working').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'New chat' }).click();
    await page.waitForURL(`${world.gateway.url}/#/`);
    expect(complaints(problems)).toEqual([]);
    await world.gateway.close();
    await Promise.allSettled([asked, busy]);
  });

  it('renames, which another tab shows too, and goes back to its own title', async () => {
    await world.say('coder', 'mend the gate');
    const other = await openSignedIn(browser, world.gateway, WIDE);
    await choose(page, 'mend the gate', 'Rename');
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Name').inputValue()).toBe('mend the gate');
    await dialog.getByLabel('Name').fill(`  ${HOSTILE}  Gate `);
    expect(await axeProblems(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    for (const on of [page, other.page]) {
      await entry(on, 'Gate').waitFor();
      expect(await entry(on, 'Gate').innerText()).toContain('</script> gnp.exe Gate');
      expect(await unhurt(on)).toBe(true);
    }
    await choose(page, 'Gate', 'Rename');
    await dialog.getByLabel('Name').fill('');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await entry(other.page, 'mend the gate').waitFor();
  });

  it('has those that are pinned first, whatever comes after them', async () => {
    await world.say('coder', 'an old favourite');
    await choose(page, 'an old favourite', 'Pin');
    await listed(page, 'Pinned').filter({ hasText: 'an old favourite' }).waitFor();
    await world.say('coder', 'something newer');
    await listed(page, 'Recent').filter({ hasText: 'something newer' }).waitFor();
    await page.reload();
    await listed(page, 'Pinned').filter({ hasText: 'an old favourite' }).waitFor();
    await choose(page, 'an old favourite', 'Unpin');
    await listed(page, 'Recent').filter({ hasText: 'an old favourite' }).waitFor();
  });

  it('archives, and what is archived is found again and comes back', async () => {
    const { session } = await world.say('coder', 'sweep the yard');
    await choose(page, 'sweep the yard', 'Archive');
    await entry(page, 'sweep the yard').waitFor({ state: 'detached' });
    await comeTo(page, world, 'sessions?search=sweep');
    await page.getByText('Nothing matches').waitFor();
    await page.getByLabel('State').selectOption('archived');
    const row = rowsOf(page)('sweep the yard');
    await row.waitFor();
    await row.getByRole('button', { name: 'Actions for' }).click();
    await page.getByRole('menuitem', { name: 'Unarchive' }).click();
    await row.waitFor({ state: 'detached' });
    await entry(page, 'sweep the yard').getByRole('link').click();
    await page.waitForURL(`${world.gateway.url}/#/chat/${session}`);
    await page.locator('main').getByText('It is done.').waitFor();
  });

  it('deletes after a question, and leaves the conversation that is open', async () => {
    const { session } = await world.say('coder', 'forget the shed');
    await goTo(page, world, `chat/${session}`);
    await choose(page, 'forget the shed', 'Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await entry(page, 'forget the shed').waitFor({ state: 'detached' });
    await page.waitForURL(`${world.gateway.url}/#/`);
  });

  it('has what one key may change, in Chinese too, and nothing of others', async () => {
    const world = await startWorld({ server: { keys: KEYS } });
    await world.say('coder', 'of alice', { key: 'key-of-alice' });
    await world.say('coder', 'of root', { key: 'key-of-root' });
    const context = await browser.newContext({ ...WIDE, locale: 'zh-CN', serviceWorkers: 'block' });
    const page = await context.newPage();
    await goTo(page, world, 'setup', 'key-of-root');
    const recent = page.getByRole('region', { name: '最近的对话' });
    await recent.getByRole('listitem').filter({ hasText: 'of root' }).waitFor();
    expect(await recent.getByRole('listitem').count()).toBe(1);
    await recent.getByRole('button', { name: '的操作' }).click();
    await page.getByRole('menuitem', { name: '置顶' }).click();
    await recent.getByRole('list', { name: '已置顶' }).waitFor();
    await shots(page, 'side-bar-zh');
    await context.close();
  });

  it('is not on a phone, where the list is reached by the bar', async () => {
    await world.say('coder', 'water the plants');
    await narrow(page);
    await recent(page).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Sessions' }).click();
    const row = rowsOf(page)('water the plants');
    await row.getByRole('button', { name: 'Actions for' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Plants');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await rowsOf(page)('Plants').waitFor();
    expect(await isWithinWidth(page)).toBe(true);
    await shots(page, 'sessions-named');
  });
});
