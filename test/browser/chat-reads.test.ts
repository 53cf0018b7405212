/** What keeps a long turn readable: folded reads, and the to-do list in sight. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeProblems } from '../support/axe.js';
import { useBrowser } from '../support/browser.js';
import { gate } from '../support/gate.js';
import { eventByEvent, sse } from '../support/replies.js';
import { anthropicStream, call, callsAnswer, textAnswer } from '../support/wire.js';
import { type ApprovalBench, cardIs, cardOf, startBench } from './approvals-bench.js';

const browser = useBrowser();
let bench: ApprovalBench;
beforeAll(async () => {
  bench = await startBench({
    permissions: { mode: 'allow' },
    files: { 'one.txt': 'alpha\nbeta\n', 'two.txt': 'beta\n', 'three.txt': 'gamma\n' },
  });
});
afterAll(async () => {
  await bench.close();
});

const read = (name: string, id: string) => call('Read', { file_path: bench.path(name) }, id);
const fold = (page: Page, name: string) => page.getByRole('button', { name });

describe('a run of reads', () => {
  it('is one line that opens by keyboard, live and after a reload', async () => {
    const hold = gate();
    bench.model.play('read around', [
      callsAnswer(
        read('one.txt', 'f-1'),
        read('two.txt', 'f-2'),
        call('Grep', { pattern: 'beta' }, 'f-3'),
        call('Glob', { pattern: '*.txt' }, 'f-4'),
      ),
      callsAnswer(read('missing.txt', 'f-5'), read('three.txt', 'f-6'), read('one.txt', 'f-7')),
      () => sse([hold, ...eventByEvent(anthropicStream({ model: 'm', ...textAnswer('All read.') }))]),
    ]);
    const { page, problems } = await bench.open(browser, '#/sessions');
    const said = bench.say('read around');
    await hold.reached;
    await page.getByText('read around').first().click();
    for (const round of ['live', 'over', 'reloaded']) {
      if (round === 'over') {
        hold.open();
        await said;
        await page.getByText('All read.').waitFor();
      }
      if (round === 'reloaded') await page.reload();
      // One that failed stands by itself, and two are no run.
      await cardIs(page, 'f-5', 'error');
      await cardIs(page, 'f-7', 'success');
      const line = fold(page, 'Read 2 files · searched twice');
      await line.waitFor();
      expect(await page.locator('[data-reads]').count()).toBe(1);
      if (round !== 'over') {
        expect(await line.getAttribute('aria-expanded')).toBe('false');
        expect(await cardOf(page, 'f-1').count()).toBe(0);
        await line.press('Enter');
      }
      for (const id of ['f-1', 'f-2', 'f-3', 'f-4']) await cardIs(page, id, 'success');
    }
    expect(await axeProblems(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  it('leaves the card open and focused that a person is at', async () => {
    const hold = gate();
    bench.model.play('read on', [
      callsAnswer(read('one.txt', 'h-1'), read('two.txt', 'h-2')),
      () => {
        const answer = callsAnswer(read('three.txt', 'h-3'));
        return sse([hold, ...eventByEvent(anthropicStream({ model: 'm', ...answer }))]);
      },
      textAnswer('Read on.'),
    ]);
    const { page } = await bench.open(browser, '#/sessions');
    const said = bench.say('read on');
    await hold.reached;
    await page.getByText('read on').first().click();
    await cardIs(page, 'h-1', 'success');
    await cardOf(page, 'h-1').getByRole('button').first().press('Enter');
    await cardOf(page, 'h-1').getByText('alpha').waitFor();
    hold.open();
    await said;
    await fold(page, 'Read 3 files').waitFor();
    await cardOf(page, 'h-1').getByText('alpha').waitFor();
    const focused = await page.evaluate(
      "document.activeElement.closest('[data-card]')?.getAttribute('data-card')",
    );
    expect(focused).toBe('h-1');
  });

  it('is one line inside a sub-agent, and in Chinese', async () => {
    const prompt = 'look at three files';
    bench.model.play('send somebody', [
      callsAnswer(call('Task', { description: 'Look', prompt, subagent_type: 'Explore' }, 's-task')),
      textAnswer('Back.'),
    ]);
    bench.model.play(prompt, [
      callsAnswer(read('one.txt', 's-1'), read('two.txt', 's-2'), read('three.txt', 's-3')),
      textAnswer('Looked.'),
    ]);
    const { session } = await bench.say('send somebody');
    const { page } = await bench.open(browser, `#/chat/${session}`, { locale: 'zh-CN' });
    await cardOf(page, 's-task').getByRole('button', { expanded: false }).first().click();
    await fold(page, '读取了 3 个文件').click();
    await cardIs(page, 's-3', 'success');
  });
});

describe('the to-do list', () => {
  it('stays in sight above the composer while the turn runs', async () => {
    const todo = (content: string, status: string) => ({ content, status, activeForm: content });
    const todos = [
      todo('Read the plan', 'completed'),
      todo('Write the tests', 'in_progress'),
      todo('Tidy up', 'pending'),
    ];
    const hold = gate();
    bench.model.play('work through it', [
      callsAnswer(call('TodoWrite', { todos }, 't-1')),
      () => sse([hold, ...eventByEvent(anthropicStream({ model: 'm', ...textAnswer('Worked.') }))]),
    ]);
    const { page, problems } = await bench.open(browser, '#/sessions');
    const said = bench.say('work through it');
    await hold.reached;
    await page.getByText('work through it').first().click();
    const list = page.getByRole('region', { name: 'To-do list' }).first();
    const line = list.getByRole('button', { name: '1 of 3 done · Write the tests' });
    await line.waitFor();
    await page.reload();
    await line.press('Enter');
    await list.getByText('Tidy up').waitFor();
    expect(await axeProblems(page)).toEqual([]);
    hold.open();
    await said;
    await line.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });
});
