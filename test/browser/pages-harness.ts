/** A gateway with something to show on every page, for the tests of the console's lists. */
import { realpath, rm } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { closeAfterTest, tempFolder } from '../support/cleanup.js';
import { gate } from '../support/gate.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { json } from '../support/replies.js';
import { inDialect } from '../support/scripted-answers.js';
import { type ScriptedUpstream, type ScriptFunction, startUpstream } from '../support/scripted-upstream.js';
import { callAnswer, openaiError, textAnswer } from '../support/wire.js';
import { connected, PHONE } from './console-world.js';

export const KEYS = [
  { key: 'key-of-root', name: 'root', scopes: ['call', 'approve', 'admin'] },
  { key: 'key-of-alice', name: 'alice', scopes: ['call', 'approve'] },
  { key: 'key-of-eve', name: 'eve', scopes: ['call'] },
];

/** A page, a gateway and a browser on a machine that has more to do. */
export const PATIENT = { timeout: 120_000 };

export const HOSTILE =
  '<img src=x onerror="window.hurt=1"><script>window.hurt=1</script> \u202egnp.exe\u202c \u200b';

export interface World {
  gateway: TestGateway;
  upstream: ScriptedUpstream;
  /** Where agents work. */
  root: string;
  /** Holds every answer to a message that says HOLD until it is opened. */
  held: ReturnType<typeof gate>;
  /** Talks to a model as any client would; gives the session of an agent. */
  say(model: string, content: string, options?: SayOptions): Promise<{ status: number; session: string }>;
  api<T>(method: string, path: string, body?: unknown, key?: string): Promise<T>;
  /** For one that outlives a test: what is started in a test is closed after it. */
  close(): Promise<void>;
}

export interface SayOptions {
  key?: string;
  more?: object;
}

/** What the model does is in what it is told: FAIL, HOLD, BROKEN, and RUN with a command. */
export async function startWorld(config: object = {}): Promise<World> {
  const held = gate();
  const script: ScriptFunction = async (request, index) => {
    const said = lastSaid(request.json);
    if (said.includes('FAIL')) return json(openaiError('The model has no mood for this.'), { status: 400 });
    if (said.includes('HOLD')) await held.pass();
    const [, command] = /RUN ([^"\\]*)/.exec(said) ?? [];
    if (command !== undefined) return inDialect(callAnswer('Bash', { command }))(request, index);
    if (said.includes('BROKEN')) {
      const broken = {
        type: 'call',
        id: 'call_1',
        name: 'lookup',
        arguments: ['{"city": ', '"Bern'],
      } as const;
      return inDialect({ parts: [broken], usage: { input: 30, output: 7 } })(request, index);
    }
    return inDialect(
      textAnswer(['It ', 'is ', 'done.'], { usage: { input: 120, output: 30, cacheRead: 50 } }),
    )(request, index);
  };
  const upstream = await startUpstream(script);
  const root = await realpath((await tempFolder('toolgate-pages')).path);
  const gateway = await startTestGateway({
    config: {
      upstreams: { up: upstream.config('openai-chat') },
      models: {
        coder: { engine: 'native', upstream: 'up', model: 'm', cwd: root },
        priced: { upstream: 'up', model: 'm', price: { input: 3, output: 15 } },
        '*': { upstream: 'up', model: 'm' },
      },
      permissions: {
        mode: 'ask',
        allow: ['Read', 'Bash(git log:*)'],
        deny: ['Bash(curl:*)'],
        unattended: 'wait',
      },
      sandbox: 'off',
      ...config,
    },
  });
  const token = new URLSearchParams(new URL(gateway.consoleUrl).hash.slice(1)).get('token') ?? '';
  const api = async <T>(method: string, path: string, body?: unknown, key = token): Promise<T> => {
    const answer = await fetch(`${gateway.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text === '' ? 'null' : text);
  };
  const say: World['say'] = async (model, content, { key = 'any', more = {} } = {}) => {
    const answer = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key, 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ model, max_tokens: 500, messages: [{ role: 'user', content }], ...more }),
    });
    await answer.text();
    return { status: answer.status, session: answer.headers.get('x-session-id') ?? '' };
  };
  const close = async (): Promise<void> => {
    await gateway.close();
    await upstream.close();
    for (const folder of [root, gateway.folder]) await rm(folder, { recursive: true, force: true });
  };
  return { gateway, upstream, root, held, say, api, close };
}

function lastSaid({ messages }: Record<string, unknown>): string {
  const last = Array.isArray(messages) ? messages.at(-1) : undefined;
  if (last?.role !== 'user') return '';
  return typeof last.content === 'string' ? last.content : JSON.stringify(last.content);
}

/** Signed in as the console's own token, or with a key, on a page of the console. */
export async function goTo(page: Page, { gateway }: World, path: string, key?: string): Promise<void> {
  if (page.url().startsWith(gateway.url)) {
    await page.evaluate(`location.hash = ${JSON.stringify(`#/${path}`)}`);
  } else {
    await page.goto(key === undefined ? gateway.consoleUrl : `${gateway.url}/#token=${key}`);
    await connected(page);
    await page.evaluate(`location.hash = ${JSON.stringify(`#/${path}`)}`);
  }
  await page.locator('main h1').waitFor();
}

/** From elsewhere: what was typed, searched and opened is not there any more. */
export async function comeTo(page: Page, world: World, path: string): Promise<void> {
  await goTo(page, world, 'setup');
  await page.getByRole('heading', { level: 1, name: 'Setup' }).waitFor();
  await goTo(page, world, path);
  await page.getByRole('heading', { level: 1, name: 'Setup' }).waitFor({ state: 'detached' });
  await page.locator('main h1').waitFor();
}

export const rowsOf = (page: Page) => (text: string) =>
  page.locator('main tbody tr, main li').filter({ hasText: text });

/** As wide as a phone until the end of the test. */
export async function narrow(page: Page): Promise<void> {
  const before = page.viewportSize();
  closeAfterTest(() => before && page.setViewportSize(before));
  await page.setViewportSize(PHONE);
}

/** Nothing of what came from outside was run. */
export async function unhurt(page: Page): Promise<boolean> {
  return (await page.evaluate('window.hurt')) === undefined;
}

export async function isWithinWidth(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth');
}

/** What the browser complained about, but for what the tests themselves do to it. */
export function complaints(problems: readonly string[]): string[] {
  return problems.filter((problem) => !problem.includes('Service Worker registration blocked'));
}
