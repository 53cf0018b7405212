/** What a model writes is text, whatever it looks like. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { useBrowser } from '../support/browser.js';
import {
  type ChatBed,
  importSession,
  inTurn,
  openChat,
  rowsOf,
  say,
  sayAll,
  sayInPieces,
  startChatBed,
  transcript,
  wheelUp,
} from './chat-bed.js';

const browser = useBrowser();

/** Each would change more than text if anything of it were taken at its word. */
const HOSTILE: readonly string[] = [
  '<script>window.pwned = 1</script>',
  '<img src=x onerror="window.pwned = 1">',
  '<svg onload="window.pwned = 1"><script>window.pwned = 1</script></svg>',
  '<svg><animate onbegin="window.pwned = 1" attributeName=x dur=1s></svg>',
  '<iframe srcdoc="<script>parent.pwned = 1</script>"></iframe>',
  '<iframe src="javascript:parent.pwned = 1"></iframe>',
  '<object data="data:text/html,<script>parent.pwned = 1</script>"></object>',
  '<embed src="javascript:window.pwned = 1">',
  '<style>body { display: none }</style>',
  '<link rel=stylesheet href=https://evil.example/a.css>',
  '<base href="https://evil.example/">',
  '<meta http-equiv=refresh content="0;url=https://evil.example/">',
  '<form action=https://evil.example/><input name=a autofocus onfocus="window.pwned = 1"><button>Allow</button></form>',
  '<details open ontoggle="window.pwned = 1"><summary>x</summary></details>',
  '<video><source onerror="window.pwned = 1"></video>',
  '<a href="javascript:window.pwned = 1">html link</a>',
  '<b onmouseover="window.pwned = 1" style="position:fixed;inset:0">bold</b>',
  '<kbd class="fixed inset-0" id="root">k</kbd>',
  '[script link](javascript:window.pwned=1)',
  '[entity link](&#106;avascript:window.pwned=1)',
  '[tab link](java\tscript:window.pwned=1)',
  '[data link](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)',
  '[vb link](vbscript:x) [file link](file:///etc/passwd) [blob link](blob:https://evil.example/1)',
  '[page link](#/rules) [path link](/api/rules) [host link](//evil.example/)',
  '[quote link](https://ok.example/"onmouseover="window.pwned=1)',
  '[title link](https://ok.example/ "a\\" onmouseover=\\"window.pwned=1")',
  '![picture](https://evil.example/track.png) ![inline](data:image/svg+xml,<svg onload=alert(1)>)',
  '![x](https://evil.example/"onerror="window.pwned=1)',
  '<https://ok.example/><javascript:window.pwned=1>',
  '```html onmouseover="window.pwned=1"\n</code></pre><script>window.pwned = 1</script>\n```',
  '- item\n  ```"><img src=x onerror=window.pwned=1>\n  </code></pre><img src=x onerror=window.pwned=1>\n  ```',
  '`</code><script>window.pwned=1</script>`',
  '| a |\n|---|\n| <img src=x onerror=window.pwned=1> |',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.pwned=1&gt;">',
  '<form><math><mtext></form><form><mglyph><style></math><img src onerror=window.pwned=1>',
  '<svg></p><style><a id="</style><img src=1 onerror=window.pwned=1>">',
  '<noscript><p title="</noscript><img src=x onerror=window.pwned=1>">',
  '<!--><img src=x onerror=window.pwned=1>-->',
  '<![CDATA[><img src=x onerror=window.pwned=1>]]>',
  '<template><script>window.pwned = 1</script></template>',
  '<textarea></textarea><img src=x onerror=window.pwned=1>',
  '<xmp><img src=x onerror=window.pwned=1></xmp>',
  '<a name=body><img name=querySelector><form id=getElementById>',
  'safe \u202etxt.exe\u202c and \u2066isolate\u2069, zero\u200bwidth\u200d, \ufeffmark, \u0000 nul \u001b[31mred',
  '[\u202emoc.knab](https://evil.example/)',
];

/** Much for a parser. */
const ENORMOUS: Readonly<Record<string, string>> = {
  'nested quotes': `${'>'.repeat(1_000_000)} end of it`,
  'quotes on every line': `${'>'.repeat(200)} x\n`.repeat(4_000),
  'lists in lists': `${'- '.repeat(100_000)}end of it`,
  emphasis: '*a _b **c __d '.repeat(40_000),
  stars: `${'*'.repeat(300_000)}a${'*'.repeat(300_000)}`,
  brackets: '[a]('.repeat(100_000),
  'one word': `${'a.'.repeat(300_000)}@`,
  backticks: Array.from({ length: 1_000 }, (_, index) => '`'.repeat(index)).join(' '),
  'one table': `|a|b|\n|-|-|\n${'|*1*|2|\n'.repeat(50_000)}`,
  'open tags': '<a '.repeat(200_000),
  entities: '&amp;&#38;&'.repeat(50_000),
};

const talk = (texts: readonly string[]) => [
  ...texts.flatMap((text, index) => [
    { role: 'user' as const, content: `question ${index}` },
    { role: 'assistant' as const, content: text },
  ]),
  { role: 'user' as const, content: 'the last question' },
];

const startQuietBed = (): Promise<ChatBed> => startChatBed(sayAll('The last answer.'));

/** What is in the page that a text must not be able to put there. */
const findForeign = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const LIVE = /^(script|iframe|object|embed|style|link|base|meta|form|input|img|video|audio|source|template|textarea|math)$/;
    const found = [];
    for (const element of document.querySelectorAll('.md *')) {
      const name = element.tagName.toLowerCase();
      if (LIVE.test(name)) found.push(element.outerHTML.slice(0, 200));
      for (const { name: attribute, value } of element.attributes) {
        if (/^on|^srcdoc$|^action$|^formaction$/.test(attribute)) found.push(name + ' ' + attribute + '=' + value);
        if (attribute === 'href' && !/^(https?|mailto):/.test(value)) found.push(name + ' href=' + value);
        if (attribute === 'style' && element.closest('.md-block') !== null) found.push(name + ' style=' + value);
        if (attribute === 'id' && value === 'root') found.push(name + ' id=' + value);
      }
      if (name !== 'a' || !element.hasAttribute('href')) continue;
      if (element.rel !== 'noopener noreferrer' || element.target !== '_blank') found.push(element.outerHTML);
    }
    return found;
  })()`);

/** From the end to the beginning: every row is drawn once. */
async function scrollThrough(page: Page, visit: () => Promise<void>): Promise<void> {
  do await visit();
  while (await wheelUp(page));
}

it('has the colours of code inside of a list too', { timeout: 60_000 }, async () => {
  const bed = await startChatBed(sayAll('- first\n\n  ```js\n  const answer = 42;\n  ```\n'));
  const { page } = await openChat(browser, bed);
  await say(page, 'show me');
  const item = page.locator('.md li code');
  await item.getByText('const answer').waitFor();
  await page.waitForFunction(`[...CSS.highlights.values()].some((ranges) =>
    [...ranges].some((range) => range.toString() === 'const' && range.startContainer.parentElement.closest('li')))`);
});

describe('hostile markdown', { timeout: 60_000 }, () => {
  it('changes nothing but text', async () => {
    const bed = await startQuietBed();
    const id = await importSession(bed, talk(HOSTILE));
    const { page, problems } = await openChat(browser, bed, `#/chat/${id}`);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('dialog', (dialog) => asked.push(`dialog ${dialog.message()}`));
    await page.getByText('The last answer.').waitFor();
    await page.getByRole('button', { name: 'Regenerate' }).last().waitFor();
    const foreign = new Set<string>();
    let shown = '';
    await scrollThrough(page, async () => {
      for (const each of await findForeign(page)) foreign.add(each);
      shown += await transcript(page).innerText();
    });
    expect([...foreign]).toEqual([]);
    expect(await page.evaluate('window.pwned')).toBeUndefined();
    expect(asked.filter((url) => !url.startsWith(bed.gateway.url))).toEqual([]);
    expect(problems).toEqual([]);
    for (const text of [
      '<script>window.pwned = 1</script>',
      '<iframe srcdoc=',
      'onmouseover="window.pwned = 1"',
    ]) {
      expect(shown).toContain(text);
    }
  });

  it('shows where a link leads whose text says otherwise', async () => {
    const bed = await startQuietBed();
    const id = await importSession(
      bed,
      talk([
        'Sign in at [https://bank.example/login](https://evil.example/x) or [bank.example](https://bank.example).',
      ]),
    );
    const { page } = await openChat(browser, bed, `#/chat/${id}`);
    const answer = page.locator('.md', { hasText: 'Sign in at' });
    await answer.waitFor();
    await expect
      .poll(() => answer.innerText())
      .toBe('Sign in at https://bank.example/login (evil.example) or bank.example.');
    const link = answer.getByRole('link', { name: 'https://bank.example/login' });
    expect(await link.getAttribute('href')).toBe('https://evil.example/x');
  });

  it('does not hold up the page, however much of it there is', async () => {
    const halves = Object.values(ENORMOUS).map((text): [string, string] => [
      text.slice(0, text.length / 2),
      text.slice(text.length / 2),
    ]);
    const bed = await startChatBed(inTurn(...halves.map((pieces) => sayInPieces(pieces))));
    const { page, problems } = await openChat(browser, bed);
    for (const name of Object.keys(ENORMOUS)) {
      await page.evaluate("location.hash = '#/'");
      await page.getByRole('list', { name: 'Examples' }).waitFor();
      await say(page, `Say ${name}`);
      await page.getByRole('button', { name: 'Regenerate' }).waitFor();
      await transcript(page).press('Home');
      await rowsOf(page, 'user').getByText(`Say ${name}`).waitFor();
      expect(await page.locator('.md *').count(), name).toBeLessThan(20_000);
    }
    expect(problems).toEqual([]);
  }, 90_000);
});

describe('markdown', () => {
  it('is drawn: headings, lists, tables, code that can be copied', async () => {
    const bed = await startQuietBed();
    const text = [
      '# Title',
      'Some **bold** and `code`.',
      '1. one\n2. two\n   ```sh\n   ls -la\n   ```',
      '```ts\nconst x: number = 1;\n```',
      '| a | b |\n|--:|---|\n| 1 | 2 |',
      '- [x] done\n- [ ] open',
      '> quoted',
    ].join('\n\n');
    const id = await importSession(bed, talk([text]));
    const { page, problems } = await openChat(browser, bed, `#/chat/${id}`, {
      permissions: ['clipboard-read', 'clipboard-write'],
      viewport: { width: 1200, height: 1400 },
    });
    const md = page.locator('.md');
    await md.getByRole('heading', { name: 'Title', level: 2 }).waitFor();
    expect(await md.locator('strong').innerText()).toBe('bold');
    expect(await md.locator('ol > li').count()).toBe(2);
    expect(await md.locator('td').allInnerTexts()).toEqual(['1', '2']);
    expect(
      await md
        .locator('td')
        .first()
        .evaluate((cell) => cell.ownerDocument.defaultView.getComputedStyle(cell).textAlign),
    ).toBe('end');
    expect(await md.locator('.md-check').count()).toBe(2);
    expect(await md.locator('blockquote').innerText()).toBe('quoted');
    await md.getByRole('button', { name: /ts/ }).click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe('const x: number = 1;');
    await md.locator('.md-copy').press('Enter');
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe('ls -la');
    expect(problems).toEqual([]);
  });
});
