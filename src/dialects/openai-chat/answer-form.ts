/** What a request asks of the form of its answer, noted so that the request need not be kept. */
import type { ConversationRequest, JsonObject, ToolUseBlock } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { DIALECT } from './wire.js';

export interface AnswerForm {
  /** The client speaks of `functions`, the wire's first form, and reads one `function_call`. */
  legacy: boolean;
  /** Tools that take free text instead of arguments. */
  custom: ReadonlySet<string>;
}

const PLAIN: AnswerForm = { legacy: false, custom: new Set() };

/** Undefined for the usual form. */
export function answerForm(request: ConversationRequest): JsonObject | undefined {
  let legacy = false;
  const custom: string[] = [];
  for (const { name, extensions } of request.tools) {
    const own = extensions?.[DIALECT];
    if (own?.['$legacy'] === true) legacy = true;
    if (isObject(own?.['$custom'])) custom.push(name);
  }
  return legacy || custom.length > 0 ? { legacy, custom } : undefined;
}

export function readForm(form: JsonObject | undefined): AnswerForm {
  if (form === undefined) return PLAIN;
  const { legacy, custom } = form;
  return {
    legacy: legacy === true,
    custom: new Set(Array.isArray(custom) ? custom.filter((name) => typeof name === 'string') : []),
  };
}

/** A call of a tool that takes free text, offered so by this client or called so by this wire's upstream. */
export function isCustomToolCall(
  call: Pick<ToolUseBlock, 'name' | 'extensions'>,
  { custom }: AnswerForm,
): boolean {
  return custom.has(call.name) || call.extensions?.[DIALECT]?.['type'] === 'custom';
}
