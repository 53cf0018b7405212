/** Claude Code as an agent: a process of its own for each conversation that is awake. */
import type { Log } from '../../observability/log.js';
import type { ModelRoute } from '../../routing/model-router.js';
import type { Sessions } from '../../sessions/sessions.js';
import type { ToolRuntime } from '../../tools/runtime/runtime.js';
import type { Workspace } from '../../workspace/workspace.js';
import type { AgentDriver, DriverTurn, OpeningTurn } from '../agent/driver.js';
import { HeldToolStates, workspaceOf } from '../agent/held-tool-states.js';
import { toolboxOf } from '../agent/toolbox.js';
import type { CountingEngine, ModelRequest } from '../engine.js';
import type { PrivateKeys } from '../private-keys.js';
import { ClaudeTurn } from './claude-turn.js';
import { LiveConversations } from './conversation/live-conversations.js';
import type { ClaudeProcesses } from './processes/claude-processes.js';
import { createClaudeProcesses } from './processes/create-claude-processes.js';
import { PATIENCE, type Patience } from './turn-run.js';

export interface ClaudeCodeDriverOptions {
  relay: CountingEngine;
  runtime: ToolRuntime;
  /** The driver closes them. */
  processes: ClaudeProcesses;
  /** Where the server finds whose model calls are its own. */
  keys: PrivateKeys;
  /** The gateway's own address, once it listens. */
  selfUrl: () => Promise<string>;
  log: Log;
  /** The folder of a model whose entry names none. */
  startDir: string;
  home: string;
  sessions: Pick<Sessions, 'subscribe'>;
  /** Processes at once, spares included. */
  maxLive: number;
  /** There is a sandbox, or there has to be one: commands are the gateway's to run, and Claude Code's own Bash is off. */
  walled: boolean;
  patience?: Partial<Patience>;
}

export function createClaudeCodeDriver(options: ClaudeCodeDriverOptions): AgentDriver {
  return new ClaudeCodeDriver(options);
}

/** What a gateway with such models loads: the driver, and its processes. */
export function openClaudeCode(
  stateDir: string,
  log: Log,
  maxLive: number,
): { create: typeof createClaudeCodeDriver; processes: ClaudeProcesses } {
  const { spares } = processBudget(maxLive);
  const processes = createClaudeProcesses({
    stateDir,
    log,
    totalSpares: spares,
    ...(spares === 0 && { spares }),
  });
  return { create: createClaudeCodeDriver, processes };
}

class ClaudeCodeDriver implements AgentDriver {
  readonly name = 'claude-code';
  readonly #options: ClaudeCodeDriverOptions;
  readonly #tools: HeldToolStates;
  readonly #live: LiveConversations;

  constructor(options: ClaudeCodeDriverOptions) {
    const { runtime, sessions, log, maxLive } = options;
    this.#options = options;
    this.#live = new LiveConversations({ sessions, max: processBudget(maxLive).conversations, log });
    this.#tools = new HeldToolStates({
      runtime,
      sessions,
      onProblem: (error) => log.warn({ err: error }, 'the tools of a session could not be closed'),
    });
  }

  workspaceOf(route: ModelRoute): Workspace {
    return workspaceOf(route, this.#options);
  }

  async open(opening: OpeningTurn<Workspace>): Promise<DriverTurn> {
    const { runtime, selfUrl, patience } = this.#options;
    const { call, route, turn } = opening;
    return ClaudeTurn.open({
      ...this.#options,
      ...opening,
      live: this.#live,
      tools: this.#tools,
      toolbox: await toolboxOf(runtime, route, turn.tools, call.principal.name, turn),
      baseUrl: await selfUrl(),
      patience: { ...PATIENCE, ...patience },
    });
  }

  /** Without Claude Code's own prompt, which only it knows. */
  async countTokens(call: ModelRequest, route: ModelRoute): Promise<number> {
    const { request } = call;
    const toolbox = await toolboxOf(this.#options.runtime, route, request.tools, call.principal.name);
    const counted = { ...request, tools: [...toolbox.definitions] };
    return this.#options.relay.countTokens({ ...call, request: counted }, route);
  }

  async close(): Promise<void> {
    await this.#live.close();
    await this.#options.processes.close();
    await this.#tools.close();
  }
}

/** How many processes of Claude Code there may be: `max_live`, those that wait for a conversation included. */
interface ProcessBudget {
  conversations: number;
  spares: number;
}

/** Spares make the first answer of a conversation fast; they must not leave too little for the others. */
const A_SPARE_FOR = 3;
const MOST_SPARES = 2;

export function processBudget(maxLive: number): ProcessBudget {
  const spares = Math.min(MOST_SPARES, Math.floor(maxLive / A_SPARE_FOR));
  return { conversations: maxLive - spares, spares };
}
