/** A gateway with the native agent on a scripted model, in a small repository that has a bug. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DialectName } from '../../src/core/conversation.js';
import { tempFolder } from '../support/cleanup.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { dialectOf, inDialect } from '../support/scripted-answers.js';
import { type RecordedRequest, type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import type { Scripted } from '../support/wire.js';

const run = promisify(execFile);

export interface Repository {
  root: string;
  path(name: string): string;
  read(name: string): Promise<string>;
}

/** Committed, so that what an agent changes can be told from what was there. */
export async function repository(files: Readonly<Record<string, string>>): Promise<Repository> {
  const { path: folder } = await tempFolder('toolgate-repository');
  const root = await realpath(folder);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(root, name, '..'), { recursive: true });
    await writeFile(join(root, name), text);
  }
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], { cwd: root });
  await git('init', '-q');
  await git('add', '-A');
  await git('commit', '-q', '-m', 'start');
  const path = (name: string): string => join(root, name);
  return { root, path, read: (name) => readFile(path(name), 'utf8') };
}

/** What the model says to its n-th request, or a function of that request. */
export type Step = Scripted | ((request: RecordedRequest) => Scripted);

export interface AgentGateway {
  gateway: TestGateway;
  upstream: ScriptedUpstream;
}

export async function startAgent(
  dialect: DialectName,
  root: string,
  steps: readonly Step[],
  config: { model?: object; rest?: object } = {},
): Promise<AgentGateway> {
  const script = steps.map((step) => (request: RecordedRequest, index: number) => {
    const scripted = typeof step === 'function' ? step(request) : step;
    return inDialect(scripted)(request, index);
  });
  const upstream = await startUpstream(script);
  const gateway = await startTestGateway({
    config: {
      upstreams: { scripted: upstream.config(dialect) },
      models: { coder: { engine: 'native', upstream: 'scripted', model: 'm', cwd: root, ...config.model } },
      permissions: { mode: 'allow' },
      sandbox: 'off',
      ...config.rest,
    },
  });
  return { gateway, upstream };
}

/** Texts of the tool results that a request carries, newest message last. */
export function resultsOf(request: RecordedRequest): string[] {
  const body = request.json;
  switch (dialectOf(request)) {
    case 'anthropic-messages':
      return items(body['messages']).flatMap(({ content }) =>
        items(content).flatMap((block) =>
          block['type'] === 'tool_result' ? [textOf(block['content'])] : [],
        ),
      );
    case 'openai-chat':
      return items(body['messages']).flatMap((each) =>
        each['role'] === 'tool' ? [textOf(each['content'])] : [],
      );
    case 'openai-responses':
      return items(body['input']).flatMap((each) =>
        each['type'] === 'function_call_output' ? [textOf(each['output'])] : [],
      );
  }
}

type Item = Record<string, unknown>;

function items(value: unknown): Item[] {
  return Array.isArray(value)
    ? value.filter((each): each is Item => typeof each === 'object' && each !== null)
    : [];
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return items(value)
    .map((part) => (typeof part['text'] === 'string' ? part['text'] : `<${String(part['type'])}>`))
    .join('\n');
}

/** Resolves when every MCP server of the gateway is connected; rejects when one has failed. */
export async function mcpConnected(gateway: TestGateway, names: readonly string[]): Promise<void> {
  const token = new URL(gateway.consoleUrl).hash.replace('#token=', '');
  for (;;) {
    const response = await fetch(`${gateway.url}/api/mcp`, { headers: { authorization: `Bearer ${token}` } });
    const text = await response.text();
    if (!response.ok) throw new Error(`GET /api/mcp: ${response.status} ${text}`);
    const body: unknown = JSON.parse(text);
    const servers = Array.isArray(body) ? items(body) : Object.values(body ?? {}).flatMap(items);
    const states = names.map((name) => servers.find((each) => each['name'] === name));
    const failed = states.find((each) => each?.['state'] === 'failed');
    if (failed !== undefined) throw new Error(`An MCP server failed: ${JSON.stringify(failed)}`);
    if (states.every((each) => each?.['state'] === 'connected')) return;
  }
}
