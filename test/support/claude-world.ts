/** A gateway with Claude Code on a scripted model. */
import { readlinkSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DialectName } from '../../src/core/conversation.js';
import type { Patience } from '../../src/engines/claude-code/turn-run.js';
import type { Limits } from '../../src/server/http/limits.js';
import { tempFolder } from './cleanup.js';
import { startTestGateway, type TestGateway } from './gateway.js';
import { descendants } from './processes.js';
import { inDialect } from './scripted-answers.js';
import {
  type RecordedRequest,
  type Reply,
  type ScriptedUpstream,
  startUpstream,
} from './scripted-upstream.js';
import { until } from './until.js';
import type { Scripted } from './wire.js';

export type Step =
  | Scripted
  | Reply
  | ((request: RecordedRequest) => Scripted | Reply | Promise<Scripted | Reply>);

export interface Answered {
  status: number;
  headers: Headers;
  body: Wire;
}

export type Wire = Record<string, unknown>;

export interface WorldOptions {
  dialect?: DialectName;
  model?: object;
  config?: object;
  sessions?: object;
  limits?: Partial<Limits>;
  patience?: Partial<Patience>;
}

/** None that waits for a conversation: starting one for nobody is half of what such a test costs. */
export const FEW_PROCESSES = { max_live: 2 };

const NO_MORE: Scripted = { parts: [{ type: 'text', text: 'No more.' }] };

export class World {
  readonly gateway: TestGateway;
  readonly upstream: ScriptedUpstream;
  readonly root: string;
  readonly #steps: Step[];

  constructor(gateway: TestGateway, upstream: ScriptedUpstream, root: string, steps: Step[]) {
    this.gateway = gateway;
    this.upstream = upstream;
    this.root = root;
    this.#steps = steps;
  }

  script(...steps: Step[]): void {
    this.#steps.push(...steps);
  }

  path(name: string): string {
    return join(this.root, name);
  }

  async post(body: object, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Answered> {
    const response = await fetch(`${this.gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', ...headers },
      body: JSON.stringify({ model: 'agent', max_tokens: 1000, ...body }),
      ...(signal === undefined ? {} : { signal }),
    });
    const value: unknown = await response.json();
    return { status: response.status, headers: response.headers, body: isWire(value) ? value : {} };
  }

  /** The text of the whole stream; `onText` is told what has come so far. */
  async stream(body: object, onText: (text: string) => void): Promise<string> {
    const response = await fetch(`${this.gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ model: 'agent', max_tokens: 1000, stream: true, ...body }),
    });
    let text = '';
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      onText(text);
    }
    return text;
  }

  /** The question that waits, once there is one. */
  async approval(): Promise<Wire> {
    return until(async () => {
      const { data } = await this.#api('GET', '/api/approvals?state=pending');
      const [first]: unknown[] = Array.isArray(data) ? data : [];
      return isWire(first) && first;
    });
  }

  async decide({ id, digest }: Wire, decision: Wire): Promise<void> {
    await this.#api('POST', `/api/approvals/${String(id)}`, { digest, ...decision });
  }

  usage(): Promise<Wire> {
    return this.#api('GET', '/api/usage');
  }

  /** Once an MCP server is there. */
  async connected(name: string): Promise<void> {
    await until(async () => {
      const { data } = await this.#api('GET', '/api/mcp');
      const servers: unknown[] = Array.isArray(data) ? data : [];
      return servers.some((each) => isWire(each) && each['name'] === name && each['state'] === 'connected');
    });
  }

  async #api(method: string, path: string, body?: Wire): Promise<Wire> {
    const token = this.gateway.consoleUrl.split('#token=')[1] ?? '';
    const response = await fetch(`${this.gateway.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const value: unknown = await response.json();
    if (response.status !== 200 || !isWire(value)) throw new Error(JSON.stringify(value));
    return value;
  }

  /** What the model was told in its `index`th call: role and content of each message. */
  told(index: number): { role: unknown; content: unknown }[] {
    const { messages } = this.upstream.requests[index]?.json ?? {};
    return (Array.isArray(messages) ? messages : []).map(({ role, content }: Wire) => ({ role, content }));
  }
}

export async function openWorld({
  dialect = 'anthropic-messages',
  model,
  config,
  sessions,
  limits = {},
  patience = {},
}: WorldOptions = {}): Promise<World> {
  const folder = await tempFolder('toolgate-claude');
  const root = join(folder.path, 'work');
  await mkdir(root);
  const steps: Step[] = [];
  const upstream = await startUpstream(async (request, index) => {
    const step = steps.shift() ?? NO_MORE;
    const said = typeof step === 'function' ? await step(request) : step;
    return 'kind' in said ? said : inDialect(said)(request, index);
  });
  const gateway = await startTestGateway({
    config: {
      upstreams: { up: upstream.config(dialect) },
      models: { agent: { engine: 'claude-code', upstream: 'up', model: 'scripted', cwd: root, ...model } },
      permissions: { mode: 'allow' },
      sandbox: 'off',
      ...config,
      sessions: { ...FEW_PROCESSES, ...sessions },
    },
    limits,
    patience,
    logLevel: process.env['CLAUDE_TEST_LOG'] ?? 'silent',
  });
  return new World(gateway, upstream, root, steps);
}

/** Of the gateway in this process, those that work in the folder; the oldest is first. */
export function claudeProcesses(root: string): number[] {
  const own = descendants(process.pid).filter(({ command }) => command.includes('claude-agent-sdk'));
  return own
    .filter(({ pid }) => folderOf(pid) === root)
    .toSorted((a, b) => Number(a.startTime) - Number(b.startTime))
    .map(({ pid }) => pid);
}

function folderOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // Gone meanwhile.
    return undefined;
  }
}

export const says = (said: string): Scripted => ({ parts: [{ type: 'text', text: said }] });

export const user = (content: unknown): Wire => ({ role: 'user', content });

export const result = (id: string, content: unknown, rest: Wire = {}): Wire => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...rest,
});

export const tool = (name: string, properties: Wire = { city: { type: 'string' } }): Wire => ({
  name,
  description: `The tool ${name}`,
  input_schema: { type: 'object', properties },
});

export function contentOf({ body }: Answered): Wire[] {
  const { content } = body;
  return Array.isArray(content) ? content : [];
}

function isWire(value: unknown): value is Wire {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
