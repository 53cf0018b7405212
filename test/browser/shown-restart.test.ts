/**
 * A page that is open while its gateway is killed, stopped and started again: the question is the
 * same one, its buttons work, and what it was about runs once.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentBed, ENGINES, KEYS } from '../faults/agent-bed.js';
import { launchBrowser } from '../support/browser.js';
import { startCutProxy } from '../support/cut-proxy.js';
import { call, callsAnswer, textAnswer } from '../support/wire.js';
import { cardIs, cardOf, press } from './approvals-bench.js';
import { composer, rowsOf, say, transcript } from './chat-bed.js';
import { connected, openConsole } from './console-world.js';

/** Processes that start, on a machine that has more to do. */
const PATIENT = { timeout: 180_000 };
const SETTINGS = {
  permissions: { mode: 'ask', unattended: 'wait' },
  server: { public_hosts: ['127.0.0.1'] },
};

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
});

describe.each(ENGINES)('a page of %s whose gateway starts again', PATIENT, (engine) => {
  it('has the same question, and what is decided then is done once', async () => {
    const bed = await AgentBed.start(engine, SETTINGS);
    bed.model.play('write the line', [
      callsAnswer(call('Bash', { command: 'echo once >> lines', description: 'Write' }, 'c1')),
      textAnswer('It is written.'),
    ]);
    const wire = await startCutProxy(bed.url);
    const { page } = await openConsole(browser, `${wire.url}/#token=${KEYS.storm}`);
    page.setDefaultTimeout(60_000);
    await connected(page);
    await say(page, 'write the line');
    const panel = page.locator('[data-approval]');
    const id = await panel.getAttribute('data-approval');
    await composer(page).fill('What I say next');
    const address = page.url();

    const stopped = () => bed.gateway.close();
    for (const end of [() => bed.kill(), ...(engine === 'native' ? [stopped] : [])]) {
      await end();
      await connected(page, 'lost');
      await panel.getByText('The connection to the gateway is lost.').waitFor();
      await bed.restart();
      wire.lead(bed.url);
      // Sign-ins end with the process; what was there is behind the form.
      await page.getByLabel('Token or key').fill(KEYS.storm);
      await page.keyboard.press('Enter');
      await connected(page);
      // The turn waits again, for the same question.
      await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
      expect(await panel.getAttribute('data-approval')).toBe(id);
      expect(await panel.getAttribute('data-approval-state')).toBe('pending');
    }

    await press(panel, 'Allow once');
    await cardIs(page, 'c1', 'success');
    await transcript(page).getByText('It is written.').waitFor();
    await page.getByRole('button', { name: 'Regenerate' }).waitFor();
    expect(await bed.linesOf('lines')).toEqual(['once']);
    expect(await cardOf(page, 'c1').count()).toBe(1);
    expect(await rowsOf(page, 'user').count()).toBe(1);
    expect(await composer(page).inputValue()).toBe('What I say next');
    expect(page.url()).toBe(address);
    expect(bed.model.problems).toEqual([]);
    await page.context().close();
    await bed.nothingLeft();
    await bed.close();
  });
});

describe('a sub-agent of Claude Code', PATIENT, () => {
  it('asks inside of the card that started it', async () => {
    const bed = await AgentBed.start('claude-code', {
      ...SETTINGS,
      permissions: { ...SETTINGS.permissions, allow: ['Task'] },
      model: { tools: ['Bash', 'Task'] },
    });
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
    const { page } = await openConsole(browser, `${bed.url}/#token=${KEYS.storm}`);
    page.setDefaultTimeout(60_000);
    await connected(page);
    await say(page, 'start a helper');
    const panel = cardOf(page, 'task-1').locator('[data-card="inner-1"] [data-approval]');
    await panel.waitFor();
    expect(await panel.innerText()).toContain('The sub-agent “Look around” wants to run');
    await press(panel, 'Allow once');
    await transcript(page).getByText('The helper is done.').waitFor();
    expect(await bed.linesOf('lines')).toEqual(['inner']);
    expect(bed.model.problems).toEqual([]);
    await page.context().close();
    await bed.close();
  });
});
