/** Three nodes as processes on a real PostgreSQL server, with the wires between them, an agent and a model. */
import { mkdir, readFile, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isObject } from '../../src/core/is-object.js';
import { tempFolder } from '../support/cleanup.js';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway.js';
import { type NodeWire, startNodeWire } from '../support/node-wire.js';
import type { TestPostgres } from '../support/postgres.js';
import { inDialect } from '../support/scripted-answers.js';
import { freePort, type RecordedRequest, startUpstream } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import type { Scripted } from '../support/wire.js';
import { clockOff } from '../support/wrong-clock.js';
import { found } from './agent-client.js';
import { bash, lookup, says, words } from './agent-script.js';
import type { HistoryEvent, HistoryPlan } from './cluster-history.js';

export const KEY = 'key-of-the-storm';
const SECRET = 'secret-of-the-nodes';
const EFFECTS = 'effects.txt';
/** How far the clock of each node is from that of the database: just under what is refused. */
const CLOCKS_MS: Readonly<Record<string, number>> = { a: 0, b: 50_000, c: -50_000 };

export class ClusterNode {
  readonly name: string;
  /** Between this node and the others, and between it and the database. */
  readonly wires: { peers: NodeWire; store: NodeWire };
  readonly #start: () => Promise<GatewayProcess>;
  #gateway: GatewayProcess;

  constructor(
    name: string,
    wires: ClusterNode['wires'],
    start: () => Promise<GatewayProcess>,
    gateway: GatewayProcess,
  ) {
    this.name = name;
    this.wires = wires;
    this.#start = start;
    this.#gateway = gateway;
  }

  get url(): string {
    return this.#gateway.url;
  }

  /** `kill -9`, and a new process in its place. */
  async crash(): Promise<void> {
    await this.#gateway.kill();
    this.#gateway = await this.#start();
  }

  /** As an upgrade does it. */
  async restart(): Promise<void> {
    await this.#gateway.close();
    this.#gateway = await this.#start();
  }

  async close(): Promise<void> {
    await this.#gateway.close();
  }
}

/** What one turn asks for, by its name. */
export const callOf = (turn: string): string => `${turn}_a`;
const effectOf = (turn: string): string => `${turn}_x`;
const finalOf = (turn: string): string => `This is the end of ${turn}.`;

export class ClusterBed {
  readonly nodes: readonly ClusterNode[];
  readonly history: HistoryEvent[];
  readonly server: TestPostgres;
  readonly database: string;
  readonly #work: string;

  private constructor(
    server: TestPostgres,
    database: string,
    nodes: readonly ClusterNode[],
    history: HistoryEvent[],
    work: string,
  ) {
    this.server = server;
    this.database = database;
    this.nodes = nodes;
    this.history = history;
    this.#work = work;
  }

  static async start(server: TestPostgres): Promise<ClusterBed> {
    const history: HistoryEvent[] = [];
    const upstream = await startUpstream((request, index) => {
      const { turn, step, results } = readTurn(request);
      if (results.length > 0) history.push({ kind: 'told', turn, results });
      return inDialect(stepOf(turn, step))(request, index);
    });
    const database = await server.create();
    const work = await realpath((await tempFolder('toolgate-cluster')).path);
    await mkdir(join(work, 'shared'));
    const nodes: ClusterNode[] = [];
    for (const name of ['a', 'b', 'c']) {
      const [peers, store, port] = [await startNodeWire(), await startNodeWire(), await freePort()];
      peers.leadTo(port);
      store.leadTo(server.port);
      const folder = join(work, name);
      await mkdir(folder);
      const address = new URL(server.url(database));
      address.port = String(store.port);
      const agent = { engine: 'native', upstream: 'scripted', model: 'm', tools: ['Bash'] };
      const config = {
        server: { keys: [{ name: 'storm', key: KEY, scopes: ['call', 'approve', 'admin'] }], drain_s: 60 },
        upstreams: { scripted: upstream.config('anthropic-messages') },
        models: {
          agent: { ...agent, cwd: join(work, 'shared') },
          plain: { upstream: 'scripted', model: 'm' },
        },
        permissions: { mode: 'ask', unattended: 'wait' },
        sandbox: 'off',
        store: address.href,
        cluster: { node: name, advertise: peers.url, secret: SECRET, workspaces: [join(work, 'shared')] },
      };
      const args = ['start', '--config', 'toolgate.yaml', '--port', String(port), '--log-level', 'silent'];
      const start = () => startGatewayProcess({ folder, config, args, env: clockOff(CLOCKS_MS[name] ?? 0) });
      nodes.push(new ClusterNode(name, { peers, store }, start, await start()));
    }
    return new ClusterBed(server, database, nodes, history, join(work, 'shared'));
  }

  /** The node on which the next effect has just happened: its tool call is still under way. */
  async nextEffect(): Promise<ClusterNode> {
    const before = (await this.#effects()).length;
    const { home } = await until(async () => (await this.#effects())[before]);
    const node = this.nodes.find(({ name }) => name === basename(home));
    if (node === undefined) throw new Error(`An effect happened on no node: ${home}`);
    return node;
  }

  /** Adds what stands in the folder to the history. */
  async readEffects(): Promise<void> {
    for (const { id } of await this.#effects()) this.history.push({ kind: 'effect', id });
  }

  /** Whole lines, in their order. */
  async #effects(): Promise<{ id: string; home: string }[]> {
    const text = await readFile(join(this.#work, EFFECTS), 'utf8').catch(() => '');
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => ({ id: line.split(' ')[0] ?? '', home: line.split(' ')[1] ?? '' }));
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.close()));
  }
}

/** What is to happen in turns with an agent, and in plain ones. */
export function planOf(turns: readonly string[], plain: readonly string[]): HistoryPlan {
  return {
    requests: new Map<string, { text: string; calls: readonly string[] }>([
      ...turns.flatMap((turn) => [
        [`${turn} begin`, { text: '', calls: [callOf(turn)] }] as const,
        [`${turn} results`, { text: finalOf(turn), calls: [] }] as const,
      ]),
      ...plain.map((turn) => [`${turn} plain`, { text: finalOf(turn), calls: [] }] as const),
    ]),
    results: new Map(turns.map((turn) => [callOf(turn), { turn, text: found({ id: callOf(turn) }) }])),
    effects: new Map(turns.map((turn) => [effectOf(turn), { turn, told: `did ${effectOf(turn)}` }])),
  };
}

/** Whatever came before, the same state is answered with the same. */
function stepOf(turn: string, step: number): Scripted {
  if (turn.startsWith('p') || step > 0) return words(finalOf(turn));
  const id = effectOf(turn);
  // Each node has a home of its own. What comes after the effect leaves time to kill the node in it.
  const command = `echo ${id} "$HOME" >> ${EFFECTS} && sleep 0.5 && echo did ${id}`;
  return says('', bash(id, command), lookup(callOf(turn)));
}

type Told = Extract<HistoryEvent, { kind: 'told' }>['results'];

/** Which turn the model is asked in, how often it has spoken in it, and the results of that turn. */
export function readTurn({ json }: RecordedRequest): { turn: string; step: number; results: Told } {
  const messages = Array.isArray(json['messages']) ? json['messages'].filter(isObject) : [];
  let turn = '';
  let step = 0;
  let results: { id: string; text: string }[] = [];
  for (const { role, content } of messages) {
    if (role === 'assistant') step += 1;
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    for (const block of Array.isArray(blocks) ? blocks.filter(isObject) : []) {
      const named = /^Turn (\w+)\.$/.exec(String(block['text'] ?? ''))?.[1];
      if (role === 'user' && named !== undefined) [turn, step, results] = [named, 0, []];
      if (block['type'] === 'tool_result')
        results.push({ id: String(block['tool_use_id']), text: textOf(block) });
    }
  }
  return { turn, step, results };
}

function textOf({ content }: Record<string, unknown>): string {
  if (typeof content === 'string') return content;
  const parts = Array.isArray(content) ? content.filter(isObject) : [];
  return parts.map(({ text }) => String(text ?? '')).join('');
}
