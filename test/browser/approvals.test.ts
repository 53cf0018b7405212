/** Deciding on the card of a call: what the person does is what the agent gets. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RuleWire } from '../../src/server/console-api/wire/approvals.js';
import { useBrowser } from '../support/browser.js';
import { resultsIn } from '../support/told.js';
import { call, callsAnswer, textAnswer } from '../support/wire.js';
import {
  type ApprovalBench,
  cardIs,
  chatRoute,
  goTo,
  panelIs,
  panelOf,
  press,
  startBench,
} from './approvals-bench.js';

const browser = useBrowser();
let bench: ApprovalBench;
/** One for all of them: whoever works with the console leaves it open. */
let page: Page;
let problems: string[];
beforeAll(async () => {
  bench = await startBench({
    files: { 'app.txt': 'first\nsecond\nthird\n' },
    permissions: { ask: ['Read(./app.txt)'] },
  });
  ({ page, problems } = await bench.open(browser, '#/setup'));
});
afterAll(async () => {
  await bench.close();
});

const bash = (command: string, id: string) => callsAnswer(call('Bash', { command }, id));

/** What the model was told about its calls, in the last request of a turn. */
function told(turn: ReturnType<ApprovalBench['model']['play']>): string {
  return resultsIn(turn.requests.at(-1)?.told ?? [])
    .map((result) => result.text)
    .join('\n');
}

describe('an approval on its card', () => {
  it('shows the whole call, and runs it once when it is allowed', async () => {
    const command = 'echo allowed-run >> runs.txt && cat runs.txt';
    bench.model.play('allow this one', [bash(command, 'allow-1'), textAnswer('It ran.')]);
    const said = bench.say('allow this one');
    const approval = await bench.asked('allow-1');
    await goTo(page, chatRoute(approval));
    const panel = panelOf(page, approval);
    await panel.getByRole('region', { name: 'Command' }).getByText(command, { exact: true }).waitFor();
    expect(await panel.innerText()).toContain('the mode is ask');
    expect(await panel.innerText()).toContain(bench.root);
    await press(panel, 'Allow once');
    await said;
    await cardIs(page, 'allow-1', 'success');
    expect(await readFile(bench.path('runs.txt'), 'utf8')).toBe('allowed-run\n');
    expect((await bench.approvalOf('allow-1')).decision).toMatchObject({ by: 'local', via: 'console' });
    await page.getByText('It ran.').waitFor();
    expect(problems).toEqual([]);
  });

  it('gives the reason of a denial to the model, and says who denied', async () => {
    const turn = bench.model.play('deny this one', [
      bash('rm -rf build', 'deny-1'),
      textAnswer('Very well.'),
    ]);
    const said = bench.say('deny this one');
    const approval = await bench.asked('deny-1');
    await goTo(page, chatRoute(approval));
    const panel = panelOf(page, approval);
    await panel.getByRole('button', { name: 'Deny with reason…' }).click();
    await panel.getByLabel('Reason').fill('Use make clean instead.');
    await press(panel, 'Deny with this reason');
    await said;
    await panelIs(page, approval, 'denied');
    expect(told(turn)).toContain('Use make clean instead.');
    await cardIs(page, 'deny-1', 'denied');
    expect(await panel.innerText()).toContain('Denied by you (console)');
    expect(await panel.innerText()).toContain('Use make clean instead.');
  });

  it('runs the input as it was edited, and shows the change before', async () => {
    const turn = bench.model.play('edit this one', [
      bash('echo model-said', 'edit-1'),
      textAnswer('Edited.'),
    ]);
    const said = bench.say('edit this one');
    const approval = await bench.asked('edit-1');
    await goTo(page, chatRoute(approval));
    const panel = panelOf(page, approval);
    await panel.getByRole('button', { name: 'Edit input…' }).click();
    const confirm = panel.getByRole('button', { name: 'Allow the changed input' });
    expect(await confirm.isDisabled()).toBe(true);
    await panel.getByLabel('Command').last().fill('echo person-said');
    const change = panel.getByRole('region', { name: 'Your change to the agent’s input' });
    await change.getByText('person-said').waitFor();
    expect(await change.innerText()).toMatch(/−[\s\S]*model-said[\s\S]*\+[\s\S]*person-said/);
    await press(panel, 'Allow the changed input');
    await said;
    expect(told(turn)).toContain('person-said');
    expect(told(turn)).not.toContain('model-said');
    await cardIs(page, 'edit-1', 'success');
  });

  it('shows a refused input where it was edited, and takes a better one', async () => {
    const input = { file_path: bench.path('app.txt'), old_string: 'second', new_string: '2nd' };
    bench.model.play('edit a file', [
      callsAnswer(call('Read', { file_path: bench.path('app.txt') }, 'json-0')),
      callsAnswer(call('Edit', input, 'json-1')),
      textAnswer('Changed.'),
    ]);
    const said = bench.say('edit a file');
    const first = await bench.asked('json-0');
    await goTo(page, chatRoute(first));
    await press(panelOf(page, first), 'Allow once');
    const approval = await bench.asked('json-1');
    const panel = panelOf(page, approval);
    await panel.getByRole('region', { name: 'Change' }).getByText('2nd').waitFor();
    await panel.getByRole('button', { name: 'Edit input…' }).click();
    await panel.getByRole('button', { name: 'Edit as JSON' }).click();
    const field = panel.getByLabel('Input as JSON');
    await field.fill('{ "file_path": ');
    await panel.getByText('This is not valid JSON').waitFor();
    await field.fill(JSON.stringify({ ...input, old_string: 'not in the file' }));
    await press(panel, 'Allow the changed input');
    await panel.getByRole('alert').waitFor();
    expect((await bench.approvalOf('json-1')).state).toBe('pending');
    await field.fill(JSON.stringify({ ...input, new_string: 'SECOND' }));
    await press(panel, 'Allow the changed input');
    await said;
    expect(await readFile(bench.path('app.txt'), 'utf8')).toBe('first\nSECOND\nthird\n');
  });

  it('makes a rule that answers the next one, and asks again when it is revoked', async () => {
    bench.model.play('always the first time', [bash('echo rule-run one', 'rule-1'), textAnswer('One.')]);
    const said = bench.say('always the first time');
    const approval = await bench.asked('rule-1');
    await goTo(page, chatRoute(approval));
    const panel = panelOf(page, approval);
    await panel.getByRole('button', { name: 'Always allow…' }).click();
    await panel.getByLabel('Rule', { exact: true }).fill('Bash(echo rule-run:*)');
    await panel.getByLabel('everywhere').check();
    const preview = panel.getByRole('region', { name: 'What this rule does' });
    await preview.getByText('It covers this call.').waitFor();
    await preview.getByText('echo rule-run one').waitFor();
    await press(panel, 'Allow, and always allow Bash(echo rule-run:*) everywhere');
    await said;
    await cardIs(page, 'rule-1', 'success');

    bench.model.play('always the second time', [bash('echo rule-run two', 'rule-2'), textAnswer('Two.')]);
    const second = await bench.say('always the second time');
    expect((await bench.approvals('all')).some((each) => each.tool_use_id === 'rule-2')).toBe(false);
    await goTo(page, `#/chat/${second.session}`);
    const card = page.locator('[data-card="rule-2"]');
    await card.getByRole('button', { expanded: false }).click();
    await card.getByText('Bash(echo rule-run:*)').waitFor();

    const { body: rules } = await bench.api<{ data: RuleWire[] }>('GET', '/api/rules');
    const made = rules.data.find((rule) => rule.rule === 'Bash(echo rule-run:*)');
    expect(made).toMatchObject({ behaviour: 'allow', source: 'everywhere', created_by: 'local' });
    await bench.api('DELETE', `/api/rules/${made?.id}`);
    bench.model.play('always the third time', [bash('echo rule-run three', 'rule-3'), textAnswer('Three.')]);
    const third = bench.say('always the third time');
    const again = await bench.asked('rule-3');
    await bench.api('POST', `/api/approvals/${again.id}`, { decision: 'deny', digest: again.digest });
    await third;
  });

  it('says what is wrong with a rule, and that one does not cover the call', async () => {
    bench.model.play('a wrong rule', [bash('echo a > b.txt', 'wrong-1'), textAnswer('Wrong.')]);
    const said = bench.say('a wrong rule');
    const approval = await bench.asked('wrong-1');
    await goTo(page, chatRoute(approval));
    const panel = panelOf(page, approval);
    await panel.getByRole('button', { name: 'Always allow…' }).click();
    const rule = panel.getByLabel('Rule', { exact: true });
    await rule.fill('Bash(echo a:*)');
    await panel.getByText('It does not cover this call, so you will be asked again').waitFor();
    await rule.fill('Bash(');
    await panel.locator('[aria-invalid="true"]').waitFor();
    expect(await panel.getByRole('button', { name: /^Allow, and always/ }).isDisabled()).toBe(true);
    await panel.getByRole('button', { name: 'Back' }).click();
    await press(panel, 'Deny');
    await said;
  });
});

describe('questions to the user', () => {
  it('sends the answers along with the call', async () => {
    const questions = [
      {
        question: 'Which database?',
        header: 'Database',
        options: [
          { label: 'SQLite', description: 'One file' },
          { label: 'PostgreSQL', description: 'A server' },
        ],
        multiSelect: false,
      },
      {
        question: 'Which extras?',
        header: 'Extras',
        options: [
          { label: 'Search', description: '' },
          { label: 'Charts', description: '' },
        ],
        multiSelect: true,
      },
    ];
    const turn = bench.model.play('ask me something', [
      callsAnswer(call('AskUserQuestion', { questions }, 'question-1')),
      textAnswer('Thank you.'),
    ]);
    const said = bench.say('ask me something');
    const approval = await bench.asked('question-1');
    await goTo(page, chatRoute(approval));
    const panel = panelOf(page, approval);
    await panel.getByText('No time limit.').waitFor();
    expect(await panel.getByRole('button', { name: 'Send the answer' }).isDisabled()).toBe(true);
    await panel.getByLabel('PostgreSQL').check();
    await panel.getByLabel('Search').check();
    await panel.getByLabel('Charts').check();
    await panel.getByLabel('Something else').last().fill('and maps');
    await press(panel, 'Send the answer');
    await said;
    expect(told(turn)).toContain('- Which database?\n  PostgreSQL');
    expect(told(turn)).toContain('- Which extras?\n  Search, Charts, and maps');
  });

  it('approves a plan, or sends it back with what should be different', async () => {
    const turn = bench.model.play('plan something', [
      callsAnswer(call('ExitPlanMode', { plan: '# The plan\n\n1. Change it' }, 'plan-1')),
      callsAnswer(call('ExitPlanMode', { plan: '# The better plan' }, 'plan-2')),
      textAnswer('I begin.'),
    ]);
    const said = bench.say('plan something');
    const first = await bench.asked('plan-1');
    await goTo(page, chatRoute(first));
    const panel = panelOf(page, first);
    await panel.getByRole('heading', { name: 'The plan' }).waitFor();
    await panel.getByRole('button', { name: 'Keep planning…' }).click();
    await panel.getByLabel('What should be different').fill('Write tests first.');
    await press(panel, 'Keep planning');
    const second = await bench.asked('plan-2');
    expect(told(turn)).toContain('Write tests first.');
    await press(panelOf(page, second), 'Approve the plan');
    await said;
    await page.getByText('I begin.').waitFor();
    expect(told(turn)).toContain('The user approved the plan');
  });
});
