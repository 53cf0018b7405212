/** The list of sessions, in a real browser. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatStarted } from '../../src/server/console-api/wire/sessions.js';
import { axeProblems } from '../support/axe.js';
import { useBrowser } from '../support/browser.js';
import { closeAfterTest, tempFolder } from '../support/cleanup.js';
import { startTestGateway } from '../support/gateway.js';
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

/** For all but those that need one of their own: each looks at what it has said itself. */
let world: World;
let page: Page;
beforeAll(async () => {
  world = await startWorld();
  ({ page } = await openSignedIn(browser, world.gateway));
});
afterAll(() => world.close());

const row = (text: string) => rowsOf(page)(text);

/** The list as one finds it who comes from another page. */
async function begin(path = 'sessions'): Promise<void> {
  await comeTo(page, world, path);
}

/** A page of its own, for what would show to the others. */
async function open(world: World, path = 'sessions') {
  const opened = await openSignedIn(browser, world.gateway);
  await goTo(opened.page, world, path);
  return { ...opened, row: rowsOf(opened.page) };
}

describe('sessions', PATIENT, () => {
  it('says that there are none, and shows one as soon as there is', async () => {
    const world = await startWorld();
    const { page, row, problems } = await open(world);
    await page.getByText('No sessions yet').waitFor();
    await world.say('coder', 'paint the fence');
    await row('paint the fence').getByText('Idle').waitFor();
    expect(complaints(problems)).toEqual([]);
  });

  it('shows what each does, took and works in', async () => {
    const world = await startWorld();
    await world.say('coder', 'first things');
    const asked = world.say('coder', 'RUN touch a');
    const busy = world.say('coder', 'HOLD on');
    await world.held.reached;
    const { page, row } = await open(world);
    await row('RUN touch a').getByText('Waiting for you').waitFor();
    expect(await row('RUN touch a').textContent()).toContain('1 approval');
    await row('HOLD on').getByText('Working').waitFor();
    const first = await row('first things').innerText();
    expect(first).toContain('Idle');
    expect(first).toContain('coder');
    expect(first).toContain(world.root);
    expect(first).toContain('200');
    expect(first).toContain('unknown');
    await shots(page, 'sessions');
    expect(await axeProblems(page)).toEqual([]);
    world.held.open();
    await row('HOLD on').getByText('Idle').waitFor();
    await world.gateway.close();
    await Promise.allSettled([asked, busy]);
  });

  it('shows what one has cost, where the price of its model is known', async () => {
    const { path: cwd } = await tempFolder('toolgate-pages');
    const price = { input: 3000, output: 15_000 };
    const coder = { engine: 'native', upstream: 'up', model: 'm', cwd };
    const world = await startWorld({ models: { priced: { ...coder, price }, coder } });
    await world.say('priced', 'paid things');
    await world.say('coder', 'other things');
    const { row } = await open(world);
    // Of a million: 120 in and 50 from the cache at 3,000, 30 out at 15,000.
    await row('paid things').getByText('$0.96', { exact: true }).waitFor();
    await row('other things').getByText('unknown', { exact: true }).waitFor();
  });

  it('stops one that runs', async () => {
    const busy = world.say('coder', 'HOLD the door');
    const { requests } = world.upstream;
    await expect.poll(() => requests.some(({ text }) => text.includes('HOLD the door'))).toBe(true);
    await begin();
    await row('HOLD the door').getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped.').first().waitFor();
    await row('HOLD the door').getByText('Working').waitFor({ state: 'detached' });
    await busy.catch(() => {});
  });

  it('resumes what was interrupted, and says where only its client can', async () => {
    const world = await startWorld();
    await world.say('coder', 'a long story');
    const messages = [
      { role: 'user', content: 'a long story' },
      { role: 'assistant', content: 'It is done.' },
      { role: 'user', content: 'HOLD on' },
    ];
    const busy = world.say('coder', '', { more: { messages } }).catch(() => undefined);
    await world.held.reached;
    const said = { model: 'coder', content: 'FAIL at once' };
    const { session } = await world.api<ChatStarted>('POST', '/api/chat', said);
    // A turn that has not failed yet is one that the next gateway goes on with by itself.
    const failed = async () =>
      (await world.api<{ data: unknown[] }>('GET', `/api/traces?session=${session}`)).data.length;
    await expect.poll(failed).toBe(1);
    await world.gateway.close();
    await busy;
    world.held.open();
    const again = { ...world, gateway: await startTestGateway({ folder: world.gateway.folder }) };
    const { page, row } = await open(again);
    await row('a long story').getByText('Interrupted').waitFor();
    // Begun by a client of /v1, it is that client's to go on with.
    await row('a long story').getByText('Only its client can resume it.').waitFor();
    expect(await row('a long story').getByRole('button', { name: 'Resume' }).count()).toBe(0);
    await row('FAIL at once').getByRole('button', { name: 'Resume' }).click();
    await page.waitForURL(`${again.gateway.url}/#/chat/${session}`);
  });

  it('opens, forks with the fork under its parent, and deletes after a question', async () => {
    const { session } = await world.say('coder', 'the parent');
    await begin();
    await row('the parent').getByRole('button', { name: 'Actions for' }).click();
    await page.getByRole('menuitem', { name: 'Fork' }).click();
    await page.waitForURL(new RegExp(`#/chat/(?!${session}).`));
    await goTo(page, world, 'sessions');
    await row('Fork of the parent').waitFor();
    const below = page.locator('main tbody tr:has-text("the parent") + tr').first();
    expect(await below.textContent()).toContain('Fork of the parent');
    await below.getByRole('button', { name: 'Actions for' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.textContent()).toContain('whole transcript');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await row('Fork of the parent').waitFor({ state: 'detached' });
    await dialog.waitFor({ state: 'detached' });
    expect(await row('the parent').count()).toBe(1);
    await row('the parent').getByRole('link').first().click();
    await page.waitForURL(`${world.gateway.url}/#/chat/${session}`);
  });

  it('searches by what is typed, filters by state, and keeps both in the address', async () => {
    await world.say('coder', 'paint the hedge');
    await world.say('coder', 'mow the lawn');
    await begin();
    await row('hedge').waitFor();
    await page.getByLabel('Search text, title').fill('DONE');
    await row('hedge').locator('mark', { hasText: 'done' }).waitFor();
    expect(await row('hedge').innerText()).toContain('It is done.');
    expect(await row('lawn').count()).toBe(1);
    await page.getByLabel('Search text, title').fill('lawn');
    await row('hedge').waitFor({ state: 'detached' });
    await row('lawn').waitFor();
    expect(await row('hedge').count()).toBe(0);
    expect(page.url()).toContain('search=lawn');
    await page.getByLabel('State').selectOption('running');
    await page.getByText('Nothing matches').waitFor();
    await page.reload();
    await page.getByText('Nothing matches').waitFor();
    await page.getByLabel('Search text, title').fill('');
    const said = { model: 'coder', content: 'HOLD the lawn' };
    const { session } = await world.api<ChatStarted>('POST', '/api/chat', said);
    await row('HOLD the lawn').getByText('Working').waitFor();
    await world.api('POST', `/api/sessions/${session}/stop`);
    await row('HOLD the lawn').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Show all' }).click();
    await row('hedge').waitFor();
    expect(page.url()).not.toContain('?');
  });

  it('asks a search once, and keeps what it has found up to date', async () => {
    const { session } = await world.say('coder', 'paint the gate once');
    await world.say('coder', 'mend the gate once');
    const { page, row } = await open(world, 'sessions?search=done');
    await row('mend the gate').locator('mark').waitFor();
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().includes('search=')) asked += 1;
    });
    await page.clock.install();
    await world.api('DELETE', `/api/sessions/${session}`);
    await row('paint the gate').waitFor({ state: 'detached' });
    // Whatever the page meant to ask for a moment later.
    await page.clock.runFor(5000);
    await row('mend the gate').locator('mark').waitFor();
    expect(asked).toBe(0);
  });

  it('comes in pages', async () => {
    const world = await startWorld();
    const say = (index: number) => world.say('coder', `number ${index}.`);
    for (const oldest of [0, 1]) await say(oldest);
    await Promise.all(Array.from({ length: 50 }, (_, index) => say(index + 2)));
    const { page, row } = await open(world);
    await page.getByText('50 of 52 sessions').waitFor();
    expect(await row('number 1.').count()).toBe(0);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByText('52 sessions').waitFor();
    await row('number 1.').waitFor();
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
  });

  it('shows titles and what was said as text, whatever is in them, at any length and width', async () => {
    await world.say('coder', `${HOSTILE} ${'long '.repeat(2000)} ${HOSTILE} behind ${HOSTILE}`);
    await narrow(page);
    await begin('sessions?search=behind');
    await page.locator('main mark', { hasText: 'behind' }).waitFor();
    await page.getByText('[U+202E]').first().waitFor();
    expect(await unhurt(page)).toBe(true);
    expect(await isWithinWidth(page)).toBe(true);
    expect(await page.locator('main img, main script').count()).toBe(0);
  });

  it('shows everyone their own, in Chinese too', async () => {
    const world = await startWorld({ server: { keys: KEYS } });
    await world.say('coder', 'of alice', { key: 'key-of-alice' });
    await world.say('coder', 'of root', { key: 'key-of-root' });
    const opened = await browser.newContext({ locale: 'zh-CN', serviceWorkers: 'block' });
    const page = await opened.newPage();
    await goTo(page, world, 'sessions', 'key-of-alice');
    await page.getByText('1 个会话').waitFor();
    const shown = await page.locator('main').innerText();
    expect(shown).toContain('of alice');
    expect(shown).toContain('空闲');
    expect(shown).not.toContain('of root');
    expect(shown).not.toMatch(/Sessions|Idle|unknown|Updated/);
    await opened.close();
  });

  it('says what is wrong, and tries again', async () => {
    await world.say('coder', 'paint the shed');
    closeAfterTest(() => page.unroute('**/api/sessions?*'));
    await page.route('**/api/sessions?*', (route) =>
      route.fulfill({ status: 500, body: '{"error":{"message":"The store is away."}}' }),
    );
    await begin();
    await page.getByText('The store is away.').waitFor();
    await page.unroute('**/api/sessions?*');
    await page.locator('main').getByRole('button', { name: 'Try again' }).click();
    await row('shed').waitFor();
  });
});
