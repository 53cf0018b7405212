/** The console as an app: what a browser needs to install it, starting without the gateway, new versions. */
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { writeWorker } from '../../console/build/finish.mjs';
import { startServer } from '../e2e/server-harness.js';
import { useBrowser } from '../support/browser.js';
import { tempFolder } from '../support/cleanup.js';
import { startCutProxy } from '../support/cut-proxy.js';
import { startTestGateway } from '../support/gateway.js';
import { shots } from '../support/screenshots.js';
import { connected, openConsole, tokenOf } from './console-world.js';

const browser = useBrowser();

const CONSOLE = fileURLToPath(new URL('../../console', import.meta.url));
const WORKERS = { serviceWorkers: 'allow' } as const;
const BEHIND_A_PROXY = { server: { public_hosts: ['127.0.0.1'] } };
/** Much is fetched and drawn, on a machine that does other things. */
const PATIENT = 120_000;

/** Resolves when the worker answers for the page. */
async function controlled(page: Page): Promise<void> {
  await page.evaluate(`navigator.serviceWorker.ready.then(() => navigator.serviceWorker.controller ??
    new Promise((done) => navigator.serviceWorker.addEventListener('controllerchange', done, { once: true })))
    .then(() => undefined)`);
}

describe('the console as an app', () => {
  it('has what a browser asks for to install it', { timeout: PATIENT }, async () => {
    const gateway = await startTestGateway();
    const { page, problems } = await openConsole(browser, gateway.consoleUrl, WORKERS);
    await connected(page);
    await controlled(page);
    const href = await page.locator('link[rel="manifest"]').getAttribute('href');
    const answer = await fetch(new URL(href ?? '', gateway.url));
    expect(answer.headers.get('content-type')).toBe('application/manifest+json');
    const manifest: { icons: { src: string; sizes: string; type: string; purpose?: string }[] } = JSON.parse(
      await answer.text(),
    );
    expect(manifest).toMatchObject({ name: 'Toolgate', start_url: '/', display: 'standalone' });
    const pictures = manifest.icons.filter(({ type }) => type === 'image/png');
    expect(pictures.map(({ sizes, purpose }) => `${sizes} ${purpose ?? ''}`.trim())).toEqual([
      '192x192',
      '512x512',
      '512x512 maskable',
    ]);
    for (const { src, sizes } of pictures) {
      const size = await page.evaluate(
        `(async () => { const image = new Image(); image.src = ${JSON.stringify(src)}; await image.decode(); return image.naturalWidth + 'x' + image.naturalHeight; })()`,
      );
      expect(size).toBe(sizes);
    }
    const cdp = await page.context().newCDPSession(page);
    const { installabilityErrors } = await cdp.send('Page.getInstallabilityErrors');
    expect(installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito')).toEqual([]);
    expect(problems).toEqual([]);
  });

  it('gives the frame around it the colour of its theme', { timeout: PATIENT }, async () => {
    const gateway = await startTestGateway();
    const { page } = await openConsole(browser, gateway.consoleUrl, { colorScheme: 'dark' });
    await connected(page);
    const colour = () => page.locator('meta[name="theme-color"]').getAttribute('content');
    expect(await colour()).toBe('#101216');
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(colour).toBe('#f7f7f8');
    await page.evaluate("localStorage.setItem('toolgate.theme', 'dark')");
    await page.reload();
    await connected(page);
    expect(await colour()).toBe('#101216');
  });

  it('keeps its own files and nothing that the gateway said', { timeout: PATIENT }, async () => {
    const gateway = await startTestGateway();
    const { page } = await openConsole(browser, gateway.consoleUrl, WORKERS);
    await connected(page);
    await controlled(page);
    await page.evaluate("fetch('/v1/models').then((answer) => answer.text())");
    await page.reload();
    await connected(page);
    const kept: string[] = await page.evaluate(`caches.keys()
      .then((names) => Promise.all(names.map((name) => caches.open(name).then((cache) => cache.keys()))))
      .then((lists) => lists.flat().map(({ url }) => new URL(url).pathname))`);
    expect(kept).toContain('/');
    expect(kept.filter((path) => !/^\/(assets\/[^/]+|[\w-]+\.(png|svg|webmanifest))?$/.test(path))).toEqual(
      [],
    );
  });

  it('starts without the gateway and says so, and goes on when it is back', {
    timeout: PATIENT,
  }, async () => {
    const gateway = await startTestGateway({ config: BEHIND_A_PROXY });
    const wire = await startCutProxy(gateway.url);
    const { page } = await openConsole(browser, `${wire.url}/#token=${tokenOf(gateway)}`, WORKERS);
    await connected(page);
    await controlled(page);
    wire.cut();
    await page.reload();
    await page.getByText('The gateway cannot be reached.').waitFor();
    expect(await page.getByText('keeps trying').isVisible()).toBe(true);
    await shots(page, 'unreachable');
    wire.mend();
    await connected(page);
  });

  it('brings a new version at once, and leaves a page that is open what it still needs', {
    timeout: PATIENT,
  }, async () => {
    const { path: served } = await tempFolder('console');
    await release(served, '1.0.0');
    const { url, token } = await startServer({ consoleDir: served });
    const { page: old } = await openConsole(browser, `${url}/#token=${token}`, WORKERS);
    await old.getByRole('navigation').waitFor();
    await controlled(old);
    await release(served, '2.0.0');
    const fresh = await old.context().newPage();
    await fresh.goto(url);
    expect(await versionOf(fresh)).toBe('2.0.0');
    await old.getByText('A new version of this console is available.').waitFor();
    expect(await versionOf(old)).toBe('1.0.0');
    // Files of the old version are gone from the gateway; the page has them all the same.
    await rm(join(served, 'assets'), { recursive: true });
    await old.getByRole('link', { name: 'Usage' }).click();
    await old.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    await old.getByRole('button', { name: 'Reload', exact: true }).click();
    await old.locator('meta[name="toolgate-version"][content="2.0.0"]').waitFor({ state: 'attached' });
    const names: string[] = await fresh.evaluate('caches.keys()');
    expect(names).toHaveLength(2);
  });
});

/** The console that is built, as another version would be. */
async function release(folder: string, version: string): Promise<void> {
  const { path: made } = await tempFolder('release');
  await cp(join(CONSOLE, 'dist'), made, { recursive: true });
  const page = join(made, 'index.html');
  const html = await readFile(page, 'utf8');
  await writeFile(page, html.replace(/(name="toolgate-version" content=")[^"]*/, `$1${version}`));
  await writeWorker(made, join(CONSOLE, 'service-worker.js'));
  await cp(made, folder, { recursive: true });
}

function versionOf(page: Page): Promise<string | null> {
  return page.locator('meta[name="toolgate-version"]').getAttribute('content');
}
