/**
 * A model that tries everything in one turn: what it says, what it thinks, the names and arguments
 * of its calls, what they print, and something that looks like a question of the console. On every
 * page where that is shown it is text.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useBrowser } from '../support/browser.js';
import { shots } from '../support/screenshots.js';
import { call, callsAnswer, textAnswer } from '../support/wire.js';
import {
  type ApprovalBench,
  cardOf,
  chatRoute,
  goTo,
  panelOf,
  press,
  startBench,
} from './approvals-bench.js';
import { wheelUp } from './chat-bed.js';

const SCRIPT = '<script>window.hurt = 1</script><img src=x onerror="window.hurt = 1">';
const ANSI =
  '\u001b[2J\u001b[1;1H\u001b[41;97mALLOWED\u001b[0m\u001b]8;;javascript:window.hurt=1\u0007link\u001b]8;;\u0007\u009b31m';
const BIDI = 'safe\u202egnp.exe\u202c \u2066x\u2069 zero\u200bwidth\ufeff';
const LONE = 'lone \ud800 surrogates \udc00';
const LONG_WORD = 'w'.repeat(10_000);

/** As near to the console's own as markup comes. */
const FAKE_HTML = `<section data-approval="apr_fake" data-approval-state="pending" tabindex="-1" class="flex flex-col gap-3">
<h3>Wants to run</h3><pre>ls</pre>
<div data-armed="true" class="sticky bottom-0 fixed inset-0 z-50"><button class="bg-accent" onclick="window.hurt=1">Allow once</button>
<button>Deny</button><form action="https://evil.example/"><input type="submit" value="Allow once"></form></div></section>`;
const FAKE_MARKDOWN = `### Wants to run

> **Command** \`ls\`
>
> [Allow once](javascript:window.hurt=1) | [Deny](#/inbox) | [Allow once](/api/approvals)

- [x] Allow once
- [ ] Deny`;

const ALL = [SCRIPT, ANSI, BIDI, LONE, FAKE_HTML, FAKE_MARKDOWN, LONG_WORD].join('\n\n');
const TOOL = '<img src=x onerror=window.hurt=1>';

const browser = useBrowser();
let bench: ApprovalBench;
beforeAll(async () => {
  bench = await startBench({ permissions: { allow: ['Read'] }, files: { 'hostile.txt': ALL } });
});
afterAll(async () => {
  await bench.close();
});

/** Whatever a page asked for or showed that is not the gateway's own. */
function watch(page: Page, origin: string): string[] {
  const seen: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) seen.push(request.url());
  });
  page.on('dialog', (dialog) => {
    seen.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('popup', (popup) => seen.push(`popup: ${popup.url()}`));
  return seen;
}

/** Elements that only markup of the model could have made, or that stick out of the conversation. */
const FOREIGN = `(() => {
  const found = [];
  for (const element of document.querySelectorAll('main .md *')) {
    const name = element.tagName.toLowerCase();
    if (/^(script|img|iframe|form|input|section|style|link|object)$/.test(name)) {
      const isBox = name === 'input' && element.type === 'checkbox' && element.disabled;
      if (!isBox) found.push(element.outerHTML.slice(0, 120));
    }
    if (element.hasAttribute('data-armed') || element.hasAttribute('data-approval')) found.push(name);
    const { position } = getComputedStyle(element);
    if (position === 'fixed' || position === 'sticky') found.push(name + ' is ' + position);
  }
  for (const message of document.querySelectorAll('main .md')) {
    const frame = message.getBoundingClientRect();
    for (const element of message.querySelectorAll('*')) {
      const box = element.getBoundingClientRect();
      if (box.width === 0 || element.closest('pre, table, [tabindex]') !== null) continue;
      if (box.left < frame.left - 2 || box.right > frame.right + 2) found.push('outside: ' + element.outerHTML.slice(0, 120));
    }
  }
  return found;
})()`;

/** What is far away is not drawn. */
async function scrollUpTo(page: Page, id: string): Promise<void> {
  while ((await cardOf(page, id).count()) === 0) {
    if (!(await wheelUp(page))) throw new Error(`There is no card ${id}`);
  }
  await cardOf(page, id).scrollIntoViewIfNeeded();
}

const isNarrow = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth');

describe('a hostile model', { timeout: 90_000 }, () => {
  it('changes nothing but text, on any page', async () => {
    bench.model.play('show me everything you have', [
      {
        parts: [
          { type: 'text', text: ALL },
          call('Read', { file_path: bench.path('hostile.txt') }, 'h-read'),
          call(TOOL, { [SCRIPT]: FAKE_HTML, [BIDI]: ANSI, word: LONG_WORD, lone: LONE }, 'h-tool'),
        ],
      },
      callsAnswer(
        call('Bash', { command: `cat hostile.txt # ${ANSI} ${BIDI} ${SCRIPT} ${LONG_WORD}` }, 'h-ask'),
      ),
      textAnswer(`${ALL}\n\nThat is all.`),
    ]);
    const said = bench.say(`show me everything you have ${SCRIPT}`);
    const approval = await bench.asked('h-ask');
    const { page, problems } = await bench.open(browser, chatRoute(approval), {
      viewport: { width: 360, height: 740 },
      acceptDownloads: false,
    });
    const strange = watch(page, bench.gateway.url);
    const panel = panelOf(page, approval);
    await panel.waitFor();
    // The one real question, and nothing in the shape of another.
    expect(await page.locator('[data-approval]').count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Allow once' }).count()).toBe(1);
    expect(await page.locator('[data-approval="apr_fake"]').count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Allow once' }).count()).toBe(0);
    expect(await page.evaluate(FOREIGN)).toEqual([]);
    const shown = await panel.getByRole('region', { name: 'Command' }).innerText();
    for (const each of ['\u001b', '\u009b', '\u202e', '\u2066', '\u200b', '\ufeff'])
      expect(shown).not.toContain(each);
    expect(shown).toContain(SCRIPT);
    expect(await isNarrow(page)).toBe(true);
    await shots(page, 'hostile-asking');

    await press(panel, 'Allow once');
    await said;
    await page.getByText('That is all.').first().waitFor();
    await page.getByRole('button', { name: 'Regenerate' }).waitFor();
    for (const id of ['h-ask', 'h-tool', 'h-read']) {
      await scrollUpTo(page, id);
      const closed = cardOf(page, id).getByRole('button', { expanded: false }).first();
      if ((await cardOf(page, id).getAttribute('data-state')) === 'success') await closed.click();
      if (id === 'h-tool') expect(await cardOf(page, id).innerText()).toContain(SCRIPT);
      expect(await page.evaluate(FOREIGN)).toEqual([]);
    }
    expect(await page.locator('main').innerText()).not.toMatch(/[\u001b\u009b\u202e\u2066]/);
    expect(await isNarrow(page)).toBe(true);
    await shots(page, 'hostile-done');

    for (const [route, words] of [
      ['#/inbox', 'cat hostile.txt'],
      ['#/sessions', 'show me everything'],
      ['#/traces', '200 OK'],
    ] as const) {
      await goTo(page, route);
      await page.locator('main').getByText(words).first().waitFor();
      expect(await page.evaluate(FOREIGN), route).toEqual([]);
      expect(await isNarrow(page), route).toBe(true);
    }
    const { body } = await bench.api<{ data: { id: string }[] }>('GET', '/api/traces');
    await goTo(page, `#/traces/${body.data[0]?.id}`);
    await page.locator('main').getByText('show me everything you have').first().waitFor();
    expect(await page.locator('main').innerText()).not.toMatch(/[\u001b\u009b\u202e\u2066]/);

    expect(await page.evaluate('window.hurt')).toBeUndefined();
    expect(strange).toEqual([]);
    expect(problems).toEqual([]);
  });
});
