/** Cards of tool calls, live and from the transcript. */
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPage, useBrowser } from '../support/browser.js';
import { tempFolder } from '../support/cleanup.js';
import { EventWorld } from '../support/event-world.js';
import { gate } from '../support/gate.js';
import { eventByEvent, sse } from '../support/replies.js';
import { inDialect } from '../support/scripted-answers.js';
import type { ScriptFunction } from '../support/scripted-upstream.js';
import { anthropicStream, call, callsAnswer, textAnswer } from '../support/wire.js';
import { type ApprovalBench, cardIs, cardOf, goTo, PATIENCE, startBench } from './approvals-bench.js';
import { connected } from './console-world.js';

const browser = useBrowser();
let bench: ApprovalBench;
beforeAll(async () => {
  bench = await startBench({
    permissions: { mode: 'allow' },
    files: { 'one.txt': 'alpha\nbeta\n', 'two.txt': 'beta\n' },
  });
});
afterAll(async () => {
  await bench.close();
});

describe('a card', () => {
  it('shows arguments as they come, then the change, then that it is done', async () => {
    const content = Array.from({ length: 40 }, (_, index) => `streamed line ${index}`).join('\n');
    const answer = callsAnswer(call('Write', { file_path: bench.path('new.txt'), content }, 'stream-1'));
    const hold = gate();
    bench.model.play('write it slowly', [
      () => {
        const events = eventByEvent(anthropicStream({ model: 'm', ...answer }));
        const half = Math.floor(events.length / 2);
        return sse([...events.slice(0, half), hold, ...events.slice(half)]);
      },
      textAnswer('Written.'),
    ]);
    const { page } = await bench.open(browser, '#/sessions');
    const said = bench.say('write it slowly');
    await hold.reached;
    await page.getByText('write it slowly').first().click();
    const card = cardOf(page, 'stream-1');
    await card.getByText('streamed line 3', { exact: true }).waitFor();
    expect(await card.getAttribute('data-state')).toBe('pending');
    expect(await card.getByText('streamed line 39').count()).toBe(0);
    hold.open();
    await said;
    await cardIs(page, 'stream-1', 'success');
    expect(await card.getByText('Done').count()).toBe(1);
    // Only what needs a look has a badge.
    expect(await card.locator('[class*="bg-ok"]').count()).toBe(0);
    await card.getByRole('button', { expanded: false }).first().click();
    await card.getByText('streamed line 39').waitFor();
    await card.getByRole('button', { name: 'Raw' }).click();
    await card.getByRole('region', { name: 'Exact input' }).getByText('"file_path"').waitFor();
  });

  it('has the colours of a command, also when it is opened again', async () => {
    const command = [
      "printf '\\033[1;31mred\\033[0m plain\\n'",
      "printf '\\033[2J\\033[H\\033[5Amoved\\033[K \\033]0;title\\007\\033]8;;http://x.test\\033\\\\link\\033]8;;\\033\\\\\\n'",
      "printf '<b>10%%</b>\\r\\033[38;5;46m100%%\\n\\033['",
    ].join('; ');
    const hold = gate();
    bench.model.play('in colour', [
      () => {
        const answer = callsAnswer(call('Bash', { command }, 'colour-1'));
        return sse([hold, ...eventByEvent(anthropicStream({ model: 'm', ...answer }))]);
      },
      textAnswer('Shown.'),
    ]);
    const { page, problems } = await bench.open(browser, '#/sessions');
    const said = bench.say('in colour');
    await hold.reached;
    await page.getByText('in colour').first().click();
    hold.open();
    await said;
    await cardIs(page, 'colour-1', 'success');
    const output = cardOf(page, 'colour-1').getByRole('region', { name: 'Output' });
    await cardOf(page, 'colour-1').getByRole('button', { expanded: false }).first().click();
    expect(await output.locator('.ansi-fg-red.ansi-bold').allInnerTexts()).toEqual(['red']);
    expect(await output.locator('.ansi-fg-bright-green, .ansi-fg-green').allInnerTexts()).toEqual(['100%']);
    const lines = ['red plain', 'moved link', '100%'];
    const shown = async () => ((await output.textContent()) ?? '').trim().split('\n');
    expect(await shown()).toEqual(lines);
    expect(await page.locator('main').textContent()).not.toMatch(/[\u001b\u009b\u0007]/);
    await page.reload();
    await cardIs(page, 'colour-1', 'success');
    await cardOf(page, 'colour-1').getByRole('button', { expanded: false }).first().click();
    expect(await shown()).toEqual(lines);
    expect(await output.locator('.ansi-fg-red.ansi-bold').allInnerTexts()).toEqual(['red']);
    expect(problems).toEqual([]);
  });

  it('is the same after a reload, with a view for each tool', async () => {
    bench.model.play('use many tools', [
      callsAnswer(
        call('Grep', { pattern: 'beta', output_mode: 'content' }, 'many-grep'),
        call('Read', { file_path: bench.path('one.txt') }, 'many-read'),
        call('Bash', { command: "printf '\\033[31mred\\033[0m plain\\n'; exit 3" }, 'many-bash'),
        call(
          'TodoWrite',
          { todos: [{ content: 'Look at it', status: 'in_progress', activeForm: 'Looking' }] },
          'many-todo',
        ),
      ),
      textAnswer('Used.'),
    ]);
    const { session } = await bench.say('use many tools');
    const { page, problems } = await bench.open(browser, `#/chat/${session}`);
    for (const round of ['first', 'reloaded']) {
      if (round === 'reloaded') await page.reload();
      await cardIs(page, 'many-bash', 'error');
      for (const id of ['many-grep', 'many-read', 'many-todo']) {
        await cardIs(page, id, 'success');
        await cardOf(page, id).getByRole('button', { expanded: false }).first().click();
      }
      const matches = cardOf(page, 'many-grep').getByRole('region', { name: 'Matches' });
      await matches.getByText('two.txt').first().waitFor();
      await expect.poll(() => matches.getByRole('listitem').count()).toBe(2);
      expect(await matches.innerText()).toContain('one.txt');
      await cardOf(page, 'many-read').getByRole('table').getByText('alpha').waitFor();
      await cardOf(page, 'many-todo').getByText('in progress').waitFor();
      const output = cardOf(page, 'many-bash').getByRole('region', { name: 'Output' });
      expect(await output.innerText()).toContain('red plain');
    }
    expect(problems).toEqual([]);
  });
});

describe('the time on a card', () => {
  const task = (name: string) =>
    call(
      'Task',
      { description: `Look for ${name}`, prompt: `where is ${name}?`, subagent_type: 'Explore' },
      `time-${name}`,
    );

  /** While it runs it is told in whole seconds. */
  const secondsOn = async (card: Locator): Promise<number> => {
    const text = await card.getByTitle('Elapsed time').innerText();
    const [, minutes = '0', seconds] = /^(?:(\d+) min )?(\d+) sec$/.exec(text) ?? [];
    return Number(minutes) * 60 + Number(seconds);
  };

  /** Nothing of the page moves on by itself any more. */
  const stopClock = async (page: Page): Promise<void> => {
    const now: number = await page.evaluate('Date.now()');
    await page.clock.pauseAt(now + 5_000);
  };

  it('is counted while the call runs, and stands when it is done', async () => {
    const { path: root } = await tempFolder('toolgate-cards');
    const held = { one: gate(), two: gate() };
    const helper: ScriptFunction = async (request, index) => {
      await (request.text.includes('where is one?') ? held.one : held.two).pass();
      return inDialect(textAnswer('Here.'))(request, index);
    };
    const world = await EventWorld.start({
      root,
      steps: [callsAnswer(task('one'), task('two')), helper, helper, textAnswer('Found.')],
      // A ping would set the page right about the time, which the test has changed.
      limits: { pingMs: 3_600_000 },
    });
    const { page } = await openPage(browser);
    await page.goto(`${world.gateway.url}/#token=k-alice`);
    await connected(page);
    await page.clock.install();
    const said = world.say('look for both');
    // A test that fails before it looks at the answer has told why already.
    said.catch(() => {});
    await Promise.all([held.one.reached, held.two.reached]);
    const listed = await world.api('GET', '/api/sessions');
    const { data }: { data: { id: string }[] } = JSON.parse(await listed.text());
    await goTo(page, `#/chat/${data[0]?.id}`);
    const [one, two] = [cardOf(page, 'time-one'), cardOf(page, 'time-two')];
    for (const id of ['time-one', 'time-two']) await cardIs(page, id, 'running');

    await stopClock(page);
    const before = [await secondsOn(one), await secondsOn(two)];
    await page.clock.runFor(7_000);
    const after = before.map((seconds) => seconds + 7);
    await expect.poll(async () => [await secondsOn(one), await secondsOn(two)], PATIENCE).toEqual(after);

    await page.clock.resume();
    held.one.open();
    await cardIs(page, 'time-one', 'success');
    await stopClock(page);
    const took = await one.getByTitle('Elapsed time').innerText();
    const running = await secondsOn(two);
    await page.clock.runFor(7_000);
    // Both would be drawn together.
    await expect.poll(() => secondsOn(two), PATIENCE).toBe(running + 7);
    expect(await one.getByTitle('Elapsed time').innerText()).toBe(took);

    await page.clock.resume();
    held.two.open();
    await said;
  });
});
