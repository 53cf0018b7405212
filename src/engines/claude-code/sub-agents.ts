/** The sub-agents of a Claude Code: what each was started for, and its own view of the tools. */
import type { OpenToolSession, ToolRuntime } from '../../tools/runtime/runtime.js';
import { LIMITS } from '../agent/limits.js';

export interface SubAgentsOptions {
  runtime: Pick<ToolRuntime, 'openSession'>;
  /** Of the main agent. */
  session: OpenToolSession;
}

interface Started {
  /** The call that it works for, as Claude Code knows it. */
  call: string | undefined;
  label: string;
  parent: string | undefined;
}

const UNKNOWN: Started = { call: undefined, label: 'sub-agent', parent: undefined };

export class SubAgents {
  readonly #options: SubAgentsOptions;
  readonly #started = new Map<string, Started>();
  readonly #sessions = new Map<string, Promise<OpenToolSession>>();

  constructor(options: SubAgentsOptions) {
    this.#options = options;
  }

  /** `parent`: the sub-agent that started it, if one did. */
  start(id: string, call: string | undefined, label: string, parent: string | undefined): void {
    this.#started.set(id, { call, label: label.slice(0, LIMITS.subAgent.labelChars), parent });
  }

  /** The call of the main agent that it works for in the end. */
  parentOf(id: string): string | undefined {
    const seen = new Set<string>();
    let agent = this.#started.get(id);
    for (let next = agent?.parent; next !== undefined && !seen.has(next); next = agent?.parent) {
      seen.add(next);
      agent = this.#started.get(next) ?? agent;
    }
    return agent?.call;
  }

  /** By the call that it was started by. */
  byCall(call: string): { id: string; label: string; parent: string } {
    for (const [id, started] of this.#started) {
      if (started.call === call) return { id, label: started.label, parent: call };
    }
    return { id: call, label: UNKNOWN.label, parent: call };
  }

  describe(id: string): { id: string; label: string; parent: string } {
    const { call, label } = this.#started.get(id) ?? UNKNOWN;
    return { id, label, parent: call ?? id };
  }

  session(id: string): Promise<OpenToolSession> {
    const known = this.#sessions.get(id);
    if (known !== undefined) return known;
    const { runtime, session } = this.#options;
    const { label } = this.describe(id);
    const opened = runtime.openSession({
      id: session.id,
      principal: session.principal,
      workspace: session.workspace,
      cwd: session.cwd,
      agent: { id, label },
      parent: session,
    });
    this.#sessions.set(id, opened);
    return opened;
  }

  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.allSettled(sessions.map(async (session) => (await session).close()));
  }
}
