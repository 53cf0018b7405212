/** MCP servers: which there are, how they are, and changes by an administrator. Nothing of it shows a credential. */
import type { JsonObject } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import { isObject } from '../../core/is-object.js';
import type { McpServerStatus } from '../../mcp/client/mcp-client.js';
import type { Exchange } from '../http/exchange.js';
import { NO_STORE, sendJson, sendStatus, sendText } from '../http/respond.js';
import type { ConsoleApiContext, ConsoleApiHandler } from './context.js';
import { readJsonBody } from './request.js';

export const listMcpServers: ConsoleApiHandler = (exchange, { mcp }) => {
  const data = mcp.status().map((status) => toWire(status, exchange));
  sendJson(exchange, 200, { data }, NO_STORE);
};

/** Answers when the server is connected or has failed once. */
export const addMcpServer: ConsoleApiHandler = async (exchange, context) => {
  const { name, config } = await readServer(exchange, context);
  const status = await exchange.untilAborted(context.mcp.add(name, config));
  sendJson(exchange, 201, toWire(status, exchange), NO_STORE);
};

/** The name is in the path or in the query. */
export const removeMcpServer: ConsoleApiHandler = async (exchange, { mcp }, parameters) => {
  const name = parameters['name'] ?? new URLSearchParams(exchange.query).get('name') ?? '';
  if (name === '') {
    throw new GatewayError('invalid_request', 'name: say which server, as DELETE /api/mcp/NAME.', {
      param: 'name',
    });
  }
  if (!(await mcp.remove(name))) {
    throw new GatewayError(
      'not_found',
      `There is no MCP server ${JSON.stringify(name.slice(0, 100))}. GET /api/mcp lists them.`,
    );
  }
  sendStatus(exchange, 204);
};

export const reconnectMcpServer: ConsoleApiHandler = async (exchange, { mcp }, { name = '' }) => {
  const status = await exchange.untilAborted(mcp.reconnect(name));
  sendJson(exchange, 200, toWire(status, exchange), NO_STORE);
};

/** For authorisation servers, which look the gateway up by this address. */
export const describeMcpClient: ConsoleApiHandler = (exchange, { mcp }, { name = '' }) => {
  const document = mcp.clientDocument(name);
  if (document === undefined) {
    throw new GatewayError(
      'not_found',
      'This gateway is not looked up as a client: notify.public_url in toolgate.yaml is no https address.',
    );
  }
  sendJson(exchange, 200, document, { 'cache-control': 'public, max-age=3600' });
};

/**
 * Where the browser comes back to after a sign-in. It brings no cookie of ours, coming from
 * another site; the state that only the started sign-in knows stands in for it.
 */
export const finishMcpSignIn: ConsoleApiHandler = async (exchange, { mcp }, { name = '' }) => {
  const query = new URLSearchParams(exchange.query);
  const [code, state, refusal] = [query.get('code'), query.get('state'), query.get('error')];
  if (refusal !== null) {
    throw new GatewayError('forbidden', 'The sign-in was refused. Start again from the list of MCP servers.');
  }
  if (code === null || state === null) {
    throw new GatewayError('invalid_request', 'code, state: expected both, as the sign-in sends them.');
  }
  const iss = query.get('iss');
  const answer = { code, state, ...(iss === null ? {} : { iss }) };
  const status = await exchange.untilAborted(mcp.finishSignIn(name, answer));
  const outcome =
    status.state === 'connected'
      ? `Signed in: the MCP server "${status.name}" is connected.`
      : `Signed in, but the MCP server "${status.name}" is not connected. GET /api/mcp says why.`;
  sendText(exchange, 200, 'text/plain; charset=utf-8', `${outcome}\nThis page can be closed.\n`, {
    ...NO_STORE,
    'referrer-policy': 'no-referrer',
  });
};

async function readServer(
  exchange: Exchange,
  { limits }: ConsoleApiContext,
): Promise<{ name: string; config: unknown }> {
  const body = await readJsonBody(exchange, limits);
  if (!isObject(body))
    throw new GatewayError('invalid_request', 'Expected an object with `name` and `config`.');
  const { name, config, ...others } = pasted(body);
  if (typeof name !== 'string') {
    throw new GatewayError('invalid_request', 'name: expected the name of the server.', { param: 'name' });
  }
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw new GatewayError(
      'invalid_request',
      `${unknown}: unknown key. Expected \`name\` and \`config\`, which holds what would stand under mcp_servers in toolgate.yaml.`,
      { param: unknown },
    );
  }
  return { name, config };
}

/** JSON as other programs have it: one server under `mcpServers`. */
function pasted(body: JsonObject): JsonObject {
  const servers = body['mcpServers'];
  if (!isObject(servers) || Object.keys(body).length > 1) return body;
  const [first, second] = Object.entries(servers);
  if (first !== undefined && second === undefined) return { name: first[0], config: first[1] };
  throw new GatewayError(
    'invalid_request',
    'mcpServers: expected one server. Add several one after the other, or put them into toolgate.yaml.',
    { param: 'mcpServers' },
  );
}

function toWire(status: McpServerStatus, { principal }: Exchange): object {
  const { serverInfo, connectedAt, retryAt, signInUrl } = status;
  // The person who signs in chooses the account that the gateway uses.
  const mayChange = principal.scopes.includes('admin');
  return {
    name: status.name,
    type: status.type,
    target: status.target,
    state: status.state,
    problem: status.problem ?? null,
    sign_in_url: mayChange ? (signInUrl ?? null) : null,
    retry_at: retryAt === undefined ? null : new Date(retryAt).toISOString(),
    tools: status.tools,
    server_info: serverInfo ?? null,
    protocol: status.protocol ?? null,
    connected_at: connectedAt === undefined ? null : new Date(connectedAt).toISOString(),
    shared: status.shared,
    persistent: status.persistent,
  };
}
