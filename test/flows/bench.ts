/** A gateway with agents on one scripted model, for many flows with a tag of their own each. */
import { mkdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { DIALECT_NAMES, type DialectName } from '../../src/core/conversation.js';
import { tempFolder } from '../support/cleanup.js';
import { type Gate, gate } from '../support/gate.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { type AgentSteps, ScriptedAgentModel, type ScriptedTurn } from '../support/scripted-agent-model.js';
import { type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import { type CallPart, call, type Wire } from '../support/wire.js';
import type { Thread } from './clients/thread.js';
import type { Combination, EngineName } from './matrix.js';

export const KEYS = { alice: 'client-key-alice', bob: 'client-key-bob' } as const;

export type KeyName = keyof typeof KEYS;

/** Agents that differ in what their operator set. */
const AGENTS = {
  agent: {},
  /** Stops to ask for more after two model calls. */
  short: { max_turns: 2 },
  /** Has the built-ins that the request names. */
  requested: { tools: 'requested' },
} as const;

export type AgentName = keyof typeof AGENTS;

/** As many as a small machine has room for: flows with more sessions wake them from the store. */
const MAX_LIVE = 2;

export interface Bench {
  engine: EngineName;
  gateway: TestGateway;
  upstream: ScriptedUpstream;
  model: ScriptedAgentModel;
  /** The folder that the agents work in. */
  root: string;
  close(): Promise<void>;
}

export async function openBench(engine: EngineName): Promise<Bench> {
  const folder = await tempFolder('toolgate-flows');
  const root = await realpath(folder.path);
  const home = await tempFolder('toolgate-flows-home');
  const model = new ScriptedAgentModel();
  const upstream = await startUpstream(model.script);
  const gateway = await startTestGateway({
    folder: home.path,
    config: {
      server: { keys: Object.entries(KEYS).map(([name, key]) => ({ name, key, scopes: ['call'] })) },
      upstreams: Object.fromEntries(DIALECT_NAMES.map((dialect) => [dialect, upstream.config(dialect)])),
      models: Object.fromEntries(
        Object.entries(AGENTS).flatMap(([name, settings]) =>
          DIALECT_NAMES.map((dialect) => [
            `${name}-${dialect}`,
            { engine, upstream: dialect, model: 'scripted', cwd: root, ...settings },
          ]),
        ),
      ),
      permissions: { mode: 'allow' },
      sessions: { max_live: MAX_LIVE },
      sandbox: 'off',
    },
  });
  return {
    engine,
    gateway,
    upstream,
    model,
    root,
    async close() {
      await gateway.close();
      await upstream.close();
      await Promise.all([folder.remove(), home.remove()]);
    },
  };
}

let flows = 0;

/** One flow on a bench. */
export class Flow {
  readonly engine: EngineName;
  readonly client: Combination['client'];
  readonly upstream: DialectName;
  readonly url: string;
  /** Like no other flow's: in all its prompts and ids. */
  readonly tag: string;
  /** Its own, inside of the agent's. */
  readonly folder: string;
  readonly model: ScriptedAgentModel;
  readonly #gates: Gate[] = [];
  #prompts = 0;
  #calls = 0;

  constructor({ engine, gateway, model, root }: Bench, { client, upstream }: Combination) {
    flows += 1;
    this.engine = engine;
    this.client = client;
    this.upstream = upstream;
    this.url = gateway.url;
    this.tag = `f${flows}`;
    this.folder = join(root, this.tag);
    this.model = model;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Scripts what the model says to a prompt; the user says the `prompt` of the result. */
  play(text: string, steps: AgentSteps): ScriptedTurn {
    this.#prompts += 1;
    return this.model.play(`${text} [${this.tag}.${this.#prompts}]`, steps);
  }

  call(name: string, input: Wire): CallPart {
    this.#calls += 1;
    return call(name, input, `call_${this.tag}_${this.#calls}`);
  }

  /** Where an answer waits until the test opens it; open for everybody when the flow is over. */
  gate(): Gate {
    const made = gate();
    this.#gates.push(made);
    return made;
  }

  openGates(): void {
    for (const each of this.#gates) each.open();
  }

  modelName(agent: AgentName = 'agent'): string {
    return `${agent}-${this.upstream}`;
  }

  thread({ agent, key = 'alice' }: { agent?: AgentName; key?: KeyName } = {}): Thread {
    const { stream, byId, open } = this.client;
    return open({ url: this.url, key: KEYS[key], model: this.modelName(agent), stream, byId });
  }
}

/** Runs `flow`, and fails where the model was asked for anything but what was scripted. */
export async function play(
  bench: Bench,
  combination: Combination,
  flow: (flow: Flow) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { model, upstream } = bench;
  const context = new Flow(bench, combination);
  // A flow that hangs must not keep those behind it from running.
  signal.addEventListener('abort', () => context.openGates());
  await mkdir(context.folder);
  try {
    await flow(context).catch((error: unknown) => {
      if (model.problems.length === 0) throw error;
      throw new Error(`${model.problems.join('\n')}\n${String(error)}`, { cause: error });
    });
    await upstream.whenIdle();
    expect(model.left).toEqual([]);
    expect(model.problems).toEqual([]);
  } finally {
    context.openGates();
    model.clear();
    upstream.requests.length = 0;
    await rm(context.folder, { recursive: true, force: true });
  }
}
