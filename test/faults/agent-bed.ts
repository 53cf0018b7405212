/** A gateway as a process of its own with one agent on a scripted model, which can be killed and started again. */
import { mkdir, readdir, readFile, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { expect } from 'vitest';
import { FEW_PROCESSES } from '../support/claude-world.js';
import { tempFolder } from '../support/cleanup.js';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway.js';
import { allGone, descendants, type SeenProcess } from '../support/processes.js';
import { ScriptedAgentModel } from '../support/scripted-agent-model.js';
import { freePort, type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { isRecord, type JsonRecord } from '../support/violation.js';

export type EngineName = 'native' | 'claude-code';
export const ENGINES: readonly EngineName[] = ['native', 'claude-code'];

export const MODEL = 'agent';

/** Two clients that must never have anything to do with each other. */
export const KEYS = { storm: 'key-of-storm', calm: 'key-of-calm' } as const;
export type KeyName = keyof typeof KEYS;

const TEMPORARY = 'tmp';
const OWN_FILES = /^(toolgate\.yaml|\.toolgate\/toolgate\.db(-wal|-shm)?)$/;

export interface BedOptions {
  /** Beside the keys. */
  server?: object;
  permissions?: object;
  mcpServers?: object;
  sessions?: object;
  model?: object;
  /** Beside the one of the engine, on the same scripted model. */
  others?: Readonly<Record<string, { engine: EngineName; tools: readonly string[] }>>;
  env?: Readonly<Record<string, string>>;
  /** Another than the file in its folder. */
  store?: string;
}

/** At a port that nobody else is given while the gateway is down. */
const startArgs = (port: number): string[] => [
  ...['start', '--config', 'toolgate.yaml', '--port', String(port), '--log-level', 'silent'],
];

export class AgentBed {
  readonly model = new ScriptedAgentModel();
  readonly upstream: ScriptedUpstream;
  /** Where the agent works. */
  readonly work: string;
  /** Of the configuration and the store. */
  readonly folder: string;
  readonly engine: EngineName;
  readonly #options: BedOptions;
  #gateway: GatewayProcess | undefined;
  /** What came of gateways that were killed. */
  #left: SeenProcess[] = [];

  private constructor(
    engine: EngineName,
    upstream: ScriptedUpstream,
    folder: string,
    work: string,
    options: BedOptions,
  ) {
    this.engine = engine;
    this.upstream = upstream;
    this.folder = folder;
    this.work = work;
    this.#options = options;
  }

  static async start(engine: EngineName, options: BedOptions = {}): Promise<AgentBed> {
    let bed: AgentBed | undefined;
    const upstream = await startUpstream((request, index) => {
      if (bed === undefined) throw new Error('The model was asked too early');
      return bed.model.script(request, index);
    });
    const { path } = await tempFolder('toolgate-agent');
    const folder = await realpath(path);
    const work = join(folder, 'work');
    await mkdir(work);
    await mkdir(join(folder, TEMPORARY));
    bed = new AgentBed(engine, upstream, folder, work, options);
    bed.#gateway = await startGatewayProcess({
      ...{ folder, config: bed.#config(), env: bed.#env },
      args: startArgs(await freePort()),
    });
    return bed;
  }

  get gateway(): GatewayProcess {
    if (this.#gateway === undefined) throw new Error('The gateway is not started');
    return this.#gateway;
  }

  get url(): string {
    return this.gateway.url;
  }

  /** Another gateway on the same store, beside the first. */
  another(): Promise<GatewayProcess> {
    return startGatewayProcess({ folder: this.folder, env: this.#env });
  }

  /** At the same address, for pages that are open. */
  async restartThere(): Promise<void> {
    const args = startArgs(Number(new URL(this.url).port));
    this.#gateway = await startGatewayProcess({ folder: this.folder, env: this.#env, args });
  }

  /** `kill -9`, at this very moment; remembers what it leaves. */
  async kill(): Promise<void> {
    this.#left.push(...descendants(this.gateway.pid));
    await this.gateway.kill();
  }

  async restart(): Promise<void> {
    this.#gateway = await this.another();
  }

  /** Nothing that came of a killed gateway is there any more. */
  async nothingLeft(): Promise<void> {
    await allGone(this.#left);
  }

  /** Stops as a person would stop it: no process of it stays, and no file but the configuration and the store. */
  async close(): Promise<void> {
    const own = descendants(this.gateway.pid);
    await this.gateway.close();
    await allGone([...own, ...this.#left]);
    expect(await this.#files()).toEqual([]);
  }

  get #env(): Record<string, string> {
    return { TMPDIR: join(this.folder, TEMPORARY), ...this.#options.env };
  }

  async #files(): Promise<string[]> {
    const found = await readdir(this.folder, { recursive: true, withFileTypes: true });
    return found
      .filter((entry) => !entry.isDirectory())
      .map(({ parentPath, name }) => relative(this.folder, join(parentPath, name)))
      .filter((name) => !OWN_FILES.test(name) && !name.startsWith('work/'));
  }

  async api(method: string, path: string, body?: object, key: KeyName = 'storm'): Promise<JsonRecord> {
    const answer = await this.#fetch(method, path, body, key);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    const parsed: unknown = JSON.parse(text);
    if (!isRecord(parsed)) throw new Error(`${method} ${path} gave no object: ${text}`);
    return parsed;
  }

  #fetch(method: string, path: string, body: object | undefined, key: KeyName): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${KEYS[key]}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** Resolves when no request of a client is open any more. The one for the figures is open itself. */
  async idle(): Promise<void> {
    await until(async () => /^toolgate_open_requests 1$/m.test(await this.#figures()));
  }

  /** How many requests ended because their client had gone. */
  async clientsGone(): Promise<number> {
    const lines = (await this.#figures()).matchAll(/^toolgate_requests_total\{.*status="499".*\} (\d+)$/gm);
    return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
  }

  async #figures(): Promise<string> {
    const headers = { authorization: `Bearer ${KEYS.storm}` };
    return (await fetch(`${this.url}/metrics`, { headers })).text();
  }

  async waitingApprovals(key: KeyName = 'storm'): Promise<JsonRecord[]> {
    const { data } = await this.api('GET', '/api/approvals?state=pending', undefined, key);
    return Array.isArray(data) ? data.filter(isRecord) : [];
  }

  /** Resolves with the question once there is one. Each look is a request of its own. */
  async approvalWaits(key: KeyName = 'storm'): Promise<JsonRecord> {
    return until(async () => (await this.waitingApprovals(key))[0]);
  }

  /** Allows the question that waits. One that was called off meanwhile is asked again. */
  async allowNext(key: KeyName = 'storm'): Promise<void> {
    for (;;) {
      const { id, digest } = await this.approvalWaits(key);
      const answer = await this.#fetch(
        'POST',
        `/api/approvals/${String(id)}`,
        { decision: 'allow', digest },
        key,
      );
      if (answer.ok) return;
      const text = await answer.text();
      if (answer.status !== 409 || !text.includes('cancelled')) throw new Error(`${answer.status} ${text}`);
    }
  }

  /** The lines of a file in the agent's folder; none where it is not there. */
  async linesOf(name: string): Promise<string[]> {
    const text = await readFile(join(this.work, name), 'utf8').catch(() => '');
    return text.split('\n').filter((line) => line !== '');
  }

  #config(): object {
    const {
      permissions = { mode: 'allow' },
      mcpServers,
      sessions,
      model,
      server,
      others,
      store,
    } = this.#options;
    const agent = { upstream: 'scripted', model: 'm', cwd: this.work };
    return {
      server: {
        ...server,
        keys: Object.entries(KEYS).map(([name, key]) => ({
          key,
          name,
          scopes: ['call', 'approve', 'admin'],
        })),
      },
      upstreams: { scripted: this.upstream.config('anthropic-messages') },
      models: {
        [MODEL]: { ...agent, engine: this.engine, tools: ['Bash', 'Read'], ...model },
        ...Object.fromEntries(
          Object.entries(others ?? {}).map(([name, other]) => [name, { ...agent, ...other }]),
        ),
      },
      permissions,
      sandbox: 'off',
      ...(store === undefined ? {} : { store }),
      ...(mcpServers === undefined ? {} : { mcp_servers: mcpServers }),
      sessions: { ...FEW_PROCESSES, ...sessions },
    };
  }
}
