/** A whole answer for the client: neutral to wire. */
import type {
  AssistantMessage,
  JsonObject,
  OpaqueBlock,
  StopReason,
  TextBlock,
  ToolUseBlock,
} from '../../core/conversation.js';
import type { LossLog } from '../../core/losses.js';
import type { AnswerContext } from '../shared/dialect.js';
import { type AnswerForm, isCustomToolCall, readForm } from './answer-form.js';
import { encodeDetails } from './reasoning.js';
import { DIALECT, encodeUsage, FINISH_REASONS } from './wire.js';

export const REFUSED = 'The model declined to answer.';

export function encodeResponse(
  answer: AssistantMessage,
  context: AnswerContext,
  losses: LossLog,
): JsonObject {
  const form = readForm(context.form);
  const message: JsonObject = { role: 'assistant', content: null, refusal: null };
  const choice: JsonObject = {
    index: 0,
    message,
    logprobs: null,
    finish_reason: finishReason(answer.stopReason, form),
  };
  if (answer.stopSequence !== undefined) choice['stop_reason'] = answer.stopSequence;
  const calls: ToolUseBlock[] = [];
  const texts: TextBlock[] = [];
  let thinking = '';
  for (const [index, block] of answer.content.entries()) {
    switch (block.type) {
      case 'text':
        texts.push(block);
        break;
      case 'thinking':
        thinking += block.thinking;
        break;
      case 'redacted_thinking':
        break;
      case 'tool_use':
        calls.push(block);
        break;
      case 'opaque':
        if (block.dialect === DIALECT)
          Object.assign(block.kind === 'logprobs' ? choice : message, block.value);
        else loseBlock(index, block, losses);
        break;
      default:
        losses.add(`content.${index}`, `an answer on this wire has no place for ${block.type}`);
    }
  }
  const text = texts.map((block) => block.text).join('');
  if (text !== '') message['content'] = text;
  else if (answer.stopReason === 'refusal') message['refusal'] = REFUSED;
  else if (calls.length === 0) message['content'] = '';
  if (thinking !== '') message['reasoning_content'] = thinking;
  if (answer.content.some(hasProof)) message['reasoning_details'] = encodeDetails(answer.content, 'client');
  encodeCalls(calls, form, context, message, losses);
  return {
    id: completionId(answer.id, context.requestId),
    object: 'chat.completion',
    created: context.created,
    model: context.model,
    choices: [choice],
    usage: encodeUsage(answer.usage),
  };
}

export function completionId(id: string, requestId: string): string {
  if (id.startsWith('chatcmpl')) return id;
  return `chatcmpl-${id === '' ? requestId : id}`;
}

export function finishReason(reason: StopReason, form: AnswerForm): string {
  return reason === 'tool_use' && form.legacy ? 'function_call' : FINISH_REASONS[reason];
}

function hasProof(block: AssistantMessage['content'][number]): boolean {
  return block.type === 'redacted_thinking' || (block.type === 'thinking' && block.signature !== undefined);
}

function loseBlock(index: number, block: OpaqueBlock, losses: LossLog): void {
  losses.add(`content.${index}`, `${block.kind} is known to ${block.dialect} only`);
}

function encodeCalls(
  calls: readonly ToolUseBlock[],
  form: AnswerForm,
  answer: AnswerContext,
  message: JsonObject,
  losses: LossLog,
): void {
  const [first] = calls;
  if (first === undefined) return;
  if (form.legacy) {
    message['function_call'] = { name: first.name, arguments: JSON.stringify(first.input) };
    if (calls.length > 1) losses.add('content', 'a function_call is one call; the others were left out');
    return;
  }
  message['tool_calls'] = calls.map((call, index) => {
    const id = toolCallId(call.id, answer.requestId, index);
    const extra = extraContent(call);
    if (isCustomToolCall(call, form)) {
      return { id, type: 'custom', custom: { name: call.name, input: freeText(call.input) }, ...extra };
    }
    return {
      id,
      type: 'function',
      function: { name: call.name, arguments: JSON.stringify(call.input) },
      ...extra,
    };
  });
}

export function toolCallId(id: string, requestId: string, index: number): string {
  return id === '' ? `call_${requestId}_${index}` : id;
}

/** Gemini's signature rides on the call, and a client that sends the call back sends it too. */
export function extraContent({ extensions }: Pick<ToolUseBlock, 'extensions'>): JsonObject | undefined {
  const extra = extensions?.[DIALECT]?.['extra_content'];
  return extra === undefined ? undefined : { extra_content: extra };
}

/** Free text stands in the property `input`; a model that made up others still said something. */
export function freeText(input: JsonObject): string {
  const { input: text } = input;
  return typeof text === 'string' ? text : JSON.stringify(input);
}
