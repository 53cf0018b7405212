/** The console of a gateway that was just started, without a file and without a key. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEMO_EXAMPLES } from '../../console/src/chat/demo-examples.js';
import { openPage, useBrowser } from '../support/browser.js';
import { tempFolder } from '../support/cleanup.js';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway.js';
import { shots } from '../support/screenshots.js';
import { anthropicClient } from '../support/sdk.js';
import { press } from './approvals-bench.js';
import { composer, rowsOf, transcript } from './chat-bed.js';

const browser = useBrowser();
let gateway: GatewayProcess;
let remove: () => Promise<void>;
beforeAll(async () => {
  const folder = await tempFolder('toolgate-first');
  remove = folder.remove;
  gateway = await startGatewayProcess({ folder: folder.path });
});
afterAll(async () => {
  await gateway.close();
  await remove();
});

// Before a page is open: with somebody there, what needs an approval waits for it.
it.each([
  ['agent', DEMO_EXAMPLES.en.agent],
  ['agent', DEMO_EXAMPLES.zh.agent],
  ['demo', DEMO_EXAMPLES.en.plain],
  ['demo', DEMO_EXAMPLES.zh.plain],
] as const)('suggests to %s what the demo model can do: %j', async (model, examples) => {
  const client = anthropicClient(gateway.url);
  for (const content of examples) {
    const answer = await client.messages.create({
      model,
      max_tokens: 500,
      messages: [{ role: 'user', content }],
    });
    const text = answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    expect(text, content).toMatch(
      model === 'demo' ? /(=|等于) \d+/ : /^(Glob|Bash|Write)( \(|（)(?!.*(parse error|cannot answer))/,
    );
  }
});

it('suggests to its agent what ends in a tool card and an approval, and runs it once allowed', {
  timeout: 60_000,
}, async () => {
  const { page, problems } = await openPage(browser);
  await page.goto(gateway.consoleUrl);
  const example = page
    .locator('main')
    .getByRole('button', { name: 'Create a file hello.txt with the text hello' });
  await example.waitFor();
  await shots(page, 'first-minute-empty');
  await example.click();
  await composer(page).press('Enter');

  const card = transcript(page).locator('[data-card]');
  await card.waitFor();
  expect(await card.innerText()).toContain('hello.txt');
  await card.getByRole('button', { name: 'Allow once' }).waitFor();
  await shots(page, 'first-minute-asked');
  await press(card, 'Allow once');

  await rowsOf(page, 'text').filter({ hasText: 'hello.txt' }).first().waitFor();
  await shots(page, 'first-minute-done');
  expect(await readFile(join(gateway.folder, 'hello.txt'), 'utf8')).toBe('hello');
  expect(problems).toEqual([]);
});
