/** What became of calls that Claude Code runs itself, kept until it says what came of them. */
import type { ToolResultBlock } from '../../../core/conversation.js';
import type { Verdict } from '../../../permissions/gate.js';
import type { ReviewOutcome } from '../../../tools/runtime/review.js';
import type { ToolRunEvent, ToolRunResult } from '../../../tools/runtime/runtime.js';

interface ReportedToolCall {
  /** Told under this id and name. */
  id: string;
  name: string;
  agentId: string | undefined;
  /** Undefined for a call that was refused. */
  startedAt: number | undefined;
  outcome: ToolRunResult['outcome'] | undefined;
  facts: Pick<ToolRunResult, 'because' | 'describe'>;
}

/** A call of the main agent or of a sub-agent. */
export interface NamedToolCall {
  /** As Claude Code knows it. */
  wireId: string;
  id: string;
  name: string;
  agentId?: string | undefined;
}

type Refused = Extract<Verdict, { allowed: false }>;

const OUTCOMES: Readonly<Record<Refused['outcome'], ToolRunResult['outcome']>> = {
  denied: 'denied',
  expired: 'expired',
  cancelled: 'aborted',
  unattended: 'unattended',
};

export class ToolCallEvents {
  readonly #calls = new Map<string, ReportedToolCall>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** It runs from now on. */
  start(call: NamedToolCall, { verdict, describe }: ReviewOutcome): ToolRunEvent {
    const { because } = verdict;
    this.#put(call, { startedAt: this.#now(), outcome: undefined, facts: { because, describe } });
    return { type: 'tool-start', id: call.id, name: call.name, describe, because };
  }

  /** The rules or a person said no. */
  refuse(call: NamedToolCall, { outcome, because }: Refused, { describe }: ReviewOutcome): void {
    this.#put(call, { startedAt: undefined, outcome: OUTCOMES[outcome], facts: { because, describe } });
  }

  /** It cannot be run at all. */
  reject(call: NamedToolCall, outcome: ToolRunResult['outcome']): void {
    this.#put(call, { startedAt: undefined, outcome, facts: {} });
  }

  has(wireId: string): boolean {
    return this.#calls.has(wireId);
  }

  /** Undefined for a call that is not known here: another reporter has it. */
  end({
    toolUseId,
    content,
    isError,
  }: ToolResultBlock): { event: ToolRunResult; agentId: string | undefined } | undefined {
    const known = this.#calls.get(toolUseId);
    if (known === undefined) return undefined;
    this.#calls.delete(toolUseId);
    const { id, name, agentId, startedAt, outcome = isError ? 'failed' : 'done', facts } = known;
    const durationMs = startedAt === undefined ? 0 : Math.round(this.#now() - startedAt);
    return {
      agentId,
      event: { type: 'tool-result', id, name, content, isError, durationMs, outcome, ...facts },
    };
  }

  #put(
    { wireId, id, name, agentId }: NamedToolCall,
    rest: Omit<ReportedToolCall, 'id' | 'name' | 'agentId'>,
  ): void {
    this.#calls.set(wireId, { id, name, agentId, ...rest });
  }
}
