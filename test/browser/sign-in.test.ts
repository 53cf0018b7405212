/** Signing in to the console and out of it, in a real browser, at a real gateway. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import Libsql from 'libsql';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeProblems } from '../support/axe.js';
import { useBrowser } from '../support/browser.js';
import { closeAfterTest } from '../support/cleanup.js';
import { startCutProxy } from '../support/cut-proxy.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { shots } from '../support/screenshots.js';
import { connected, openConsole, openSignedIn, tokenOf } from './console-world.js';

const MODELS = { models: { coder: { upstream: 'demo' }, '*': { upstream: 'demo' } } };
const KEY = 'a-key-of-the-gateway';
const WITH_KEYS = {
  server: { keys: [{ key: KEY, name: 'alice', scopes: ['call', 'approve'] }] },
  ...MODELS,
};
const BEHIND_A_PROXY = { server: { public_hosts: ['127.0.0.1'] } };

const browser = useBrowser();
/** For whatever does not change it. */
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ config: MODELS });
});
afterAll(async () => {
  await gateway.close();
});

const signInForm = (page: Page) => page.getByRole('form', { name: 'Sign in' });
const settings = (page: Page) => page.getByRole('button', { name: /^Settings/ });

describe('signing in', () => {
  it('takes the token of the printed address, and takes it out of the address', async () => {
    const { page, problems } = await openSignedIn(browser, gateway);
    expect(page.url()).toBe(`${gateway.url}/`);
    await settings(page).click();
    expect(await page.locator('[data-version]').textContent()).toMatch(/^\d+\.\d+\.\d+/);
    expect(problems).toEqual([]);
  });

  it('lasts over a reload, by a cookie that scripts cannot read', async () => {
    const { page } = await openSignedIn(browser, gateway);
    await page.reload();
    await connected(page);
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
    expect(await page.evaluate('document.cookie')).toBe('');
  });

  it('is not in the cookie alone, which every port of the host is sent', async () => {
    const { page } = await openSignedIn(browser, gateway);
    let sent = '';
    const other = createServer((request, response) => {
      sent ||= request.headers.cookie ?? '';
      response.end('<title>a page that an agent serves</title>');
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    closeAfterTest(() => {
      other.closeAllConnections();
      other.close();
    });
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const elsewhere = await page.context().newPage();
    await elsewhere.goto(`http://127.0.0.1:${port}/`);
    expect(sent).toContain(`toolgate_${new URL(gateway.url).port}=`);
    expect(await elsewhere.evaluate('Object.keys(localStorage)')).toEqual([]);
    for (const path of ['/api/approvals', '/api/session', '/api/events']) {
      const answer = await fetch(`${gateway.url}${path}`, { headers: { cookie: sent } });
      expect([path, answer.status]).toEqual([path, 401]);
      await answer.body?.cancel();
    }
    // The page itself is let in with both.
    await page.reload();
    await connected(page);
  });

  it('says what to do when nobody is signed in, and takes a token typed in', async () => {
    const { page } = await openConsole(browser, gateway.url);
    await page.getByText('You are not signed in.').waitFor();
    expect(await page.getByText('printed when it started').isVisible()).toBe(true);
    expect(await page.getByRole('navigation').count()).toBe(0);
    expect(await axeProblems(page)).toEqual([]);
    await shots(page, 'sign-in', { always: true });
    await page.getByLabel('Token or key').fill(tokenOf(gateway));
    await page.keyboard.press('Enter');
    await connected(page);
  });

  it('refuses a wrong token, keeps it out of the address, and accepts the right one in the same tab', async () => {
    const { page } = await openConsole(browser, `${gateway.url}/#token=wrong`);
    await page.getByText('This token or key is not valid.').waitFor();
    expect(page.url()).toBe(`${gateway.url}/`);
    await page.goto(gateway.consoleUrl);
    await connected(page);
  });

  it('takes a key where the gateway has keys, and shows whose it is and what it may', async () => {
    const gateway = await startTestGateway({ config: WITH_KEYS });
    const { page } = await openConsole(browser, gateway.url);
    await page.getByLabel('Token or key').fill(KEY);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await connected(page);
    await settings(page).click();
    const panel = page.getByRole('region', { name: 'Settings' });
    expect(await panel.innerText()).toContain('alice');
    expect(await panel.innerText()).toContain('Permissions: call models, approve');
  });

  it('is over when somebody signs out, and nothing of what was shown stays', async () => {
    const { page } = await openSignedIn(browser, gateway);
    await page.evaluate("sessionStorage.setItem('toolgate.draft', 'secret plans')");
    await settings(page).click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByText('You are not signed in.').waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    expect(await page.context().cookies()).toEqual([]);
    await page.reload();
    await signInForm(page).waitFor();
  });

  it('can end on its own: the form comes back, and what was typed is still there afterwards', async () => {
    const gateway = await startTestGateway({ config: { ...MODELS, ...BEHIND_A_PROXY } });
    const wire = await startCutProxy(gateway.url);
    const { page } = await openConsole(browser, `${wire.url}/#token=${tokenOf(gateway)}`);
    await connected(page);
    const composer = page.getByRole('main').getByRole('textbox').first();
    await composer.fill('A long question that took me a while');
    // Another gateway's cookie would do the same: this one does not know it.
    await page.context().clearCookies();
    wire.cut();
    await connected(page, 'lost');
    wire.mend();
    await page.getByText('You are no longer signed in').waitFor();
    expect(await page.getByText('What you typed will still be there').isVisible()).toBe(true);
    expect(await page.getByRole('navigation').isVisible()).toBe(false);
    await page.getByLabel('Token or key').fill(tokenOf(gateway));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await connected(page);
    expect(await composer.inputValue()).toBe('A long question that took me a while');
  });
});

describe('signing out', { timeout: 60_000 }, () => {
  const everywhere = (page: Page) => page.getByRole('dialog', { name: 'Sign out everywhere?' });

  it('says so where the gateway could not write it down', async () => {
    const gateway = await startTestGateway({ config: MODELS });
    const { page } = await openSignedIn(browser, gateway);
    const other = new Libsql(join(gateway.folder, '.toolgate/toolgate.db'));
    closeAfterTest(() => other.close());
    // Another process that does not let go of the store.
    other.exec('BEGIN IMMEDIATE');
    await settings(page).click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByText('could not save that').waitFor();
    expect(await page.context().cookies()).toEqual([]);
    other.exec('ROLLBACK');
    await page.reload();
    await page.getByText('You are not signed in.').waitFor();
  });

  it('is possible everywhere at once, after a question', async () => {
    const gateway = await startTestGateway({ config: MODELS });
    const { page } = await openSignedIn(browser, gateway);
    const { page: elsewhere } = await openSignedIn(browser, gateway);
    await settings(page).click();
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await everywhere(page).waitFor();
    expect(await page.getByRole('region', { name: 'Settings' }).isVisible()).toBe(false);
    expect(await everywhere(page).innerText()).toContain('This ends every sign-in of local');
    expect(await axeProblems(page)).toEqual([]);
    await everywhere(page).getByRole('button', { name: 'Cancel' }).click();
    await everywhere(page).waitFor({ state: 'detached' });
    expect(await settings(page).evaluate((button) => button === button.ownerDocument.activeElement)).toBe(
      true,
    );

    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await everywhere(page).getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByText('You are not signed in.').waitFor();
    await elsewhere.getByText('You are no longer signed in').waitFor();
  });

  it('is asked in Chinese as well', async () => {
    const { page } = await openSignedIn(browser, gateway, { locale: 'zh-CN' });
    await page.getByRole('button', { name: /^设置/ }).click();
    await page.getByRole('button', { name: '在所有位置退出登录' }).click();
    const question = page.getByRole('dialog', { name: '在所有位置退出登录？' });
    expect(await question.innerText()).toContain('local 在所有浏览器');
  });
});

describe('an address with a token, where somebody is signed in', { timeout: 60_000 }, () => {
  const BOB = 'another-key-of-the-gateway';
  const TWO = { ...MODELS, server: { keys: [...WITH_KEYS.server.keys, { key: BOB, name: 'bob' }] } };
  const arrive = (page: Page, token: string) => page.evaluate(`location.hash = '#token=${token}'`);
  const question = (page: Page) => page.getByRole('dialog', { name: 'Sign in as bob?' });

  it('asks before it signs in somebody else', async () => {
    const gateway = await startTestGateway({ config: TWO });
    const { page } = await openConsole(browser, `${gateway.url}/#token=${KEY}`);
    await connected(page);
    const composer = page.getByRole('main').getByRole('textbox').first();
    await composer.fill('What alice types');
    await arrive(page, BOB);
    await question(page).waitFor();
    expect(page.url()).toBe(`${gateway.url}/`);
    expect(await question(page).innerText()).toContain('You are signed in as alice.');
    expect(await axeProblems(page)).toEqual([]);
    await question(page).getByRole('button', { name: 'Cancel' }).click();
    await question(page).waitFor({ state: 'detached' });
    expect(await settings(page).textContent()).toBe('alice');
    expect(await composer.inputValue()).toBe('What alice types');

    // Opened anew, as from a mail; alice's own token asks nothing.
    const fresh = await page.context().newPage();
    await fresh.goto(`${gateway.url}/#token=${KEY}`);
    await connected(fresh);
    await fresh.goto('about:blank');
    await fresh.goto(`${gateway.url}/#token=${BOB}`);
    await question(fresh).getByRole('button', { name: 'Sign in as bob' }).click();
    await fresh.getByRole('button', { name: 'Settings: bob' }).waitFor();
    // The cookie is of the whole browser, so what is alice's goes from her tab, too.
    await page.getByRole('button', { name: 'Settings: bob' }).waitFor();
    expect(await composer.inputValue()).toBe('');
  });

  it('goes on as before where the token is of an earlier start', async () => {
    const { page } = await openSignedIn(browser, gateway);
    await arrive(page, 'of-an-earlier-start');
    await page
      .getByText('The token in the address is not valid. You are still signed in as local.')
      .first()
      .waitFor();
    await connected(page);
    expect(await signInForm(page).count()).toBe(0);
  });
});

it('asks nobody to sign in while the gateway cannot say who is', async () => {
  const { page } = await openSignedIn(browser, gateway);
  const error = { message: 'The gateway is shutting down.', type: 'unavailable', param: null, code: null };
  await page.route('**/api/session', (route) => route.fulfill({ status: 503, json: { error } }));
  await page.reload();
  await page.getByText('The gateway refused: The gateway is shutting down.').waitFor();
  expect(await signInForm(page).count()).toBe(0);
  await page.unroute('**/api/session');
  await connected(page);
});
