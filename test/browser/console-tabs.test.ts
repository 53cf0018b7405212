/** Many tabs of the console in one browser: one connection, and all of them know the same. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserContext, Page, Request } from 'playwright-core';
import { expect, it } from 'vitest';
import { count } from '../faults/counts.js';
import { useBrowser } from '../support/browser.js';
import { closeAfterTest, tempFolder } from '../support/cleanup.js';
import { startTestGateway } from '../support/gateway.js';
import { inDialect } from '../support/scripted-answers.js';
import { startUpstream } from '../support/scripted-upstream.js';
import { call, textAnswer } from '../support/wire.js';
import { press } from './approvals-bench.js';

/** In full, more than a browser has connections to one address. */
const TABS = count(4, 8);

const browser = useBrowser();

it(`has one connection for ${TABS} tabs, which all show a question and its end, also when the first closes`, async () => {
  const upstream = await startUpstream((request, index) => {
    const name = /Run (\w+)\./.exec(request.text)?.[1] ?? 'nothing';
    const done = request.text.includes('tool_result');
    const scripted = done
      ? textAnswer('Done.')
      : { parts: [call('Bash', { command: `make ${name}` }, `call-${name}`)] };
    return inDialect(scripted)(request, index);
  });
  const { path } = await tempFolder('toolgate-tabs');
  const cwd = join(path, 'work');
  await mkdir(cwd);
  const gateway = await startTestGateway({
    config: {
      upstreams: { scripted: upstream.config('anthropic-messages') },
      models: { coder: { engine: 'native', upstream: 'scripted', model: 'm', cwd } },
      permissions: { mode: 'ask', unattended: 'wait' },
      sandbox: 'off',
    },
  });
  const context = await browser.newContext();
  closeAfterTest(() => context.close());
  const streams = countStreams(context);
  const tabs: Page[] = [];
  for (let tab = 0; tab < TABS; tab++) {
    const page = await context.newPage();
    await page.goto(tab === 0 ? gateway.consoleUrl : `${gateway.url}/#/inbox`);
    await page.waitForSelector('[data-connection="live"]');
    if (tab === 0) await page.goto(`${gateway.url}/#/inbox`);
    tabs.push(page);
  }
  expect(streams.open).toBe(1);

  const ask = (name: string): void => {
    const body = { model: 'coder', max_tokens: 100, messages: [{ role: 'user', content: `Run ${name}.` }] };
    const leave = new AbortController();
    const answered = fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      signal: leave.signal,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    answered.catch(() => undefined);
    closeAfterTest(() => leave.abort());
  };
  ask('first');
  await Promise.all(tabs.map((tab) => tab.getByText('make first').first().waitFor()));
  // Requests of tabs are not in each other's way.
  const [, second] = tabs;
  if (second !== undefined) await press(second.locator('main'), 'Deny');
  const deny = (tab: Page) => tab.getByRole('button', { name: 'Deny', exact: true });
  await Promise.all(tabs.map((tab) => deny(tab).waitFor({ state: 'detached' })));

  await tabs.shift()?.close();
  ask('second');
  await Promise.all(tabs.map((tab) => tab.getByText('make second').first().waitFor()));
  expect(streams.open).toBe(1);
  expect(streams.opened).toBe(2);
}, 90_000);

/** Streams of events that the pages of the context have open. */
function countStreams(context: BrowserContext): { readonly open: number; readonly opened: number } {
  const all: Request[] = [];
  const over = new Set<Request>();
  context.on('request', (request) => {
    if (/\/api\/events$/.test(request.url())) all.push(request);
  });
  context.on('requestfailed', (request) => over.add(request));
  context.on('requestfinished', (request) => over.add(request));
  return {
    get open() {
      // Those of a page that was closed ended with it.
      return all.filter((request) => !over.has(request) && !request.frame().page().isClosed()).length;
    },
    get opened() {
      return all.length;
    },
  };
}
