/** Calls of Claude Code's own tools: what it says about one that it asks about, and what became of those that it runs. */
import type { CanUseTool } from '@anthropic-ai/claude-agent-sdk';
import type { JsonObject, ToolResultBlock } from '../../../core/conversation.js';
import type { AskHints, EngineRule } from '../../../permissions/decision.js';
import type { Verdict } from '../../../permissions/gate.js';
import { readUpdates, type UpdateLocation } from '../../../permissions/rules/permission-updates.js';
import type { ReviewOutcome } from '../../../tools/runtime/review.js';
import type { ToolRunEvent, ToolRunResult } from '../../../tools/runtime/runtime.js';

export type AskOptions = Parameters<CanUseTool>[2];

interface EngineAsk {
  hints: AskHints;
  rules: readonly EngineRule[];
}

/** As questions of the gateway carry it. `input`: of the call; what Claude Code only repeats of it is no hint. */
export function askOf(options: AskOptions, input: JsonObject, location: UpdateLocation): EngineAsk {
  const { blockedPath, decisionReason, title, description, mcpServer, matchedAskRule } = options;
  const reason = reasonOf(decisionReason, matchedAskRule);
  return {
    hints: {
      ...(options.defaultToNo === true ? { defaultToNo: true } : {}),
      ...(options.suppressAlwaysAllowRule === true ? { suppressAlways: true } : {}),
      ...(blockedPath ? { blockedPath } : {}),
      ...(reason === undefined ? {} : { reason }),
      ...(title ? { title } : {}),
      ...(description && !repeats(description, input) ? { description } : {}),
      ...(mcpServer === undefined ? {} : { mcpServer: { name: mcpServer.name, source: mcpServer.source } }),
    },
    rules: readUpdates(options.suggestions ?? [], location).rules.flatMap(({ rule, behaviour, scope }) =>
      behaviour === 'allow' ? [{ rule, scope }] : [],
    ),
  };
}

/** It describes a command by the command, and a file by the end of its path. */
function repeats(description: string, input: JsonObject): boolean {
  return Object.values(input).some((value) => typeof value === 'string' && value.endsWith(description));
}

/** A rule of the user's that asks is a reason of its own, whatever else there is. */
function reasonOf(given: string | undefined, matched: AskOptions['matchedAskRule']): string | undefined {
  const said = given === '' ? undefined : given;
  if (matched === undefined) return said;
  const { toolName, ruleContent, source } = matched;
  const rule = ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`;
  const forced = `The rule ${rule} of Claude Code (${source}) asks for it.`;
  return said === undefined ? forced : `${said} ${forced}`;
}

interface ReportedToolCall {
  /** Reported under this id and name. */
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

/** What became of calls, kept until Claude Code says what came of them. */
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
