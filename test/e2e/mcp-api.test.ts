/** /api/mcp: who may see and change the servers, and the sign-in to one that wants it. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkMcpServers } from '../../src/cli/checks/mcp.js';
import { tempFolder } from '../support/cleanup.js';
import { deferred } from '../support/gate.js';
import { httpServer, oddServer, startOAuthServer, testClient, textOf } from '../support/mcp-servers.js';
import { requestBytes, sendRaw } from '../support/raw-http.js';
import { startServer } from './server-harness.js';

const settle = (): AbortSignal => AbortSignal.timeout(45_000);
const KEYS = [
  { key: 'admin-key-0123456789', name: 'root', scopes: ['call', 'admin'] as const, models: ['*'] },
  { key: 'plain-key-0123456789', name: 'bob', scopes: ['call'] as const, models: ['*'] },
];
const ADMIN = 'admin-key-0123456789';
const PLAIN = 'plain-key-0123456789';

async function start(
  servers: Parameters<typeof testClient>[0],
  options: Parameters<typeof testClient>[1] = {},
) {
  const mcp = testClient(servers, options);
  const { url, lines } = await startServer({ mcp, keys: KEYS });
  const ask = async (method: string, path: string, key = ADMIN, body?: object) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'manual',
    });
    const text = await response.text();
    return { status: response.status, text, json: text.startsWith('{') ? JSON.parse(text) : undefined };
  };
  return { mcp, url, ask, lines };
}

describe('/api/mcp', () => {
  it('lists the servers without their secrets', async () => {
    const { mcp, ask } = await start({
      odd: oddServer('plain', { env: { TOKEN: 'very-secret-value' } }),
      web: httpServer('http://user:hidden-word@127.0.0.1:1/mcp', {
        headers: { 'X-Key': 'other-secret-value' },
      }),
    });
    await mcp.settled(settle());
    const { status, text, json } = await ask('GET', '/api/mcp', PLAIN);
    expect(status).toBe(200);
    expect(json.data).toMatchObject([
      { name: 'odd', type: 'stdio', state: 'connected', shared: true, persistent: true, problem: null },
      { name: 'web', type: 'http', state: 'failed', target: 'http://[redacted]@127.0.0.1:1/mcp' },
    ]);
    expect(Date.parse(json.data[0].connected_at)).toBeGreaterThan(0);
    expect(Date.parse(json.data[1].retry_at)).toBeGreaterThan(0);
    expect(text).not.toMatch(/very-secret|other-secret|hidden-word/);
  });

  it('adds, reconnects and removes one, for an administrator', async () => {
    const { mcp, ask } = await start({});
    const added = await ask('POST', '/api/mcp', ADMIN, { name: 'odd', config: oddServer() });
    expect(added).toMatchObject({
      status: 201,
      json: { name: 'odd', state: 'connected', persistent: false },
    });
    expect(await ask('POST', '/api/mcp', ADMIN, { name: 'odd', config: oddServer() })).toMatchObject({
      status: 409,
    });
    const pid = textOf(await mcp.call('odd', 'pid'));
    expect(await ask('POST', '/api/mcp/odd/reconnect')).toMatchObject({
      status: 200,
      json: { state: 'connected' },
    });
    expect(textOf(await mcp.call('odd', 'pid'))).not.toBe(pid);
    expect(await ask('POST', '/api/mcp/none/reconnect')).toMatchObject({ status: 404 });
    expect(await ask('DELETE', '/api/mcp?name=odd')).toMatchObject({ status: 204 });
    expect(await ask('DELETE', '/api/mcp/odd')).toMatchObject({ status: 404 });
    expect(await ask('DELETE', '/api/mcp')).toMatchObject({ status: 400 });
  });

  it('takes one server as other programs write it', async () => {
    const { ask } = await start({});
    const { command, args } = oddServer();
    const pasted = { mcpServers: { odd: { command, args } } };
    expect(await ask('POST', '/api/mcp', ADMIN, pasted)).toMatchObject({
      status: 201,
      json: { name: 'odd', type: 'stdio', state: 'connected' },
    });
    const two = { mcpServers: { a: { command }, b: { command } } };
    expect(await ask('POST', '/api/mcp', ADMIN, two)).toMatchObject({ status: 400 });
    expect(await ask('POST', '/api/mcp', ADMIN, { mcpServers: {} })).toMatchObject({ status: 400 });
  });

  it.each([
    [{ name: 'x' }, 'x: '],
    [
      { name: 'x', config: { type: 'http', url: 'ftp://a' } },
      'x.url: expected an address that starts with http://',
    ],
    [{ name: 'a b', config: oddServer() }, 'expected a name of letters'],
    [{ name: 'x', type: 'http' }, 'type: unknown key'],
    [{ config: oddServer() }, 'name: expected the name'],
    [
      { name: 'x', config: { type: 'http', url: 'http://a', headers: { A: ['$', '{HOME}'].join('') } } },
      'HOME',
    ],
  ])('says what is wrong with %j', async (body, message) => {
    const { ask } = await start({});
    const { status, json } = await ask('POST', '/api/mcp', ADMIN, body);
    expect(status).toBe(400);
    expect(json.error.message).toContain(message);
  });

  it('is changed by nobody else', async () => {
    const { ask } = await start({});
    for (const [method, path] of [
      ['POST', '/api/mcp'],
      ['DELETE', '/api/mcp?name=x'],
      ['DELETE', '/api/mcp/x'],
      ['POST', '/api/mcp/x/reconnect'],
    ] as const) {
      expect([path, (await ask(method, path, PLAIN)).status]).toEqual([path, 403]);
    }
  });
});

describe('a server that wants a sign-in', () => {
  async function signedOut() {
    const server = await startOAuthServer();
    const { path: folder } = await tempFolder('mcp-tokens');
    const tokenFile = join(folder, 'state', 'mcp-sign-ins.json');
    const origin = deferred<string>();
    const servers = { vault: httpServer(`${server.url}/mcp`) };
    const options = {
      tokenFile,
      callbackUrl: async (name: string) => `${await origin.promise}/api/mcp/${name}/callback`,
    };
    const started = await start(servers, options);
    origin.resolve(started.url);
    await started.mcp.settled(settle());
    return { ...started, server, tokenFile, servers, options };
  }

  /** As a browser that another site sends on. */
  async function arrive(address: string, mode = 'navigate', dest = 'document') {
    const { origin, pathname, search } = new URL(address);
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': mode, 'sec-fetch-dest': dest };
    const request = requestBytes(origin, { method: 'GET', path: `${pathname}${search}`, headers });
    const { status, body } = await sendRaw(origin, request);
    return { status, text: body.toString() };
  }

  it('is signed in to by a person, and stays so after a restart', async () => {
    const { mcp, ask, server, tokenFile, servers, options } = await signedOut();
    expect(mcp.status()).toMatchObject([{ state: 'needs-auth', tools: [] }]);
    const { json } = await ask('GET', '/api/mcp');
    const signInUrl = new URL(json.data[0].sign_in_url);
    expect(signInUrl.origin).toBe(server.url);
    expect(signInUrl.searchParams.get('code_challenge_method')).toBe('S256');
    expect((await ask('GET', '/api/mcp', PLAIN)).json.data[0].sign_in_url).toBeNull();

    const consent = await fetch(signInUrl, { redirect: 'manual' });
    const back = consent.headers.get('location') ?? '';
    const finished = await arrive(back);
    expect(finished).toEqual({
      status: 200,
      text: 'Signed in: the MCP server "vault" is connected.\nThis page can be closed.\n',
    });
    expect(textOf(await mcp.call('vault', 'secret'))).toBe('42');
    expect((await stat(tokenFile)).mode & 0o777).toBe(0o600);
    expect((await arrive(back)).status).toBe(403);

    await mcp.close();
    const again = testClient(servers, options);
    await again.settled(settle());
    expect(textOf(await again.call('vault', 'secret'))).toBe('42');
    const kept = await readFile(tokenFile, 'utf8');
    const token = JSON.parse(kept).servers.vault.tokens.access_token;
    expect(JSON.stringify([again.status(), again.lines])).not.toContain(token);
  });

  it('gets a new token with the refresh token when the old one is no good', async () => {
    const { mcp, server, ask } = await signedOut();
    const { json } = await ask('GET', '/api/mcp');
    const consent = await fetch(json.data[0].sign_in_url, { redirect: 'manual' });
    await arrive(consent.headers.get('location') ?? '');
    await fetch(`${server.url}/forget`, { method: 'POST' });
    expect(textOf(await mcp.call('vault', 'secret'))).toBe('42');
    expect(await (await fetch(`${server.url}/refreshed`)).json()).toEqual({ refreshed: 1 });
  });

  it('takes no answer but that of its own sign-in', async () => {
    const { url, mcp } = await signedOut();
    const at = `${url}/api/mcp/vault/callback`;
    expect((await arrive(`${at}?code=x&state=guess`)).status).toBe(403);
    expect((await arrive(`${at}?code=x`)).status).toBe(400);
    expect((await arrive(`${at}?error=access_denied&state=x`)).status).toBe(403);
    expect((await arrive(`${url}/api/mcp/none/callback?code=x&state=y`)).status).toBe(404);
    expect(mcp.status()).toMatchObject([{ state: 'needs-auth' }]);
  });

  it('takes no answer of another authorisation server, and stamps what it keeps with its own', async () => {
    const { ask, mcp, tokenFile } = await signedOut();
    const signIn = async () => {
      const { json } = await ask('GET', '/api/mcp');
      const consent = await fetch(json.data[0].sign_in_url, { redirect: 'manual' });
      return consent.headers.get('location') ?? '';
    };
    const mixedUp = await arrive(`${await signIn()}&iss=${encodeURIComponent('https://evil.example')}`);
    expect(mixedUp.status).toBe(502);
    await expect(
      readFile(tokenFile, 'utf8').then((kept) => JSON.parse(kept).servers.vault.tokens),
    ).resolves.toBe(undefined);
    await mcp.reconnect('vault');
    expect((await arrive(await signIn())).status).toBe(200);
    const { tokens, client } = JSON.parse(await readFile(tokenFile, 'utf8')).servers.vault;
    expect([tokens.issuer, client.issuer]).toEqual([expect.any(String), tokens.issuer]);
  });

  it('is the only way in from another site, and only by going there', async () => {
    const { url } = await signedOut();
    expect((await arrive(`${url}/api/mcp`)).status).toBe(403);
    const fetched = await arrive(`${url}/api/mcp/vault/callback?code=x&state=y`, 'cors', 'empty');
    expect(fetched.text).toContain('web pages of another origin');
  });
});

describe('doctor', () => {
  const check = (servers: Parameters<typeof testClient>[0], limits = {}) =>
    checkMcpServers(
      { store: 'sqlite::memory:', mcp_servers: servers },
      { baseDir: process.cwd(), environment: process.env, version: '1', limits },
    );

  it('says of each server what is wrong', async () => {
    const missing = { ...oddServer(), command: 'no-such-program-here' };
    expect(await check({ good: oddServer(), missing, many: oddServer('many') })).toMatchObject([
      { status: 'ok', subject: 'mcp good', finding: expect.stringMatching(/odd 1\.0, \d+ tools$/) },
      {
        status: 'FAIL',
        subject: 'mcp missing',
        finding: expect.stringContaining('there is no such program'),
        advice: expect.stringContaining('check `command`'),
      },
      { status: 'warn', subject: 'mcp many', advice: expect.stringContaining('512') },
    ]);
    expect(await check({})).toEqual([]);
  });

  it('does not wait for one that hangs', async () => {
    const checks = await check({ slow: oddServer('hang-at-start') }, { initialiseMs: 200 });
    expect(checks).toMatchObject([
      { status: 'FAIL', finding: expect.stringContaining('did not answer within 0.2 s') },
    ]);
  });
});
