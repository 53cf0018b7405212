/** Keys: made, shown once, rotated and revoked, in a real browser. */
import { describe, expect, it } from 'vitest';
import { axeProblems } from '../support/axe.js';
import { useBrowser } from '../support/browser.js';
import { closeAfterTest } from '../support/cleanup.js';
import { shots } from '../support/screenshots.js';
import { openSignedIn } from './console-world.js';
import { complaints, goTo, KEYS, PATIENT, startWorld, type World } from './pages-harness.js';

const browser = useBrowser();

const SECRET = /^sk-tg-[A-Za-z0-9]{43}$/;

async function isTaken({ gateway }: World, key: string): Promise<boolean> {
  return (await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).ok;
}

async function open(config: object = {}) {
  const world = await startWorld(config);
  closeAfterTest(() => world.close());
  return world;
}

describe('keys', PATIENT, () => {
  it('are made, shown once, rotated and revoked', async () => {
    const world = await open();
    const { page, problems } = await openSignedIn(browser, world.gateway);
    await goTo(page, world, 'keys');
    const dialog = page.getByRole('dialog');
    await page.getByText('There are no keys yet').waitFor();
    await page.getByRole('button', { name: 'Create a key' }).click();
    await dialog.getByLabel('Name').fill('ci runner');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Use letters, digits and . _ @ - only').waitFor();
    expect(await dialog.getByLabel('Name').getAttribute('aria-invalid')).toBe('true');
    expect(await axeProblems(page)).toEqual([]);
    await dialog.getByLabel('Name').fill('ci');
    await dialog.getByRole('textbox', { name: 'Models' }).fill('coder, gpt-*');
    await dialog.getByRole('button', { name: 'Limits' }).click();
    await dialog.getByLabel('Requests per minute').fill('600');
    await dialog.getByLabel('Expires').selectOption({ label: 'In 90 days' });
    await shots(page, 'keys-create');
    await dialog.getByRole('button', { name: 'Create' }).click();

    await dialog.getByText('Copy it now: it is not shown again.').waitFor();
    const first = await dialog.locator('code').innerText();
    expect(first).toMatch(SECRET);
    await dialog.getByText('from now on every request needs one').waitFor();
    expect(await axeProblems(page)).toEqual([]);
    await shots(page, 'keys-secret');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'detached' });
    const row = page.getByRole('table', { name: 'Keys' }).locator('tbody tr').filter({ hasText: 'ci' });
    expect(await row.innerText()).toMatch(/Active[\s\S]*call[\s\S]*coder, gpt-\*[\s\S]*600 requests\/min/);
    expect(await page.content()).not.toContain(first);
    await shots(page, 'keys');
    expect(await axeProblems(page)).toEqual([]);
    expect(await isTaken(world, first)).toBe(true);

    await row.getByRole('button', { name: 'Rotate ci' }).click();
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    await dialog.getByText('Copy it now: it is not shown again.').waitFor();
    const second = await dialog.locator('code').innerText();
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect([await isTaken(world, first), await isTaken(world, second)]).toEqual([false, true]);

    await row.getByRole('button', { name: 'Revoke ci' }).click();
    expect(await dialog.innerText()).toContain('This cannot be undone.');
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await row.getByText('Revoked').waitFor();
    expect(await row.getByRole('button').count()).toBe(0);
    expect(await isTaken(world, second)).toBe(false);
    expect(complaints(problems).filter((problem) => !/40[01]/.test(problem))).toEqual([]);
  });

  it('are made with limits, and what is wrong with one stands at its field', async () => {
    const world = await open();
    const { page } = await openSignedIn(browser, world.gateway);
    await goTo(page, world, 'keys');
    const dialog = page.getByRole('dialog');
    const invalid = dialog.locator('[aria-invalid=true]');
    await page.getByRole('button', { name: 'Create a key' }).click();
    await dialog.getByLabel('Name').fill('team');
    expect(await dialog.getByLabel('Tokens per minute').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Limits' }).click();
    await dialog.getByLabel('Budget in US dollars').fill('a lot');
    await dialog.getByLabel('Tokens per minute').fill('0');
    // What is wrong is shown also where it was folded away.
    await dialog.getByRole('button', { name: 'Limits' }).click();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Enter an amount above 0.').waitFor();
    await dialog.getByText('Enter a whole number above 0.').waitFor();
    expect(await invalid.count()).toBe(2);
    expect(await invalid.first().evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true);
    await shots(page, 'keys-limits');
    expect(await axeProblems(page)).toEqual([]);
    await dialog.getByLabel('Budget in US dollars').fill('25');
    await dialog.getByLabel('Per', { exact: true }).selectOption('week');
    await dialog.getByLabel('Tokens per minute').fill('50000');
    await dialog.getByLabel('Answers at once').fill('4');
    await dialog.getByLabel('Agents at once').fill('2');
    await dialog.getByLabel('Folders').fill(`${world.root}\n/srv/other`);
    // Only the gateway knows which names are taken: its answer stands at the field too.
    await world.api('POST', '/api/keys', { name: 'team', scopes: ['call', 'admin'] });
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.locator('[aria-invalid=true]').waitFor();
    expect(await dialog.getByLabel('Name').getAttribute('aria-invalid')).toBe('true');
    await dialog.getByLabel('Name').fill('limited');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Copy it now: it is not shown again.').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    const { data } = await world.api<{ data: { name: string }[] }>('GET', '/api/keys');
    expect(data.find(({ name }) => name === 'limited')).toMatchObject({
      ...{ tpm: 50_000, max_streams: 4, max_agents: 2, budget: { usd: 25, per: 'week' } },
      workspaces: [world.root, '/srv/other'],
    });
    const row = page.getByRole('table', { name: 'Keys' }).locator('tbody tr').filter({ hasText: 'limited' });
    expect(await row.innerText()).toMatch(
      /50000 tokens\/min, 4 at once, 2 agents at once, 25 USD\/week, 2 folders/,
    );
  });

  it('of the file are shown and cannot be changed; who has no admin sees none', async () => {
    const world = await open({ server: { keys: KEYS } });
    const { page } = await openSignedIn(browser, {
      ...world.gateway,
      consoleUrl: `${world.gateway.url}/#token=key-of-root`,
    });
    await goTo(page, world, 'keys');
    const table = page.getByRole('table', { name: 'Keys' });
    await table.getByText('alice').waitFor();
    expect(await table.getByRole('button').count()).toBe(0);
    const alice = await openSignedIn(
      browser,
      { ...world.gateway, consoleUrl: `${world.gateway.url}/#token=key-of-alice` },
      { locale: 'zh-CN' },
    );
    await goTo(alice.page, world, 'keys');
    await alice.page.getByText('只有具备“admin”权限的密钥才能查看和更改密钥。').waitFor();
    await shots(alice.page, 'keys-zh');
    expect(await alice.page.content()).not.toContain('>root<');
    expect(complaints(alice.problems)).toEqual([]);
  });
});
