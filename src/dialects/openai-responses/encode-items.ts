/** Items of an answer: neutral to wire. The stream writes the same ones, piece by piece. */
import { parseInput } from '../../core/answer-collector.js';
import type {
  JsonObject,
  OpaqueBlock,
  RedactedThinkingBlock,
  ThinkingBlock,
} from '../../core/conversation.js';
import type { ResponsesCallName } from './answer-form.js';
import { sealReasoning } from './reasoning.js';
import { typedCallItem } from './typed-calls.js';

export const REFUSED = 'The model declined to answer.';

const PREFIX = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  custom_tool_call: 'ctc',
  tool_search_call: 'tsc',
  shell_call: 'sh',
  local_shell_call: 'lsh',
  apply_patch_call: 'apc',
  item: 'item',
} as const;

/** Stable: the same item of the same answer has the same id, streamed or whole. */
export function itemId(type: keyof typeof PREFIX, responseId: string, index: number): string {
  return `${PREFIX[type]}_${responseId.replace(/^resp_/, '')}_${index}`;
}

const OWN_ITEM = new RegExp(`^(?:${Object.values(PREFIX).join('|')})_(.+)_\\d+$`);

/** The answer that an item with an id of ours stands in; undefined for ids of others. */
export function responseOfItem(id: string): string | undefined {
  const found = OWN_ITEM.exec(id)?.[1];
  return found === undefined ? undefined : `resp_${found}`;
}

export function textContent(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

export function refusalContent(refusal: string): JsonObject {
  return { type: 'refusal', refusal };
}

export function messageItem(
  id: string,
  content: JsonObject | undefined,
  status: 'completed' | 'incomplete' = 'completed',
): JsonObject {
  return {
    id,
    type: 'message',
    status: content === undefined ? 'in_progress' : status,
    role: 'assistant',
    content: content === undefined ? [] : [content],
  };
}

export function summaryPart(text: string): JsonObject {
  return { type: 'summary_text', text };
}

/** `block` is undefined for an item that only begins. */
export function reasoningItem(
  id: string,
  block: ThinkingBlock | RedactedThinkingBlock | undefined,
  encrypted: boolean,
): JsonObject {
  const text = block?.type === 'thinking' ? block.thinking : '';
  const item: JsonObject = { id, type: 'reasoning', summary: text === '' ? [] : [summaryPart(text)] };
  if (encrypted && block !== undefined) item['encrypted_content'] = sealReasoning(block);
  return item;
}

/** `input` is the arguments' JSON, or the free text of a custom call. */
export function callItem(
  id: string,
  callId: string,
  { name, namespace, type }: ResponsesCallName,
  status: 'in_progress' | 'completed' | 'incomplete',
  input: string,
): JsonObject {
  const head = { id, type, status, call_id: callId };
  const named = { ...head, name, ...(namespace === undefined ? {} : { namespace }) };
  switch (type) {
    case 'function_call':
      return { ...named, arguments: input };
    case 'custom_tool_call':
      return { ...named, input };
    case 'tool_search_call':
      return { ...head, execution: 'client', arguments: parseInput(input) };
    default:
      return typedCallItem({ id, call_id: callId }, type, status, parseInput(input));
  }
}

/** An item that only this wire has, as its upstream gave it. */
export function ownItem({ value }: OpaqueBlock, id: string): JsonObject {
  return typeof value['id'] === 'string' && value['id'] !== '' ? value : { ...value, id };
}
