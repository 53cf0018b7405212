/**
 * From a user's definition to a whole tool. Little is needed: a name, a description, the shape of
 * the input and a function; whatever is left out gets the careful answer. Where the classic tool
 * interface of coding agents differs from the gateway's own, both are taken: the names of its context,
 * its answers to `validateInput`, its texts in place of descriptions.
 */
import type * as z from 'zod';
import type { JsonObject, ToolResultContent } from '../../core/conversation.js';
import { isObjectOrList } from '../../core/is-object.js';
import { linkSignals } from '../../core/stopping.js';
import type { Effect } from '../../permissions/decision.js';
import type { Description } from '../../permissions/gate.js';
import type { ToolContext, ToolOptions, ToolPermission } from './context.js';
import { toJsonSchema } from './parse-input.js';
import type {
  Asker,
  Enablement,
  PromptOptions,
  Tool,
  ToolLimits,
  ToolResult,
  ToolYield,
  Validation,
} from './tool.js';

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

function ownContext(context: ToolContext): OwnToolContext {
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
function readValidation(name: string, answer: unknown): Validation {
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
function titled(
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
function namingTools(step: ToolYield): ToolYield {
  if (step?.type !== 'progress' || step.tools === undefined) return step;
  const tools: readonly unknown[] = step.tools;
  return { ...step, tools: tools.map((tool) => String(field(tool, 'name') ?? tool)) };
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

/** What a tool of one's own exports. */
export interface OwnTool<Input = unknown> {
  name: string;
  aliases?: readonly string[];
  userFacingName?: string | ((input?: Input) => string);
  description: string | ((input?: Input) => string | Promise<string>);
  /** A zod 4 schema. */
  inputSchema?: z.ZodType<Input>;
  /** In place of it, or beside it for what the model is shown. Neither: no input. */
  inputJSONSchema?: JsonObject;
  isEnabled?: Enablement | ((asker?: Asker) => Enablement | Promise<Enablement>);
  isReadOnly?: boolean | ((input: Input) => boolean);
  /** By default what only reads is. */
  isConcurrencySafe?: boolean | ((input: Input) => boolean);
  needsPermissions?: boolean | ((input: Input) => boolean);
  effects?(input: Input, context: OwnToolContext): readonly Effect[] | Promise<readonly Effect[]>;
  prompt?: string | ((options: PromptOptions) => string | Promise<string>);
  validateInput?(input: Input, context: OwnToolContext): OwnValidation | Promise<OwnValidation>;
  /** A text, content blocks, a result or any other value (shown as JSON); or a generator of progress and a result. */
  call(
    input: Input,
    context: OwnToolContext,
    canUseTool: CanUseTool,
  ): AsyncGenerator<ToolYield, unknown, void> | Promise<OwnResult> | OwnResult;
  describe?(input: Input, context: OwnToolContext): Partial<Description> | Promise<Partial<Description>>;
  describeRejected?(
    input: Input,
    context: OwnToolContext,
  ): Partial<Description> | Promise<Partial<Description>>;
  /** Where there is no `describe`: a text becomes its title, anything else that it draws is left out. */
  renderToolUseMessage?(input: Input): unknown;
  /** The same for `describeRejected`. */
  renderToolUseRejectedMessage?(input: Input): unknown;
  renderResultForAssistant?(text: string): string;
  limits?: ToolLimits;
}

export type OwnResult =
  | string
  | readonly ToolResultContent[]
  | Omit<ToolResult, 'type'>
  | JsonObject
  | undefined;

/** A tool that hangs must not hold its turn for ever. */
const OWN_TIMEOUT_MS = 10 * 60 * 1000;

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** Everything that was left out gets its default. Throws an Error that says what is missing or wrong. */
function completeTool<Input>(definition: OwnTool<Input>): Tool<Input> {
  const problem = problemOf(definition);
  if (problem !== undefined) throw new TypeError(problem);
  const { name, aliases, description, inputSchema, inputJSONSchema } = definition;
  const { effects, validateInput, renderResultForAssistant } = definition;
  const {
    isEnabled = true,
    isReadOnly = false,
    isConcurrencySafe = isReadOnly,
    needsPermissions = true,
  } = definition;
  const { prompt = '', userFacingName = name } = definition;
  const schema = inputJSONSchema ?? (inputSchema === undefined ? NO_INPUT : undefined);
  return {
    name,
    ...(aliases === undefined ? {} : { aliases }),
    userFacingName: asFunction(definition, userFacingName),
    description: describing(asFunction(definition, description)),
    ...(inputSchema === undefined ? {} : { inputSchema }),
    ...(schema === undefined ? {} : { inputJSONSchema: schema }),
    isEnabled: asFunction(definition, isEnabled),
    isReadOnly: asFunction(definition, isReadOnly),
    isConcurrencySafe: asFunction(definition, isConcurrencySafe),
    needsPermissions: asFunction(definition, needsPermissions),
    prompt: asFunction(definition, prompt),
    ...(effects === undefined
      ? {}
      : { effects: (input, context) => definition.effects?.(input, ownContext(context)) ?? [] }),
    ...(validateInput === undefined
      ? {}
      : {
          validateInput: async (input, context) =>
            readValidation(name, await definition.validateInput?.(input, ownContext(context))),
        }),
    call: (input, context) => steps(definition, input, context),
    describe: async (input, context) => ({
      ...plain(name, input),
      ...titled(definition, 'renderToolUseMessage', input),
      ...(await definition.describe?.(input, ownContext(context))),
    }),
    ...(describesRejected(definition)
      ? {
          describeRejected: async (input, context) => ({
            ...plain(name, input),
            ...titled(definition, 'renderToolUseRejectedMessage', input),
            ...(await definition.describeRejected?.(input, ownContext(context))),
          }),
        }
      : {}),
    ...(renderResultForAssistant === undefined
      ? {}
      : { renderResultForAssistant: (text) => definition.renderResultForAssistant?.(text) ?? text }),
    limits: { timeoutMs: OWN_TIMEOUT_MS, ...definition.limits },
  };
}

/** Whatever a file exports, as far as it is recognisable as a tool. Throws as `completeTool` does. */
export function toTool(value: unknown): Tool {
  if (!isObjectOrList(value))
    throw new TypeError(`expected a tool, got ${value === null ? 'null' : typeof value}`);
  if (isOwnTool(value)) return completeTool(value);
  throw new TypeError(problemOf(value));
}

const NO_INPUT: JsonObject = { type: 'object', properties: {}, additionalProperties: false };

async function* steps<Input>(
  definition: OwnTool<Input>,
  input: Input,
  context: ToolContext,
): AsyncGenerator<ToolYield, void, void> {
  const canUseTool: CanUseTool = (tool, other) => context.canUseTool(tool, other);
  const answer = definition.call(input, ownContext(context), canUseTool);
  if (isGenerator(answer)) {
    for await (const step of answer) yield namingTools(step);
    return;
  }
  yield toResult(await answer);
}

/** Nothing is an answer too: the work is done and there is nothing to say. */
function toResult(answer: OwnResult): ToolResult {
  if (answer === undefined || answer === null) return { type: 'result', resultForAssistant: 'Done.' };
  if (typeof answer === 'string') return { type: 'result', resultForAssistant: answer };
  if (isContentList(answer)) return { type: 'result', resultForAssistant: answer };
  if (isResultLike(answer)) return { ...answer, type: 'result' };
  return { type: 'result', resultForAssistant: JSON.stringify(answer, null, 2), data: answer };
}

function isResultLike(value: object): value is Omit<ToolResult, 'type'> {
  return 'resultForAssistant' in value;
}

function isContentList(value: unknown): value is readonly ToolResultContent[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(
      (block) => isObjectOrList(block) && ['text', 'image', 'document'].includes(String(block['type'])),
    )
  );
}

function isGenerator(value: unknown): value is AsyncGenerator<ToolYield, unknown, void> {
  return isObjectOrList(value) && Symbol.asyncIterator in value;
}

/** One that is made for a call alone (`description({ command })`) is asked with an empty input for the list. */
function describing<Input>(describe: (input?: Input) => string | Promise<string>): () => Promise<string> {
  return async () => {
    try {
      return await describe();
    } catch (error) {
      const empty: unknown = await Reflect.apply(describe, undefined, [{}]);
      if (typeof empty === 'string') return empty;
      throw error;
    }
  };
}

function describesRejected(definition: object): boolean {
  return ['describeRejected', 'renderToolUseRejectedMessage'].some(
    (key) => typeof Reflect.get(definition, key) === 'function',
  );
}

function plain(name: string, input: unknown): Description {
  const detail = JSON.stringify(input, null, 2);
  return {
    title: name,
    kind: 'other',
    paths: [],
    ...(detail === '{}' || detail === undefined ? {} : { detail }),
  };
}

/** A method of the definition keeps its `this`. */
function asFunction<A extends readonly unknown[], R>(
  own: object,
  value: R | ((...args: A) => R),
): (...args: A) => R;
function asFunction(own: object, value: unknown): (...args: readonly unknown[]) => unknown {
  return typeof value === 'function' ? (...args) => Reflect.apply(value, own, args) : () => value;
}

const FUNCTIONS = [
  'effects',
  'validateInput',
  'describe',
  'describeRejected',
  'renderToolUseMessage',
  'renderToolUseRejectedMessage',
  'renderResultForAssistant',
];

function problemOf(definition: object): string | undefined {
  const given = new Map(Object.entries(definition));
  const name = given.get('name');
  if (typeof name !== 'string' || !NAME.test(name)) {
    return 'its `name` must be 1 to 64 letters, digits, _ and -, with a letter first';
  }
  if (name.startsWith('mcp__')) return `its name ${name} is of the form that belongs to MCP servers`;
  const description = given.get('description');
  if (typeof description !== 'function' && (typeof description !== 'string' || description.trim() === '')) {
    return `${name} needs a \`description\`: a text, or a function that returns one`;
  }
  if (typeof given.get('call') !== 'function') return `${name} needs a function \`call(input, context)\``;
  for (const key of FUNCTIONS) {
    if (given.has(key) && given.get(key) !== undefined && typeof given.get(key) !== 'function') {
      return `\`${key}\` of ${name} must be a function`;
    }
  }
  return schemaProblem(name, given.get('inputSchema'), given.get('inputJSONSchema'));
}

function schemaProblem(name: string, schema: unknown, jsonSchema: unknown): string | undefined {
  if (jsonSchema !== undefined && (!isObjectOrList(jsonSchema) || jsonSchema['type'] !== 'object')) {
    return `\`inputJSONSchema\` of ${name} must be a JSON Schema with type "object"`;
  }
  if (schema === undefined) return undefined;
  if (!isZodSchema(schema))
    return `\`inputSchema\` of ${name} must be a zod 4 schema; or give \`inputJSONSchema\``;
  try {
    if (jsonSchema !== undefined || toJsonSchema(schema)['type'] === 'object') return undefined;
    return `\`inputSchema\` of ${name} must be an object schema: z.object({ … })`;
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return `\`inputSchema\` of ${name} cannot be written as JSON Schema (${detail}); give \`inputJSONSchema\` as well`;
  }
}

/** Any copy of zod 4 marks its schemas so. */
function isZodSchema(value: unknown): value is z.ZodType {
  return isObjectOrList(value) && '_zod' in value && typeof value['safeParse'] === 'function';
}

function isOwnTool(value: object): value is OwnTool {
  return problemOf(value) === undefined;
}
