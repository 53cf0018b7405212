/** Notification targets on Setup, in a real browser against providers on loopback. */
import { describe, expect, it } from 'vitest';
import { axeProblems } from '../support/axe.js';
import { openPage, useBrowser } from '../support/browser.js';
import { startTestGateway } from '../support/gateway.js';
import { startProvider } from '../support/provider-site.js';
import { shots } from '../support/screenshots.js';
import { connected, tokenOf } from './console-world.js';
import { isWithinWidth, PATIENT } from './pages-harness.js';

const browser = useBrowser();
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

async function begin(notify: object, locale = 'en-US', keys: readonly object[] = [], key?: string) {
  const gateway = await startTestGateway({
    config: { notify, ...(keys.length > 0 && { server: { keys } }) },
  });
  const { page, problems } = await openPage(browser, { locale });
  await page.goto(key === undefined ? gateway.consoleUrl : `${gateway.url}/#token=${key}`);
  await connected(page);
  await page.evaluate("location.hash = '#/setup'");
  return { page, problems };
}

describe('first steps', PATIENT, () => {
  it('are ticked off when the console and a client have said something', async () => {
    const gateway = await startTestGateway();
    const { page } = await openPage(browser, { locale: 'en-US' });
    await page.goto(gateway.consoleUrl);
    await connected(page);
    await page.evaluate("location.hash = '#/setup'");
    const step = (name: string) => page.getByRole('listitem').filter({ hasText: name });
    await step('Send it a message').getByText('To do').waitFor();
    const ask = (path: string, body: object) =>
      fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${tokenOf(gateway)}` },
        body: JSON.stringify(body),
      }).then((response) => response.text());
    const messages = [{ role: 'user', content: 'hi' }];
    await ask('/v1/chat/completions', { model: 'demo', messages });
    await step('Connect a client').getByText('Done').waitFor();
    expect(await step('Send it a message').getByText('Done').count()).toBe(0);
    await ask('/api/chat', { model: 'demo', content: 'hi' });
    await step('Send it a message').getByText('Done').waitFor();
  });
});

describe('notification targets', PATIENT, () => {
  it('are listed with how they do, and a test is sent to one', async () => {
    const [hook, broken] = await Promise.all([startProvider(), startProvider(() => ({ status: 500 }))]);
    const { page, problems } = await begin({
      allow_private: [hook.host, broken.host],
      targets: {
        audit: { type: 'webhook', url: `${hook.url}/in?token=s3cret-value`, secret: SECRET },
        broken: { type: 'webhook', url: broken.url, secret: SECRET },
      },
    });
    const list = page.getByRole('list', { name: 'Notification targets' });
    const row = (name: string) => list.getByRole('listitem').filter({ hasText: name });
    await row('audit').getByText('Nothing sent yet').waitFor();
    await page.getByRole('button', { name: 'Send a test to audit' }).click();
    expect(JSON.parse((await hook.next()).body)).toMatchObject({ type: 'test' });
    await row('audit').getByText('Working').waitFor();
    await page.getByRole('button', { name: 'Send a test to broken' }).click();
    await row('broken').getByText('Failing').waitFor();
    expect(await row('broken').innerText()).toMatch(/1 message waiting[\s\S]*The last attempt failed: .*500/);
    await list.scrollIntoViewIfNeeded();
    await shots(page, 'setup-targets');
    expect(await axeProblems(page)).toEqual([]);
    expect(await page.content()).not.toMatch(/whsec|s3cret/);
    expect(problems).toEqual([]);
  });

  it('that are not there are explained, in Chinese and on a phone', async () => {
    const { page } = await begin({}, 'zh-CN');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByText('还没有通知目标').scrollIntoViewIfNeeded();
    expect(await isWithinWidth(page)).toBe(true);
    await shots(page, 'setup-targets-zh');
    expect(await axeProblems(page)).toEqual([]);
  });

  it('are shown to nobody without admin', async () => {
    const keys = [{ key: 'key-of-eve', name: 'eve', scopes: ['call'] }];
    const { page } = await begin({}, 'en-US', keys, 'key-of-eve');
    await page.getByRole('heading', { name: 'Connect a client' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Notification targets' }).count()).toBe(0);
  });
});
