/** What a first visit fetches, over the wire of a real browser. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { openPage, useBrowser } from '../support/browser.js';
import { startTestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { connected, tokenOf } from './console-world.js';

const MOST_BYTES = 300_000;
/** Fetched when the browser has nothing to do: the last of a visit. */
const LAST = ['dialog-view', 'menu-view'];
/** What only a conversation needs. */
const OF_A_CONVERSATION = ['markdown-html', 'one-chat'];

const browser = useBrowser();

interface Fetched {
  has(part: string): boolean;
  bytes(): number;
}

async function watch(page: Page): Promise<Fetched> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  const addresses = new Map<string, string>();
  const done = new Map<string, number>();
  session.on('Network.requestWillBeSent', ({ requestId, request }) => addresses.set(requestId, request.url));
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) =>
    done.set(requestId, encodedDataLength),
  );
  return {
    has: (part) => [...done.keys()].some((id) => addresses.get(id)?.includes(`/${part}-`)),
    bytes: () => [...done.values()].reduce((sum, bytes) => sum + bytes, 0),
  };
}

it('fetches less than 300 kB, and nothing of a conversation before somebody types or presses', async () => {
  const gateway = await startTestGateway({ config: { models: { '*': { upstream: 'demo' } } } });
  const { page } = await openPage(browser);
  const fetched = await watch(page);
  await page.goto(`${gateway.url}/#token=${tokenOf(gateway)}`);
  await page.getByRole('textbox').waitFor();
  await connected(page);
  await until(() => LAST.every(fetched.has));
  expect(OF_A_CONVERSATION.filter(fetched.has)).toEqual([]);
  // The framework and a face are in it: less would mean that something was not counted.
  expect(fetched.bytes()).toBeGreaterThan(150_000);
  expect(fetched.bytes()).toBeLessThan(MOST_BYTES);
  await page.getByRole('textbox').press('H');
  await until(() => OF_A_CONVERSATION.every(fetched.has));
});
