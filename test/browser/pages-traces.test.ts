/** Requests, one by one and each from end to end, in a real browser. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { replay } from '../../src/cli/trace/replay.js';
import { parseTraceFile } from '../../src/cli/trace/trace-file.js';
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

const LOOKUP = {
  name: 'lookup',
  description: 'Looks a city up',
  input_schema: { type: 'object', properties: { city: { type: 'string' } } },
};

/** For all but those that need one of their own: each looks at what it has said itself. */
let world: World;
let page: Page;
beforeAll(async () => {
  world = await startWorld({ permissions: { mode: 'allow' } });
  ({ page } = await openSignedIn(browser, world.gateway));
});
afterAll(() => world.close());

const row = (text: string) => rowsOf(page)(text);

/** The list as one finds it who comes from another page. */
async function begin(): Promise<void> {
  await comeTo(page, world, 'traces');
}

/** A page of its own, for what would show to the others. */
async function open(world: World) {
  const opened = await openSignedIn(browser, world.gateway);
  await goTo(opened.page, world, 'traces');
  return { ...opened, row: rowsOf(opened.page) };
}

/** Opens the request whose line holds `text`, and gives its panes. */
async function openTrace(text: string) {
  await page.locator('main tbody tr').filter({ hasText: text }).first().getByRole('link').first().click();
  const pane = (id: string) => page.locator(`[data-pane="${id}"]`);
  await pane('inbound').waitFor();
  return pane;
}

describe('the list of requests', PATIENT, () => {
  it('says that there are none, and shows one as soon as it is answered', async () => {
    const world = await startWorld();
    const { page, row, problems } = await open(world);
    await page.getByText('No requests yet').waitFor();
    await world.say('priced', 'hello');
    const line = await row('priced').innerText();
    expect(line).toContain('200 OK');
    expect(line).toContain('→ up');
    expect(line).toContain('end_turn');
    expect(line).toContain('170 in · 30 out');
    expect(complaints(problems)).toEqual([]);
  });

  it('marks failures, losses and repairs', async () => {
    await world.say('marked-fine', 'hello');
    await world.say('marked-bad', 'FAIL');
    await world.say('marked-lossy', 'hello', { more: { top_k: 7 } });
    await world.say('marked-broken', 'BROKEN', { more: { tools: [LOOKUP] } });
    const { session } = await world.say('coder', 'an agent');
    await begin();
    await row('marked-bad').getByText('400 Refused').waitFor();
    await row('marked-lossy').getByText('1 loss').waitFor();
    await row('marked-broken').getByText('1 repair').waitFor();
    const links = row(session).getByRole('link');
    expect(await links.nth(0).getAttribute('href')).toMatch(/^#\/traces\/req_/);
    expect(await links.nth(1).getAttribute('href')).toBe(`#/chat/${session}`);
    await shots(page, 'traces');
    expect(await axeProblems(page)).toEqual([]);
  });

  it('is filtered by model, status, session and errors', async () => {
    await world.say('sieved-fine', 'hello');
    await world.say('sieved-bad', 'FAIL');
    const { session } = await world.say('coder', 'an agent');
    // The choice of models is of the moment in which one comes: what is answered is counted a little later.
    const models = async () =>
      (await world.api<{ data: { model: string }[] }>('GET', '/api/usage?by=model')).data.map(
        ({ model }) => model,
      );
    await expect.poll(models).toContain('coder');
    await begin();
    await row('sieved-fine').waitFor();
    await page.getByRole('switch', { name: 'Errors only' }).click();
    await row('sieved-fine').waitFor({ state: 'detached' });
    await row('sieved-bad').waitFor();
    expect(await row('sieved-fine').count()).toBe(0);
    await page.getByRole('switch', { name: 'Errors only' }).click();
    await page.getByLabel('Model').selectOption('coder');
    await row('sieved-fine').waitFor({ state: 'detached' });
    await row(session).waitFor();
    expect(await row('sieved-fine').count()).toBe(0);
    expect(page.url()).toContain('model=coder');
    await page.getByLabel('Status').selectOption('5xx');
    await page.getByText('Nothing matches').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await row('sieved-fine').waitFor();
    await goTo(page, world, `traces?session=${session}`);
    await row('sieved-fine').waitFor({ state: 'detached' });
    await row(session).waitFor();
    expect(await row('sieved-fine').count()).toBe(0);
  });

  it('shows everyone their own, in Chinese too', async () => {
    const world = await startWorld({ server: { keys: KEYS } });
    await world.say('of-eve', 'hello', { key: 'key-of-eve' });
    await world.say('of-root', 'hello', { key: 'key-of-root' });
    const context = await browser.newContext({ locale: 'zh-CN', serviceWorkers: 'block' });
    const page = await context.newPage();
    await goTo(page, world, 'traces', 'key-of-eve');
    await page.getByText('1 个请求').waitFor();
    const shown = await page.locator('main').innerText();
    expect(shown).toContain('of-eve');
    expect(shown).toContain('成功');
    expect(shown).not.toMatch(/of-root|Requests|Stop reason|Duration/);
    await context.close();
  });
});

describe('the trace of one request', PATIENT, () => {
  it('is shown from inbound to emitted events, with what was lost marked where it was', async () => {
    await world.say('shown-whole', 'tell me', { more: { top_k: 7, stream: true } });
    await begin();
    const pane = await openTrace('shown-whole');
    expect(await pane('inbound').textContent()).toContain('tell me');
    expect(await pane('outbound').textContent()).toContain('"m"');
    await pane('upstream').getByText('delta.content').first().waitFor();
    await pane('emitted').getByText('content_block_delta').first().waitFor();
    const mark = pane('inbound').locator('[data-mark="loss"]');
    expect(await mark.textContent()).toMatch(/top_k: 7.*⚠/);
    const listed = page.locator('[data-list="losses"]');
    expect(await listed.textContent()).toMatch(/top_?k/i);
    expect(await pane('outbound').locator('[data-mark="only"]').count()).toBeGreaterThan(0);

    const event = pane('emitted')
      .getByRole('button', { name: /content_block_delta/ })
      .first();
    await event.click();
    expect(await event.getAttribute('aria-expanded')).toBe('true');
    await pane('emitted').getByText('"text_delta"').first().waitFor();
    await shots(page, 'trace');
    expect(await axeProblems(page)).toEqual([]);
  });

  it('says what was put right, and marks events of that kind', async () => {
    await world.say('put-right', 'BROKEN', { more: { tools: [LOOKUP], stream: true } });
    await begin();
    const pane = await openTrace('put-right');
    expect(await page.locator('[data-list="repairs"]').textContent()).toContain('the JSON was completed');
    await pane('emitted').locator('[data-repaired]').first().waitFor();
  });

  it('is downloaded as a file that replays', async () => {
    await world.say('replayed', 'tell me', { more: { stream: true } });
    await begin();
    await openTrace('replayed');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download for replay' }).click(),
    ]);
    const text = await readFile(await file.path(), 'utf8');
    const { same, lines } = await replay(parseTraceFile(text));
    expect(lines.join('\n')).toContain('It');
    expect(same).toBe(true);
  });

  it('has a tab for every attempt and every call of an agent', async () => {
    const { session } = await world.say('coder', 'RUN echo hi');
    await begin();
    const pane = await openTrace(session);
    const tabs = page.getByRole('tab');
    expect(await tabs.allTextContents()).toEqual([
      expect.stringMatching(/^Call 1 · up \(answered 200\)$/),
      expect.stringMatching(/^Call 2 · up \(answered 200\)$/),
    ]);
    await pane('outbound').getByText('tool_call_id').waitFor();
    await tabs.first().click();
    await pane('upstream').getByText('delta.tool_calls').first().waitFor();
    expect(await pane('outbound').getByText('tool_call_id').count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Open the session' }).getAttribute('href')).toBe(
      `#/chat/${session}`,
    );
  });

  it('of megabytes is drawn a screen at a time', async () => {
    const messages = Array.from({ length: 3001 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `message ${index} ${'x'.repeat(index === 0 ? 300_000 : 200)}`,
    }));
    await world.say('megabytes', '', { more: { messages } });
    await begin();
    const pane = await openTrace('megabytes');
    await pane('inbound')
      .getByRole('button', { name: /messages/ })
      .waitFor();
    expect(await page.locator('main [data-path]').count()).toBeLessThan(400);
    await pane('inbound').getByRole('group').focus();
    await page.keyboard.press('End');
    await pane('inbound')
      .getByText(/message 3000|3001 items|fields/)
      .last()
      .waitFor();
  });

  it('of which only the facts were kept says how to keep more', async () => {
    const world = await startWorld({ traces: { bodies: false } });
    await world.say('plain', 'hello');
    const { page } = await open(world);
    await page.locator('main tbody tr').first().getByRole('link').first().click();
    await page.getByText('This gateway does not record what is sent').waitFor();
    expect(await page.locator('main').textContent()).toContain('bodies: true');
    await goTo(page, world, 'traces/req_none');
    await page.getByText('There is no such request').waitFor();
  });

  it('fits a phone with a tab for each pane, and shows what is hostile as text', async () => {
    await world.say(`hostile ${HOSTILE}`.slice(0, 120), `${HOSTILE} ${'y'.repeat(10_000)}`);
    await narrow(page);
    await begin();
    await row('hostile').getByRole('link').first().click();
    await page.getByRole('tab', { name: 'Inbound' }).waitFor();
    expect(await page.getByRole('tab').count()).toBe(4);
    await page.getByRole('tab', { name: 'Outbound' }).click();
    await page.locator('[data-pane="outbound"]').waitFor();
    expect(await isWithinWidth(page)).toBe(true);
    expect(await unhurt(page)).toBe(true);
    expect(await page.locator('main img, main script').count()).toBe(0);
  });
});
