/** Talking in the console: a real gateway, a scripted model, a real browser. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { axeProblems } from '../support/axe.js';
import { useBrowser } from '../support/browser.js';
import { shots } from '../support/screenshots.js';
import { errorInDialect } from '../support/scripted-answers.js';
import { gate } from '../support/scripted-upstream.js';
import {
  type ChatBed,
  choose,
  composer,
  inTurn,
  rowsOf,
  say,
  sayAll,
  sayInPieces,
  transcript,
  useChat,
} from './chat-bed.js';

const browser = useBrowser();

const begin = useChat(browser);

/** The ids of all conversations, with what was said first in them. */
async function sessionsOf({ gateway, token }: ChatBed): Promise<string[]> {
  const answer = await fetch(`${gateway.url}/api/sessions`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { data } = JSON.parse(await answer.text());
  return data.map(({ id }: { id: string }) => id);
}

const sessionIn = (page: Page): string => decodeURIComponent(page.url().split('#/chat/')[1] ?? '');
const answered = (page: Page, text: string): Promise<void> =>
  transcript(page).locator('.md', { hasText: text }).first().waitFor();
const idle = (page: Page): Promise<void> => page.getByRole('button', { name: 'Send' }).waitFor();

describe('a chat', () => {
  it('is exported as a file of Markdown or JSON', async () => {
    const { page, problems } = await begin(sayAll('An **answer**.'));
    await say(page, 'Export this');
    await answered(page, 'An answer.');
    await idle(page);
    for (const [name, end, has] of [
      ['Export as Markdown', '.md', 'An **answer**.'],
      ['Export as JSON', '.json', '"text": "Export this"'],
    ] as const) {
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'More about this conversation' }).click();
      await page.getByRole('menuitem', { name }).click();
      const file = await download;
      expect(file.suggestedFilename()).toBe(`session-${sessionIn(page)}${end}`);
      expect(await readFile(await file.path(), 'utf8')).toContain(has);
    }
    expect(problems).toEqual([]);
  });

  it('streams an answer in markdown, at an address of its own', async () => {
    const opened = gate();
    const { page, problems } = await begin(
      sayInPieces(['Half of **it', ' is** here.\n\n- one\n- two'], opened),
    );
    await say(page, 'What is it?');
    await transcript(page).getByText('What is it?').waitFor();
    await transcript(page).locator('.md strong', { hasText: /^it$/ }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    opened.open();
    await transcript(page)
      .locator('.md strong', { hasText: /^it is$/ })
      .waitFor();
    await transcript(page).locator('.md li', { hasText: 'two' }).waitFor();
    await idle(page);
    expect(page.url()).toMatch(/#\/chat\/.+/);
    expect(await composer(page).inputValue()).toBe('');
    expect(problems).toEqual([]);
  });

  it('goes on with what was said before', async () => {
    const { bed, page } = await begin(inTurn(sayAll('First answer.'), sayAll('Second answer.')));
    await say(page, 'First question');
    await answered(page, 'First answer.');
    await idle(page);
    const id = sessionIn(page);
    await say(page, 'Second question');
    await answered(page, 'Second answer.');
    expect(sessionIn(page)).toBe(id);
    const asked = JSON.stringify(bed.upstream.requests.at(-1)?.json['messages']);
    expect(asked).toContain('First question');
    expect(asked).toContain('First answer.');
  });

  it('is stopped', async () => {
    const { page } = await begin(sayInPieces(['This goes on', ' for ever'], gate()));
    await say(page, 'Begin');
    await answered(page, 'This goes on');
    await page.getByRole('button', { name: 'Stop' }).click();
    await transcript(page).getByText('You stopped it here.').waitFor();
    await idle(page);
    expect(await transcript(page).locator('.md').innerText()).toBe('This goes on');
  });

  it('makes a branch of an edited message and keeps the old one', async () => {
    const { bed, page } = await begin(inTurn(sayAll('Old answer.'), sayAll('New answer.')));
    await say(page, 'Old question');
    await answered(page, 'Old answer.');
    await idle(page);
    const old = sessionIn(page);
    await page.getByRole('button', { name: 'Edit this message' }).click();
    const editor = page.getByRole('textbox', { name: 'Edit this message' });
    expect(await editor.inputValue()).toBe('Old question');
    await editor.fill('New question');
    await page.getByRole('button', { name: 'Save and send' }).click();
    await answered(page, 'New answer.');
    const fork = sessionIn(page);
    expect(fork).not.toBe(old);
    expect(await transcript(page).innerText()).not.toContain('Old');
    expect(JSON.stringify(bed.upstream.requests.at(-1)?.json['messages'])).not.toContain('Old');
    expect(await sessionsOf(bed)).toEqual(expect.arrayContaining([fork, old]));
    await page.evaluate(`location.hash = '#/chat/${old}'`);
    await answered(page, 'Old answer.');
  });

  it('makes an answer again, in a branch of its own', async () => {
    const { bed, page } = await begin(inTurn(sayAll('One.'), sayAll('Two.'), sayAll('Another two.')));
    await say(page, 'First');
    await answered(page, 'One.');
    await idle(page);
    await say(page, 'Second');
    await answered(page, 'Two.');
    await idle(page);
    const old = sessionIn(page);
    await page.getByRole('button', { name: 'Regenerate' }).last().click();
    await answered(page, 'Another two.');
    // What was said before it comes with the transcript.
    await page.getByRole('button', { name: 'Regenerate' }).first().waitFor();
    expect(sessionIn(page)).not.toBe(old);
    expect(await rowsOf(page, 'user').allInnerTexts()).toHaveLength(2);
    expect(await transcript(page).innerText()).toContain('One.');
    expect(await sessionsOf(bed)).toContain(old);
  });

  it('goes on with another model', async () => {
    const { bed, page } = await begin(sayAll('Fine.'));
    await say(page, 'First');
    await answered(page, 'Fine.');
    await idle(page);
    await choose(page, 'other');
    await say(page, 'Second');
    await expect.poll(() => bed.upstream.requests.length).toBe(2);
    expect(bed.upstream.requests.map(({ json }) => json['model'])).toEqual(['m', 'n']);
    expect(JSON.stringify(bed.upstream.requests[1]?.json['messages'])).toContain('First');
  });

  it('takes the name of a model that is only a pattern', async () => {
    const { page } = await begin(sayAll('Fine.'));
    await page.getByRole('button', { name: /^Model:/ }).click();
    const name = page.getByRole('textbox', { name: /named-\*/ });
    await name.fill('something-else');
    await name.press('Enter');
    await page.getByText('The name must match named-*.').waitFor();
    await name.fill('named-for-me');
    await name.press('Enter');
    await page.getByRole('button', { name: 'Model: named-for-me' }).waitFor();
    await say(page, 'Hello');
    await answered(page, 'Fine.');
  });

  it('keeps a path that is typed before the folders are there', async () => {
    const { bed, page } = await begin(sayAll('I am here.'), 'coder');
    const held = gate();
    await page.route(
      '**/api/folders*',
      async (route) => {
        await held.pass();
        await route.continue();
      },
      { times: 1 },
    );
    await page.getByRole('button', { name: /^Folder:/ }).click();
    const dialog = page.getByRole('dialog');
    const path = dialog.getByRole('textbox', { name: 'Path' });
    await held.reached;
    await path.fill(bed.gateway.folder);
    held.open();
    const listed = dialog.getByRole('navigation').locator('[aria-current="page"]');
    await listed.waitFor();
    expect(await path.inputValue()).toBe(bed.gateway.folder);
    expect(await dialog.getByRole('button', { name: 'Use this folder' }).isDisabled()).toBe(true);
    // It is the answer's to change again where nobody has typed since it was asked for.
    await dialog.getByRole('navigation').getByRole('button').first().click();
    await expect.poll(() => path.inputValue()).toBe('/');
  });

  it('asks an agent in a folder that was chosen', async () => {
    const { bed, page } = await begin(sayAll('I am here.'), 'coder');
    await page.getByRole('button', { name: /^Folder:/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Path' }).fill(bed.gateway.folder);
    await dialog.getByRole('button', { name: 'Open', exact: true }).click();
    await expect.poll(() => dialog.getByRole('button', { name: 'Use this folder' }).isEnabled()).toBe(true);
    await dialog.getByRole('button', { name: 'Use this folder' }).click();
    await say(page, 'Where are you?');
    await answered(page, 'I am here.');
    expect(JSON.stringify(bed.upstream.requests.at(-1)?.json)).toContain(bed.gateway.folder);
  });
});

describe('attachments', () => {
  const PNG = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    'base64',
  );

  it('reach the model, and are seen in the conversation', async () => {
    const { bed, page, problems } = await begin(sayAll('A dot, and a list.'));
    await page.locator('input[type=file]').setInputFiles([
      { name: 'dot.png', mimeType: 'image/png', buffer: PNG },
      { name: 'list.md', mimeType: 'text/markdown', buffer: Buffer.from('- milk') },
    ]);
    await page.getByRole('list', { name: 'Attached files' }).getByText('list.md').waitFor();
    await say(page, 'What is this?');
    await answered(page, 'A dot, and a list.');
    const asked = JSON.stringify(bed.upstream.requests.at(-1)?.json['messages']);
    expect(asked).toContain(PNG.toString('base64'));
    expect(asked).toContain('- milk');
    expect(await page.getByRole('list', { name: 'Attached files' }).count()).toBe(0);
    const picture = rowsOf(page, 'user').getByRole('img', { name: 'Image' });
    await picture.waitFor();
    await expect
      .poll(() => picture.evaluate((image) => 'naturalWidth' in image && image.naturalWidth))
      .toBe(1);
    expect(problems).toEqual([]);
  });

  it('are pasted, removed, and refused with a reason', async () => {
    const { page } = await begin(sayAll('Fine.'));
    await composer(page).evaluate((area, base64) => {
      const { ClipboardEvent, DataTransfer, File } = area.ownerDocument.defaultView;
      const data = new DataTransfer();
      const bytes = Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
      data.items.add(new File([bytes], 'image.png', { type: 'image/png' }));
      area.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }),
      );
    }, PNG.toString('base64'));
    const list = page.getByRole('list', { name: 'Attached files' });
    await list.getByText('Pasted image.png').waitFor();
    await page.getByRole('button', { name: 'Remove Pasted image.png' }).click();
    await list.waitFor({ state: 'detached' });
    await page.locator('input[type=file]').setInputFiles([
      { name: 'a.zip', mimeType: 'application/zip', buffer: Buffer.from('PK') },
      { name: 'big.txt', mimeType: 'text/plain', buffer: Buffer.alloc(1_000_001, 97) },
    ]);
    await page.getByText('a.zip: this type of file cannot be sent.').waitFor();
    await page.getByText('big.txt is too large.').waitFor();
    expect(await list.count()).toBe(0);
    expect(await axeProblems(page)).toEqual([]);
  });
});

describe('how it looks', () => {
  it('is fine for keyboards and screen readers, at every width, light and dark', async () => {
    const opened = gate();
    const long =
      '# A title\n\nText with `code`, [a link](https://a.example).\n\n```sh\nls\n```\n\n|a|b|\n|-|-|\n|1|2|';
    const { page } = await begin(
      inTurn(
        sayInPieces(['Streaming **so', ' far**'], opened),
        errorInDialect(400, 'x', 'It broke.'),
        sayAll(long),
      ),
    );
    const look = async (name: string): Promise<void> => {
      await shots(page, `chat-${name}`);
      expect(await axeProblems(page), name).toEqual([]);
    };
    await look('empty');
    await say(page, 'Begin');
    await answered(page, 'Streaming');
    await look('streaming');
    opened.open();
    await idle(page);
    await say(page, 'Again');
    await page.getByRole('button', { name: 'Retry' }).waitFor();
    await look('error');
    await say(page, 'And again');
    await answered(page, 'A title');
    await idle(page);
    await look('markdown');
    await page.getByRole('button', { name: 'Edit this message' }).last().click();
    await look('editing');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: /^Model:/ }).click();
    await page.getByRole('dialog').waitFor();
    await look('models');
  }, 60_000);
});
