/** The palette: actions and conversations by keyboard alone. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatStarted } from '../../src/server/console-api/wire/sessions.js';
import { axeProblems } from '../support/axe.js';
import { useBrowser } from '../support/browser.js';
import { closeAfterTest } from '../support/cleanup.js';
import { shots } from '../support/screenshots.js';
import { openSignedIn } from './console-world.js';
import { comeTo, goTo, HOSTILE, PATIENT, startWorld, unhurt, type World } from './pages-harness.js';

const browser = useBrowser();
const WIDE = { viewport: { width: 1280, height: 800 } };

let world: World;
let page: Page;
beforeAll(async () => {
  world = await startWorld();
  ({ page } = await openSignedIn(browser, world.gateway, WIDE));
});
afterAll(() => world.close());

const field = () => page.getByRole('combobox', { name: 'Actions and conversations' });
const options = () => page.getByRole('listbox', { name: 'Actions and conversations' }).getByRole('option');
const chosen = (name: string) => page.getByRole('option', { name, selected: true });
const isGone = () => field().waitFor({ state: 'detached' });

async function open(): Promise<void> {
  await page.keyboard.press('Control+k');
  await field().waitFor();
}

/** Types, and presses Enter once the one that is meant is the one that Enter chooses. */
async function run(typed: string, option: string): Promise<void> {
  await open();
  await page.keyboard.type(typed);
  await chosen(option).waitFor();
  await page.keyboard.press('Enter');
  await isGone();
}

describe('the palette', PATIENT, () => {
  it('goes to pages by the keyboard alone', async () => {
    await comeTo(page, world, 'rules');
    await run('usage', 'Go to Usage');
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    await open();
    await chosen('New chat').waitFor();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowDown');
    await chosen('New chat').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`${world.gateway.url}/#/`);
  });

  it('finds a conversation by what was said in it, also one that is archived', async () => {
    const { session } = await world.say('coder', `prune ${'the old '.repeat(20)} apple tree`);
    await world.api('PATCH', `/api/sessions/${session}`, { title: `Garden ${HOSTILE}`, archived: true });
    await comeTo(page, world, 'rules');
    await open();
    await page.keyboard.type('apple tree');
    await chosen('Garden').waitFor();
    expect(await chosen('Garden').innerText()).toContain('apple tree');
    expect(await axeProblems(page)).toEqual([]);
    await shots(page, 'palette');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${world.gateway.url}/#/chat/${session}`);
    expect(await unhurt(page)).toBe(true);
    await open();
    await page.keyboard.type('nothing of the kind');
    await page.getByText('Nothing found.').waitFor();
    expect(await options().count()).toBe(0);
    await page.keyboard.press('Escape');
    await isGone();
  });

  it('gives the focus back when Escape closes it, and when its own key does', async () => {
    await comeTo(page, world, 'sessions');
    const search = page.getByLabel('Search text, title');
    await search.focus();
    for (const close of ['Escape', 'Control+k']) {
      await open();
      await expect.poll(() => field().evaluate((element) => element.matches(':focus'))).toBe(true);
      await page.keyboard.press(close);
      await isGone();
      await expect.poll(() => search.evaluate((element) => element.matches(':focus'))).toBe(true);
    }
  });

  it('loses nothing of what is typed right after its key', async () => {
    await comeTo(page, world, 'rules');
    await open();
    await page.keyboard.press('Escape');
    await isGone();
    const hasFocusAtOnce = await page.evaluate(`new Promise((resolve) => {
      const observer = new MutationObserver(() => {
        const input = document.querySelector('[role=combobox]');
        if (input === null) return;
        observer.disconnect();
        resolve(document.activeElement === input);
      });
      observer.observe(document.body, { childList: true, subtree: true });
      document.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }));
    })`);
    expect(hasFocusAtOnce).toBe(true);
    await page.keyboard.press('Escape');
    await isGone();
  });

  it('renames the conversation that is open, and stops its turn', async () => {
    const said = { model: 'coder', content: 'HOLD the ladder' };
    const { session } = await world.api<ChatStarted>('POST', '/api/chat', said);
    await goTo(page, world, `chat/${session}`);
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    await run('rename', 'This conversation: Rename…');
    const name = page.getByRole('dialog').getByLabel('Name');
    await name.fill('Ladder');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Ladder' }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await run('stop', 'Stop the turn');
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
  });

  it('forks, copies the link, opens the settings and the form that connects, and signs out', async () => {
    const { session } = await world.say('coder', 'plant a hedge');
    const own = await openSignedIn(browser, world.gateway, { ...WIDE, permissions: ['clipboard-write'] });
    const choose = async (typed: string, option: string) => {
      await own.page.keyboard.press('Control+k');
      await own.page.getByRole('combobox', { name: 'Actions and conversations' }).waitFor();
      await own.page.keyboard.type(typed);
      await own.page.getByRole('option', { name: option, selected: true }).waitFor();
      await own.page.keyboard.press('Enter');
    };
    await goTo(own.page, world, `chat/${session}`);
    await own.page.getByRole('heading', { level: 1, name: 'plant a hedge' }).waitFor();
    await choose('copy link', 'This conversation: Copy link');
    await own.page.getByText('The address was copied.').first().waitFor();
    await choose('this conversation: fork', 'This conversation: Fork');
    await own.page.getByRole('heading', { level: 1, name: 'plant a hedge (2)' }).waitFor();
    await choose('settings', 'Settings');
    await own.page.getByRole('region', { name: 'Settings' }).getByText('Version').waitFor();
    await own.page.keyboard.press('Escape');
    await choose('connect', 'Connect a model');
    await own.page.getByRole('dialog', { name: 'Connect a model' }).waitFor();
    await own.page.keyboard.press('Escape');
    await own.page.getByRole('dialog').waitFor({ state: 'detached' });
    await choose('sign out', 'Sign out');
    await own.page.getByLabel('Token or key').waitFor();
  });

  it('changes colours and language', async () => {
    closeAfterTest(() => page.emulateMedia({ colorScheme: null }));
    await run('dark', 'Colours: Dark');
    await page.locator('html[data-theme=dark]').waitFor();
    await run('system', 'Colours: System');
    await run('切换', '切换到中文');
    await page.locator('html[lang=zh-CN]').waitFor();
    await page.getByRole('button', { name: '搜索 (Ctrl K)' }).click();
    const option = page.getByRole('option', { name: 'Switch to English' });
    await option.waitFor();
    await shots(page, 'palette-zh');
    expect(await axeProblems(page)).toEqual([]);
    await option.click();
    await page.locator('html[lang=en]').waitFor();
  });

  it('does not cover a question that is open', async () => {
    await world.say('coder', 'empty the bin');
    await comeTo(page, world, 'sessions');
    const row = page.locator('main tbody tr').filter({ hasText: 'empty the bin' });
    await row.getByRole('button', { name: 'Actions for' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await page.keyboard.press('Control+k');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await field().count()).toBe(0);
  });
});
