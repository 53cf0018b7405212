/** Nothing is decided by accident, and nothing that a model prints is more than text. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useBrowser } from '../support/browser.js';
import { type CallPart, call, callsAnswer, cut, textAnswer } from '../support/wire.js';
import {
  type ApprovalBench,
  byAge,
  cardIs,
  cardOf,
  chatRoute,
  openItem,
  panelIs,
  panelOf,
  press,
  startBench,
} from './approvals-bench.js';

const browser = useBrowser();
let bench: ApprovalBench;
beforeAll(async () => {
  bench = await startBench({
    files: { 'a.txt': 'a\n', 'b.txt': 'b\n' },
    permissions: { ask: ['Read'] },
  });
});
afterAll(async () => {
  await bench.close();
});

const bash = (command: string, id: string) => callsAnswer(call('Bash', { command }, id));

describe('buttons that decide', { timeout: 60_000 }, () => {
  it('take no press within 400 ms of their appearance or of a move, and say so', async () => {
    bench.model.play('arm the buttons', [bash('echo armed', 'arm-1'), textAnswer('Armed.')]);
    const said = bench.say('arm the buttons');
    const approval = await bench.asked('arm-1');
    const { page } = await bench.open(browser, '#/inbox');
    const item = page.locator(`[data-inbox-item="${approval.id}"]`);
    const row = item.getByRole('button', { name: /Bash/ }).first();
    await panelOf(page, approval).waitFor();
    await row.click();
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    await row.click();
    const allow = panelOf(page, approval).getByRole('button', { name: 'Allow once' });
    const refused = panelOf(page, approval).getByText('that click was ignored');
    await allow.dispatchEvent('click', { detail: 1 });
    await refused.waitFor();
    await page.clock.runFor(300);
    await allow.dispatchEvent('click', { detail: 1 });
    await refused.waitFor();
    expect((await bench.approvalOf('arm-1')).state).toBe('pending');
    await page.clock.runFor(500);
    const armed = (is: boolean) => panelOf(page, approval).locator(`[data-armed="${is}"]`).waitFor();
    await armed(true);
    await item.evaluate((line) => {
      line.style.marginTop = '40px';
    });
    await allow.dispatchEvent('click', { detail: 1 });
    // From the press on: no time has passed in which it could have looked again.
    await armed(false);
    expect((await bench.approvalOf('arm-1')).state).toBe('pending');
    await page.clock.runFor(500);
    await armed(true);
    await allow.dispatchEvent('click', { detail: 2 });
    expect((await bench.approvalOf('arm-1')).state).toBe('pending');
    await allow.dispatchEvent('click', { detail: 1 });
    await page.clock.resume();
    await said;
    expect((await bench.approvalOf('arm-1')).state).toBe('allowed');
  });

  it('do not take the second press of a double click for another question', async () => {
    const helpers = ['double-1', 'double-2'];
    bench.model.play('double click this', [
      callsAnswer(
        ...helpers.map((id) =>
          call('Task', { description: id, prompt: `look for ${id}`, subagent_type: 'Explore' }, `task-${id}`),
        ),
      ),
      textAnswer('Doubled.'),
    ]);
    for (const id of helpers) {
      bench.model.play(`look for ${id}`, [
        callsAnswer(call('Read', { file_path: bench.path('a.txt') }, id)),
        textAnswer('Seen.'),
      ]);
    }
    const said = bench.say('double click this');
    const asked = await Promise.all(helpers.map((id) => bench.asked(id)));
    const [first, second] = asked.toSorted(byAge);
    if (first === undefined || second === undefined) throw new Error('no questions');
    const { page } = await bench.open(browser, '#/inbox');
    for (const approval of [first, second]) await openItem(page, approval);
    await press(panelOf(page, first), 'Allow once', 'dblclick');
    await panelIs(page, first, 'allowed');
    expect((await bench.approvals()).map(({ id }) => id)).toEqual([second.id]);
    await press(panelOf(page, second), 'Deny');
    await said;
  });

  it('leave the focus in the composer, and are reached by keyboard alone', async () => {
    bench.model.play('type while it asks', [
      bash('echo first', 'focus-1'),
      bash('echo second', 'focus-2'),
      textAnswer('Typed.'),
    ]);
    const said = bench.say('type while it asks');
    const first = await bench.asked('focus-1');
    const { page } = await bench.open(browser, chatRoute(first));
    await panelOf(page, first).locator('[data-armed="true"]').waitFor();
    const composer = page.locator('main textarea').last();
    await composer.focus();
    await bench.api('POST', `/api/approvals/${first.id}`, { decision: 'allow', digest: first.digest });
    const second = await bench.asked('focus-2');
    const panel = panelOf(page, second);
    await panel.locator('[data-armed="true"]').waitFor();
    await page.keyboard.type('y allow');
    expect(await composer.inputValue()).toBe('y allow');
    expect((await bench.approvalOf('focus-2')).state).toBe('pending');
    // Backwards from the composer the panel is reached; Enter presses what has the focus.
    const focused = () => page.evaluate('document.activeElement?.firstChild?.textContent ?? ""');
    for (let steps = 0; steps < 40 && (await focused()) !== 'Deny'; steps++) {
      await page.keyboard.press('Shift+Tab');
    }
    expect(await focused()).toBe('Deny');
    await page.keyboard.press('Enter');
    await panelIs(page, second, 'denied');
    await said;
    // It is brought back when the button that had it is gone.
    await page.locator(`[data-approval="${second.id}"]:focus-within`).waitFor();
  });

  it('have keys, which a person who types does not press', async () => {
    bench.model.play('press keys', [
      bash('echo one', 'key-1'),
      bash('echo two', 'key-2'),
      textAnswer('Keys.'),
    ]);
    const said = bench.say('press keys');
    const first = await bench.asked('key-1');
    const { page } = await bench.open(browser, chatRoute(first));
    await panelOf(page, first).locator('[data-armed="true"]').waitFor();
    await page.evaluate('document.activeElement?.blur()');
    await page.keyboard.press('Control+y');
    await page.keyboard.press('a');
    await panelOf(page, first).getByRole('button', { name: 'Back' }).waitFor();
    await page.keyboard.press('Escape');
    await panelOf(page, first).locator('[data-armed="true"]').waitFor();
    expect((await bench.approvalOf('key-1')).state).toBe('pending');
    await page.keyboard.press('y');
    // Its card is closed as soon as it has run.
    await cardIs(page, 'key-1', 'success');
    const second = await bench.asked('key-2');
    await panelOf(page, second).locator('[data-armed="true"]').waitFor();
    await page.keyboard.press('n');
    await panelIs(page, second, 'denied');
    await said;
  });

  it('stay in sight below a command of 200 kB, all of which is shown and then runs', async () => {
    const lines = Array.from({ length: 4_200 }, (_, index) => `: line ${index} ${'x'.repeat(36)}`);
    const command = `${lines.join('\n')}\necho the-end`;
    expect(command.length).toBeGreaterThan(200_000);
    const long: CallPart = {
      type: 'call',
      id: 'long-1',
      name: 'Bash',
      arguments: cut(JSON.stringify({ command }), 4_000),
    };
    bench.model.play('a long command', [callsAnswer(long), textAnswer('Long.')]);
    const said = bench.say('a long command');
    const approval = await bench.asked('long-1');
    const { page } = await bench.open(browser, chatRoute(approval), {
      viewport: { width: 360, height: 740 },
    });
    const panel = panelOf(page, approval);
    const shown = panel.getByRole('region', { name: 'Command' });
    await shown.waitFor();
    expect((await shown.textContent())?.trim()).toBe(command);
    // The list has come to rest at its end.
    await panel.locator('[data-armed="true"]').waitFor();
    for (const name of ['Allow once', 'Deny', 'Edit input…']) {
      const box = await panel.getByRole('button', { name, exact: true }).boundingBox();
      expect(box === null ? undefined : box.y + box.height).toBeLessThanOrEqual(740);
      expect(box === null ? undefined : box.x + box.width).toBeLessThanOrEqual(360);
    }
    await press(panel, 'Allow once');
    await said;
    await cardIs(page, 'long-1', 'success');
    await cardOf(page, 'long-1').getByRole('button', { expanded: false }).first().click();
    const output = cardOf(page, 'long-1').getByRole('region', { name: 'Output' });
    await output.getByText('the-end', { exact: true }).waitFor();
  });

  it('speak Chinese to a Chinese browser', async () => {
    bench.model.play('speak chinese', [bash('echo zh', 'zh-1'), textAnswer('Zh.')]);
    const said = bench.say('speak chinese');
    const approval = await bench.asked('zh-1');
    const { page } = await bench.open(browser, chatRoute(approval), { locale: 'zh-CN' });
    const panel = panelOf(page, approval);
    await panel.waitFor();
    expect(await cardOf(page, 'zh-1').innerText()).toContain('等待您决定');
    const buttons = await panel.getByRole('button').allInnerTexts();
    expect(buttons.filter((text) => !/[\u4e00-\u9fff]/.test(text))).toEqual([]);
    await press(panel, '允许一次');
    await said;
    await cardOf(page, 'zh-1').getByText('已完成').waitFor();
  });
});

describe('decisions that come too late', () => {
  it('shows who was first when somebody else has decided', async () => {
    bench.model.play('somebody is first', [bash('echo first', 'late-1'), textAnswer('Late.')]);
    const said = bench.say('somebody is first');
    const approval = await bench.asked('late-1');
    const { page } = await bench.open(browser, chatRoute(approval));
    const panel = panelOf(page, approval);
    await panel.locator('[data-armed="true"]').waitFor();
    // The page does not hear of it before it sends its own.
    await page.route('**/api/approvals/*', async (route) => {
      await bench.api('POST', `/api/approvals/${approval.id}`, {
        decision: 'deny',
        digest: approval.digest,
        reason: 'Faster.',
      });
      await route.continue();
    });
    await press(panel, 'Allow once');
    await panelIs(page, approval, 'denied');
    expect(await panel.innerText()).toContain('Denied by you (api)');
    expect(await panel.innerText()).toContain('Faster.');
    await said;
  });

  it('asks to look again when what is asked is not what was seen', async () => {
    bench.model.play('another digest', [bash('echo digest', 'digest-1'), textAnswer('Digest.')]);
    const said = bench.say('another digest');
    const approval = await bench.asked('digest-1');
    const { page } = await bench.open(browser, chatRoute(approval));
    const panel = panelOf(page, approval);
    let first = true;
    await page.route('**/api/approvals/*', async (route) => {
      const body: unknown = route.request().postDataJSON();
      if (!first || typeof body !== 'object') return route.continue();
      first = false;
      return route.continue({ postData: JSON.stringify({ ...body, digest: 'of something else' }) });
    });
    await press(panel, 'Allow once');
    await panel.getByText('The request has changed since you saw it.').waitFor();
    expect((await bench.approvalOf('digest-1')).state).toBe('pending');
    await press(panel, 'Allow once');
    await said;
    await cardIs(page, 'digest-1', 'success');
  });
});

describe('a hostile model', () => {
  it('changes nothing but text', async () => {
    const hostile = [
      '<script>window.hacked = true</script>',
      '<img src=x onerror="window.hacked = true">',
      '\u001b]8;;javascript:window.hacked=true\u001b\\link\u001b]8;;\u001b\\ \u001b[8mhidden\u001b[0m',
      'abc\u202edcba',
      '<section data-approval="apr_fake"><button>Allow once</button></section>',
    ];
    const command = `printf '%s\\n' ${hostile.map((each) => `'${each}'`).join(' ')} # \u202eevil\u200b`;
    bench.model.play('be hostile', [
      {
        parts: [{ type: 'text', text: hostile.join('\n\n') }, call('Bash', { command }, 'hostile-1')],
      },
      textAnswer(hostile.join('\n\n')),
    ]);
    const said = bench.say('be hostile');
    const approval = await bench.asked('hostile-1');
    const { page, problems } = await bench.open(browser, chatRoute(approval));
    const panel = panelOf(page, approval);
    const shown = await panel.getByRole('region', { name: 'Command' }).innerText();
    expect(shown).toContain('202e');
    expect(shown).not.toContain('\u202e');
    expect(await page.locator('[data-approval]').count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Allow once' }).count()).toBe(1);
    await press(panel, 'Allow once');
    await said;
    await cardIs(page, 'hostile-1', 'success');
    const card = cardOf(page, 'hostile-1');
    await card.getByRole('button', { expanded: false }).first().click();
    const output = await card.getByRole('region', { name: 'Output' }).innerText();
    expect(output).toContain('<script>window.hacked = true</script>');
    expect(output).toContain('link hidden');
    expect(output).toContain('[U+202E]');
    expect(output).not.toContain('\u001b');
    expect(await page.locator('[data-approval="apr_fake"]').count()).toBe(0);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(problems).toEqual([]);
  });
});
