/**
 * What a page showed is what it shows again: after a reload, and after the gateway was killed. The
 * text of the conversation with every card open is compared as a person reads it.
 */
import { rm } from 'node:fs/promises';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentBed, KEYS, MODEL } from '../faults/agent-bed.js';
import { useBrowser } from '../support/browser.js';
import { call, callsAnswer, textAnswer } from '../support/wire.js';
import { cardOf, press } from './approvals-bench.js';
import { transcript } from './chat-bed.js';
import { connected, openConsole } from './console-world.js';

/** Processes that start, on a machine that has more to do. */
const PATIENT = { timeout: 180_000 };
const CLAUDE = 'claude';
const SETTINGS = {
  permissions: { mode: 'ask', unattended: 'wait', allow: ['Task', 'Bash(printf:*)'] },
  model: { tools: ['Bash', 'Task'] },
  others: { [CLAUDE]: { engine: 'claude-code', tools: ['Bash', 'Task'] } },
} as const;

const browser = useBrowser();
let bed: AgentBed;
let context: BrowserContext;

beforeAll(async () => {
  bed = await AgentBed.start('native', SETTINGS);
  const { page } = await openConsole(browser, `${bed.url}/#token=${KEYS.storm}`);
  await connected(page);
  context = page.context();
  context.setDefaultTimeout(60_000);
}, PATIENT.timeout);
afterAll(async () => {
  await bed.gateway.kill();
  await bed.upstream.close();
  await rm(bed.folder, { recursive: true, force: true });
});

async function talk(model: string, content: string): Promise<Page> {
  const { session } = await bed.api('POST', '/api/chat', { model, content });
  const page = await context.newPage();
  await page.goto(`${bed.url}/#/chat/${encodeURIComponent(String(session))}`);
  return page;
}

/** Everything that a person can read of the conversation, with each card open. */
async function read(page: Page): Promise<string> {
  const closed = transcript(page).locator('[data-card] button[aria-expanded=false]');
  while ((await closed.count()) > 0) await closed.first().click();
  return transcript(page).innerText();
}

/** Reads it again on a page that knows nothing, once `last` is there. */
async function readAgain(page: Page, last: string): Promise<string> {
  await page.reload();
  await connected(page);
  await transcript(page).getByText(last).first().waitFor();
  return read(page);
}

interface Shown {
  page: Page;
  last: string;
  shown: string;
}

const conversations: Shown[] = [];

async function isShownAgain(page: Page, last: string, shown: string): Promise<void> {
  expect(await readAgain(page, last)).toBe(shown);
  conversations.push({ page, last, shown });
}

describe('a conversation that is opened again', PATIENT, () => {
  for (const model of [MODEL, CLAUDE]) {
    it(`shows why a call ran, how long, and what a sub-agent did, on ${model}`, async () => {
      bed.model.play(`work of ${model}`, [
        callsAnswer(
          call(
            'Bash',
            { command: 'printf "\\033[32mgreen\\033[0m\\n"', description: 'Print' },
            `print-${model}`,
          ),
        ),
        callsAnswer(
          call(
            'Task',
            { description: 'Look', prompt: `look for ${model}`, subagent_type: 'general-purpose' },
            `task-${model}`,
          ),
        ),
        textAnswer(`All of ${model} is done.`),
      ]);
      bed.model.play(`look for ${model}`, [
        callsAnswer(
          call('Bash', { command: `echo inner >> in-${model}`, description: 'Write' }, `inner-${model}`),
        ),
        textAnswer('Seen all.'),
      ]);
      const page = await talk(model, `work of ${model}`);
      await press(cardOf(page, `inner-${model}`).locator('[data-approval]').first(), 'Allow once');
      await transcript(page).getByText(`All of ${model} is done.`).waitFor();
      await page.getByRole('button', { name: 'Regenerate' }).waitFor();
      const shown = await read(page);
      expect(shown).toContain('rule Bash(printf:*) of the configuration');
      expect(shown).toContain(`echo inner >> in-${model}`);
      await isShownAgain(page, `All of ${model} is done.`, shown);
    });

    it(`says that a person stopped it, and what it had printed, on ${model}`, async () => {
      bed.model.play(`slow of ${model}`, [
        callsAnswer(
          call('Bash', { command: 'printf "so far\\n" && sleep 600', description: 'Wait' }, `slow-${model}`),
        ),
        textAnswer('Never said.'),
      ]);
      const page = await talk(model, `slow of ${model}`);
      await press(cardOf(page, `slow-${model}`).locator('[data-approval]'), 'Allow once');
      await cardOf(page, `slow-${model}`).getByText('so far').first().waitFor();
      await page.getByRole('button', { name: 'Stop', exact: true }).click();
      await transcript(page).getByText('You stopped it here.').waitFor();
      // What the command left comes with its end.
      await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' });
      const shown = await read(page);
      await isShownAgain(page, 'You stopped it here.', shown);
    });
  }

  /** The last: the gateway that it has started ends with it. */
  it('shows the same after its gateway was killed', async () => {
    expect(conversations).toHaveLength(4);
    await bed.kill();
    await bed.restartThere();
    for (const { page, last, shown } of conversations) expect(await readAgain(page, last)).toBe(shown);
    await context.close();
    await bed.close();
  });
});
