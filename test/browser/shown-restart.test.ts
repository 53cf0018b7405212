/**
 * Pages that are open while their gateway is killed, stopped and started again: they come back by
 * themselves, the questions are the same ones, their buttons work, and what they were about runs once.
 */
import { rm } from 'node:fs/promises';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentBed, KEYS, MODEL } from '../faults/agent-bed.js';
import { useBrowser } from '../support/browser.js';
import { call, callsAnswer, textAnswer } from '../support/wire.js';
import { cardIs, cardOf, press } from './approvals-bench.js';
import { composer, rowsOf, transcript } from './chat-bed.js';
import { connected, openConsole } from './console-world.js';

/** Processes that start, on a machine that has more to do. */
const PATIENT = { timeout: 180_000 };
const CLAUDE = 'claude';
const SETTINGS = {
  permissions: { mode: 'ask', unattended: 'wait', allow: ['Task'] },
  others: { [CLAUDE]: { engine: 'claude-code', tools: ['Bash', 'Task'] } },
} as const;

const browser = useBrowser();
let bed: AgentBed;
/** Signed in. */
let context: BrowserContext;
/** Every answer by which the gateway has asked somebody to sign in. */
const refused: string[] = [];

beforeAll(async () => {
  bed = await AgentBed.start('native', SETTINGS);
  const { page } = await openConsole(browser, `${bed.url}/#token=${KEYS.storm}`);
  await connected(page);
  context = page.context();
  context.setDefaultTimeout(60_000);
  context.on('response', (answer) => {
    if (answer.status() === 401) refused.push(answer.url());
  });
}, PATIENT.timeout);
afterAll(async () => {
  await bed.gateway.kill();
  await bed.upstream.close();
  await rm(bed.folder, { recursive: true, force: true });
});

/** A turn of the console that has come to its question, on a page of its own. */
interface Asking {
  page: Page;
  panel: Locator;
  approval: string;
  call: string;
  file: string;
}

/** Says it to the model, and opens the conversation. */
async function talk(model: string, content: string): Promise<Page> {
  const { session } = await bed.api('POST', '/api/chat', { model, content });
  const page = await context.newPage();
  await page.goto(`${bed.url}/#/chat/${encodeURIComponent(String(session))}`);
  return page;
}

async function ask(model: string): Promise<Asking> {
  const [id, file] = [`call-of-${model}`, `lines-of-${model}`];
  bed.model.play(`line of ${model}`, [
    callsAnswer(call('Bash', { command: `echo once >> ${file}`, description: 'Write' }, id)),
    textAnswer(`It is written by ${model}.`),
  ]);
  const page = await talk(model, `line of ${model}`);
  const panel = page.locator('[data-approval]');
  const approval = await panel.getAttribute('data-approval');
  await composer(page).fill(`What I say next to ${model}`);
  return { page, panel, approval: approval ?? '', call: id, file };
}

describe('a sub-agent of Claude Code', PATIENT, () => {
  it('asks inside of the card that started it', async () => {
    bed.model.play('start a helper', [
      callsAnswer(
        call(
          'Task',
          { description: 'Look around', prompt: 'helper looks around', subagent_type: 'general-purpose' },
          'task-1',
        ),
      ),
      textAnswer('The helper is done.'),
    ]);
    bed.model.play('helper looks around', [
      callsAnswer(call('Bash', { command: 'echo inner >> lines', description: 'Write' }, 'inner-1')),
      textAnswer('Seen all.'),
    ]);
    const page = await talk(CLAUDE, 'start a helper');
    const panel = cardOf(page, 'task-1').locator('[data-card="inner-1"] [data-approval]');
    await panel.waitFor();
    expect(await panel.innerText()).toContain('The sub-agent “Look around” wants to run');
    await press(panel, 'Allow once');
    await transcript(page).getByText('The helper is done.').waitFor();
    expect(await bed.linesOf('lines')).toEqual(['inner']);
    expect(bed.model.problems).toEqual([]);
    await page.close();
  });
});

/** The last: the gateway that it has started ends with it. */
describe('pages of both engines whose gateway starts again', PATIENT, () => {
  it('have the same questions without a sign-in, and what is decided then is done once', async () => {
    const asking = [await ask(MODEL), await ask(CLAUDE)];
    const addresses = asking.map(({ page }) => page.url());

    for (const end of [() => bed.kill(), () => bed.gateway.close()]) {
      await end();
      for (const { page, panel } of asking) {
        await connected(page, 'lost');
        await panel.getByText('The connection to the gateway is lost.').waitFor();
      }
      await bed.restartThere();
      for (const { page, panel, approval } of asking) {
        await connected(page);
        // The turn waits again, for the same question.
        await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
        expect(await panel.getAttribute('data-approval')).toBe(approval);
        expect(await panel.getAttribute('data-approval-state')).toBe('pending');
      }
    }
    // A page that knows nothing of before is told of them as well.
    const fresh = await context.newPage();
    await fresh.goto(`${bed.url}/#/inbox`);
    for (const { approval } of asking) await fresh.locator(`[data-inbox-item="${approval}"]`).waitFor();
    expect(refused).toEqual([]);

    for (const { page, panel, call: id, file } of asking) {
      await press(panel, 'Allow once');
      await cardIs(page, id, 'success');
      await transcript(page).getByText('It is written by').waitFor();
      await page.getByRole('button', { name: 'Regenerate' }).waitFor();
      expect(await bed.linesOf(file)).toEqual(['once']);
      expect(await cardOf(page, id).count()).toBe(1);
      expect(await rowsOf(page, 'user').count()).toBe(1);
      expect(await composer(page).inputValue()).toMatch(/^What I say next to /);
    }
    expect(asking.map(({ page }) => page.url())).toEqual(addresses);
    expect(bed.model.problems).toEqual([]);
    await context.close();
    await bed.nothingLeft();
    await bed.close();
  });
});
