/** The sub-agents of a Claude Code: what each was started for, and its own view of the tools. */
import type { OpenToolState, ToolRuntime } from '../../../tools/runtime/runtime.js';
import { LIMITS } from '../../agent/limits.js';
import type { ToolOwner } from './tool-plan.js';

interface SubAgentsOptions {
  runtime: Pick<ToolRuntime, 'openToolState'>;
  /** Of the main agent. */
  toolState: OpenToolState;
}

interface Started {
  /** The call that it works for, as Claude Code knows it. */
  call: string | undefined;
  label: string;
  parent: string | undefined;
  /** The call that started it goes on without it. */
  background: boolean;
  over: boolean;
}

/** Kinds that Claude Code keeps its own tools for changing files from. */
const READING_KINDS: ReadonlySet<string> = new Set(['Explore', 'Plan']);

/** The gateway's of the same kind. */
const CHANGING: ReadonlySet<string> = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit', 'MemoryWrite']);

/** Agents of its own, and the user's attention. */
const MAIN_ONLY: ReadonlySet<string> = new Set(['Architect', 'ExitPlanMode']);

const UNKNOWN = { call: undefined, label: 'sub-agent' } as const;

export class SubAgents {
  readonly #options: SubAgentsOptions;
  readonly #started = new Map<string, Started>();
  readonly #kinds = new Map<string, string>();
  readonly #toolStates = new Map<string, Promise<OpenToolState>>();
  /** Activities of agents that wait until their parent is known. */
  readonly #unreported = new Map<string, (() => void)[]>();

  constructor(options: SubAgentsOptions) {
    this.#options = options;
  }

  /** `parent`: the sub-agent that started it, if one did. */
  start(
    id: string,
    call: string | undefined,
    description: string,
    { parent, background }: { parent: string | undefined; background: boolean },
  ): void {
    const label = description.slice(0, LIMITS.subAgent.labelChars);
    this.#started.set(id, { call, label, parent, background, over: false });
  }

  /** Before its first model call. */
  noteKind(id: string, kind: string): void {
    this.#kinds.set(id, kind);
  }

  /** `plain`: the tool's name without the prefix of a server. */
  mayUse(id: string, owner: ToolOwner, plain: string): boolean {
    if (owner !== 'gateway') return owner === 'claude';
    const onlyReads = READING_KINDS.has(this.#kinds.get(id) ?? '');
    return !MAIN_ONLY.has(plain) && !(onlyReads && CHANGING.has(plain));
  }

  /** At once, or when it is known: its model request may come before the event of its start. */
  whenKnown(id: string, report: () => void): void {
    if (this.#started.has(id)) {
      report();
      return;
    }
    const unreported = this.#unreported.get(id) ?? [];
    unreported.push(report);
    this.#unreported.set(id, unreported);
  }

  /** It has been said that it started. */
  reportStart(id: string): void {
    const unreported = this.#unreported.get(id) ?? [];
    this.#unreported.delete(id);
    for (const each of unreported) each();
  }

  /** The call has its result: those that worked for it are over, and each is named once. */
  endOf(call: string): string[] {
    return [...this.#started].flatMap(([id, started]) =>
      started.call === call && !started.background && this.end(id) ? [id] : [],
    );
  }

  /** False where it is not known, or was over before. */
  end(id: string): boolean {
    const started = this.#started.get(id);
    if (started === undefined || started.over) return false;
    started.over = true;
    return true;
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

  describe(id: string): { id: string; label: string; parent: string } {
    const { call, label } = this.#started.get(id) ?? UNKNOWN;
    return { id, label, parent: call ?? id };
  }

  toolState(id: string): Promise<OpenToolState> {
    const known = this.#toolStates.get(id);
    if (known !== undefined) return known;
    const { runtime, toolState } = this.#options;
    const { label } = this.describe(id);
    const opened = runtime.openToolState({
      id: toolState.id,
      principal: toolState.principal,
      workspace: toolState.workspace,
      cwd: toolState.cwd,
      agent: { id, label },
      parent: toolState,
    });
    this.#toolStates.set(id, opened);
    return opened;
  }

  async close(): Promise<void> {
    const sessions = [...this.#toolStates.values()];
    this.#toolStates.clear();
    await Promise.allSettled(sessions.map(async (session) => (await session).close()));
  }
}
