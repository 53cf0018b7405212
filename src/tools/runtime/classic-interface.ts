/**
 * The classic tool interface of coding agents, as far as it differs from the gateway's own: the
 * names of its context, its answers to `validateInput`, its texts in place of descriptions.
 */
import { linkSignals } from '../../core/stopping.js';
import type { Description } from '../../permissions/gate.js';
import type { ToolContext, ToolOptions, ToolPermission } from './context.js';
import type { ToolYield, Validation } from './tool.js';

/** What `validateInput` may answer; nothing at all is no objection. */
export type OwnValidation = Validation | { result: true } | { result: false; message?: string } | undefined;

/** As the third argument of `call`. The context may be left out: the call has one already. */
export type CanUseTool = (
  tool: string | { name: string },
  input: unknown,
  context?: unknown,
) => Promise<ToolPermission>;

export interface OwnToolContext extends ToolContext {
  readonly options: ToolOptions & {
    readonly slowAndCapableModel: string;
    readonly messageLogName: string;
    readonly maxThinkingTokens: number;
  };
  /** Follows `signal`. To abort it ends nothing but what the tool itself hung on it. */
  readonly abortController: AbortController;
  /** When each file was read last, by its real path. */
  readonly readFileTimestamps: Readonly<Record<string, number>>;
}

export function ownContext(context: ToolContext): OwnToolContext {
  const { options, signal, files } = context;
  let controller: AbortController | undefined;
  return {
    ...context,
    options: {
      ...options,
      slowAndCapableModel: options.model,
      messageLogName: options.logName,
      maxThinkingTokens: options.thinkingBudget ?? 0,
    },
    get abortController() {
      controller ??= linkSignals(signal).controller;
      return controller;
    },
    get readFileTimestamps() {
      return Object.fromEntries([...files.entries()].map(([path, { readAt }]) => [path, readAt]));
    },
  };
}

/** Throws for an answer that is neither yes nor no: it must not count as a yes. */
export function readValidation(name: string, answer: unknown): Validation {
  if (answer === undefined) return { ok: true };
  const verdict = field(answer, 'result') ?? field(answer, 'ok');
  if (verdict === true) return { ok: true };
  if (verdict === false) {
    const message = field(answer, 'message');
    return { ok: false, message: typeof message === 'string' && message !== '' ? message : NO_REASON };
  }
  const shown = JSON.stringify(answer)?.slice(0, 100) ?? String(answer);
  throw new TypeError(
    `validateInput of ${name} answered ${shown}. It has to answer { result: true } or { result: false, message }`,
  );
}

const NO_REASON = 'The tool refused this input without a reason.';

/** A text that a tool would show a person; whatever else it would draw is left out. */
export function titled(
  definition: object,
  member: 'renderToolUseMessage' | 'renderToolUseRejectedMessage',
  input: unknown,
): Partial<Description> {
  const render: unknown = Reflect.get(definition, member);
  const shown: unknown =
    typeof render === 'function' ? Reflect.apply(render, definition, [input]) : undefined;
  return typeof shown === 'string' && shown.trim() !== '' ? { title: shown } : {};
}

/** Progress may name whole tools; people are shown their names. */
export function namingTools(step: ToolYield): ToolYield {
  if (step?.type !== 'progress' || step.tools === undefined) return step;
  const tools: readonly unknown[] = step.tools;
  return { ...step, tools: tools.map((tool) => String(field(tool, 'name') ?? tool)) };
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
