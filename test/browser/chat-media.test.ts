/** What a conversation shows beside texts: pictures that tools read and answers hold, and questions that come late. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { BlockWire } from '../../src/activity/wire.js';
import type { SessionContentWire } from '../../src/server/console-api/wire/sessions.js';
import { useBrowser } from '../support/browser.js';
import { shots } from '../support/screenshots.js';
import { ScriptedAgentModel } from '../support/scripted-agent-model.js';
import { call, textAnswer } from '../support/wire.js';
import { cardIs, cardOf, press } from './approvals-bench.js';
import {
  choose,
  importSession,
  openChat,
  rowsOf,
  say,
  sayAll,
  startChatBed,
  transcript,
} from './chat-bed.js';

const browser = useBrowser();

const PATIENT = 120_000;
/** Two pixels wide, one high. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAAD0lEQVR4nGO4oKCgkHABAAf3AmFoPhMAAAAAAElFTkSuQmCC',
  'base64',
);

/** As much of an image element as is looked at. */
interface Picture {
  decode(): Promise<void>;
  naturalWidth: number;
  naturalHeight: number;
}

/** Resolves when the picture is not only there, but drawn. */
async function drawn(picture: Locator): Promise<unknown> {
  await picture.scrollIntoViewIfNeeded();
  return picture.evaluate(async (image: Picture) => {
    await image.decode();
    return [image.naturalWidth, image.naturalHeight];
  });
}

async function openCard(page: Page, id: string): Promise<Locator> {
  const card = cardOf(page, id);
  const button = card.getByRole('button', { expanded: false }).first();
  if ((await card.locator('[id$="-body"]').count()) === 0) await button.click();
  return card;
}

describe('pictures', () => {
  it('that a tool reads are on its card while the turn runs, when it has ended, and after a reload', {
    timeout: PATIENT,
  }, async () => {
    const model = new ScriptedAgentModel();
    const bed = await startChatBed(model.script);
    const path = join(bed.root, 'dot.png');
    await writeFile(path, PNG);
    let answer = (): void => {};
    const opened = new Promise<void>((resolve) => {
      answer = resolve;
    });
    model.play('Look at the dot', [
      { parts: [call('Read', { file_path: path }, 'read-dot')] },
      async () => {
        await opened;
        return textAnswer('A dot.');
      },
    ]);
    const { page } = await openChat(browser, bed);
    await choose(page, 'coder');
    await say(page, 'Look at the dot');
    await cardIs(page, 'read-dot', 'success');
    const card = await openCard(page, 'read-dot');
    expect(await drawn(card.getByRole('img', { name: 'Image' }))).toEqual([2, 1]);
    expect(await page.getByRole('button', { name: 'Stop' }).isVisible()).toBe(true);
    await shots(page, 'picture-on-card');
    answer();
    await transcript(page).getByText('A dot.').waitFor();
    await page.getByRole('button', { name: 'Regenerate' }).waitFor();
    expect(await drawn(card.getByRole('img', { name: 'Image' }))).toEqual([2, 1]);
    await page.reload();
    expect(await drawn((await openCard(page, 'read-dot')).getByRole('img', { name: 'Image' }))).toEqual([
      2, 1,
    ]);
  });

  it('and documents of an answer stand in their place', { timeout: PATIENT }, async () => {
    const bed = await startChatBed(sayAll('Both are here.'));
    const id = await importSession(bed, [{ role: 'user', content: 'Draw' }]);
    const { page, problems } = await openChat(browser, bed);
    const blocks: BlockWire[] = [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', size: 40, href: '/api/picture' } },
      {
        type: 'document',
        title: 'Plan.pdf',
        source: { type: 'base64', media_type: 'application/pdf', size: 4000, href: '/api/plan' },
      },
    ];
    // No upstream that can be scripted draws.
    const asked: (string | undefined)[] = [];
    await page.route('**/api/picture', (route) => {
      asked.push(route.request().headers()['x-toolgate-page']);
      return route.fulfill({ contentType: 'image/png', body: PNG });
    });
    await page.route('**/api/plan', (route) => {
      asked.push(route.request().headers()['x-toolgate-page']);
      const headers = { 'content-disposition': 'attachment; filename="attachment.pdf"' };
      return route.fulfill({ contentType: 'application/octet-stream', headers, body: 'plan' });
    });
    await page.route(`**/api/sessions/${id}?*`, async (route) => {
      const answer = await route.fetch();
      const content: SessionContentWire = await answer.json();
      for (const message of content.messages)
        if (message.role === 'assistant') message.content.push(...blocks);
      await route.fulfill({ response: answer, json: content });
    });
    await page.evaluate(`location.assign('#/chat/${id}')`);
    const row = rowsOf(page, 'media');
    expect(await drawn(row.getByRole('img', { name: 'Image' }))).toEqual([2, 1]);
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      row.getByRole('button', { name: /Plan\.pdf/ }).click(),
    ]);
    expect(saved.suggestedFilename()).toBe('attachment.pdf');
    expect(asked).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), expect.stringMatching(/^[0-9a-f]{64}$/)]);
    await shots(page, 'answer-media');
    expect(problems).toEqual([]);
  });
});

/** A browser that never hears of a question: in place of each, something that says nothing. */
const DEAF = `
  const original = window.fetch;
  const quiet = (frame) => {
    const data = /^data: (.*)$/m.exec(frame)?.[1];
    if (data === undefined) return frame;
    const event = JSON.parse(data);
    if (event.type === 'snapshot') event.approvals = [];
    const { id, prev } = event;
    const told = event.type === 'approval' ? { id, prev, type: 'ping', now: event.now } : event;
    return 'id: ' + id + '\\ndata: ' + JSON.stringify(told);
  };
  window.fetch = async (path, init) => {
    const answer = await original(path, init);
    if (!String(path).startsWith('/api/events') || !answer.ok) return answer;
    // All that there is at once, and no frame.
    if (String(path).includes('once=1')) return Response.json({ ...(await answer.json()), approvals: [] });
    let rest = '';
    const frames = new TransformStream({
      transform: (text, controller) => {
        const all = (rest + text).split('\\n\\n');
        rest = all.pop();
        for (const frame of all) controller.enqueue(quiet(frame) + '\\n\\n');
      },
    });
    const body = answer.body.pipeThrough(new TextDecoderStream()).pipeThrough(frames).pipeThrough(new TextEncoderStream());
    return new Response(body, answer);
  };`;

describe('a question that does not come', () => {
  it('is being loaded, and is there with its buttons when it has been asked for', {
    timeout: PATIENT,
  }, async () => {
    const model = new ScriptedAgentModel();
    const bed = await startChatBed(model.script, { permissions: { mode: 'ask', unattended: 'wait' } });
    model.play('Build it', [
      { parts: [call('Bash', { command: 'make it' }, 'build')] },
      textAnswer('I was not let.'),
    ]);
    const { page } = await openChat(browser, bed);
    await page.addInitScript(DEAF);
    let give = (): void => {};
    const given = new Promise<void>((resolve) => {
      give = resolve;
    });
    await page.route(/\/api\/approvals\/[^/?]+$/, async (route) => {
      if (route.request().method() === 'GET') await given;
      await route.continue();
    });
    await page.reload();
    await choose(page, 'coder');
    await say(page, 'Build it');
    await cardIs(page, 'build', 'waiting');
    const card = cardOf(page, 'build');
    await card.getByText('Loading the question…').waitFor();
    await shots(page, 'question-loading');
    give();
    await press(card, 'Deny');
    await cardIs(page, 'build', 'denied');
    await transcript(page).getByText('I was not let.').waitFor();
  });
});
