/** Conversations that outlive a page: reloads, lost connections, other clients, thousands of messages. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { axeProblems } from '../support/axe.js';
import { useBrowser } from '../support/browser.js';
import { startCutProxy } from '../support/cut-proxy.js';
import { shots } from '../support/screenshots.js';
import { errorInDialect, inDialect } from '../support/scripted-answers.js';
import { gate } from '../support/scripted-upstream.js';
import { callAnswer, textAnswer } from '../support/wire.js';
import {
  composer,
  importSession,
  inTurn,
  openChat,
  rowsOf,
  type Said,
  say,
  sayAll,
  sayInPieces,
  startChatBed,
  transcript,
  useChat,
  wheelUp,
} from './chat-bed.js';

const browser = useBrowser();
const begin = useChat(browser);

const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
const answered = (page: Page, text: string): Promise<void> =>
  transcript(page).locator('.md', { hasText: text }).first().waitFor();
const textIn = (page: Page): Promise<string> => transcript(page).locator('.md').last().innerText();

describe('a turn that runs', () => {
  it('is shown the same after a reload, and goes on', async () => {
    const opened = gate();
    const { page } = await begin(sayInPieces(['The first half', ' and the second.'], opened));
    await say(page, 'Go');
    await answered(page, 'The first half');
    await page.reload();
    await answered(page, 'The first half');
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    expect(await rowsOf(page, 'user').count()).toBe(1);
    opened.open();
    await page.getByRole('button', { name: 'Regenerate' }).waitFor();
    expect(await textIn(page)).toBe('The first half and the second.');
    expect(await rowsOf(page, 'user').count()).toBe(1);
  });

  it('is whole after the connection was lost in the middle of it', async () => {
    const opened = gate();
    const bed = await startChatBed(sayInPieces(['Before.', ' While away.', ' And after.'], opened), {
      server: { public_hosts: ['127.0.0.1'] },
    });
    const wire = await startCutProxy(bed.gateway.url);
    const { page } = await openChat(browser, bed, '#/', {}, wire.url);
    await say(page, 'Go');
    await answered(page, 'Before.');
    wire.cut();
    await page.getByText('The connection to the gateway is lost.').first().waitFor();
    opened.open();
    wire.mend();
    await page.getByRole('button', { name: 'Regenerate' }).waitFor();
    expect(await textIn(page)).toBe('Before. While away. And after.');
  });

  it('takes what is said meanwhile: it waits in sight, and is answered when the turn is over', async () => {
    const opened = gate();
    const { page, problems } = await begin(
      inTurn(sayInPieces(['The first half', ' and the second.'], opened), sayAll('And this as well.')),
    );
    await say(page, 'Go');
    await answered(page, 'The first half');
    // Nothing is counted yet: that is not the same as a price that nobody knows.
    expect(await page.getByText('price unknown').count()).toBe(0);
    await say(page, 'And the weather?');
    await say(page, 'Never mind this one');
    const waiting = page.getByRole('list', { name: 'Waiting messages' }).getByRole('listitem');
    await waiting.nth(1).waitFor();
    expect(await waiting.allInnerTexts()).toEqual([
      'After this turn\nAnd the weather?',
      'After this turn\nNever mind this one',
    ]);
    // A plain model reads nothing before its turn is over: there is nothing to choose.
    expect(await page.getByRole('button', { name: 'After this turn' }).count()).toBe(0);
    expect(await composer(page).inputValue()).toBe('');
    await waiting.nth(1).getByRole('button', { name: 'Withdraw' }).click();
    await waiting.nth(1).waitFor({ state: 'detached' });
    // A page that knows nothing shows them as well.
    await page.reload();
    await waiting.first().waitFor();
    opened.open();
    await answered(page, 'And this as well.');
    await waiting.first().waitFor({ state: 'detached' });
    await page.getByText('price unknown').waitFor();
    const said = await rowsOf(page, 'user').allInnerTexts();
    expect(said.map((text) => text.split('\n').find((line) => line !== '' && line !== 'You'))).toEqual([
      'Go',
      'And the weather?',
    ]);
    expect(problems).toEqual([]);
  });

  it('of an agent is steered with Enter, or given something for after it', async () => {
    const opened = gate();
    const { bed, page, problems } = await begin(
      inTurn(
        async (request, index) => {
          await opened.pass();
          return inDialect(callAnswer('Glob', { pattern: '*.md' }))(request, index);
        },
        sayAll('The files are listed.'),
        sayAll('And it is tidy.'),
      ),
      'coder',
    );
    await say(page, 'List the files');
    await page.getByText('reads what you send before its next step').waitFor();
    await say(page, 'Only the Markdown ones');
    await composer(page).fill('Then tidy up');
    await shots(page, 'chat-queue');
    await page.getByRole('button', { name: 'After this turn' }).click();
    await composer(page).fill('And say so');
    await composer(page).press('Alt+Enter');
    const waiting = page.getByRole('list', { name: 'Waiting messages' }).getByRole('listitem');
    await waiting.nth(2).waitFor();
    expect(await waiting.allInnerTexts()).toEqual([
      'Next step\nOnly the Markdown ones',
      'After this turn\nThen tidy up',
      'After this turn\nAnd say so',
    ]);
    await shots(page, 'chat-waiting');
    expect(await axeProblems(page)).toEqual([]);
    opened.open();
    await answered(page, 'And it is tidy.');
    await waiting.first().waitFor({ state: 'detached' });
    const asked = bed.upstream.requests.map(({ json }) => JSON.stringify(json['messages']));
    expect(asked[1]).toContain('Only the Markdown ones');
    expect(asked[1]).not.toContain('Then tidy up');
    expect(asked[2]).toContain('Then tidy up');
    expect(problems).toEqual([]);
  });

  it('gives back what waited when it is stopped', async () => {
    const { page } = await begin(sayInPieces(['The first half', ' and the second.'], gate()));
    await say(page, 'Go');
    await answered(page, 'The first half');
    await say(page, 'What about this?');
    await page.getByRole('list', { name: 'Waiting messages' }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect.poll(() => composer(page).inputValue()).toBe('What about this?');
    await page.getByRole('list', { name: 'Waiting messages' }).waitFor({ state: 'detached' });
    expect(await rowsOf(page, 'user').count()).toBe(1);
  });

  it('of another client is shown live, and can be gone on with here', async () => {
    const opened = gate();
    const bed = await startChatBed(
      inTurn(sayInPieces(['From the other', ' client.'], opened), sayAll('From the console.')),
    );
    const { page } = await openChat(browser, bed, '#/sessions');
    const imported = importSession(bed, [{ role: 'user', content: 'Asked elsewhere' }]);
    await expect.poll(() => bed.upstream.requests.length).toBe(1);
    const answer = await fetch(`${bed.gateway.url}/api/sessions`, {
      headers: { authorization: `Bearer ${bed.token}` },
    });
    const { data } = JSON.parse(await answer.text());
    await page.evaluate(`location.hash = '#/chat/${data[0].id}'`);
    await answered(page, 'From the other');
    await page.getByText('Another client is running a turn in this conversation.').waitFor();
    opened.open();
    expect(await imported).toBe(data[0].id);
    await page.getByRole('button', { name: 'Regenerate' }).waitFor();
    expect(await textIn(page)).toBe('From the other client.');
    await say(page, 'Asked here');
    await answered(page, 'From the console.');
    expect(page.url()).toContain(data[0].id);
  });
});

describe('what goes wrong', () => {
  it('says what failed, and tries again', async () => {
    const { page } = await begin(
      inTurn(errorInDialect(400, 'invalid_request_error', 'The model is tired.'), sayAll('Well rested.')),
    );
    await say(page, 'Hello');
    await page.getByRole('alert').getByText('The model is tired.').waitFor();
    await page.getByRole('button', { name: 'Retry' }).click();
    await answered(page, 'Well rested.');
    expect(await rowsOf(page, 'user').count()).toBe(1);
  });

  it('does not say it once more beside a turn that runs, and tells why', async () => {
    const { page } = await begin(
      inTurn(errorInDialect(400, 'invalid_request_error', 'The model is tired.'), sayAll('Well rested.')),
    );
    await say(page, 'Hello');
    await page.getByRole('button', { name: 'Retry' }).waitFor();
    const message = 'A turn of this session runs. Wait until it is over.';
    const busy = { error: { message, type: 'conflict', param: null, code: 'session_busy' } };
    await page.route('**/resume', (route) => route.fulfill({ status: 409, json: busy }));
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push(new URL(request.url()).pathname);
    });
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByText(message).first().waitFor();
    expect(sent).toHaveLength(1);
    await page.unroute('**/resume');
    await page.getByRole('button', { name: 'Retry' }).click();
    await answered(page, 'Well rested.');
  });

  it('keeps what could not be sent, with the reason', async () => {
    const { page } = await begin(sayAll('Fine.'));
    await page.route('**/api/chat', (route) =>
      route.fulfill({
        status: 429,
        contentType: 'application/json',
        body: JSON.stringify({
          error: { message: 'Too many requests. Wait a minute.', type: 'x', param: null, code: null },
        }),
      }),
    );
    await say(page, 'Do not lose this');
    await page.getByRole('alert').getByText('Too many requests. Wait a minute.').waitFor();
    expect(await composer(page).inputValue()).toBe('Do not lose this');
    await page.unroute('**/api/chat');
    await composer(page).press('Enter');
    await answered(page, 'Fine.');
  });

  it('says that a conversation is not there', async () => {
    const { page } = await begin(sayAll('Fine.'));
    await page.evaluate("location.hash = '#/chat/no-such-session'");
    await page.getByText('It was deleted, it expired, or it belongs to another key.').waitFor();
    await page.getByRole('button', { name: 'Start a new chat' }).click();
    await composer(page).waitFor();
  });
});

describe('writing', () => {
  it('keeps a draft for each conversation over a reload', async () => {
    const { page } = await begin(sayAll('Fine.'));
    await say(page, 'Hello');
    await page.getByRole('button', { name: 'Regenerate' }).waitFor();
    await composer(page).fill('half a thought');
    await page.reload();
    await expect.poll(() => composer(page).inputValue()).toBe('half a thought');
    await page.evaluate("location.hash = '#/'");
    await page.getByRole('list', { name: 'Examples' }).waitFor();
    expect(await composer(page).inputValue()).toBe('');
  });

  it('makes a new line with Shift, and sends nothing while an input method composes', async () => {
    const { bed, page } = await begin(sayAll('Fine.'));
    await composer(page).fill('one');
    await composer(page).press('Shift+Enter');
    await composer(page).pressSequentially('two');
    expect(await composer(page).inputValue()).toBe('one\ntwo');
    await composer(page).evaluate((area) => {
      const { KeyboardEvent } = area.ownerDocument.defaultView;
      const how = { key: 'Enter', isComposing: true, bubbles: true, cancelable: true };
      area.dispatchEvent(new KeyboardEvent('keydown', how));
    });
    expect(await composer(page).inputValue()).toBe('one\ntwo');
    expect(bed.upstream.requests).toHaveLength(0);
    await composer(page).press('Enter');
    await answered(page, 'Fine.');
    expect(JSON.stringify(bed.upstream.requests[0]?.json['messages'])).toContain(
      'one\\\\ntwo'.replace('\\\\', '\\'),
    );
  });

  it('needs no mouse', async () => {
    const { page } = await begin(sayInPieces(['On and', ' on'], gate()));
    await composer(page).focus();
    await page.keyboard.type('Go');
    await page.keyboard.press('Enter');
    await answered(page, 'On and');
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA');
    for (let step = 0; step < 6; step++) {
      await page.keyboard.press('Tab');
      if ((await page.evaluate('document.activeElement.textContent')) === 'Stop') break;
    }
    await page.keyboard.press('Enter');
    await transcript(page).getByText('You stopped it here.').waitFor();
  });

  it('fits a phone, where Enter is a new line', async () => {
    const bed = await startChatBed(
      sayAll(`A table:\n\n|${'wide column|'.repeat(12)}\n|${'-|'.repeat(12)}\n`),
    );
    const { page, problems } = await openChat(browser, bed, '#/', PHONE);
    await composer(page).fill('one');
    await composer(page).press('Enter');
    expect(await composer(page).inputValue()).toBe('one\n');
    await page.getByRole('button', { name: 'Send' }).tap();
    await answered(page, 'A table:');
    const box = await composer(page).boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(740);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    expect(await transcript(page).evaluate((list) => list.scrollWidth - list.clientWidth)).toBe(0);
    expect(problems).toEqual([]);
  });

  it('speaks Chinese', async () => {
    const bed = await startChatBed(sayAll('你好！**很高兴**见到你。'));
    const { page } = await openChat(browser, bed, '#/', { locale: 'zh-CN' });
    const area = page.getByRole('textbox', { name: '消息' });
    await area.fill('你好');
    await area.press('Enter');
    const list = page.getByRole('region', { name: '对话内容' });
    await list.locator('strong', { hasText: '很高兴' }).waitFor();
    await page.getByRole('button', { name: '重新生成' }).waitFor();
    const buttons = await page.locator('main button').allInnerTexts();
    expect(
      buttons.filter((text) => /[A-Za-z]{3}/.test(text.replace(/plain|coder|toolgate-chat\S*/g, ''))),
    ).toEqual([]);
  });
});

describe('5,000 messages', { timeout: 60_000 }, () => {
  const history: Said[] = Array.from({ length: 5_000 }, (_, index) =>
    index % 2 === 0
      ? { role: 'user', content: `Question ${index}` }
      : { role: 'assistant', content: `Answer **${index}** to it.` },
  );
  /** The row that a press in the middle would be for, just after the list was moved. */
  const pressedWhileMoving = (page: Page) =>
    transcript(page).evaluate(async (list) => {
      const { requestAnimationFrame } = list.ownerDocument.defaultView;
      list.scrollTop -= 5;
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      const { left, top, width, height } = list.getBoundingClientRect();
      const pressed = list.ownerDocument.elementFromPoint(left + width / 2, top + height / 2);
      return pressed.closest('[data-row]')?.dataset.row ?? '';
    });
  const isAtEnd = (page: Page) =>
    transcript(page).evaluate((list) => list.scrollHeight - list.clientHeight - list.scrollTop < 2);

  it('are drawn a few at a time, and earlier ones come as one scrolls up', async () => {
    const bed = await startChatBed(sayAll('The last answer.'));
    const id = await importSession(bed, [...history, { role: 'user', content: 'The last question' }]);
    const { page, problems } = await openChat(browser, bed, `#/chat/${id}`);
    await answered(page, 'The last answer.');
    await expect.poll(() => isAtEnd(page)).toBe(true);
    expect(await page.locator('[data-row]').count()).toBeLessThan(150);
    await transcript(page).hover();
    // The first page of the transcript ends long before this.
    for (let first = 5_000; first > 4_600; ) {
      await page.mouse.wheel(0, -4_000);
      const [text = ''] = await rowsOf(page, 'user').allInnerTexts();
      first = Number(/Question (\d+)/.exec(text)?.[1] ?? first);
      expect(await page.locator('[data-row]').count()).toBeLessThan(150);
    }
    await page.getByRole('button', { name: 'Go to the end' }).click();
    await expect.poll(() => isAtEnd(page)).toBe(true);
    await answered(page, 'The last answer.');
    expect(problems).toEqual([]);
  });

  it('take a press while they move, and stay where they are while something is written below', async () => {
    const opened = gate();
    const bed = await startChatBed(
      inTurn(
        sayAll('The last answer.'),
        sayInPieces(['A piece', `\n\n${'more lines\n\n'.repeat(60)}end`], opened),
      ),
    );
    const id = await importSession(bed, [
      ...history.slice(0, 200),
      { role: 'user', content: 'The last question' },
    ]);
    const { page } = await openChat(browser, bed, `#/chat/${id}`);
    await answered(page, 'The last answer.');
    await expect.poll(() => isAtEnd(page)).toBe(true);
    expect(await pressedWhileMoving(page)).not.toBe('');
    await say(page, 'Go on');
    await answered(page, 'A piece');
    for (let turns = 0; turns < 2; turns++) await wheelUp(page);
    await page.getByRole('button', { name: 'Go to the end' }).waitFor();
    // What is in sight, not how far it is from the beginning: rows above it may turn out to be higher.
    const name = await transcript(page).evaluate((list) => {
      const { top } = list.getBoundingClientRect();
      const rows: { innerText: string; getBoundingClientRect(): { top: number } }[] = [
        ...list.querySelectorAll('[data-row=user]'),
      ];
      const inSight = rows.find((row) => row.getBoundingClientRect().top > top);
      return /Question \d+/.exec(inSight?.innerText ?? '')?.[0] ?? '';
    });
    const row = rowsOf(page, 'user').filter({ has: page.getByText(name, { exact: true }) });
    const place = (): Promise<number> => row.evaluate((element) => element.getBoundingClientRect().top);
    const before = await place();
    opened.open();
    await page.getByRole('button', { name: 'New below' }).waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    expect(Math.abs((await place()) - before)).toBeLessThan(2);
    await page.getByRole('button', { name: 'New below' }).click();
    await expect.poll(() => isAtEnd(page)).toBe(true);
    await transcript(page).getByText('end', { exact: true }).waitFor();
  });

  it('stay readable when they were compacted, and say where', async () => {
    const notes = inDialect(textAnswer('NOTES OF THE MODEL'));
    const answer = inTurn(sayAll('The compacted answer.'), sayAll('Another first answer.'));
    const bed = await startChatBed((request, index) =>
      request.body.includes('You keep the memory') ? notes(request, index) : answer(request, index),
    );
    const long: Said[] = Array.from({ length: 80 }, (_, at) =>
      at % 2 === 0
        ? { role: 'user', content: `Question ${at / 2}` }
        : { role: 'assistant', content: `${'word '.repeat(at === 1 ? 1 : 6_000)}\n\nAnswer ${(at - 1) / 2}` },
    );
    const id = await importSession(bed, [...long, { role: 'user', content: 'The last question' }]);
    const { page, problems } = await openChat(browser, bed, `#/chat/${id}`);
    await answered(page, 'The compacted answer.');
    await rowsOf(page, 'note').getByText('Compacted').waitFor();
    const path = `${bed.gateway.url}/api/sessions/${id}`;
    const headers = { authorization: `Bearer ${bed.token}` };
    const { total, messages } = JSON.parse(await (await fetch(path, { headers })).text());
    expect(total).toBe(82);
    expect(messages[0].content).toEqual([{ type: 'text', text: 'Question 0' }]);
    expect(JSON.stringify(messages)).not.toContain('NOTES OF THE MODEL');
    await transcript(page).hover();
    const first = rowsOf(page, 'user').getByText('Question 0', { exact: true });
    while ((await first.count()) === 0) await page.mouse.wheel(0, -100_000);
    expect(await transcript(page).getByText('NOTES OF THE MODEL').count()).toBe(0);

    // What the model no longer has can still be asked again.
    await page.getByRole('button', { name: 'Regenerate' }).first().click();
    await answered(page, 'Another first answer.');
    expect(await rowsOf(page, 'user').count()).toBe(1);
    expect(bed.upstream.requests.at(-1)?.body).not.toContain('NOTES OF THE MODEL');
    expect(problems).toEqual([]);
  });
});
