/** A gateway whose model says what a test wants, and conversations to look at in the console. */
import { rm } from 'node:fs/promises';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { openPage, type TestBrowser } from '../support/browser.js';
import { tempFolder } from '../support/cleanup.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { inDialect } from '../support/scripted-answers.js';
import {
  eventByEvent,
  type Gate,
  type ScriptedUpstream,
  type ScriptFunction,
  startUpstream,
} from '../support/scripted-upstream.js';
import { textAnswer } from '../support/wire.js';

export interface ChatBed {
  gateway: TestGateway;
  upstream: ScriptedUpstream;
  /** Where the agent works. */
  root: string;
  token: string;
}

/** `plain` and `other` are models, `coder` is an agent; `script` answers all of them. */
export async function startChatBed(script: ScriptFunction, rest: object = {}): Promise<ChatBed> {
  const upstream = await startUpstream(script);
  const { path: root } = await tempFolder('toolgate-chat');
  const scripted = { upstream: 'scripted', model: 'm' };
  const gateway = await startTestGateway({
    config: {
      upstreams: { scripted: upstream.config('anthropic-messages') },
      models: {
        plain: scripted,
        other: { upstream: 'scripted', model: 'n' },
        coder: { engine: 'native', ...scripted, cwd: root },
        'named-*': scripted,
      },
      permissions: { mode: 'allow' },
      sandbox: 'off',
      ...rest,
    },
  });
  const token = new URLSearchParams(new URL(gateway.consoleUrl).hash.slice(1)).get('token') ?? '';
  return { gateway, upstream, root, token };
}

export interface Said {
  role: 'user' | 'assistant';
  content: string | readonly object[];
}

/** A conversation of another client, as long as wanted, whose last message the model answers. Resolves to its id. */
export async function importSession({ gateway }: ChatBed, messages: readonly Said[]): Promise<string> {
  const answer = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({ model: 'coder', max_tokens: 1000, messages }),
  });
  const id = answer.headers.get('x-session-id');
  const text = await answer.text();
  if (!answer.ok || id === null) throw new Error(`${answer.status} ${text}`);
  return id;
}

export interface ChatPage {
  page: Page;
  problems: string[];
}

/** Signed in, at a place of the console. */
export async function openChat(
  browser: TestBrowser,
  { gateway }: ChatBed,
  place = '#/',
  options: BrowserContextOptions = {},
  /** Another address of the gateway. */
  origin: string = gateway.url,
): Promise<ChatPage> {
  const { page, problems } = await openPage(browser, options);
  await page.goto(gateway.consoleUrl.replace(gateway.url, origin));
  await page.getByRole('textbox', { name: /^(Message|消息)$/ }).waitFor();
  if (place !== '#/') await page.evaluate(`location.assign(${JSON.stringify(place)})`);
  return { page, problems };
}

export const composer = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });

export const transcript = (page: Page) => page.getByRole('region', { name: 'Conversation', exact: true });

/** The rows that are drawn, by kind. */
export const rowsOf = (page: Page, kind: string) => transcript(page).locator(`[data-row=${kind}]`);

/** Sends as a person does, by keyboard, as soon as it can be sent. */
export async function say(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  await page
    .locator('form', { has: composer(page) })
    .locator('button[type=submit]:enabled')
    .waitFor();
  await composer(page).press('Enter');
}

/**
 * Turns the wheel up by most of what is in sight, and resolves when that is drawn; to false at the
 * beginning. What a script scrolls is the person's only while nothing grows: see console/src/chat/follow.ts.
 */
export async function wheelUp(page: Page): Promise<boolean> {
  const list = transcript(page);
  const isBelow = await list.evaluate((element) => {
    element.scrolled = new Promise((done) => element.addEventListener('scroll', done, { once: true }));
    return element.scrollTop > 0;
  });
  const box = await list.boundingBox();
  if (!isBelow || box === null) return false;
  // At its edge: what stands in the middle may scroll by itself.
  await page.mouse.move(box.x + 2, box.y + box.height / 2);
  await page.mouse.wheel(0, -box.height * 0.8);
  await list.evaluate(async (element) => {
    await element.scrolled;
    const { requestAnimationFrame } = element.ownerDocument.defaultView;
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  });
  return true;
}

/** All of it at once. */
export const sayAll = (text: string): ScriptFunction => inDialect(textAnswer(text));

/** The first piece, and the others when the gate is opened; at once without one. */
export function sayInPieces(pieces: readonly [string, ...string[]], opened?: Gate): ScriptFunction {
  return inDialect(textAnswer(pieces), {
    pieces: (stream) => {
      const events = eventByEvent(stream);
      const wanted = JSON.stringify(pieces[1] ?? '').slice(1, -1);
      const at = events.findIndex((event) => event.includes(wanted));
      return opened === undefined ? events : [...events.slice(0, at), opened, ...events.slice(at)];
    },
  });
}

/** Answers one request after another; what the gateway asks for itself, such as titles, is none of them. */
export function inTurn(...answers: readonly ScriptFunction[]): ScriptFunction {
  let asked = 0;
  return (request, index) => {
    const answer = answers[Math.min(asked, answers.length - 1)];
    if (answer === undefined) throw new Error('There is no answer');
    asked += 1;
    return answer(request, index);
  };
}

/** Another model for what is said next. */
export async function choose(page: Page, model: string): Promise<void> {
  await page.getByRole('button', { name: /^Model:/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: model }).click();
  await dialog.waitFor({ state: 'detached' });
}

export interface SharedChat extends ChatPage {
  bed: ChatBed;
}

/**
 * One gateway and one page for the tests of a file: whoever works with the console leaves it open.
 * What it returns begins a new conversation with a model that says this, and with nothing asked yet.
 */
export function useChat(browser: TestBrowser): (says: ScriptFunction, model?: string) => Promise<SharedChat> {
  let script: ScriptFunction;
  let shared: SharedChat;
  beforeAll(async () => {
    const bed = await startChatBed((request, index) => script(request, index));
    shared = { bed, ...(await openChat(browser, bed)) };
  });
  afterAll(async () => {
    const { gateway, upstream, root } = shared.bed;
    await gateway.close();
    await upstream.close();
    for (const folder of [root, gateway.folder]) await rm(folder, { recursive: true, force: true });
  });
  return async (says, model = 'plain') => {
    script = says;
    const { bed, page, problems } = shared;
    bed.upstream.requests.length = 0;
    problems.length = 0;
    // From elsewhere: what was written and not sent is not there any more.
    await page.evaluate("location.hash = '#/setup'");
    await composer(page).waitFor({ state: 'detached' });
    await page.evaluate("location.hash = '#/'");
    await composer(page).waitFor();
    await choose(page, model);
    return shared;
  };
}
