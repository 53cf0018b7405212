/**
 * Calls of typed tools that the client runs (`shell`, `local_shell`, `apply_patch`): each is an item
 * of its own kind here and a call of a function everywhere else. What the item holds in its one
 * object is the input of the function.
 */
import type {
  JsonObject,
  ToolResultBlock,
  ToolResultContent,
  ToolUseBlock,
} from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { TYPED_TOOLS } from '../shared/typed-tools.js';
import { DIALECT, extend } from './wire.js';

export type TypedCallType = 'shell_call' | 'local_shell_call' | 'apply_patch_call';

interface TypedCall {
  /** What its result says, where no client of this wire said it. */
  output(callId: string, text: string, isError: boolean): JsonObject;
  /** The type of the tool. */
  tool: string;
  /** The field that holds what is to be done. */
  field: 'action' | 'operation';
  /** What the wire requires of that object and a model may leave out. */
  filled(input: JsonObject): JsonObject;
  /** Fields of it that are no input. */
  fixed: ReadonlySet<string>;
  unfinished: 'incomplete' | 'in_progress';
}

const listOf = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];

const TYPED_CALLS: Readonly<Record<TypedCallType, TypedCall>> = {
  shell_call: {
    tool: 'shell',
    field: 'action',
    filled: (input) => ({
      timeout_ms: null,
      max_output_length: null,
      ...input,
      commands: listOf(input['commands']),
    }),
    fixed: new Set(),
    unfinished: 'incomplete',
    output: (callId, text, isError) => ({
      type: 'shell_call_output',
      call_id: callId,
      output: [{ stdout: text, stderr: '', outcome: { type: 'exit', exit_code: isError ? 1 : 0 } }],
    }),
  },
  local_shell_call: {
    tool: 'local_shell',
    field: 'action',
    filled: (input) => ({ env: {}, ...input, type: 'exec', command: listOf(input['command']) }),
    fixed: new Set(['type']),
    unfinished: 'incomplete',
    output: (callId, text) => ({ type: 'local_shell_call_output', id: callId, output: text }),
  },
  apply_patch_call: {
    tool: 'apply_patch',
    field: 'operation',
    filled: (input) => input,
    fixed: new Set(),
    unfinished: 'in_progress',
    output: (callId, text, isError) => ({
      type: 'apply_patch_call_output',
      call_id: callId,
      status: isError ? 'failed' : 'completed',
      output: text,
    }),
  },
};

const CALL_TYPES: readonly TypedCallType[] = ['shell_call', 'local_shell_call', 'apply_patch_call'];

export function isTypedCall(type: unknown): type is TypedCallType {
  return CALL_TYPES.some((each) => each === type);
}

/** The type of the calls of a typed tool. */
export function callTypeOf(tool: string): TypedCallType | undefined {
  return CALL_TYPES.find((type) => TYPED_CALLS[type].tool === tool);
}

/** The type of the tool that an item calls. */
export function toolOf(type: TypedCallType): string {
  return TYPED_CALLS[type].tool;
}

/** The name of the function where the request offers no such tool any more. */
export function nameOfTyped(type: TypedCallType): string {
  const { tool } = TYPED_CALLS[type];
  return TYPED_TOOLS[DIALECT]?.[tool]?.name ?? tool;
}

/** An item that calls a typed tool, for the client or for an upstream of this wire. */
export function typedCallItem(
  head: { id?: string; call_id: string },
  type: TypedCallType,
  status: 'in_progress' | 'completed' | 'incomplete',
  input: JsonObject,
): JsonObject {
  const { field, filled, unfinished } = TYPED_CALLS[type];
  return {
    ...head,
    type,
    status: status === 'incomplete' ? unfinished : status,
    [field]: filled(input),
  };
}

/** The result of a typed call, for an upstream of this wire. */
export function typedOutputItem(
  type: TypedCallType,
  callId: string,
  text: string,
  isError: boolean,
): JsonObject {
  return TYPED_CALLS[type].output(callId, text, isError);
}

/** A shell in the provider's container: no client runs it. */
export function isProvidersShell({ environment }: JsonObject): boolean {
  return isObject(environment) && environment['type'] !== 'local';
}

/** What a function of the same meaning would be called with; what says nothing is left out. */
export function typedInput(item: JsonObject, type: TypedCallType): JsonObject {
  const { field, fixed } = TYPED_CALLS[type];
  const done = item[field];
  const input: JsonObject = {};
  for (const [key, value] of Object.entries(isObject(done) ? done : {})) {
    const isEmpty = value === null || (isObject(value) && Object.keys(value).length === 0);
    if (!fixed.has(key) && !isEmpty) input[key] = value;
  }
  return input;
}

/** The item comes back to this wire as it was. */
export function decodeTypedCall(
  item: JsonObject,
  type: TypedCallType,
  { id, name }: { id: string; name: string },
): ToolUseBlock {
  const call: ToolUseBlock = { type: 'tool_use', id, name, input: typedInput(item, type) };
  return extend(call, { $typed: type, $item: item });
}

export function decodeTypedResult(item: JsonObject, toolUseId: string): ToolResultBlock {
  const result: ToolResultBlock = {
    type: 'tool_result',
    toolUseId,
    content: outputText(item['output']),
    isError: item['status'] === 'failed',
  };
  return extend(result, { $item: item });
}

function outputText(output: unknown): ToolResultContent[] {
  if (output === undefined || output === null || output === '') return [];
  if (typeof output === 'string') return [{ type: 'text', text: output }];
  const chunks: readonly unknown[] = Array.isArray(output) ? output : [output];
  const text = chunks.map((chunk) => (isObject(chunk) ? chunkText(chunk) : String(chunk))).join('\n\n');
  return text === '' ? [] : [{ type: 'text', text }];
}

/** One command's output as a terminal would show it, and how it ended where that was not well. */
function chunkText(chunk: JsonObject): string {
  const { stdout, stderr, outcome } = chunk;
  const parts = [stdout, stderr].filter((part) => typeof part === 'string' && part !== '');
  if (isObject(outcome)) {
    const { type, exit_code: code } = outcome;
    if (type === 'timeout') parts.push('[The command ran out of time.]');
    else if (typeof code === 'number' && code !== 0) parts.push(`[exit code ${code}]`);
    else if (parts.length === 0) parts.push('[exit code 0]');
  }
  return parts.join('\n');
}
