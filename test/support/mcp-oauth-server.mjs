// An MCP server behind a sign-in, with an authorisation server of the SDK's own parts. It prints
// its address. The person of this sign-in says yes at once.
import { randomUUID } from 'node:crypto';
import { DemoInMemoryAuthProvider } from '@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js';
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import {
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthRouter,
} from '@modelcontextprotocol/sdk/server/auth/router.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import express from 'express';

class Provider extends DemoInMemoryAuthProvider {
  #refreshes = new Map();
  refreshed = 0;

  async exchangeAuthorizationCode(client, code, verifier, ...rest) {
    const tokens = await super.exchangeAuthorizationCode(client, code, verifier, ...rest);
    return this.#withRefresh(tokens);
  }

  async exchangeRefreshToken(client, refreshToken) {
    const old = this.#refreshes.get(refreshToken);
    if (old === undefined) throw new Error('unknown refresh token');
    this.#refreshes.delete(refreshToken);
    this.refreshed += 1;
    const token = randomUUID();
    this.tokens.set(token, {
      token,
      clientId: client.client_id,
      scopes: [],
      expiresAt: Date.now() + 3_600_000,
    });
    return this.#withRefresh({ access_token: token, token_type: 'bearer', expires_in: 3600 });
  }

  async verifyAccessToken(token) {
    if (!this.tokens.has(token)) throw new InvalidTokenError('unknown token');
    return super.verifyAccessToken(token);
  }

  forgetAccess() {
    this.tokens.clear();
  }

  #withRefresh(tokens) {
    const refresh_token = randomUUID();
    this.#refreshes.set(refresh_token, true);
    return { ...tokens, refresh_token };
  }
}

const app = express();
const listener = app.listen(0, '127.0.0.1', () => {
  const origin = `http://127.0.0.1:${listener.address().port}`;
  const provider = new Provider();
  const resourceServerUrl = new URL('/mcp', origin);
  app.use(mcpAuthRouter({ provider, issuerUrl: new URL(origin), resourceServerUrl }));
  const guard = requireBearerAuth({
    verifier: provider,
    resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resourceServerUrl),
  });
  app.post('/forget', (_request, response) => {
    provider.forgetAccess();
    response.json({ refreshed: provider.refreshed });
  });
  app.get('/refreshed', (_request, response) => response.json({ refreshed: provider.refreshed }));
  app.post('/mcp', guard, express.json(), async (request, response) => {
    const server = new McpServer({ name: 'private', version: '1.0' });
    server.registerTool('secret', { description: 'Tells it' }, async () => ({
      content: [{ type: 'text', text: '42' }],
    }));
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    response.on('close', () => void transport.close());
    await server.connect(transport);
    await transport.handleRequest(request, response, request.body);
  });
  app.get('/mcp', guard, (_request, response) => response.status(405).end());
  process.stdout.write(`${origin}\n`);
});
