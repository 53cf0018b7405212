/**
 * Every page of the console with something on it, in both languages: light, dark, on a phone; for
 * keyboards and screen readers; and nothing that the browser would complain about.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApprovalWire } from '../../src/server/console-api/wire/approvals.js';
import { axeProblems } from '../support/axe.js';
import { useBrowser } from '../support/browser.js';
import { oddServer } from '../support/mcp-servers.js';
import { shots } from '../support/screenshots.js';
import { call, callsAnswer, textAnswer } from '../support/wire.js';
import { type ApprovalBench, chatRoute, goTo, panelOf, startBench } from './approvals-bench.js';
import { connected, openConsole, openSignedIn } from './console-world.js';

const PATIENT = { timeout: 240_000 };
const LANGUAGES = [
  { name: 'English', locale: 'en-US', code: 'en' },
  { name: 'Chinese', locale: 'zh-CN', code: 'zh' },
] as const;

const MARKDOWN = `## What I found

The list of *words* was **out of date**. I changed \`words.txt\` and ran the check again:

1. read the file,
2. changed one line,
3. ran \`npm test\`: see [the manual](https://example.com/manual).

| file | before | after |
|---|---|---|
| words.txt | second | 2nd |

\`\`\`ts
export const words = ['first', '2nd', 'third'];
\`\`\`
`;

const browser = useBrowser();
let bench: ApprovalBench;
let asked: ApprovalWire;
let done: string;
let trace: string;

beforeAll(async () => {
  bench = await startBench({
    files: { 'words.txt': 'first\nsecond\nthird\n' },
    permissions: { allow: ['Read', 'Edit', 'TodoWrite', 'Grep', 'Bash(printf:*)'], deny: ['Bash(curl:*)'] },
    config: { mcp_servers: { docs: oddServer(), gone: oddServer('exit-at-start') } },
  });
  const { model } = bench;
  const todos = ['Read the list', 'Change it', 'Run the check'].map((content, index) => ({
    content,
    activeForm: content,
    status: (['completed', 'in_progress', 'pending'] as const)[index],
  }));
  const words = bench.path('words.txt');
  model.play('Bring the list of words up to date', [
    callsAnswer(call('TodoWrite', { todos }, 'p-todo'), call('Read', { file_path: words }, 'p-read')),
    callsAnswer(
      call('Edit', { file_path: words, old_string: 'second', new_string: '2nd' }, 'p-edit'),
      call('Bash', { command: "printf '\\033[32mok\\033[0m 3 words\\n'" }, 'p-bash'),
      call('Grep', { pattern: 'nowhere-to-be-found', path: bench.path('none') }, 'p-grep'),
    ),
    textAnswer(MARKDOWN),
  ]);
  done = (await bench.say('Bring the list of words up to date')).session;
  model.play('Publish the new version', [
    {
      parts: [
        { type: 'text', text: 'I publish it now.' },
        call('Bash', { command: 'npm version minor &&\n  git push --follow-tags origin main' }, 'p-ask'),
      ],
    },
    textAnswer('Published.'),
  ]);
  void bench.say('Publish the new version');
  asked = await bench.asked('p-ask');
  await bench.api('POST', '/api/rules', {
    rule: 'Bash(npm test:*)',
    behaviour: 'allow',
    scope: 'everywhere',
  });
  const { body } = await bench.api<{ data: { id: string }[] }>('GET', '/api/traces');
  trace = body.data[0]?.id ?? '';
});
afterAll(async () => {
  await bench.close();
});

interface View {
  name: string;
  route: string;
  /** Something of its content, which comes after the page itself. */
  ready: (page: Page) => Promise<void>;
}

const seen = (selector: string) => (page: Page) => page.locator(selector).first().waitFor();

const views = (): View[] => [
  { name: 'chat-empty', route: '#/', ready: seen('main textarea') },
  { name: 'chat-cards', route: `#/chat/${done}`, ready: seen('.md table') },
  { name: 'chat-asking', route: chatRoute(asked), ready: seen('[data-armed="true"]') },
  { name: 'inbox', route: '#/inbox', ready: seen('[data-armed="true"]') },
  {
    name: 'sessions',
    route: '#/sessions',
    ready: (page) => page.locator('main').getByText('Bring the list of words').first().waitFor(),
  },
  { name: 'traces', route: '#/traces', ready: seen('main [data-row], main tbody tr, main li') },
  {
    name: 'trace',
    route: `#/traces/${trace}`,
    ready: seen('main [role=tabpanel], main section pre, main table'),
  },
  {
    name: 'tools',
    route: '#/tools',
    ready: (page) => page.locator('main').getByText('docs').first().waitFor(),
  },
  { name: 'rules', route: '#/rules', ready: (page) => page.getByText('Bash(npm test:*)').first().waitFor() },
  { name: 'usage', route: '#/usage', ready: seen('main svg[role], main table') },
  { name: 'setup', route: '#/setup', ready: seen('main [role=tab]') },
];

/** Of what another language changes. */
const RULES_OF_WORDS = [
  'aria-command-name',
  'button-name',
  'html-has-lang',
  'html-lang-valid',
  'label',
  'link-name',
];

/** Looked at in every way; the colours alone differ in the dark, and the words alone in Chinese. */
async function look(page: Page, name: string): Promise<void> {
  expect(await page.locator('h1').count(), name).toBe(1);
  expect(await page.getByRole('main').count(), name).toBe(1);
  if (name.startsWith('zh-')) {
    expect(await axeProblems(page, RULES_OF_WORDS), name).toEqual([]);
    await shots(page, name, { always: true, looks: ['phone'] });
  } else {
    expect(await axeProblems(page), `${name}, light`).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('html[data-theme=dark]').waitFor();
    expect(await axeProblems(page, ['color-contrast']), `${name}, dark`).toEqual([]);
    await page.emulateMedia({ colorScheme: null });
    await shots(page, name, { always: true });
  }
}

describe.each(LANGUAGES)('the console in $name', PATIENT, ({ locale, code }) => {
  it('has nothing to complain about on any page', async () => {
    const { page, problems } = await openSignedIn(browser, bench.gateway, { locale });
    expect(await page.getAttribute('html', 'lang')).toMatch(new RegExp(`^${code}`));
    for (const { name, route, ready } of views()) {
      await goTo(page, route);
      await ready(page);
      await look(page, `${code}-${name}`);
    }
    expect(problems).toEqual([]);
  });

  it('has none where nobody is signed in', async () => {
    const { page } = await openConsole(browser, bench.gateway.url, { locale });
    await page.getByRole('form').waitFor();
    await look(page, `${code}-sign-in`);
  });
});

describe('an empty inbox', PATIENT, () => {
  it('has nothing to complain about either', async () => {
    const { id, digest } = asked;
    const { page } = await openSignedIn(browser, bench.gateway);
    await goTo(page, '#/inbox');
    await panelOf(page, asked).waitFor();
    await bench.api('POST', `/api/approvals/${id}`, { decision: 'deny', digest, reason: 'Not on a Friday.' });
    await page.getByText('Not on a Friday.').first().waitFor();
    await look(page, 'en-inbox-decided');
    const chinese = await openSignedIn(browser, bench.gateway, { locale: 'zh-CN' });
    await goTo(chinese.page, '#/inbox');
    await chinese.page.getByText('没有等待您处理的事项').first().waitFor();
    await look(chinese.page, 'zh-inbox-empty');
    await connected(chinese.page);
  });
});
