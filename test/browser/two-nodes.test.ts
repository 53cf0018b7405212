/** The console on one of two nodes, in Chromium: what runs on the other is shown as it runs. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { begin, KEYS, startNodes, user, whole } from '../e2e/postgres/nodes-harness.js';
import { bash, HeldStep, says, words } from '../faults/agent-script.js';
import { openPage, useBrowser } from '../support/browser.js';
import { startPostgres, type TestPostgres } from '../support/postgres.js';
import { transcript } from './chat-bed.js';

const browser = useBrowser();
let server: TestPostgres;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.close());

const FINAL = 'The first half and the second half of it.';

const shows = (page: Page, text: string) => transcript(page).getByText(text).first().waitFor();

async function signedIn(page: Page, origin: string, place: string): Promise<void> {
  await page.goto(`${origin}/#token=${KEYS.storm}`);
  await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor();
  await page.evaluate(`location.assign(${JSON.stringify(place)})`);
}

describe('a turn on another node', () => {
  it('is watched from its middle to its end', async () => {
    const { a, b, model } = await startNodes(server.url(await server.create()), { shares: true });
    const held = new HeldStep(words(FINAL), 'half');
    model.play('Watch this.', [says('', bash('look_1', 'echo seen on the other node')), held.held]);
    const answer = await begin(a, [user('Watch this.')]);
    await held.gate.reached;
    const { page, problems } = await openPage(browser);
    await signedIn(page, b.gateway.url, `#/chat/${answer.headers.get('x-session-id')}`);
    await shows(page, 'The first half');
    await shows(page, 'echo seen on the other node');
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    expect(await transcript(page).innerText()).not.toContain('second half');
    held.gate.open();
    await shows(page, FINAL);
    await whole(answer);
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });
});
