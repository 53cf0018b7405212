/** Signing in to MCP servers: the gateway as a client that is looked up, or that registers itself. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { closeAfterTest } from '../support/cleanup.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { KEYS } from './mcp-virtual-harness.js';

const PUBLIC = 'https://gateway.example.com';
const TOKEN = 'token-of-the-person';

/** A server that wants a token, and who gives them. */
async function startProtected(looksUp: boolean) {
  const seen: { path: string; body: string; authorization: string | undefined }[] = [];
  const server = createServer(async (request, response) => {
    const path = request.url ?? '';
    const { authorization } = request.headers;
    seen.push({ path, body: await text(request), authorization });
    const json = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (path.startsWith('/.well-known/oauth-protected-resource')) {
      return json(200, { resource: `${url}/mcp`, authorization_servers: [url] });
    }
    if (path.startsWith('/.well-known/')) {
      return json(200, {
        ...{ issuer: url, response_types_supported: ['code'], code_challenge_methods_supported: ['S256'] },
        ...{ authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token` },
        registration_endpoint: `${url}/register`,
        ...(looksUp && { client_id_metadata_document_supported: true }),
      });
    }
    if (path === '/register') {
      const asked = JSON.parse(seen.at(-1)?.body ?? '{}');
      return json(201, { client_id: 'registered', redirect_uris: asked.redirect_uris });
    }
    if (path === '/token') return json(200, { access_token: TOKEN, token_type: 'bearer' });
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeAfterTest(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, seen };
}

const begin = (url: string, publicUrl?: string): Promise<TestGateway> =>
  startTestGateway({
    config: {
      server: { keys: KEYS, public_hosts: [new URL(PUBLIC).host] },
      models: { m: { upstream: 'demo' } },
      mcp_servers: { private: { type: 'http', url: `${url}/mcp` } },
      sandbox: 'off',
      ...(publicUrl === undefined ? {} : { notify: { public_url: publicUrl } }),
    },
  });

const signInOf = (gateway: TestGateway): Promise<URL> =>
  until(async () => {
    const answer = await fetch(`${gateway.url}/api/mcp`, {
      headers: { authorization: 'Bearer key-of-alice' },
    });
    const { data } = JSON.parse(await answer.text());
    return typeof data[0]?.sign_in_url === 'string' && new URL(data[0].sign_in_url);
  });

it('the gateway is looked up where the server does that, by a document at its public address', async () => {
  const { url, seen } = await startProtected(true);
  const gateway = await begin(url, PUBLIC);
  const signIn = await signInOf(gateway);
  const [document, callback] = [`${PUBLIC}/api/mcp/private/client`, `${PUBLIC}/api/mcp/private/callback`];
  expect(signIn.searchParams.get('client_id')).toBe(document);
  expect(signIn.searchParams.get('redirect_uri')).toBe(callback);
  const found = await fetch(gateway.url + new URL(document).pathname);
  expect([found.status, await found.json()]).toMatchObject([
    200,
    { client_id: document, redirect_uris: [callback], token_endpoint_auth_method: 'none' },
  ]);
  const state = signIn.searchParams.get('state') ?? '';
  const back = new URLSearchParams({ code: 'a-code', state, iss: url });
  await fetch(`${gateway.url}/api/mcp/private/callback?${back}`);
  const asked = new URLSearchParams(seen.find(({ path }) => path === '/token')?.body);
  expect(asked.get('client_id')).toBe(document);
  expect(asked.get('redirect_uri')).toBe(callback);
  expect(asked.get('code_verifier')).toMatch(/^.{43,}$/);
  expect(seen.some(({ authorization }) => authorization === `Bearer ${TOKEN}`)).toBe(true);
  expect(seen.map(({ path }) => path)).not.toContain('/register');
});

it('the gateway registers itself where the server looks nobody up, or could not find it', async () => {
  for (const [looksUp, publicUrl] of [
    [false, PUBLIC],
    [true, undefined],
    [true, 'http://gateway.example.com'],
  ] as const) {
    const { url, seen } = await startProtected(looksUp);
    const gateway = await begin(url, publicUrl);
    const signIn = await signInOf(gateway);
    expect(signIn.searchParams.get('client_id')).toBe('registered');
    expect(seen.map(({ path }) => path)).toContain('/register');
    const document = await fetch(`${gateway.url}/api/mcp/private/client`);
    expect(document.status).toBe(publicUrl === PUBLIC ? 200 : 404);
  }
});

it('a document says nothing of which servers there are', async () => {
  const { url } = await startProtected(true);
  const gateway = await begin(url, PUBLIC);
  const shape = async (name: string): Promise<string> => {
    const answer = await fetch(`${gateway.url}/api/mcp/${name}/client`);
    return `${answer.status} ${(await answer.text()).replaceAll(`/${name}/`, '/NAME/')}`;
  };
  expect(await shape('private')).toBe(await shape('another'));
});
