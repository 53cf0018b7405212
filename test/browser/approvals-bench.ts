/** An agent at work in a folder, asked by an ordinary client, and the console in a real browser. */
import { realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { vi } from 'vitest';
import type { ApprovalWire } from '../../src/server/console-api/wire/approvals.js';
import { openPage, type TestBrowser } from '../support/browser.js';
import { tempFolder } from '../support/cleanup.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { ScriptedAgentModel } from '../support/scripted-agent-model.js';
import { startUpstream } from '../support/scripted-upstream.js';

export const PATIENCE = { timeout: 45_000, interval: 50 };

export interface BenchOptions {
  /** In place of those that ask about everything. */
  permissions?: object;
  files?: Readonly<Record<string, string>>;
  server?: object;
  /** Whatever else is in the configuration. */
  config?: object;
}

export interface Said {
  session: string;
  text: string;
}

export class ApprovalBench {
  readonly gateway: TestGateway;
  readonly model: ScriptedAgentModel;
  readonly root: string;
  readonly close: () => Promise<void>;
  readonly #key: string;

  constructor(
    gateway: TestGateway,
    model: ScriptedAgentModel,
    root: string,
    key: string,
    close: () => Promise<void>,
  ) {
    this.gateway = gateway;
    this.model = model;
    this.root = root;
    this.#key = key;
    this.close = close;
  }

  path(name: string): string {
    return join(this.root, name);
  }

  /** As any client would. Resolves when the turn is over. */
  say(prompt: string, more: object = {}): Promise<Said> {
    const said = this.#say(prompt, more);
    // A test that fails before it looks at the answer has told why already.
    said.catch(() => {});
    return said;
  }

  async #say(prompt: string, more: object): Promise<Said> {
    const response = await fetch(`${this.gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': this.#key },
      body: JSON.stringify({
        model: 'coder',
        max_tokens: 1000,
        messages: [{ role: 'user', content: prompt }],
        ...more,
      }),
    });
    const body = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${body}`);
    return { session: response.headers.get('x-session-id') ?? '', text: body };
  }

  async api<T>(method: string, path: string, body?: unknown): Promise<{ status: number; body: T }> {
    const response = await fetch(`${this.gateway.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  }

  async approvals(state = 'pending'): Promise<ApprovalWire[]> {
    const { body } = await this.api<{ data: ApprovalWire[] }>('GET', `/api/approvals?state=${state}`);
    return body.data;
  }

  /** Resolves with the question about a call as soon as it waits. */
  async asked(call: string): Promise<ApprovalWire> {
    return vi.waitFor(async () => {
      const found = (await this.approvals()).find((each) => each.tool_use_id === call);
      if (found === undefined) throw new Error(`Nobody has asked about ${call}`);
      return found;
    }, PATIENCE);
  }

  /** The last one about a call, however it stands. */
  async approvalOf(call: string): Promise<ApprovalWire> {
    const found = (await this.approvals('all')).filter((each) => each.tool_use_id === call);
    const [newest] = found.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1));
    if (newest === undefined) throw new Error(`Nobody asked about ${call}`);
    return newest;
  }

  async open(browser: TestBrowser, route: string, options: BrowserContextOptions = {}): Promise<ConsolePage> {
    const opened = await openPage(browser, options);
    return this.#signIn(opened.page, route, opened.problems);
  }

  /** Another tab of the same browser profile. */
  async openTab(beside: Page, route: string): Promise<ConsolePage> {
    const page = await beside.context().newPage();
    return this.#signIn(page, route, []);
  }

  async #signIn(page: Page, route: string, problems: string[]): Promise<ConsolePage> {
    page.setDefaultTimeout(PATIENCE.timeout);
    await page.goto(this.gateway.consoleUrl);
    await page.locator('main h1').waitFor();
    await goTo(page, route);
    return { page, problems };
  }
}

export interface ConsolePage {
  page: Page;
  problems: string[];
}

/** In `beforeAll` the caller closes. */
export async function startBench(options: BenchOptions = {}): Promise<ApprovalBench> {
  const folder = await tempFolder('toolgate-approvals');
  const root = await realpath(folder.path);
  for (const [name, text] of Object.entries(options.files ?? {})) await writeFile(join(root, name), text);
  const model = new ScriptedAgentModel();
  const upstream = await startUpstream(model.script);
  const gateway = await startTestGateway({
    config: {
      ...(options.server === undefined ? {} : { server: options.server }),
      upstreams: { scripted: upstream.config('anthropic-messages') },
      models: { coder: { engine: 'native', upstream: 'scripted', model: 'm', cwd: root, max_turns: 20 } },
      permissions: { mode: 'ask', unattended: 'wait', ...options.permissions },
      sandbox: 'off',
      ...options.config,
    },
  });
  const key = new URL(gateway.consoleUrl).hash.replace('#token=', '');
  const close = async (): Promise<void> => {
    await gateway.close();
    await upstream.close();
    await folder.remove();
  };
  return new ApprovalBench(gateway, model, root, key, close);
}

/** The card of a call. */
export function cardOf(page: Page, call: string): Locator {
  return page.locator(`[data-card="${call}"]`);
}

/** The question about it. */
export function panelOf(page: Page, approval: Pick<ApprovalWire, 'id'>): Locator {
  return page.locator(`[data-approval="${approval.id}"]`);
}

export function chatRoute({ session }: Pick<ApprovalWire, 'session'>): string {
  return `#/chat/${encodeURIComponent(session)}`;
}

/** Another page of the console. */
export async function goTo(page: Page, route: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(route)}`);
}

/** Resolves when the card is in that state. */
export async function cardIs(page: Page, call: string, state: string): Promise<void> {
  await page.locator(`[data-card="${call}"][data-state="${state}"]`).waitFor();
}

/** Resolves when the question is in that state. */
export async function panelIs(page: Page, { id }: Pick<ApprovalWire, 'id'>, state: string): Promise<void> {
  await page.locator(`[data-approval="${id}"][data-approval-state="${state}"]`).waitFor();
}

/** As the inbox lists them: those that ask at once come in any order. */
export function byAge(a: ApprovalWire, b: ApprovalWire): number {
  if (a.created_at !== b.created_at) return a.created_at < b.created_at ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}

/** Resolves when the inbox has opened the oldest by itself: until then a press would close it again. */
export async function inboxIsOpen(page: Page): Promise<void> {
  await page.locator('[data-inbox-item] [aria-expanded="true"]').first().waitFor();
}

/** Opens the line of a question in the inbox, where it is not open. */
export async function openItem(page: Page, { id }: Pick<ApprovalWire, 'id'>): Promise<void> {
  await inboxIsOpen(page);
  const row = page.locator(`[data-inbox-item="${id}"]`).getByRole('button').first();
  if ((await row.getAttribute('aria-expanded')) === 'false') await row.click();
}

/** What moves the button has come to an end by then. */
const MOST_PRESSES = 3;

/**
 * Presses a button that decides, as a person would: once it takes a press, and again when it says
 * that it has just moved; that one has decided nothing. See console/src/approvals/arming.ts.
 */
export async function press(
  where: Locator,
  name: string | RegExp,
  how: 'click' | 'dblclick' = 'click',
): Promise<void> {
  const exact = typeof name === 'string';
  const button = { has: where.page().getByRole('button', { name, exact }) };
  // To scroll is to move it.
  await where.locator('[data-armed]').filter(button).scrollIntoViewIfNeeded();
  const armed = where.locator('[data-armed="true"]').filter(button);
  const refused = where.locator('[data-armed]').filter(button).getByRole('status');
  for (let pressed = 1; pressed <= MOST_PRESSES; pressed += 1) {
    await armed.getByRole('button', { name, exact })[how]();
    if (!(await refused.isVisible())) return;
  }
  throw new Error(`The button ${name} refused ${MOST_PRESSES} presses`);
}
