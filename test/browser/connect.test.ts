/** A provider is connected on the first screen, and answers. In a real browser. */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { axeProblems } from '../support/axe.js';
import { openPage, useBrowser } from '../support/browser.js';
import { type InProcessOptions, startTestGateway, type TestGateway } from '../support/gateway.js';
import { json } from '../support/replies.js';
import { shots } from '../support/screenshots.js';
import { inDialect } from '../support/scripted-answers.js';
import { DEAD_URL, type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import { textAnswer } from '../support/wire.js';
import { composer, rowsOf } from './chat-bed.js';
import { connected } from './console-world.js';
import { isWithinWidth, PATIENT } from './pages-harness.js';

const browser = useBrowser();
const SECRET = 'sk-typed-by-a-person-4242';
const NAMES = ['small', 'large', ...Array.from({ length: 20 }, (_, index) => `other-${index}`)];

/** Lists models and answers whoever has the key. */
const provider = (): Promise<ScriptedUpstream> =>
  startUpstream((request, index) => {
    if (request.headers['authorization'] !== `Bearer ${SECRET}`)
      return json({ error: { message: 'no' } }, { status: 401 });
    if (request.path.endsWith('/models')) return json({ object: 'list', data: NAMES.map((id) => ({ id })) });
    return inDialect(textAnswer(`Hello from ${String(request.json['model'])}.`))(request, index);
  });

async function begin(options: InProcessOptions = {}, locale = 'en-US') {
  const gateway = await startTestGateway(options);
  const { page, problems } = await openPage(browser, { locale });
  await page.goto(gateway.consoleUrl);
  await connected(page);
  return { gateway, page, problems, dialog: page.getByRole('dialog') };
}

const focused = (page: Page): Promise<string> =>
  page.evaluate(
    "document.activeElement?.labels?.[0]?.textContent ?? document.activeElement?.ariaLabel ?? document.activeElement?.textContent ?? ''",
  );

/** Up to where the server was asked for its models. */
async function typeOther(dialog: Locator, address: string, key: string): Promise<void> {
  await dialog.getByRole('button', { name: /^Other address/ }).click();
  await dialog.getByLabel('Address').fill(address);
  await dialog.getByLabel('API key').fill(key);
  await dialog.getByLabel('API key').press('Enter');
}

async function answers(page: Page, text: string): Promise<void> {
  await composer(page).fill('Hello');
  await composer(page).press('Enter');
  await rowsOf(page, 'text').filter({ hasText: text }).first().waitFor();
}

describe('connecting a provider', PATIENT, () => {
  it('goes from the empty chat to an answer, and says at the key that it is refused', async () => {
    const upstream = await provider();
    const { gateway, page, dialog, problems } = await begin();
    const button = page.locator('main').getByRole('button', { name: 'Connect a model' });
    await button.waitFor();
    await shots(page, 'connect-empty-chat');
    await button.click();
    await dialog.getByRole('button', { name: 'Anthropic', exact: true }).waitFor();
    await expect.poll(() => focused(page)).toBe('Anthropic');
    await dialog.getByText('No model server answers').waitFor();
    await shots(page, 'connect-providers');
    expect(await axeProblems(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('Connect a model');

    await button.click();
    await dialog.getByRole('button', { name: 'Anthropic', exact: true }).click();
    expect(await focused(page)).toBe('API key');
    expect(await dialog.getByLabel('Address').inputValue()).toBe('https://api.anthropic.com');
    const field = dialog.getByLabel('API key');
    expect([await field.getAttribute('type'), await field.getAttribute('autocomplete')]).toEqual([
      ...['password', 'new-password'],
    ]);
    await page.keyboard.press('Enter');
    await dialog.getByText('Enter the key.').waitFor();
    await shots(page, 'connect-key');
    expect(await axeProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Back' }).click();
    expect(await focused(page)).toBe('Anthropic');

    await typeOther(dialog, `${upstream.url}/v1`, 'sk-wrong-key-000000');
    await dialog.getByText('It refuses the key (401).').waitFor();
    expect(await dialog.getByLabel('API key').getAttribute('aria-invalid')).toBe('true');
    expect(await focused(page)).toBe('API key');
    await shots(page, 'connect-refused');
    await dialog.getByLabel('API key').fill(SECRET);
    await page.keyboard.press('Enter');
    await dialog.getByText('It works: 22 models.').waitFor();
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
    await dialog.getByText('Choose at least one model.').waitFor();
    await dialog.getByLabel('Find a model').fill('large');
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Find a model').fill('');
    await dialog.getByRole('listbox', { name: 'Models' }).getByRole('option', { name: 'small' }).click();
    expect(await dialog.getByRole('listbox').getByRole('option', { selected: true }).allInnerTexts()).toEqual(
      ['small', 'large'],
    );
    await dialog.getByLabel('Model for agents').selectOption('small');
    await shots(page, 'connect-models');
    expect(await axeProblems(page)).toEqual([]);
    await dialog.getByLabel('Name').fill('demo');
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
    await dialog.getByText('There is an upstream with this name already.').waitFor();
    expect(await focused(page)).toBe('Name');
    await dialog.getByLabel('Name').fill('mine');
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click();

    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Model: small' }).waitFor();
    await expect.poll(() => focused(page)).toBe('Message');
    expect(await button.count()).toBe(0);
    await answers(page, 'Hello from small.');
    expect(await page.content()).not.toContain(SECRET);
    expect(problems.filter((problem) => !problem.includes('40'))).toEqual([]);
    await gateway.close();
  });

  it('lists on Setup what is connected, exports it without its key, and removes it when that is confirmed', async () => {
    const upstream = await provider();
    const { gateway, page, dialog } = await begin({
      config: { upstreams: { filed: { dialect: 'openai-chat', base_url: DEAD_URL } }, models: {} },
    });
    await page.goto(`${gateway.url}/#/setup`);
    const list = page.getByRole('list', { name: 'Model providers' });
    await list.getByText('filed').waitFor();
    expect(await list.getByRole('button').count()).toBe(0);
    await page.getByRole('button', { name: 'Connect a model' }).click();
    await typeOther(dialog, `${upstream.url}/v1`, SECRET);
    await dialog.getByRole('listbox', { name: 'Models' }).getByRole('option', { name: 'small' }).click();
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByRole('button', { name: 'Model: small' }).waitFor();

    await page.goto(`${gateway.url}/#/setup`);
    const row = list
      .getByRole('listitem')
      .filter({ hasText: 'custom' })
      .filter({ hasText: 'connected here' });
    expect(await row.innerText()).toMatch(/key stored encrypted[\s\S]*1 model[\s\S]*agents use small/);
    await shots(page, 'connect-list');
    expect(await axeProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Export as YAML' }).click();
    await dialog.getByText('CUSTOM_API_KEY').waitFor();
    expect(await dialog.innerText()).not.toContain(SECRET);
    await shots(page, 'connect-export');
    expect(await axeProblems(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await row.getByRole('button', { name: 'Remove custom' }).click();
    expect(await dialog.innerText()).toContain('Its model stops answering at once');
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await row.waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(SECRET);
  });

  it('offers servers of this machine with one click, and works by keyboard on a phone', async () => {
    const local = await startUpstream((request, index) =>
      request.path.endsWith('/models')
        ? json({ object: 'list', data: [{ id: 'llama' }, { id: 'qwen' }] })
        : inDialect(textAnswer('Hello from here.'))(request, index),
    );
    const { page, dialog } = await begin({
      localServers: [{ name: 'ollama', title: 'Ollama', baseUrl: `${local.url}/v1`, patienceMs: 30_000 }],
    });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.locator('main').getByRole('button', { name: 'Connect a model' }).focus();
    await page.keyboard.press('Enter');
    const tile = dialog.getByRole('button', { name: 'Ollama 2 models' });
    await tile.waitFor();
    await shots(page, 'connect-local');
    await tile.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => focused(page)).toBe('llama');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    expect(await dialog.getByRole('listbox').getByRole('option', { selected: true }).allInnerTexts()).toEqual(
      ['llama'],
    );
    expect(await isWithinWidth(page)).toBe(true);
    expect(await axeProblems(page)).toEqual([]);
    await shots(page, 'connect-local-models');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Model: llama' }).waitFor();
    await answers(page, 'Hello from here.');
  });

  it('takes names that were typed where there is no list, and speaks Chinese', async () => {
    const upstream = await startUpstream((request, index) =>
      request.path.endsWith('/models')
        ? json({ error: 'none' }, { status: 404 })
        : inDialect(textAnswer('你好。'))(request, index),
    );
    const { page, dialog } = await begin({}, 'zh-CN');
    await page.locator('main').getByRole('button', { name: '连接模型' }).click();
    await dialog.getByRole('button', { name: /^其他地址/ }).waitFor();
    await shots(page, 'connect-providers-zh');
    await dialog.getByRole('button', { name: /^其他地址/ }).click();
    await dialog.getByLabel('地址').fill(upstream.url);
    await page.keyboard.press('Enter');
    await dialog.getByText('此接口的地址通常以 /v1 结尾，请补上。').waitFor();
    await dialog.getByRole('button', { name: '自行填写模型名称' }).click();
    await dialog.getByLabel('模型名称').fill('one\ntwo');
    await shots(page, 'connect-typed-zh');
    expect(await axeProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: '连接', exact: true }).click();
    await page.getByRole('button', { name: '模型: one' }).waitFor();
  });

  it('is offered to nobody without admin', async () => {
    const keys = [{ key: 'key-of-eve', name: 'eve', scopes: ['call'] }];
    const gateway: TestGateway = await startTestGateway({
      config: { server: { keys }, models: { demo: { upstream: 'demo' } } },
    });
    const { page } = await openPage(browser);
    await page.goto(`${gateway.url}/#token=key-of-eve`);
    await page.getByRole('button', { name: 'Model: demo' }).waitFor();
    expect(await page.getByRole('button', { name: 'Connect a model' }).count()).toBe(0);
    await page.goto(`${gateway.url}/#/setup`);
    await page.getByText('Ask the person who runs this gateway').waitFor();
    expect(await page.getByRole('list', { name: 'Model providers' }).count()).toBe(0);
  });
});
