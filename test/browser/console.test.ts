/** The console's frame in a real browser, served by a real gateway: pages, language, colours. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAgent } from '../e2e/native-agent-harness.js';
import { axeProblems } from '../support/axe.js';
import { type ObservedPage, openPage, useBrowser } from '../support/browser.js';
import { tempFolder } from '../support/cleanup.js';
import { startCutProxy } from '../support/cut-proxy.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { shots } from '../support/screenshots.js';
import { callAnswer, textAnswer } from '../support/wire.js';
import { connected, openConsole, openSignedIn, PAGES, PHONE, tokenOf } from './console-world.js';

const MODELS = { models: { coder: { upstream: 'demo' }, '*': { upstream: 'demo' } } };
const KEY = 'a-key-of-the-gateway';
const WITH_KEYS = {
  server: { keys: [{ key: KEY, name: 'alice', scopes: ['call', 'approve'] }] },
  ...MODELS,
};

const browser = useBrowser();
/** For whatever does not change it. */
let gateway: TestGateway;
/** For whatever begins as anybody does: whoever works with the console leaves it open. */
let opened: ObservedPage;
beforeAll(async () => {
  gateway = await startTestGateway({ config: MODELS });
  opened = await openSignedIn(browser, gateway, { permissions: ['clipboard-read', 'clipboard-write'] });
});
afterAll(async () => {
  await gateway.close();
});

/** At the chat, from elsewhere: what was typed and opened is not there any more. */
async function begin(): Promise<ObservedPage> {
  const { page, problems } = opened;
  await page.goto(`${gateway.url}/#/inbox`);
  await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
  problems.length = 0;
  await page.goto(`${gateway.url}/#/`);
  await titled(page, 'Toolgate – Chat');
  return opened;
}

const BEHIND_A_PROXY = { server: { public_hosts: ['127.0.0.1'] } };

const signInForm = (page: Page) => page.getByRole('form', { name: 'Sign in' });
const settings = (page: Page) => page.getByRole('button', { name: /^Settings/ });
const NAVIGATION = ['Chat', 'Inbox', 'Sessions', 'Traces', 'Tools & MCP', 'Rules', 'Keys', 'Usage', 'Setup'];

describe('the connection', () => {
  it('is always there in words, says since when it is lost and what to do, and comes back by itself', async () => {
    const gateway = await startTestGateway({ config: BEHIND_A_PROXY });
    const wire = await startCutProxy(gateway.url);
    const { page } = await openConsole(browser, `${wire.url}/#token=${tokenOf(gateway)}`);
    await connected(page);
    expect(await page.locator('[data-connection]').innerText()).toBe('Connected');
    wire.cut();
    await connected(page, 'lost');
    await page.getByText(/^Connection lost at.*reconnects automatically/).waitFor();
    wire.mend();
    await connected(page);
    await page.getByText(/^Connection lost at/).waitFor({ state: 'detached' });
  });

  it('is lost when the gateway stops; a page that is opened then says that it cannot be reached', async () => {
    const gateway = await startTestGateway();
    const { page } = await openSignedIn(browser, gateway);
    await gateway.close();
    await connected(page, 'lost');
    await page.evaluate("location.hash = '#token=late'");
    // Who is inside stays inside: nobody has said that the sign-in is over.
    await page.waitForURL(`${gateway.url}/`);
    expect(await signInForm(page).count()).toBe(0);
  });
});

describe('pages', () => {
  it('have their address: by link, from outside, back and forward', async () => {
    const { page } = await begin();
    const navigation = page.getByRole('navigation', { name: 'Pages' });
    expect((await navigation.getByRole('link').allInnerTexts()).map((text) => text.trim())).toEqual(
      NAVIGATION,
    );
    await navigation.getByRole('link', { name: 'Setup' }).click();
    await page.getByRole('heading', { level: 1, name: 'Setup' }).waitFor();
    expect([page.url(), await page.title()]).toEqual([`${gateway.url}/#/setup`, 'Toolgate – Setup']);
    await navigation.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Setup' }).waitFor();
    await page.goForward();
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    expect(await navigation.locator('[aria-current="page"]').innerText()).toBe('Usage');
    const other = await page.context().newPage();
    await other.goto(`${gateway.url}/#/rules`);
    await other.getByRole('heading', { level: 1 }).waitFor();
    expect(await other.title()).toBe('Toolgate – Rules');
    await other.close();
  });

  it('break no rule of the content policy, and fit every screen, with nothing on them yet', {
    timeout: 60_000,
  }, async () => {
    const { page, problems } = await begin();
    for (const [index, name] of PAGES.entries()) {
      await page.goto(`${gateway.url}/#/${name}`);
      const title = name === '' ? /./ : (NAVIGATION[index] ?? '');
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      expect(await page.locator('h1').count()).toBe(1);
      expect(await page.getByRole('main').count()).toBe(1);
      await shots(page, `page-${name === '' ? 'chat' : name}`);
    }
    expect(problems).toEqual([]);
  });

  it('that do not exist say so, with a way on', async () => {
    const { page } = await begin();
    await page.goto(`${gateway.url}/#/nowhere/at/all`);
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    expect(await page.getByText('“/nowhere/at/all”').isVisible()).toBe(true);
    await page.getByRole('link', { name: 'Go to the chat' }).click();
    await page.waitForURL(`${gateway.url}/#/`);
  });

  it('fail alone: what happened is shown, and the others go on', async () => {
    const { page } = await openSignedIn(browser, gateway);
    await page.route(/\/assets\/usage-page-/, (route) => route.abort());
    await page.getByRole('link', { name: 'Usage' }).click();
    const alert = page.getByRole('alert');
    await alert.getByRole('heading', { name: 'This page crashed' }).waitFor();
    expect(await alert.innerText()).toContain('could not be loaded');
    expect(await alert.getByRole('button', { name: 'Reload the console' }).isVisible()).toBe(true);
    await page.getByRole('link', { name: 'Setup' }).click();
    await page.getByRole('heading', { level: 1, name: 'Setup' }).waitFor();
  });

  it('are reached by the keyboard alone, with a way past the navigation', async () => {
    const { page } = await openSignedIn(browser, gateway);
    await page.goto(`${gateway.url}/#/setup`);
    await page.getByRole('heading', { level: 1, name: 'Setup' }).waitFor();
    await page.locator('body').focus();
    await page.keyboard.press('Tab');
    const skip = page.getByRole('button', { name: 'Skip to content' });
    expect(await skip.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true);
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await page.keyboard.press('Shift+Tab');
    expect(await page.evaluate('document.activeElement.ariaLabel')).toMatch(/^Settings/);
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Settings' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('region', { name: 'Settings' }).waitFor({ state: 'hidden' });
    await page.getByRole('link', { name: 'Rules' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/rules$/);
    // Said, not grabbed: the focus stays on the link.
    await page.locator('[data-announcer]', { hasText: 'Rules' }).waitFor({ state: 'attached' });
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Rules');
  });

  it('have nothing serious for axe to find around them, in light and dark', async () => {
    const { page } = await openSignedIn(browser, gateway);
    await settings(page).click();
    await page.getByRole('region', { name: 'Settings' }).waitFor();
    expect(await axeProblems(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('html[data-theme=dark]').waitFor();
    expect(await axeProblems(page, ['color-contrast'])).toEqual([]);
  });
});

describe('language and colours', () => {
  it('are Chinese for a Chinese browser, all of it', async () => {
    const { page } = await openSignedIn(browser, gateway, { locale: 'zh-CN' });
    expect(await page.locator('[data-connection]').innerText()).toBe('已连接');
    expect(await page.locator('html').getAttribute('lang')).toBe('zh-CN');
    await page.goto(`${gateway.url}/#/setup`);
    await page.getByRole('heading', { level: 1, name: '接入' }).waitFor();
    expect(await page.title()).toBe('Toolgate – 接入');
    await page.locator('main dl dt').first().waitFor();
    const shown = await page.locator('main :is(h1, h2, dt, label), nav a').allTextContents();
    expect(shown.length).toBeGreaterThan(15);
    expect(shown.filter((text) => !/[\u4e00-\u9fff]/.test(text))).toEqual([]);
    await shots(page, 'setup-zh');
  });

  it('are chosen in the settings and kept in this browser', async () => {
    const { page } = await openSignedIn(browser, gateway, { colorScheme: 'light' });
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await ground();
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.waitForSelector('html[data-theme="dark"]');
    expect(await ground()).not.toBe(light);
    await settings(page).click();
    await page.getByRole('group', { name: 'Theme' }).getByText('Light').click();
    await page.waitForSelector('html[data-theme="light"]');
    expect(await ground()).toBe(light);
    await page.getByRole('group', { name: 'Language' }).getByText('中文').click();
    await page.getByRole('link', { name: '会话' }).waitFor();
    await page.reload();
    await connected(page);
    expect(await ground()).toBe(light);
    expect(await page.locator('html').getAttribute('lang')).toBe('zh-CN');
  });
});

describe('on a phone', () => {
  it('the first pages are at the bottom and the others one step away', async () => {
    const { page } = await openSignedIn(browser, gateway, { viewport: PHONE, hasTouch: true });
    const bar = page.getByRole('navigation', { name: 'Pages' });
    await bar.getByRole('button', { name: 'More' }).tap();
    await bar.getByRole('link', { name: 'Setup' }).tap();
    await page.getByRole('heading', { level: 1, name: 'Setup' }).waitFor();
    expect(await bar.getByRole('link', { name: 'Rules' }).isVisible()).toBe(false);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
    expect(await axeProblems(page)).toEqual([]);
  });
});

describe('what waits for a decision', () => {
  it('is counted in the title and the navigation until it is decided', async () => {
    const { path: root } = await tempFolder('workspace');
    const { gateway } = await startAgent(
      'anthropic-messages',
      root,
      [callAnswer('Bash', { command: 'echo one' }), textAnswer('Done.')],
      { rest: { permissions: { mode: 'ask', unattended: 'wait' } } },
    );
    const { page } = await openSignedIn(browser, gateway);
    expect(await page.title()).toBe('Toolgate – Chat');
    const answer = fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'coder',
        max_tokens: 100,
        messages: [{ role: 'user', content: 'Say one.' }],
      }),
    });
    await titled(page, '(1) Toolgate – Chat');
    const inbox = page.getByRole('link', { name: /^Inbox/ });
    expect(await inbox.innerText()).toContain('1');
    expect(await inbox.textContent()).toContain('1 waiting for a decision');
    for (const approval of await pending(gateway.url, tokenOf(gateway))) {
      const decided = await fetch(`${gateway.url}/api/approvals/${approval.id}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tokenOf(gateway)}`, 'content-type': 'application/json' },
        body: JSON.stringify({ decision: 'allow', digest: approval.digest }),
      });
      expect(decided.status).toBe(200);
    }
    await titled(page, 'Toolgate – Chat');
    expect((await answer).status).toBe(200);
  });
});

describe('setup', () => {
  it('shows what is connected, and examples with this gateway and a chosen model that can be copied', async () => {
    const { page } = await begin();
    await page.goto(`${gateway.url}/#/setup`);
    await page.getByRole('heading', { name: 'What is connected' }).waitFor();
    expect(await page.locator('[data-models] li').allInnerTexts()).toContain('coder');
    expect(await page.getByText('any word is accepted as one').isVisible()).toBe(true);
    await page.getByLabel('Model', { exact: true }).fill("o'clock");
    for (const tab of await page.getByRole('tab').all()) {
      await tab.click();
      const examples = await page.getByRole('tabpanel').locator('pre').allInnerTexts();
      expect(examples.join('\n')).toContain(gateway.url);
    }
    await page.getByRole('tab', { name: 'Claude Code' }).click();
    await page.getByRole('button', { name: 'Copy: Claude Code example' }).click();
    await page.getByText('Copied', { exact: true }).first().waitFor();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    expect(copied).toContain(`ANTHROPIC_BASE_URL=${gateway.url}`);
    expect(copied).toContain(`ANTHROPIC_MODEL='o'\\''clock'`);
  });

  it('says that a key is needed where the gateway has keys', async () => {
    const gateway = await startTestGateway({ config: WITH_KEYS });
    const { page } = await openConsole(browser, `${gateway.url}/#/setup`);
    await page.getByLabel('Token or key').fill(KEY);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This gateway needs one of its keys').waitFor();
    expect(await page.getByRole('tabpanel').innerText()).toContain('"$TOOLGATE_KEY"');
  });
});

it('is shown in no frame of another page', async () => {
  const { page } = await openPage(browser);
  await page.setContent(`<iframe src="${gateway.url}/"></iframe>`);
  const frame = await page.waitForSelector('iframe');
  const inside = await frame.contentFrame();
  expect(await inside?.locator('#root').count()).toBe(0);
});

/** Resolves when the title is this one. */
async function titled(page: Page, title: string): Promise<void> {
  await page.evaluate(`new Promise((done) => {
    const look = () => document.title === ${JSON.stringify(title)} && done();
    new MutationObserver(look).observe(document.head, { childList: true, subtree: true, characterData: true });
    look();
  })`);
}

interface Pending {
  id: string;
  digest: string;
}

async function pending(url: string, token: string): Promise<Pending[]> {
  const answer = await fetch(`${url}/api/approvals`, { headers: { authorization: `Bearer ${token}` } });
  const body: { data: Pending[] } = JSON.parse(await answer.text());
  return body.data;
}
