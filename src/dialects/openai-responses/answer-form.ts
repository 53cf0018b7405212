/** What a request asks of the form of its answer, noted so that the request need not be kept. */
import type { ConversationRequest, JsonObject, ToolUseBlock } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { type NamespacedName, namespacedNames } from './flat-names.js';
import { callTypeOf, isTypedCall, type TypedCallType } from './typed-calls.js';
import { DIALECT, ENCRYPTED_REASONING, SEARCH_NAME } from './wire.js';

export interface AnswerForm {
  /** The client wants its reasoning back encrypted, to send it with the next request. */
  encrypted: boolean;
  /** Tools that take free text instead of arguments. */
  custom: ReadonlySet<string>;
  /** The client searches for tools itself. */
  search: boolean;
  /** Typed tools by the names that other wires know, with the types of their calls. */
  typed: ReadonlyMap<string, TypedCallType>;
  /** By the one name that other wires know. */
  namespaced: ReadonlyMap<string, NamespacedName>;
  /** Fields of the request that the answer repeats. */
  echo: JsonObject;
}

/** Repeated as they came. Neither `instructions` nor `tools`: a stream would keep them alive as long as it lasts. */
const ECHOED = [
  'max_tool_calls',
  'metadata',
  'prompt_cache_retention',
  'safety_identifier',
  'top_logprobs',
  'truncation',
] as const;

export function answerForm(request: ConversationRequest): JsonObject {
  const own = request.extensions[DIALECT] ?? {};
  const custom: string[] = [];
  const typed: JsonObject = {};
  let search = false;
  for (const { name, extensions, typed: type } of request.tools) {
    if (type?.dialect === DIALECT) typed[name] = callTypeOf(type.kind);
    const notes = extensions?.[DIALECT];
    if (isObject(notes?.['$custom'])) custom.push(name);
    if (isObject(notes?.['$search'])) search = true;
  }
  const { include } = own;
  return {
    encrypted: Array.isArray(include) && include.includes(ENCRYPTED_REASONING),
    custom,
    typed,
    search,
    namespaced: Object.fromEntries(namespacedNames(request)),
    echo: echoOf(request, own),
  };
}

function echoOf(request: ConversationRequest, own: JsonObject): JsonObject {
  const { format, toolChoice } = request;
  const echo: JsonObject = {
    max_output_tokens: request.maxTokens ?? null,
    parallel_tool_calls: request.parallelToolCalls ?? true,
    previous_response_id: own['$previous'] ?? own['previous_response_id'] ?? null,
    prompt_cache_key: request.cacheKey ?? null,
    reasoning: { effort: request.effort ?? null, summary: own['$summary'] ?? null },
    service_tier: request.serviceTier ?? 'default',
    store: own['store'] ?? true,
    temperature: request.temperature ?? null,
    text: { format: format ?? { type: 'text' }, ...(isObject(own['text']) ? own['text'] : {}) },
    tool_choice: own['tool_choice'] ?? choiceOf(toolChoice),
    top_p: request.topP ?? null,
    user: request.userId ?? null,
  };
  if (own['$background'] === true) echo['background'] = true;
  if (typeof own['$conversation'] === 'string') echo['conversation'] = { id: own['$conversation'] };
  for (const key of ECHOED) if (own[key] !== undefined) echo[key] = own[key];
  return echo;
}

function choiceOf(choice: ConversationRequest['toolChoice']): unknown {
  if (choice === undefined) return 'auto';
  if (choice.type === 'tool') return { type: 'function', name: choice.name };
  return choice.type === 'any' ? 'required' : choice.type;
}

export function readForm(form: JsonObject | undefined): AnswerForm {
  const { encrypted, custom, typed, search, namespaced, echo } = form ?? {};
  const names = new Map<string, NamespacedName>();
  for (const [flat, value] of Object.entries(isObject(namespaced) ? namespaced : {})) {
    if (!isObject(value)) continue;
    const { namespace, name } = value;
    if (typeof namespace === 'string' && typeof name === 'string') names.set(flat, { namespace, name });
  }
  return {
    encrypted: encrypted === true,
    custom: new Set(Array.isArray(custom) ? custom.filter((name) => typeof name === 'string') : []),
    typed: new Map(
      Object.entries(isObject(typed) ? typed : {}).flatMap(([name, type]) =>
        isTypedCall(type) ? [[name, type]] : [],
      ),
    ),
    search: search === true,
    namespaced: names,
    echo: isObject(echo) ? echo : {},
  };
}

export interface ResponsesCallName {
  name: string;
  namespace?: string;
  /** The type of its item. */
  type: 'function_call' | 'custom_tool_call' | 'tool_search_call' | TypedCallType;
}

/** What the client calls a tool, as it offered it or as an upstream of this wire called it. */
export function callName(
  call: Pick<ToolUseBlock, 'name' | 'extensions'>,
  form: AnswerForm,
): ResponsesCallName {
  const {
    $namespace: namespace,
    $name: name,
    $custom: custom,
    $search: search,
    $typed: noted,
  } = call.extensions?.[DIALECT] ?? {};
  const typed = isTypedCall(noted) ? noted : form.typed.get(call.name);
  if (typed !== undefined) return { name: call.name, type: typed };
  if (search === true || (form.search && call.name === SEARCH_NAME)) {
    return { name: call.name, type: 'tool_search_call' };
  }
  const type = custom === true || form.custom.has(call.name) ? 'custom_tool_call' : 'function_call';
  const known = form.namespaced.get(call.name);
  if (known !== undefined) return { ...known, type };
  if (typeof namespace === 'string' && typeof name === 'string') return { namespace, name, type };
  return { name: call.name, type };
}
