/** What was used, as figures and charts, in a real browser. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { axeProblems } from '../support/axe.js';
import { useBrowser } from '../support/browser.js';
import { shots } from '../support/screenshots.js';
import { recordUsage } from '../support/usage-rows.js';
import { openSignedIn, PHONE } from './console-world.js';
import {
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

const DAY_MS = 86_400_000;
/** Of the rows and of the page: days are counted, and one may end meanwhile. */
const NOW = Date.now();

/** Most answers are quick, a few take long: `swift` streams, `slow` does not. */
const SPREAD = [
  ...Array.from({ length: 37 }, (_, index) => ({
    at: NOW - (index % 5) * DAY_MS,
    model: 'swift',
    latencyMs: 400,
    firstTokenMs: 104,
  })),
  { at: NOW - 2 * DAY_MS, model: 'slow', latencyMs: 8000 },
  { at: NOW, model: 'slow', latencyMs: 8000 },
  { at: NOW, model: 'slow', latencyMs: 30_000 },
];

/** `at`: what the page takes for now. */
async function open(world: World, path = 'usage', at?: number) {
  const opened = await openSignedIn(browser, world.gateway);
  const { page } = opened;
  if (at !== undefined) await page.clock.setFixedTime(at);
  await goTo(page, world, path);
  return {
    ...opened,
    chart: (name: string) => page.getByRole('region', { name, exact: true }),
    tile: (name: string) =>
      page.locator('main dl > div').filter({ has: page.getByText(name, { exact: true }) }),
  };
}

describe('usage', PATIENT, () => {
  it('is empty at first, and counts what is asked', async () => {
    const world = await startWorld();
    const { page, tile, problems } = await open(world);
    await page.getByText('No usage in this period').waitFor();
    expect(await page.getByRole('button', { name: 'Download CSV' }).isDisabled()).toBe(true);
    await world.say('priced', 'hello');
    await tile('Requests').getByText('1', { exact: true }).waitFor();
    expect(complaints(problems)).toEqual([]);
  });

  it('is shown as figures, charts and a table, with an unknown price as unknown', async () => {
    const world = await startWorld();
    for (let index = 0; index < 3; index++) await world.say('priced', 'hello');
    await world.say('plain', 'hello');
    await world.say('plain', 'FAIL');
    const { page, chart, tile } = await open(world);
    await tile('Requests').getByText('5', { exact: true }).waitFor();
    expect(await tile('Requests').innerText()).toMatch(/5[\s\S]*1 with an error \(20%\)/);
    expect(await tile('Tokens').innerText()).toMatch(/800[\s\S]*480 in · 120 out · 200 from the cache/);
    // What an upstream refused costs nothing. 3 × (120 × 3 + 30 × 15) per million, and the cache at no given price as input.
    expect(await tile('Cost').innerText()).toMatch(
      /\$0\.00\d+[\s\S]*without 1 request whose price is unknown/,
    );
    await chart('Requests').locator('[data-bar="priced"]').waitFor();
    await chart('Requests').locator('[data-bar="plain"]').waitFor();
    const row = page.getByRole('table', { name: 'By model' }).locator('tr').filter({ hasText: 'plain' });
    expect(await row.innerText()).toContain('unknown');
    await shots(page, 'usage');
    expect(await axeProblems(page)).toEqual([]);
    await goTo(page, world, 'usage?range=24h&by=key');
    await chart('Requests').getByText('per hour').waitFor();
    await chart('Requests').locator('[data-bar="local"]').waitFor();
    await shots(page, 'usage-day');
  });

  it('says how long half of the answers took, and all but a few', async () => {
    const world = await startWorld();
    await recordUsage(world.gateway, SPREAD);
    const { page, chart, tile } = await open(world, 'usage', NOW);
    // The middle of what is counted together: 400 to 415, 7936 to 8191.
    expect(await tile('Latency (median)').innerText()).toMatch(
      /408 ms[\s\S]*95% within 8\.1 sec · longest 30 sec/,
    );
    const row = page.getByRole('table', { name: 'By model' }).locator('tr').filter({ hasText: 'slow' });
    expect((await row.locator('td').allInnerTexts()).slice(-3)).toEqual(['8.1 sec', '30 sec', '30 sec']);
    expect(await page.getByRole('slider').count()).toBe(6);
    await shots(page, 'usage-spread');
    const figures = async (title: string) => {
      await chart(title).getByRole('button', { name: 'Show as a table' }).click();
      return chart(title).locator('tbody tr').last().locator('td').allInnerTexts();
    };
    // Never more than the longest of a group.
    expect(await figures('Latency (median)')).toEqual(['400 ms', '8.1 sec']);
    expect(await figures('Latency (95%)')).toEqual(['400 ms', '30 sec']);
    expect(await figures('First token (median)')).toEqual(['106 ms', 'unknown']);
  });

  it('says by key how long answers took', async () => {
    const world = await startWorld();
    const at = Date.now();
    await recordUsage(world.gateway, [
      { at, principal: 'alice', latencyMs: 400, firstTokenMs: 104 },
      { at, principal: 'alice', latencyMs: 400, firstTokenMs: 104 },
      { at, principal: 'bob', latencyMs: 8000 },
    ]);
    const { chart } = await open(world, 'usage?by=key');
    for (const [title, alice, bob] of [
      ['Latency (median)', '400 ms', '8 sec'],
      ['Latency (95%)', '400 ms', '8 sec'],
      // The middle of what is counted together: 104 to 107.
      ['First token (median)', '106 ms', 'unknown'],
    ] as const) {
      await chart(title).getByRole('button', { name: 'Show as a table' }).click();
      const table = chart(title).getByRole('table');
      await table.waitFor();
      expect(await table.locator('thead th').allInnerTexts()).toEqual(['Time', 'alice', 'bob']);
      expect(await table.locator('tbody td').allInnerTexts()).toEqual([alice, bob]);
    }
  });

  it('is read point by point with the keyboard, and as a table', async () => {
    const world = await startWorld();
    await recordUsage(world.gateway, [{ at: NOW, model: 'priced' }]);
    const { page, chart } = await open(world, 'usage', NOW);
    const drawing = chart('Requests').getByRole('slider');
    await drawing.focus();
    expect(await drawing.getAttribute('aria-valuetext')).toContain('priced 1');
    await page.keyboard.press('ArrowLeft');
    expect(await drawing.getAttribute('aria-valuetext')).toContain('nothing');
    await page.keyboard.press('End');
    expect(await drawing.getAttribute('aria-valuetext')).toContain('priced 1');
    await chart('Requests').getByRole('button', { name: 'Show as a table' }).click();
    const table = chart('Requests').getByRole('table');
    expect(await table.locator('thead').innerText()).toContain('priced');
    expect(await table.locator('tbody td').allInnerTexts()).toEqual(['1']);
  });

  it('is downloaded as a table for a spreadsheet', async () => {
    const world = await startWorld();
    await world.say('=1+1', 'hello');
    const { page } = await open(world);
    const button = page.getByRole('button', { name: 'Download CSV' });
    await page.getByRole('table', { name: 'By model' }).waitFor();
    const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
    const [head = '', line = ''] = (await readFile(await file.path(), 'utf8')).split('\r\n');
    expect(head).toMatch(/^time,model,key,requests,errors,input_tokens/);
    expect(line).toMatch(/^\d{4}-\d\d-\d\d,'=1\+1,local,1,0,120,30,50,0,/);
    expect(file.suggestedFilename()).toBe('toolgate-usage-7d.csv');
  });

  it('is one’s own without admin, on a phone, in Chinese, with hostile names', async () => {
    const world = await startWorld({ server: { keys: KEYS } });
    await world.say(`m ${HOSTILE} ${'z'.repeat(100)}`, 'hello', { key: 'key-of-eve' });
    await world.say('of-root', 'hello', { key: 'key-of-root' });
    const context = await browser.newContext({ locale: 'zh-CN', serviceWorkers: 'block', viewport: PHONE });
    const page = await context.newPage();
    await goTo(page, world, 'usage', 'key-of-eve');
    await page.getByText('仅显示您自己的密钥').waitFor();
    await page.getByText('没有错误').waitFor();
    const shown = await page.locator('main').innerText();
    expect(shown).toMatch(/延迟（中位数）[\s\S]*95% 在 .+ 以内 · 最长/);
    for (const title of ['延迟（中位数）', '延迟（95%）', '首个 Token（中位数）']) {
      await page.getByRole('region', { name: title, exact: true }).waitFor();
    }
    expect(shown).not.toMatch(/of-root|Requests|Latency|First token|within|unknown|Others/);
    expect(await isWithinWidth(page)).toBe(true);
    expect(await unhurt(page)).toBe(true);
    await context.close();
  });
});
