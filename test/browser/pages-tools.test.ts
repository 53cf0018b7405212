/** Tools and MCP servers of every transport, in a real browser. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { axeProblems } from '../support/axe.js';
import { type ObservedPage, useBrowser } from '../support/browser.js';
import { everythingServer, oddServer, startEverything, startOAuthServer } from '../support/mcp-servers.js';
import { shots } from '../support/screenshots.js';
import { openSignedIn, PHONE } from './console-world.js';
import {
  comeTo,
  complaints,
  goTo,
  isWithinWidth,
  KEYS,
  PATIENT,
  startWorld,
  unhurt,
  type World,
} from './pages-harness.js';

const browser = useBrowser();

/** For whatever needs no configuration of its own. */
let shared: World;
/** One for all of them: whoever works with the console leaves it open. */
let opened: ObservedPage;
beforeAll(async () => {
  shared = await startWorld();
  opened = await openSignedIn(browser, shared.gateway);
});
afterEach(async () => {
  const { data } = await shared.api<{ data: { name: string }[] }>('GET', '/api/mcp');
  for (const { name } of data) await shared.api('DELETE', `/api/mcp/${name}`);
});
afterAll(() => shared.close());

const shownOn = ({ page, problems }: ObservedPage) => ({
  page,
  problems,
  tool: (name: string) => page.locator(`[data-tool="${name}"]`),
  server: (name: string, state: string) => page.locator(`[data-server="${name}"][data-state="${state}"]`),
  dialog: page.getByRole('dialog'),
});

async function begin(path = 'tools') {
  opened.problems.length = 0;
  await comeTo(opened.page, shared, path);
  return shownOn(opened);
}

async function open(world: World, options = {}) {
  const own = await openSignedIn(browser, world.gateway, options);
  await goTo(own.page, world, 'tools');
  return shownOn(own);
}

describe('tools', PATIENT, () => {
  it('are listed with what they take and who has them, or why they are off', async () => {
    const { page, tool, problems } = await begin();
    await tool('Read').getByText('Read-only').waitFor();
    await tool('Bash').getByRole('button').first().click();
    const bash = await tool('Bash').innerText();
    expect(bash).toContain('command');
    expect(bash).toContain('required');
    expect(bash).toMatch(/Models that can use it: coder/);
    expect(await tool('WebSearch').innerText()).toMatch(/Off[\s\S]*tools\.web_search/);
    await tool('Bash').getByRole('button', { name: 'Schema as JSON' }).click();
    await tool('Bash').getByText('"object"').first().waitFor();
    await shots(page, 'tools');
    expect(await axeProblems(page)).toEqual([]);
    expect(complaints(problems)).toEqual([]);
  });

  it('are searched and filtered, in the address too', async () => {
    const { page, tool } = await begin('tools?search=grep');
    await tool('Grep').waitFor();
    expect(await tool('Bash').count()).toBe(0);
    await page.getByRole('button', { name: 'Clear the search' }).click();
    await tool('Bash').waitFor();
    await page.getByRole('switch', { name: 'Only tools that are off' }).click();
    await tool('Bash').waitFor({ state: 'detached' });
    await tool('WebSearch').waitFor();
    await page.getByLabel('Source').selectOption('mcp');
    await page.getByText('Nothing matches').waitFor();
  });
});

describe('MCP servers', PATIENT, () => {
  it('are added by program, with their tools, reconnected and removed', async () => {
    const { page, tool, server, dialog } = await begin();
    await page.getByText('No MCP servers').waitFor();
    await page.getByRole('button', { name: 'Add a server' }).click();
    await dialog.getByRole('button', { name: 'Add and connect' }).click();
    await dialog.getByText('Enter a name.').waitFor();
    await dialog.getByText('Enter the program to start.').waitFor();
    const { command, args } = everythingServer();
    await dialog.getByLabel('Name', { exact: true }).fill('every');
    await dialog.getByLabel('Command').fill(command);
    await dialog.getByLabel('Arguments').fill(args.join('\n'));
    await dialog.getByRole('button', { name: 'Add: Environment variables' }).click();
    await dialog.getByLabel('Environment variables: name 1').fill('SECRET_WORD');
    await dialog.getByLabel('Environment variables: value 1').fill('hush-hush');
    await shots(page, 'tools-add');
    await dialog.getByRole('button', { name: 'Add and connect' }).click();
    await dialog.getByText(/“every” is connected, with \d+ tools/).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await server('every', 'connected').waitFor();
    await tool('mcp__every__echo').waitFor();
    expect(await page.content()).not.toContain('hush-hush');

    await server('every', 'connected').getByRole('button', { name: 'Reconnect every' }).click();
    await page.getByText('“every” is connected.').first().waitFor();
    await server('every', 'connected').getByRole('button', { name: 'Remove every' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No MCP servers').waitFor();
    await tool('mcp__every__echo').waitFor({ state: 'detached' });
  });

  it('are added from the JSON of a guide, of which one server at a time fills the form', async () => {
    const { page, server, dialog } = await begin();
    const { command, args } = everythingServer();
    await page.getByRole('button', { name: 'Add a server' }).click();
    await dialog.getByRole('button', { name: 'Paste the JSON' }).click();
    const box = dialog.getByLabel('JSON');
    await box.fill('npx -y server');
    await dialog.getByText('This is not JSON.').waitFor();
    expect(await box.getAttribute('aria-invalid')).toBe('true');
    const env = { SECRET_WORD: 'hush-hush' };
    const mcpServers = {
      web: { url: 'https://example.com/mcp', autoApprove: ['read'] },
      pasted: { command, args, env },
    };
    await box.fill(JSON.stringify({ mcpServers }, null, 2));
    await dialog.getByText('Not taken over: autoApprove.').waitFor();
    expect(await dialog.getByLabel('Address').inputValue()).toBe('https://example.com/mcp');
    expect(await box.inputValue()).toBe('');
    await dialog.getByLabel('Server', { exact: true }).selectOption('pasted');
    await dialog.getByText('The form is filled in from “pasted”.').waitFor();
    expect(await dialog.getByLabel('Environment variables: value 1').getAttribute('type')).toBe('password');
    await shots(page, 'tools-paste');
    expect(await axeProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add and connect' }).click();
    await dialog.getByText(/“pasted” is connected/).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await server('pasted', 'connected').waitFor();
    expect(await page.content()).not.toContain('hush-hush');
  });

  it.each([
    ['http', 'streamableHttp', '/mcp'],
    ['sse', 'sse', '/sse'],
  ] as const)('are added by address: %s', async (type, transport, path) => {
    const running = await startEverything(transport);
    const { page, tool, server, dialog } = await begin();
    await page.getByRole('button', { name: 'Add a server' }).click();
    await dialog.getByLabel('Name', { exact: true }).fill(type);
    await dialog.getByLabel('Transport').selectOption(type);
    await dialog.getByLabel('Address').fill('example.com');
    await dialog.getByRole('button', { name: 'Add and connect' }).click();
    await dialog.getByText('Start with https:// or http://.').waitFor();
    await dialog.getByLabel('Address').fill(`${running.url}${path}`);
    await dialog.getByRole('button', { name: 'Add: Headers' }).click();
    await dialog.getByLabel('Headers: name 1').fill('X-Hello');
    await dialog.getByLabel('Headers: value 1').fill('there');
    await dialog.getByRole('button', { name: 'Add and connect' }).click();
    await dialog.getByText(`“${type}” is connected`).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await server(type, 'connected').waitFor();
    await tool(`mcp__${type}__echo`).waitFor();
    expect(running.received().toLowerCase()).toContain('x-hello: there');
  });

  it('that fail say why, and one that wants a sign-in where', async () => {
    const oauth = await startOAuthServer();
    const world = await startWorld({
      mcp_servers: {
        broken: { type: 'stdio', command: 'no-such-program-at-all' },
        closed: { type: 'http', url: `${oauth.url}/mcp` },
        fine: oddServer(),
      },
    });
    const { page, server, dialog } = await open(world);
    await server('fine', 'connected').waitFor();
    const broken = server('broken', 'failed');
    await broken.waitFor();
    expect(await broken.innerText()).toMatch(/Failed[\s\S]*no-such-program-at-all/);
    const link = server('closed', 'needs-auth').getByRole('link', { name: 'Sign in to closed' });
    expect(await link.getAttribute('href')).toMatch(/^http:\/\/127\.0\.0\.1/);
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
    await shots(page, 'tools-mcp');
    expect(await axeProblems(page)).toEqual([]);
    await broken.getByRole('button', { name: 'Remove broken' }).click();
    await dialog.getByText('comes back when the gateway restarts').waitFor();
  });

  it('are changed by administrators alone, and others are told so', async () => {
    const world = await startWorld({ server: { keys: KEYS }, mcp_servers: { fine: oddServer() } });
    const context = await browser.newContext({ serviceWorkers: 'block' });
    const page = await context.newPage();
    await goTo(page, world, 'tools', 'key-of-alice');
    await page.locator('[data-server="fine"]').waitFor();
    await page.getByText('requires a key with the scope “admin”').waitFor();
    expect(await page.getByRole('button', { name: /Add a server|Reconnect|Remove/ }).count()).toBe(0);
    await context.close();
  });

  it('with odd tools change nothing but text, in Chinese and on a phone', async () => {
    const world = await startWorld({ mcp_servers: { odd: oddServer('odd-tools') } });
    const { page, server } = await open(world, { locale: 'zh-CN', viewport: PHONE });
    await server('odd', 'connected').waitFor();
    await page.getByText('已连接').first().waitFor();
    expect(await unhurt(page)).toBe(true);
    expect(await isWithinWidth(page)).toBe(true);
    expect(await page.locator('main').innerText()).not.toMatch(/Connected|Built in|Read-only|Search tools/);
  });
});
