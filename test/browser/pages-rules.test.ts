/** Rules: seen, tried, made and revoked, in a real browser. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeProblems } from '../support/axe.js';
import { useBrowser } from '../support/browser.js';
import { shots } from '../support/screenshots.js';
import { openSignedIn, PHONE } from './console-world.js';
import {
  comeTo,
  complaints,
  goTo,
  HOSTILE,
  isWithinWidth,
  KEYS,
  PATIENT,
  startWorld,
  unhurt,
  type World,
} from './pages-harness.js';

const browser = useBrowser();

/** For whatever takes the mode as it is; each test has rules of its own. */
let world: World;
/** One for all of them: whoever works with the console leaves it open. */
let page: Page;
let problems: string[];
beforeAll(async () => {
  world = await startWorld();
  ({ page, problems } = await openSignedIn(browser, world.gateway));
});
afterAll(() => world.close());

async function begin(path = 'rules'): Promise<void> {
  problems.length = 0;
  await comeTo(page, world, path);
}

const made = (text: string) =>
  page.getByRole('table', { name: 'Rules added by people' }).locator('tbody tr').filter({ hasText: text });
const dialogIn = (shown: Page) => shown.getByRole('dialog');
const result = (behaviour: string) => page.locator(`[data-result="${behaviour}"]`);

const rule = (text: string, more: object = {}) => ({
  rule: text,
  behaviour: 'allow',
  scope: 'everywhere',
  ...more,
});

describe('rules', PATIENT, () => {
  it('are shown with where they are from, the mode and how to write them', async () => {
    const { session } = await world.say('coder', 'hello');
    await world.api('POST', '/api/rules', rule('Bash(npm run shown)', { scope: 'session', session }));
    await world.api(
      'POST',
      '/api/rules',
      rule('Edit(./shown/**)', { scope: 'project', project: world.root }),
    );
    await world.api('POST', '/api/rules', rule('WebFetch', { behaviour: 'deny' }));
    await begin();
    expect(await made('npm run shown').innerText()).toMatch(
      new RegExp(`Allow[\\s\\S]*One session[\\s\\S]*${session}`),
    );
    expect(await made('Edit(./shown/**)').innerText()).toContain(world.root);
    expect(await made('WebFetch').innerText()).toMatch(/Deny[\s\S]*Everywhere/);
    await page.getByText('Calls that no rule covers wait for a person.').waitFor();
    const configured = page.getByRole('table', { name: 'Rules in the configuration' });
    expect(await configured.innerText()).toMatch(/Bash\(curl:\*\)\s+Deny/);
    expect(await configured.getByRole('button').count()).toBe(0);
    await page.getByRole('button', { name: 'How rules are written' }).click();
    await page.getByText('Exactly this command.').waitFor();
    await shots(page, 'rules');
    expect(await axeProblems(page)).toEqual([]);
    expect(complaints(problems)).toEqual([]);
  });

  it('are revoked after a question, and gone', async () => {
    await world.api('POST', '/api/rules', rule('Bash(npm run gone)'));
    await world.api('POST', '/api/rules', rule('Bash(npm run kept)'));
    await begin();
    const dialog = dialogIn(page);
    await made('npm run gone').getByRole('button', { name: 'Revoke Bash(npm run gone)' }).click();
    expect(await dialog.innerText()).toContain('Bash(npm run gone)');
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await made('npm run gone').waitFor({ state: 'detached' });
    await page.getByText('The rule was revoked.').first().waitFor();
    expect(await made('npm run kept').count()).toBe(1);
    const left = await world.api<{ data: { rule: string }[] }>('GET', '/api/rules');
    expect(left.data.map((each) => each.rule)).not.toContain('Bash(npm run gone)');
  });

  it('appear and go as others make and revoke them', async () => {
    await begin();
    const { id } = await world.api<{ id: string }>('POST', '/api/rules', rule('Bash(make:*)'));
    await made('make').waitFor();
    await world.api('DELETE', `/api/rules/${id}`);
    await made('make').waitFor({ state: 'detached' });
  });

  it('are made with a preview of what they would have decided', async () => {
    // Allowed by the configuration: nobody has to be asked.
    await world.say('coder', 'RUN git log --graph --all');
    await begin();
    const dialog = dialogIn(page);
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await dialog.getByText('Type a rule to see').waitFor();
    await dialog.getByLabel('Rule', { exact: true }).fill('Bash(git log --graph');
    await dialog
      .getByRole('region', { name: /would have decided/ })
      .locator('.text-danger')
      .waitFor();
    await dialog.getByLabel('Rule', { exact: true }).fill('Bash(git log --graph:*)');
    await dialog.getByText(/^1 of the last \d+ calls/).waitFor();
    await dialog.getByText('git log --graph --all').waitFor();
    await dialog.getByLabel('What it does').selectOption('ask');
    await shots(page, 'rules-add');
    await dialog.getByRole('button', { name: 'Add the rule' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await made('Bash(git log --graph:*)').innerText()).toMatch(/Ask[\s\S]*Everywhere/);
  });

  it('are tried on a call: what would happen, why, and which rule would change it', async () => {
    await begin();
    const dialog = dialogIn(page);
    const command = page.getByLabel('command *');
    await command.fill('curl example.com');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await result('deny').getByText('It would be refused').waitFor();
    expect(await result('deny').innerText()).toContain('Bash(curl:*)');
    await command.fill('git log -1');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await result('allow').getByText('It would run').waitFor();
    await command.fill('npm publish');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await result('ask').getByText('A person would be asked').waitFor();
    await shots(page, 'rules-test');
    await result('ask')
      .getByRole('button', { name: /^Add the rule Bash/ })
      .first()
      .click();
    expect(await dialog.getByLabel('Rule', { exact: true }).inputValue()).toContain('npm publish');
    await dialog.getByRole('button', { name: 'Add the rule' }).click();
    await made('npm publish').waitFor();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await result('allow').waitFor();
  });

  it('are tried on any tool, by its fields or as JSON', async () => {
    await begin('rules?tool=Read');
    await page.getByLabel('file_path *').fill('/etc/passwd');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await result('ask').waitFor();
    await page.getByRole('switch', { name: 'Input as JSON' }).click();
    const json = page.getByLabel('Input', { exact: true });
    expect(JSON.parse(await json.inputValue())).toEqual({ file_path: '/etc/passwd' });
    await json.fill('[1');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText('This is not a JSON object.').waitFor();
    await page.getByLabel('Tool', { exact: true }).selectOption('Bash');
    expect(page.url()).toContain('tool=Bash');
  });

  it('are not tried before it is known which tools there are, and that says so', async () => {
    await page.route('**/api/tools', (route) => route.fulfill({ status: 503, json: {} }));
    await begin('rules?tool=Read');
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    expect(await page.getByRole('button', { name: 'Test', exact: true }).count()).toBe(0);
    await page.unroute('**/api/tools');
    await again.click();
    await page.getByLabel('file_path *').waitFor();
  });

  it('beyond a session are for administrators, and the rest for those who may approve', async () => {
    const world = await startWorld({ server: { keys: KEYS } });
    await world.api('POST', '/api/rules', rule('WebFetch'), 'key-of-root');
    await world.say('coder', 'of alice', { key: 'key-of-alice' });
    const context = await browser.newContext({ serviceWorkers: 'block' });
    const page = await context.newPage();
    await goTo(page, world, 'rules', 'key-of-alice');
    expect(await page.getByRole('button', { name: 'Revoke WebFetch' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Add a rule' }).click();
    const dialog = dialogIn(page);
    expect(await dialog.getByLabel('Where it applies').inputValue()).toBe('session');
    await dialog.getByLabel('Rule', { exact: true }).fill('Bash(ls)');
    await dialog.getByRole('button', { name: 'Add the rule' }).click();
    await page.getByRole('button', { name: 'Revoke Bash(ls)' }).waitFor();
    await context.close();
    const other = await browser.newContext({ serviceWorkers: 'block' });
    const eve = await other.newPage();
    await goTo(eve, world, 'rules', 'key-of-eve');
    await eve.getByText('it needs the scope “approve”').waitFor();
    expect(await eve.getByRole('button', { name: /Add a rule|^Test$/ }).count()).toBe(0);
    await other.close();
  });

  it('fit a phone and Chinese, and what is hostile is text', async () => {
    await world.say('coder', HOSTILE);
    await world.api(
      'POST',
      '/api/rules',
      rule(`Bash(echo ${'<img src=x onerror=window.hurt=1>'.repeat(40)})`),
    );
    const { page } = await openSignedIn(browser, world.gateway, { locale: 'zh-CN', viewport: PHONE });
    await goTo(page, world, 'rules');
    await page.getByText('没有规则涉及的调用会等待人工决定').waitFor();
    await page.locator('main code').filter({ hasText: '<img src=x' }).waitFor();
    expect(await unhurt(page)).toBe(true);
    expect(await isWithinWidth(page)).toBe(true);
    expect(await page.locator('main').innerText()).not.toMatch(/Revoke|Everywhere|Add a rule|Test a call/);
  });
});
