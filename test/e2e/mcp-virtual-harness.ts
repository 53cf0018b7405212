/** A gateway with a folder for its tools, and official MCP clients of its virtual servers. */
import { once } from 'node:events';
import { realpath } from 'node:fs/promises';
import { createServer, connect as dial, type Socket } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  Client as NewestClient,
  StreamableHTTPClientTransport as NewestTransport,
} from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type CallToolResult, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Dispatcher } from '../../src/engines/engine.js';
import type { VirtualLimits } from '../../src/mcp/virtual/limits.js';
import { closeAfterTest, tempFolder } from '../support/cleanup.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { isRecord, type JsonRecord } from '../support/violation.js';

export const KEYS = [
  { key: 'key-of-alice', name: 'alice', scopes: ['call', 'approve', 'admin'], models: ['*'] },
  { key: 'key-of-bob', name: 'bob', scopes: ['call'], models: ['*'] },
  { key: 'key-of-eve', name: 'eve', scopes: ['approve'], models: ['*'] },
];

export interface VirtualOptions {
  permissions?: object;
  mcpServers?: object;
  limits?: Partial<VirtualLimits>;
  tools?: unknown;
  /** To start again where another gateway stopped. */
  gatewayFolder?: string;
  more?: object;
}

export interface VirtualGateway extends TestGateway {
  /** The folder of the model entry `here`. */
  work: string;
}

export async function startVirtual(options: VirtualOptions = {}): Promise<VirtualGateway> {
  const work = await realpath((await tempFolder('virtual')).path);
  const gateway = await startTestGateway({
    config: {
      server: { keys: KEYS },
      models: { here: { engine: 'native', upstream: 'demo', cwd: work, tools: options.tools ?? 'all' } },
      permissions: { mode: 'allow', ...options.permissions },
      mcp_servers: options.mcpServers ?? {},
      sandbox: 'off',
      ...options.more,
    },
    dispatcher: NO_MODELS,
    ...(options.gatewayFolder === undefined ? {} : { folder: options.gatewayFolder }),
    ...(options.limits === undefined ? {} : { virtualLimits: options.limits }),
  });
  return { ...gateway, work };
}

/** These clients bring their own. */
const NO_MODELS: Dispatcher = {
  run: () => Promise.reject(new Error('no model is asked here')),
  countTokens: () => Promise.reject(new Error('no model is asked here')),
  models: async () => [],
};

export interface Address {
  /** Stays the same whichever gateway is behind it. */
  url: string;
  /** For `server.public_hosts`. */
  host: string;
  /** From now on; connections to another one are cut. */
  leadTo(gateway: TestGateway): void;
}

/** An address that outlives the gateway behind it, as the port of one that is restarted does. */
export async function stableAddress(): Promise<Address> {
  let target = 0;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    const upstream = dial(target, '127.0.0.1');
    for (const each of [socket, upstream]) {
      open.add(each);
      each
        .on('error', () => {})
        .on('close', () => {
          open.delete(each);
          socket.destroy();
          upstream.destroy();
        });
    }
    socket.pipe(upstream).pipe(socket);
  });
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeAfterTest(() => {
    cut();
    server.close();
  });
  const address = server.address();
  const host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  return {
    url: `http://${host}`,
    host,
    leadTo({ url }) {
      target = Number(new URL(url).port);
      cut();
    },
  };
}

export interface ClientOptions {
  key?: string;
  server?: 'gateway' | 'auth';
  query?: string;
  /** Folders that it offers as roots. */
  roots?: readonly string[];
}

export interface ConnectedClient {
  client: Client;
  transport: StreamableHTTPClientTransport;
}

export async function connect(
  { url }: Pick<TestGateway, 'url'>,
  { key = 'key-of-alice', server = 'gateway', query = '?model=here', roots }: ClientOptions = {},
): Promise<ConnectedClient> {
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: roots === undefined ? {} : { roots: { listChanged: true } } },
  );
  if (roots !== undefined) {
    client.setRequestHandler(ListRootsRequestSchema, () => ({
      roots: roots.map((root) => ({ uri: pathToFileURL(root).href })),
    }));
  }
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp/${server}${query}`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  await client.connect(transport);
  closeAfterTest(() => client.close());
  return { client, transport };
}

export function textOf(result: unknown): string {
  const content = isRecord(result) && Array.isArray(result['content']) ? result['content'] : [];
  return content.map((block) => (isRecord(block) ? String(block['text'] ?? block['type']) : '')).join('\n');
}

export type { CallToolResult };

/** Requests of the console's API. */
export async function api(
  { url }: TestGateway,
  path: string,
  {
    key = 'key-of-alice',
    body,
    method = body === undefined ? 'GET' : 'POST',
  }: { key?: string; body?: object; method?: string } = {},
): Promise<{ status: number; json: JsonRecord }> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const json: unknown = text === '' ? {} : JSON.parse(text);
  return { status: response.status, json: isRecord(json) ? json : {} };
}

/** Counts as somebody who is there to answer. */
export const lookIn = (gateway: TestGateway): Promise<unknown> =>
  api(gateway, '/api/approvals?state=pending');

/** The question that waits; asked for until it is there. */
export async function pending(gateway: TestGateway, key?: string): Promise<JsonRecord> {
  return until(async () => {
    const { json } = await api(gateway, '/api/approvals?state=pending', key === undefined ? {} : { key });
    const [first] = Array.isArray(json['data']) ? json['data'] : [];
    return isRecord(first) && first;
  });
}

export function decide(gateway: TestGateway, approval: JsonRecord, answer: object): ReturnType<typeof api> {
  return api(gateway, `/api/approvals/${String(approval['id'])}`, {
    body: { digest: approval['digest'], ...answer },
  });
}

export const inWork = ({ work }: VirtualGateway, name: string): string => join(work, name);

export const NEWEST = '2026-07-28';

interface FormAnswer {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, string>;
}

/** SDK 2.x; `auto` finds the era out by itself. */
export async function connectNewest(
  { url }: Pick<TestGateway, 'url'>,
  {
    key = 'key-of-alice',
    server = 'gateway',
    query = '?model=here',
    roots,
    mode = { pin: NEWEST },
    answerForm,
  }: ClientOptions & {
    mode?: 'auto' | { pin: string };
    /** The person at the client. */
    answerForm?: (message: string) => Promise<FormAnswer>;
  } = {},
): Promise<{ client: NewestClient; seen: Response[] }> {
  const client = new NewestClient(
    { name: 'test', version: '2' },
    {
      capabilities: {
        ...(roots === undefined ? {} : { roots: { listChanged: true } }),
        ...(answerForm === undefined ? {} : { elicitation: { form: {} } }),
      },
      versionNegotiation: { mode },
    },
  );
  if (answerForm !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params }) => ({
      ...(await answerForm(params.message)),
    }));
  }
  if (roots !== undefined) {
    client.setRequestHandler('roots/list', () => ({
      roots: roots.map((root) => ({ uri: pathToFileURL(root).href })),
    }));
  }
  const seen: Response[] = [];
  await client.connect(
    new NewestTransport(new URL(`${url}/mcp/${server}${query}`), {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
      fetch: async (address, init) => {
        const response = await fetch(address, init);
        seen.push(response);
        return response;
      },
    }),
  );
  closeAfterTest(() => client.close());
  return { client, seen };
}

/** A request of 2026-07-28, as a client that is written by hand sends it. */
export function stateless(
  method: string,
  params: JsonRecord = {},
  { id = 1, version = NEWEST, meta = {} }: { id?: number; version?: string; meta?: object } = {},
): JsonRecord {
  return {
    jsonrpc: '2.0',
    id,
    method,
    params: {
      ...params,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': version,
        'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
        ...meta,
      },
    },
  };
}

/** With the headers that belong to it. */
export function sendStateless(
  { url }: Pick<TestGateway, 'url'>,
  message: JsonRecord,
  options: {
    key?: string;
    path?: string;
    headers?: Readonly<Record<string, string | undefined>>;
    signal?: AbortSignal;
  } = {},
): Promise<Response> {
  const params = isRecord(message['params']) ? message['params'] : {};
  const name = params['name'] ?? params['uri'] ?? params['taskId'];
  const given: Readonly<Record<string, string | undefined>> = {
    authorization: `Bearer ${options.key ?? 'key-of-alice'}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'mcp-protocol-version': NEWEST,
    'mcp-method': String(message['method']),
    ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    ...options.headers,
  };
  const headers = Object.entries(given).flatMap(([header, value]): [string, string][] =>
    value === undefined ? [] : [[header, value]],
  );
  return fetch(`${url}${options.path ?? '/mcp/gateway?model=here'}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(message),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
}

/** The message of a JSON answer, or the last one of a stream. */
export async function answerOf(response: Response): Promise<JsonRecord> {
  const text = await response.text();
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const last = isStream
    ? (text
        .match(/^data: (.+)$/gm)
        ?.at(-1)
        ?.slice('data: '.length) ?? '')
    : text;
  const parsed: unknown = JSON.parse(last);
  if (!isRecord(parsed)) throw new Error(`no message: ${text}`);
  return parsed;
}
