/** The `response` object around the items of an answer. */
import type { Response } from 'openai/resources/responses/responses.js';
import type { JsonObject, Usage } from '../../core/conversation.js';
import type { AnswerForm } from './answer-form.js';
import { encodeUsage, type INCOMPLETE } from './wire.js';

export interface ResponseHead {
  id: string;
  model: string;
  /** Unix seconds. */
  created: number;
}

export type ResponseEnd =
  | { status: 'in_progress' }
  | { status: 'completed'; usage: Usage }
  | { status: 'incomplete'; reason: (typeof INCOMPLETE)[keyof typeof INCOMPLETE]; usage: Usage }
  | { status: 'failed'; error: { code: string; message: string } };

type Written = Pick<
  Response,
  | 'id'
  | 'object'
  | 'created_at'
  | 'status'
  | 'model'
  | 'background'
  | 'instructions'
  | 'tools'
  | 'metadata'
  | 'truncation'
>;

/** `output` stands before everything that the client wrote, so that its place in the JSON text is known. */
export function responseObject(
  { id, model, created }: ResponseHead,
  end: ResponseEnd,
  output: readonly JsonObject[],
  { echo }: AnswerForm,
): JsonObject {
  const known: Written = {
    id,
    object: 'response',
    created_at: created,
    status: end.status,
    model,
    background: false,
    instructions: null,
    tools: [],
    metadata: {},
    truncation: 'disabled',
  };
  const { tools, metadata, truncation, instructions, ...head } = known;
  return {
    ...head,
    output,
    error: end.status === 'failed' ? end.error : null,
    incomplete_details: end.status === 'incomplete' ? { reason: end.reason } : null,
    instructions,
    tools,
    metadata,
    truncation,
    ...echo,
    usage: 'usage' in end ? encodeUsage(end.usage) : null,
  };
}

const NO_OUTPUT = '"output":[]';

/** The same as text, around items that are text already. */
export function responseText(
  head: ResponseHead,
  end: ResponseEnd,
  items: readonly string[],
  form: AnswerForm,
): string {
  const text = JSON.stringify(responseObject(head, end, [], form));
  if (items.length === 0) return text;
  const at = text.indexOf(NO_OUTPUT) + NO_OUTPUT.length - 1;
  return `${text.slice(0, at)}${items.join(',')}${text.slice(at)}`;
}

/** `resp_…`, whatever the gateway calls the answer. */
export function responseId(id: string): string {
  return id.startsWith('resp_') ? id : `resp_${id}`;
}
