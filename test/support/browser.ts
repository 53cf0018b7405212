/** A real Chromium, the one of the system. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { closeAfterTest } from './cleanup.js';
import { systemProgram } from './system-program.js';

/** What Playwright itself writes into the page's console where a test blocks workers. */
const OWN_WORDS = 'Service Worker registration blocked by Playwright';

const PATIENCE_MS = 55_000;

export type TestBrowser = Pick<Browser, 'newContext'>;

/** One for the tests of a file: there before they and their own `beforeAll` begin, closed after them. */
export function useBrowser(): TestBrowser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    // Its own sandbox needs privileges that containers and root do not have; the pages are our own.
    browser = await chromium.launch({ executablePath: systemProgram('Chromium'), args: ['--no-sandbox'] });
  });
  afterAll(() => browser?.close());
  return {
    newContext: (options) => {
      if (browser === undefined) throw new Error('The browser is launched when the tests begin');
      return browser.newContext(options);
    },
  };
}

export interface ObservedPage {
  page: Page;
  /** What the browser complained about: uncaught errors, refused content, failed loads. */
  problems: string[];
}

/**
 * A page in a context of its own, closed after the test. Without a service worker, unless the test
 * is about it: it would answer in the network's place, and fetches every file of the console first.
 */
export async function openPage(
  browser: TestBrowser,
  options: BrowserContextOptions = {},
): Promise<ObservedPage> {
  const context = await browser.newContext({ serviceWorkers: 'block', ...options });
  // As long as a test: on a busy machine a page may need more than the half minute that it has otherwise.
  context.setDefaultTimeout(PATIENCE_MS);
  closeAfterTest(() => context.close());
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    const text = message.text();
    if (text === OWN_WORDS) return;
    if (message.type() === 'error' || message.type() === 'warning') problems.push(text);
  });
  return { page, problems };
}
