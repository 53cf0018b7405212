/** The console in a real browser, served by a real gateway. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser, type ObservedPage, openPage } from '../support/browser.js';
import { startTestGateway } from '../support/gateway.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
});

const PHONE = { width: 360, height: 740 };
const MODELS = { models: { coder: { upstream: 'demo' }, '*': { upstream: 'demo' } } };

async function statusOf({ page }: ObservedPage, state: string): Promise<string | null> {
  await page.waitForSelector(`#status[data-state="${state}"]`);
  return page.locator('#status-text').textContent();
}

describe('the console', () => {
  it('signs in with the token of the printed address and takes it out of the address', async () => {
    const gateway = await startTestGateway({ config: MODELS });
    const opened = await openPage(browser);
    await opened.page.goto(gateway.consoleUrl);
    expect(await statusOf(opened, 'running')).toBe('The gateway is running.');
    expect(opened.page.url()).toBe(`${gateway.url}/`);
    expect(await opened.page.locator('#model-list li').allInnerTexts()).toContain('coder');
    expect(await opened.page.locator('#version').textContent()).toMatch(/^\d+\.\d+\.\d+/);
    expect(opened.problems).toEqual([]);
  });

  it('stays signed in on reload, by a cookie that scripts cannot read', async () => {
    const gateway = await startTestGateway();
    const opened = await openPage(browser);
    await opened.page.goto(gateway.consoleUrl);
    await statusOf(opened, 'running');
    await opened.page.reload();
    await statusOf(opened, 'running');
    const [cookie] = await opened.page.context().cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
    expect(await opened.page.evaluate('document.cookie')).toBe('');
  });

  it('says what to do when nobody is signed in, and takes a token typed in', async () => {
    const gateway = await startTestGateway();
    const opened = await openPage(browser);
    await opened.page.goto(gateway.url);
    expect(await statusOf(opened, 'refused')).toBe('You are not signed in.');
    expect(await opened.page.locator('#hint').textContent()).toContain('printed when it started');
    expect(await opened.page.locator('#models').isVisible()).toBe(false);
    const token = new URLSearchParams(new URL(gateway.consoleUrl).hash.slice(1)).get('token') ?? '';
    await opened.page.getByLabel('Token or key').fill(token);
    await opened.page.getByRole('button', { name: 'Sign in' }).click();
    await statusOf(opened, 'running');
  });

  it('refuses a wrong token, keeps it out of the address, and accepts the right one in the same tab', async () => {
    const gateway = await startTestGateway();
    const opened = await openPage(browser);
    await opened.page.goto(`${gateway.url}/#token=wrong`);
    expect(await statusOf(opened, 'refused')).toBe('This token or key is not valid.');
    expect(opened.page.url()).toBe(`${gateway.url}/`);
    await opened.page.goto(gateway.consoleUrl);
    await statusOf(opened, 'running');
  });

  it('signs in with a key where the gateway has keys', async () => {
    const key = 'a-key-of-the-gateway';
    const gateway = await startTestGateway({
      config: { server: { keys: [{ key, name: 'alice', scopes: ['call', 'approve', 'admin'] }] }, ...MODELS },
    });
    const opened = await openPage(browser);
    await opened.page.goto(gateway.url);
    await statusOf(opened, 'refused');
    await opened.page.getByLabel('Token or key').fill(key);
    await opened.page.getByRole('button', { name: 'Sign in' }).click();
    await statusOf(opened, 'running');
    expect(await opened.page.locator('#model-list li').allInnerTexts()).toContain('coder');
  });

  it('says so when the gateway has gone', async () => {
    const gateway = await startTestGateway();
    const opened = await openPage(browser);
    await opened.page.goto(gateway.consoleUrl);
    await statusOf(opened, 'running');
    await gateway.close();
    await opened.page.evaluate("location.hash = '#token=late'");
    expect(await statusOf(opened, 'failed')).toBe('The gateway does not answer.');
    expect(await opened.page.locator('#use').isVisible()).toBe(false);
  });

  it('shows examples that name this gateway and copies them', async () => {
    const gateway = await startTestGateway();
    const opened = await openPage(browser, { permissions: ['clipboard-read', 'clipboard-write'] });
    await opened.page.goto(gateway.consoleUrl);
    await statusOf(opened, 'running');
    const examples = await opened.page.locator('.snippet pre').allInnerTexts();
    expect(examples).toHaveLength(4);
    for (const example of examples) expect(example).toContain(gateway.url);
    const button = opened.page.getByRole('button', { name: 'Copy the Claude Code example' });
    await button.click();
    await opened.page.getByText('Copied', { exact: true }).first().waitFor();
    expect(await opened.page.evaluate('navigator.clipboard.readText()')).toContain(
      `ANTHROPIC_BASE_URL=${gateway.url}`,
    );
  });

  it('speaks Chinese to a Chinese browser', async () => {
    const gateway = await startTestGateway();
    const opened = await openPage(browser, { locale: 'zh-CN' });
    await opened.page.goto(gateway.consoleUrl);
    expect(await statusOf(opened, 'running')).toBe('网关正在运行。');
    expect(await opened.page.locator('html').getAttribute('lang')).toBe('zh-CN');
    const shown = await opened.page.locator('main :is(h2, p, button, label)').allTextContents();
    expect(shown.filter((text) => text.trim() !== '' && !/[\u4e00-\u9fff]/.test(text))).toEqual([]);
  });

  it('fits a phone, in light and dark', async () => {
    const gateway = await startTestGateway();
    const colours = new Set<unknown>();
    for (const colorScheme of ['light', 'dark'] as const) {
      const opened = await openPage(browser, { viewport: PHONE, colorScheme });
      await opened.page.goto(gateway.consoleUrl);
      await statusOf(opened, 'running');
      expect(await opened.page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
      colours.add(await opened.page.evaluate('getComputedStyle(document.body).backgroundColor'));
    }
    expect(colours.size).toBe(2);
  });

  it('can be used with the keyboard alone', async () => {
    const gateway = await startTestGateway();
    const opened = await openPage(browser);
    await opened.page.goto(gateway.consoleUrl);
    await statusOf(opened, 'running');
    const reached: unknown[] = [];
    for (let press = 0; press < 4; press++) {
      await opened.page.keyboard.press('Tab');
      reached.push(await opened.page.evaluate("document.activeElement.getAttribute('aria-label')"));
    }
    expect(reached).toEqual([
      'Copy the curl example',
      'curl example',
      'Copy the Claude Code example',
      'Claude Code example',
    ]);
  });
});
