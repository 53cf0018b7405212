/** The mode of an agent in the composer: chosen before and while it works, and a plan that a person accepts. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { axeProblems } from '../support/axe.js';
import { useBrowser } from '../support/browser.js';
import { inDialect } from '../support/scripted-answers.js';
import { callAnswer } from '../support/wire.js';
import { composer, inTurn, openChat, say, sayAll, startChatBed, transcript } from './chat-bed.js';

const browser = useBrowser();

const bedWith = async (permissions: object, locale = 'en-US') => {
  let root = '';
  const edit = (name: string, callId: string) =>
    inDialect(callAnswer('Write', { file_path: join(root, name), content: 'x' }, { callId }));
  const bed = await startChatBed(
    inTurn(
      inDialect(callAnswer('ExitPlanMode', { plan: 'Write **one** file.' }, { callId: 'call_1' })),
      (request, index) => edit('a.txt', 'call_2')(request, index),
      sayAll('It is written.'),
    ),
    { permissions },
  );
  root = bed.root;
  return { bed, ...(await openChat(browser, bed, '#/?model=coder', { locale })) };
};

describe('the mode', () => {
  it('is chosen before the first word; a plan is approved, and the mode goes back', async () => {
    const { bed, page, problems } = await bedWith({ mode: 'ask' });
    await page.getByRole('button', { name: 'Mode: Ask' }).click();
    const plan = page.getByRole('menuitemradio', { name: /^Plan:/ });
    await plan.waitFor();
    await plan.click();
    await plan.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Mode: Plan' }).waitFor();
    expect(await axeProblems(page)).toEqual([]);
    await say(page, 'Write a file');
    const approve = page.getByRole('button', { name: 'Approve the plan', exact: true });
    await approve.waitFor();
    await page.getByRole('button', { name: 'Mode: Plan' }).waitFor();
    // It may be pressed once it has stood still.
    await page.locator('[data-armed=true]').waitFor();
    await approve.click();
    // Asked, because the mode of before is ask: now edits are let through, while this one waits.
    await page.getByRole('button', { name: 'Mode: Ask' }).click();
    expect(existsSync(join(bed.root, 'a.txt'))).toBe(false);
    await page.getByRole('menuitemradio', { name: /^Allow edits:/ }).click();
    await transcript(page).locator('.md', { hasText: 'It is written.' }).waitFor();
    expect(existsSync(join(bed.root, 'a.txt'))).toBe(true);
    // Kept with the conversation.
    await page.reload();
    await page.getByRole('button', { name: 'Mode: Allow edits' }).waitFor();
    expect(problems).toEqual([]);
  });

  it('offers nothing beyond the configuration, in Chinese too', async () => {
    const { page } = await bedWith({ mode: 'read-only' }, 'zh-CN');
    await page.getByRole('button', { name: '模式: 只读' }).click();
    await page.getByRole('menuitemradio', { name: /^规划/ }).waitFor();
    expect(await page.getByRole('menuitemradio').count()).toBe(2);
  });

  it('is not there for a plain model', async () => {
    const { bed, page } = await bedWith({ mode: 'ask' });
    await page.evaluate("location.hash = '#/?model=plain'");
    await page.getByRole('button', { name: 'Model: plain' }).waitFor();
    await composer(page).waitFor();
    expect(await page.getByRole('button', { name: /^Mode:/ }).count()).toBe(0);
    expect(bed.upstream.requests).toEqual([]);
  });
});
