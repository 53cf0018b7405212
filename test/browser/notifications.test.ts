/** Calls to somebody who looks elsewhere: one for each question, however many tabs, gone when it is decided. */
import type { BrowserContext, Page } from 'playwright-core';
import { describe, expect, it, vi } from 'vitest';
import type { ApprovalWire } from '../../src/server/console-api/wire/approvals.js';
import { useBrowser } from '../support/browser.js';
import { closeAfterTest } from '../support/cleanup.js';
import { call, textAnswer } from '../support/wire.js';
import { type ApprovalBench, chatRoute, PATIENCE, startBench } from './approvals-bench.js';
import { connected } from './console-world.js';

const browser = useBrowser();

const PATIENT = 120_000;

/** What a page asked the browser to show. */
interface Shown {
  tag: string;
  title: string;
  to: string;
  open: boolean;
}

/** Nobody looks at any tab, and notifications are allowed and written down. */
const SPY = `
  Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
  document.hasFocus = () => false;
  window.shown = [];
  window.Notification = class {
    static permission = 'granted';
    constructor(title, { tag, data }) {
      this.entry = { tag, title, to: data.to, open: true };
      window.shown.push(this.entry);
      window.newest = this;
    }
    close() { this.entry.open = false; }
  };`;

/** As on a phone: only the service worker may show any, and nobody is really called here. */
const PHONE = `${SPY}
  window.Notification = class {
    static permission = 'granted';
    constructor() { throw new TypeError('Illegal constructor. Use ServiceWorkerRegistration.showNotification() instead.'); }
  };
  ServiceWorkerRegistration.prototype.showNotification = async (title, { tag, data }) => {
    window.shown.push({ tag, title, to: data.to, open: true });
  };
  ServiceWorkerRegistration.prototype.getNotifications = async ({ tag }) => window.shown
    .filter((each) => each.tag === tag && each.open)
    .map((each) => ({ close: () => { each.open = false; } }));`;

async function profile(script?: string): Promise<BrowserContext> {
  const context = await browser.newContext();
  closeAfterTest(() => context.close());
  if (script !== undefined) await context.addInitScript(script);
  return context;
}

async function openTab(context: BrowserContext, { gateway }: ApprovalBench): Promise<Page> {
  const page = await context.newPage();
  await page.goto(gateway.consoleUrl);
  await connected(page);
  return page;
}

async function shownIn(tabs: readonly Page[]): Promise<Shown[]> {
  const lists = await Promise.all(tabs.map((tab) => tab.evaluate<Shown[]>('window.shown')));
  return lists.flat();
}

/** Which tab has the connection, as the browser names it. A page goes on for a moment after it is closed. */
const leader = async ([tab]: readonly Page[]): Promise<string | undefined> =>
  tab?.evaluate<string | undefined>(
    `navigator.locks.query().then(({ held }) => held.find(({ name }) => name === 'toolgate-events')?.clientId)`,
  );

/** Every tab knows of so many questions. */
async function know(tabs: readonly Page[], count: number): Promise<void> {
  const label = count === 1 ? '1 waiting for a decision' : `${count} waiting for a decision`;
  await Promise.all(tabs.map((tab) => tab.getByText(label).first().waitFor({ state: 'attached' })));
}

async function ask(bench: ApprovalBench, name: string): Promise<ApprovalWire> {
  bench.model.play(`Run ${name}.`, [
    { parts: [call('Bash', { command: `make ${name}` }, name)] },
    textAnswer('Done.'),
  ]);
  void bench.say(`Run ${name}.`);
  return bench.asked(name);
}

async function deny(bench: ApprovalBench, { id, digest }: ApprovalWire): Promise<void> {
  await bench.api('POST', `/api/approvals/${id}`, { decision: 'deny', digest });
}

describe('notifications', () => {
  it('are shown once for each question, whatever the number of tabs, and closed when it is decided', {
    timeout: PATIENT,
  }, async () => {
    const bench = await startBench();
    const context = await profile(SPY);
    const tabs: Page[] = [];
    for (let tab = 0; tab < 3; tab++) tabs.push(await openTab(context, bench));
    const first = await ask(bench, 'first');
    await know(tabs, 1);
    expect(await shownIn(tabs)).toEqual([
      { tag: first.id, title: 'Approval needed: Bash', to: chatRoute(first), open: true },
    ]);
    // The tab that showed it is gone: what comes next is another's to show, once.
    const [showed] = tabs.splice(0, 1);
    const before = await leader(tabs);
    await showed?.close();
    await vi.waitFor(async () => expect([before, undefined]).not.toContain(await leader(tabs)), PATIENCE);
    const second = await ask(bench, 'second');
    await know(tabs, 2);
    await vi.waitFor(async () => {
      expect(await shownIn(tabs)).toMatchObject([{ tag: second.id, to: '#/inbox', open: true }]);
    }, PATIENCE);
    await deny(bench, second);
    await know(tabs, 1);
    await vi.waitFor(async () => {
      expect(await shownIn(tabs)).toMatchObject([{ tag: second.id, open: false }]);
    }, PATIENCE);
    await deny(bench, first);
  });

  it('lead to what they are about', { timeout: PATIENT }, async () => {
    const bench = await startBench();
    const page = await openTab(await profile(SPY), bench);
    const asked = await ask(bench, 'press');
    await know([page], 1);
    await page.evaluate('window.newest.onclick()');
    await page.getByText('make press').first().waitFor();
    expect(new URL(page.url()).hash).toBe(chatRoute(asked));
    expect(await shownIn([page])).toMatchObject([{ open: false }]);
    await deny(bench, asked);
  });

  it('are shown by the service worker where a page must not', { timeout: PATIENT }, async () => {
    const bench = await startBench();
    const page = await openTab(await profile(PHONE), bench);
    const asked = await ask(bench, 'phone');
    await vi.waitFor(async () => {
      expect(await shownIn([page])).toMatchObject([{ tag: asked.id, to: chatRoute(asked), open: true }]);
    }, PATIENCE);
    await deny(bench, asked);
    await vi.waitFor(async () => {
      expect(await shownIn([page])).toMatchObject([{ tag: asked.id, open: false }]);
    }, PATIENCE);
  });

  it('that the service worker shows lead an open tab to their place, which stays as it is', {
    timeout: PATIENT,
  }, async () => {
    const bench = await startBench();
    const context = await profile();
    const page = await openTab(context, bench);
    await page.evaluate('navigator.serviceWorker.ready.then(() => undefined)');
    const [worker] = context.serviceWorkers();
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Half a thought');
    await page.evaluate('window.here = true');
    const press = (to: unknown): Promise<boolean | undefined> =>
      worker?.evaluate<boolean>(`(async () => {
        let closed = false;
        const notification = { data: { to: ${JSON.stringify(to)} }, close: () => { closed = true; } };
        let done;
        const event = Object.assign(new Event('notificationclick'), { notification, waitUntil: (work) => { done = work; } });
        self.dispatchEvent(event);
        await done;
        return closed;
      })()`) ?? Promise.resolve(undefined);
    expect(await press('#/usage')).toBe(true);
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    // Nobody but this console says where to go.
    expect(await press('https://elsewhere.example/')).toBe(true);
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
    expect(context.pages()).toHaveLength(1);
    expect(await page.evaluate('window.here')).toBe(true);
    await page.getByRole('link', { name: 'Chat', exact: true }).click();
    await expect
      .poll(() => page.getByRole('textbox', { name: 'Message', exact: true }).inputValue())
      .toBe('Half a thought');
  });
});
