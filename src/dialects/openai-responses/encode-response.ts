/** A whole answer for the client: neutral to wire. */
import type { AssistantMessage, Block, JsonObject } from '../../core/conversation.js';
import type { LossLog } from '../../core/losses.js';
import type { AnswerContext } from '../shared/dialect.js';
import { freeText } from '../shared/free-text.js';
import { type AnswerForm, callName, readForm } from './answer-form.js';
import {
  callItem,
  itemId,
  messageItem,
  ownItem,
  REFUSED,
  reasoningItem,
  refusalContent,
  textContent,
} from './encode-items.js';
import { type ResponseEnd, responseId, responseObject } from './response-object.js';
import { DIALECT, INCOMPLETE } from './wire.js';

export function encodeResponse(
  answer: AssistantMessage,
  context: AnswerContext,
  losses: LossLog,
): JsonObject {
  const form = readForm(context.form);
  const id = responseId(answer.id);
  const output = encodeOutput(answer, id, form, losses);
  return responseObject({ id, model: context.model, created: context.created }, endOf(answer), output, form);
}

export function endOf({ stopReason, usage }: Pick<AssistantMessage, 'stopReason' | 'usage'>): ResponseEnd {
  const reason = INCOMPLETE[stopReason];
  return reason === undefined ? { status: 'completed', usage } : { status: 'incomplete', reason, usage };
}

function encodeOutput(answer: AssistantMessage, id: string, form: AnswerForm, losses: LossLog): JsonObject[] {
  const output: JsonObject[] = [];
  for (const [index, block] of answer.content.entries()) {
    const item = encodeItem(block, id, output.length, form);
    if (item !== undefined) output.push(item);
    else if (block.type !== 'text')
      losses.add(`content.${index}`, `an answer on this wire has no ${nameOf(block)}`);
  }
  const says = output.some(({ type }) => type === 'message');
  if (answer.stopReason === 'refusal' ? !says : output.length === 0) {
    const content = answer.stopReason === 'refusal' ? refusalContent(REFUSED) : textContent('');
    output.push(messageItem(itemId('message', id, output.length), content));
  }
  return output;
}

/** Undefined for what is empty, and for what an answer of this wire cannot hold. */
function encodeItem(block: Block, id: string, index: number, form: AnswerForm): JsonObject | undefined {
  switch (block.type) {
    case 'text':
      if (block.text === '') return undefined;
      return messageItem(itemId('message', id, index), textContent(block.text));
    case 'thinking':
      return reasoningItem(itemId('reasoning', id, index), block, form.encrypted);
    case 'redacted_thinking':
      if (!form.encrypted) return undefined;
      return reasoningItem(itemId('reasoning', id, index), block, true);
    case 'tool_use': {
      const called = callName(block, form);
      const input = called.type === 'custom_tool_call' ? freeText(block.input) : JSON.stringify(block.input);
      return callItem(itemId(called.type, id, index), block.id, called, 'completed', input);
    }
    case 'opaque':
      return block.dialect === DIALECT ? ownItem(block, itemId('item', id, index)) : undefined;
    default:
      return undefined;
  }
}

function nameOf(block: Block): string {
  return block.type === 'opaque' ? `${block.kind} (${block.dialect})` : block.type;
}
