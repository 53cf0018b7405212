/** Real MCP servers for tests, and clients for them. Whatever is started is ended after the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { McpServerConfig } from '../../src/config/schema.js';
import { createMcpClient, type McpClientOptions } from '../../src/mcp/client/create-client.js';
import type {
  McpClient,
  McpServerStatus,
  McpToolCallOptions,
  McpToolCallResult,
} from '../../src/mcp/client/mcp-client.js';
import { closeAfterTest, tempFolder } from './cleanup.js';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const ODD = at('./mcp-odd-server.mjs');
const NEWEST = at('./mcp-newest-server.mjs');
const OAUTH = at('./mcp-oauth-server.mjs');
const EVERYTHING = at('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const FILESYSTEM = at('../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');

type StdioConfig = Extract<McpServerConfig, { type: 'stdio' }>;
type HttpConfig = Extract<McpServerConfig, { type: 'http' }>;

export function stdioServer(args: readonly string[], more: Partial<StdioConfig> = {}): StdioConfig {
  return {
    type: 'stdio',
    command: process.execPath,
    args: [...args],
    env: {},
    shared: true,
    timeout_s: 120,
    ...more,
  };
}

/** Misbehaves as `mode` and its tools say. */
export const oddServer = (mode = 'plain', more: Partial<StdioConfig> = {}): StdioConfig =>
  stdioServer([ODD, mode], more);

/** On SDK 2.x; `only`: it speaks 2026-07-28 and nothing else. */
export const newestServer = (eras: 'both' | 'only' = 'both', more: Partial<StdioConfig> = {}): StdioConfig =>
  stdioServer([NEWEST, 'stdio', eras], more);

export const everythingServer = (): StdioConfig => stdioServer([EVERYTHING, 'stdio']);

export const filesystemServer = (folder: string): StdioConfig => stdioServer([FILESYSTEM, folder]);

export const httpServer = (url: string, more: Partial<HttpConfig> = {}): HttpConfig => ({
  type: 'http',
  url,
  headers: {},
  shared: true,
  timeout_s: 120,
  ...more,
});

export interface RunningServer {
  /** The origin, on loopback. */
  url: string;
  /** As a crash. */
  kill(): Promise<void>;
  /** What every connection so far has sent. */
  received(): string;
}

/**
 * The official server over HTTP. By itself it would listen on every interface; given a path in
 * place of a port it listens on a socket in a private folder, and loopback leads there.
 */
export async function startEverything(transport: 'streamableHttp' | 'sse'): Promise<RunningServer> {
  const { path: folder } = await tempFolder('mcp-everything');
  const socketPath = join(folder, 'socket');
  const child = spawn(process.execPath, [EVERYTHING, transport], {
    env: { PATH: process.env['PATH'], PORT: socketPath },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const kill = killer(child);
  closeAfterTest(kill);
  await printed(child.stderr, / on port /);
  let received = '';
  const proxy = createServer((socket) => {
    const inner = connect(socketPath);
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
    });
    socket.pipe(inner).pipe(socket);
    socket.on('error', () => inner.destroy());
    inner.on('error', () => socket.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  closeAfterTest(() => proxy.close());
  return { url: `http://127.0.0.1:${portOf(proxy.address())}`, kill, received: () => received };
}

/** The same over HTTP; a `port` of an earlier one to come back at its address. */
export async function startNewest(
  eras: 'both' | 'only' = 'both',
  port = 0,
): Promise<{ url: string; port: number; kill(): Promise<void> }> {
  const child = spawn(process.execPath, [NEWEST, 'http', eras, `${port}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = killer(child);
  closeAfterTest(kill);
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  const url = String(line).trim();
  return { url, port: Number(new URL(url).port), kill };
}

/** A server behind a sign-in. */
export async function startOAuthServer(): Promise<{ url: string }> {
  const child = spawn(process.execPath, [OAUTH], { stdio: ['ignore', 'pipe', 'inherit'] });
  closeAfterTest(killer(child));
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  return { url: String(line).trim() };
}

export interface LogLine {
  level: 'debug' | 'info' | 'warn';
  message: string;
  facts: object;
}

export interface TestClient extends McpClient {
  lines: LogLine[];
  /** Resolves with the status of the server once `wanted` holds for it. */
  until(name: string, wanted: (status: McpServerStatus) => boolean): Promise<McpServerStatus>;
  /** Calls a tool by the server's own name of it. */
  call(
    server: string,
    tool: string,
    input?: object,
    options?: Partial<McpToolCallOptions>,
  ): Promise<McpToolCallResult>;
}

/** Closed after the test; connecting when it is returned. */
export function testClient(
  servers: McpClientOptions['servers'],
  options: Partial<McpClientOptions> = {},
): TestClient {
  const lines: LogLine[] = [];
  let onLine: () => void = () => {};
  const write =
    (level: LogLine['level']) =>
    (facts: object, message: string): void => {
      lines.push({ level, message, facts });
      onLine();
    };
  const client = createMcpClient({
    servers,
    version: '0.0.0-test',
    log: { debug: write('debug'), info: write('info'), warn: write('warn') },
    environment: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    baseDir: process.cwd(),
    ...options,
    limits: { stopMs: 300, ...options.limits },
  });
  closeAfterTest(() => client.close());
  return {
    ...client,
    lines,
    async until(name, wanted) {
      for (;;) {
        const status = client.status().find((each) => each.name === name);
        if (status !== undefined && wanted(status)) return status;
        // Every change of a state is logged, and the state is changed in the same turn.
        await new Promise<void>((resolve) => {
          onLine = () => setImmediate(resolve);
        });
      }
    },
    call(server, tool, input = {}, callOptions = {}) {
      const found = client.tools(callOptions.session).find((each) => each.name === `mcp__${server}__${tool}`);
      if (found === undefined) throw new Error(`There is no tool ${tool} of ${server}`);
      return found.call({ ...input }, { signal: new AbortController().signal, ...callOptions });
    },
  };
}

/** The text of a result. */
export function textOf({ content }: McpToolCallResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n');
}

/** A process that has ended and that nobody has asked about yet is not running. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/^\d+ \(.*\) Z /s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return !existsSync('/proc/self');
  }
}

/** Resolves when the process is no more: a signal takes its way. The test's own time is the limit. */
export async function gone(pid: number): Promise<void> {
  while (isRunning(pid)) await new Promise<void>((resolve) => setImmediate(resolve));
}

function killer(child: ChildProcess): () => Promise<void> {
  const exited = once(child, 'exit');
  return async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await exited;
  };
}

/** Resolves when it has said so; rejects when it ends before. Reads on afterwards. */
function printed(stream: Readable, pattern: RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (pattern.test(said)) resolve();
    });
    stream.once('close', () => reject(new Error(`It ended: ${said}`)));
  });
}

export function portOf(address: string | AddressInfo | null): number {
  if (typeof address === 'object' && address !== null) return address.port;
  throw new Error('It does not listen on a port');
}
