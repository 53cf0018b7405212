/**
 * A tool: one object that says what it is for, validates its own input, names its effects, and
 * does it. No tool keeps state of its own: everything that outlives a call is in the context, so
 * that one object serves every session of a process.
 *
 * Who may throw: `call` and `validateInput` throw ToolError for the model; anything else thrown is
 * a bug, logged whole and shown to the model as an internal error without its message.
 */
import type * as z from 'zod';
import type { JsonObject, Message, ToolResultContent } from '../../core/conversation.js';
import type { Effect } from '../../permissions/decision.js';
import type { Description } from '../../permissions/gate.js';
import type { ToolDefinition } from '../../permissions/tool-definition.js';
import type { ToolContext } from './context.js';

/** Tools of a package of their own bring their own class, or none: the name is enough. */
export function isToolError(error: unknown): error is ToolError | (Error & { data?: unknown }) {
  return error instanceof ToolError || (error instanceof Error && error.name === 'ToolError');
}

export interface Tool<Input = unknown> {
  /** What the model calls. */
  readonly name: string;
  /** Further names that mean this tool (`Agent` for `Task`, `Jupyter` for `NotebookEdit`). */
  readonly aliases?: readonly string[];
  /** What people see. */
  userFacingName(input?: Input): string;
  /**
   * For the model. This, `isEnabled` and `prompt` are asked for at every offer, so they are plain data
   * where they can be: a turn that does not call the tool then runs nothing of it.
   */
  readonly description: string | (() => string | Promise<string>);
  /** Checks and completes the input. */
  readonly inputSchema?: z.ZodType<Input>;
  /** Given to the model as it is, and wins over `inputSchema` there. */
  readonly inputJSONSchema?: JsonObject;
  /** A function where it may change while the gateway runs. A text says why it is off. By default on. */
  readonly isEnabled?: Enablement | ((asker?: Asker) => Enablement | Promise<Enablement>);
  /** Changes nothing outside of the conversation. */
  isReadOnly(input: Input): boolean;
  /** May run beside its neighbours: it changes nothing that they could see. */
  isConcurrencySafe(input: Input): boolean;
  /** False: harmless by nature, so that mode `ask` does not ask. Rules still hold. */
  needsPermissions(input: Input): boolean;
  /** Everything that the call would touch. None where there is nothing but the tool itself to judge. */
  effects?(input: Input, context: ToolContext): readonly Effect[] | Promise<readonly Effect[]>;
  /** How to use it well, for the system prompt of an agent. */
  readonly prompt?: string | ((options: PromptOptions) => string | Promise<string>);
  /** What the schema cannot say. Before permission is asked; must not change anything. */
  validateInput?(input: Input, context: ToolContext): Validation | Promise<Validation>;
  /** Any number of `progress`, then exactly one `result`. Ends early and cleans up when the signal fires. */
  call(input: Input, context: ToolContext): AsyncGenerator<ToolYield, void, void>;
  /** What a person is shown before, while and after it runs. Must not change anything. */
  describe(input: Input, context: ToolContext): Description | Promise<Description>;
  /** What a person is shown when the call was refused; by default the title and who refused. */
  describeRejected?(input: Input, context: ToolContext): Description | Promise<Description>;
  /** The last say on the text for the model; by default the text itself. */
  renderResultForAssistant?(text: string): string;
  readonly limits?: ToolLimits;
  /** A question to the user by its nature: always asked, never on a clock. */
  readonly question?: boolean;
  /** What a server says of it, for tools that are not ours: an approval holds for this and no other. */
  readonly definition?: ToolDefinition;
  /** Fields of the input that only a person may fill in: taken out of what the model sends. */
  readonly personFields?: readonly string[];
}

/** For whom tools are looked up. */
export interface Asker {
  /** The name of the key; none where the gateway itself asks. */
  key?: string;
}

export type Enablement = boolean | { enabled: false; reason: string };

export interface PromptOptions {
  /** Names of all tools on offer beside this one. */
  tools: readonly string[];
  cwd: string;
  /** The principal's own folder of memories, for the list of them. */
  memoryDir?: string;
}

export type Validation = { ok: true } | { ok: false; message: string };

export type ToolYield = ToolProgress | ToolResult;

export interface ToolProgress {
  type: 'progress';
  /** What is new since the last one, for people. */
  content: string;
  /** What a sub-agent said and did. */
  normalizedMessages?: readonly Message[];
  /** Names of the tools that it has. */
  tools?: readonly string[];
}

export interface ToolResult {
  type: 'result';
  /** For the model. */
  resultForAssistant: string | readonly ToolResultContent[];
  /** For people: plain JSON. */
  data?: unknown;
  /**
   * For people, who see it in place of the text while the turn is watched: the same with its terminal
   * codes. Left out where it is longer than what the model may have.
   */
  shown?: string;
  isError?: boolean;
}

export interface ToolLimits {
  /** Characters of a result that go to the model; the rest is in a file. */
  resultChars?: number;
  /** Longest run, waiting for a person not counted. None: the tool has its own clock. */
  timeoutMs?: number;
}

/** Refusals and failures that the model should read and act on. The message says what to do next. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  /** For people. */
  readonly data: unknown;

  constructor(message: string, options: { cause?: unknown; data?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.data = options.data;
  }
}
