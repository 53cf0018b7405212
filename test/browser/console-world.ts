/** The console of a real gateway in a real browser, for the tests of its frame. */
import type { BrowserContextOptions, Page } from 'playwright-core';
import { type ObservedPage, openPage, type TestBrowser } from '../support/browser.js';
import type { TestGateway } from '../support/gateway.js';

export const PHONE = { width: 360, height: 740 };
export const PAGES = ['', 'inbox', 'sessions', 'traces', 'tools', 'rules', 'keys', 'usage', 'setup'] as const;

export function tokenOf(gateway: TestGateway): string {
  return new URLSearchParams(new URL(gateway.consoleUrl).hash.slice(1)).get('token') ?? '';
}

export async function openConsole(
  browser: TestBrowser,
  address: string,
  options: BrowserContextOptions = {},
): Promise<ObservedPage> {
  const opened = await openPage(browser, options);
  await opened.page.goto(address);
  return opened;
}

/** Signed in, with the events coming in. */
export async function openSignedIn(
  browser: TestBrowser,
  gateway: TestGateway,
  options: BrowserContextOptions = {},
): Promise<ObservedPage> {
  const opened = await openConsole(browser, gateway.consoleUrl, options);
  await connected(opened.page);
  return opened;
}

/** Resolves when the page says in which state its connection is. */
export async function connected(page: Page, state = 'live'): Promise<void> {
  await page.locator(`[data-connection="${state}"]`).waitFor();
}
