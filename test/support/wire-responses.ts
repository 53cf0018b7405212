/** Exact bytes of the OpenAI Responses API. */
import {
  CREATED,
  joined,
  type Part,
  piecesOf,
  type Scripted,
  stopOf,
  usageOf,
  type Wire,
} from './scripted.js';

/** Named events like Anthropic's; the stream ends with its last event and no `[DONE]`. */
export const responsesSse = (events: readonly Wire[]): string =>
  events.map((event) => `event: ${event['type']}\ndata: ${JSON.stringify(event)}\n\n`).join('');

const ID = 'resp_scripted';
const MODEL = 'gpt-scripted';

function usageWire(scripted: Scripted): Wire {
  const usage = usageOf(scripted);
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + usage.output,
  };
}

const textPart = (text: string): Wire => ({ type: 'output_text', text, annotations: [], logprobs: [] });
const summaryPart = (text: string): Wire => ({ type: 'summary_text', text });

type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** The item of `part`, whole or as it is when it opens. */
function item(part: Part, index: number, status: ItemStatus): Wire {
  const whole = status !== 'in_progress';
  switch (part.type) {
    case 'text':
      return {
        id: `msg_${index}`,
        type: 'message',
        status,
        role: 'assistant',
        content: whole ? [textPart(joined(part.text))] : [],
      };
    case 'thinking':
      return {
        id: `rs_${index}`,
        type: 'reasoning',
        summary: whole ? [summaryPart(joined(part.text))] : [],
        ...(part.signature === undefined ? {} : { encrypted_content: whole ? part.signature : '' }),
      };
    case 'call':
      return {
        id: `fc_${index}`,
        type: 'function_call',
        status,
        call_id: part.id,
        name: part.name,
        arguments: whole ? joined(part.arguments) : '',
      };
  }
}

function response(scripted: Scripted, status: string, output: readonly Wire[], usage: Wire | null): Wire {
  return {
    id: scripted.id ?? ID,
    object: 'response',
    created_at: CREATED,
    status,
    background: false,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason: reasonOf(scripted) } : null,
    instructions: null,
    max_output_tokens: null,
    metadata: {},
    model: scripted.model ?? MODEL,
    output,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage,
    user: null,
  };
}

const reasonOf = (scripted: Scripted): string =>
  stopOf(scripted) === 'refusal' ? 'content_filter' : 'max_output_tokens';

const statusOf = (scripted: Scripted): 'completed' | 'incomplete' =>
  stopOf(scripted) === 'max_tokens' || stopOf(scripted) === 'refusal' ? 'incomplete' : 'completed';

/** Where the answer was cut off, its last item was. */
const outputOf = (scripted: Scripted): Wire[] =>
  scripted.parts.map((part, index, { length }) =>
    item(part, index, index === length - 1 ? statusOf(scripted) : 'completed'),
  );

export const responsesObject = (scripted: Scripted): Wire =>
  response(scripted, statusOf(scripted), outputOf(scripted), usageWire(scripted));

function textEvents(place: Wire, text: string, pieces: readonly string[]): Wire[] {
  const at = { ...place, content_index: 0 };
  return [
    { type: 'response.content_part.added', ...at, part: textPart('') },
    ...pieces.map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...at, text, logprobs: [] },
    { type: 'response.content_part.done', ...at, part: textPart(text) },
  ];
}

function summaryEvents(place: Wire, text: string, pieces: readonly string[]): Wire[] {
  const at = { ...place, summary_index: 0 };
  return [
    { type: 'response.reasoning_summary_part.added', ...at, part: summaryPart('') },
    ...pieces.map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...at, delta })),
    { type: 'response.reasoning_summary_text.done', ...at, text },
    { type: 'response.reasoning_summary_part.done', ...at, part: summaryPart(text) },
  ];
}

function innerEvents(part: Part, place: Wire): Wire[] {
  switch (part.type) {
    case 'text':
      return textEvents(place, joined(part.text), piecesOf(part.text));
    case 'thinking':
      return summaryEvents(place, joined(part.text), piecesOf(part.text));
    case 'call':
      return [
        ...piecesOf(part.arguments).map((delta) => ({
          type: 'response.function_call_arguments.delta',
          ...place,
          delta,
        })),
        { type: 'response.function_call_arguments.done', ...place, arguments: joined(part.arguments) },
      ];
  }
}

/** Puts `sequence_number`s on events written by hand. */
export const numbered = (events: readonly Wire[]): Wire[] =>
  events.map((event, index) => ({ ...event, sequence_number: index }));

export function responsesEvents(scripted: Scripted): Wire[] {
  const begun = response(scripted, 'in_progress', [], null);
  const status = statusOf(scripted);
  const output = outputOf(scripted);
  return numbered([
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...scripted.parts.flatMap((part, index) => {
      const opened = item(part, index, 'in_progress');
      return [
        { type: 'response.output_item.added', output_index: index, item: opened },
        ...innerEvents(part, { item_id: opened['id'], output_index: index }),
        { type: 'response.output_item.done', output_index: index, item: output[index] },
      ];
    }),
    { type: `response.${status}`, response: responsesObject(scripted) },
  ]);
}

export const responsesStream = (scripted: Scripted): string => responsesSse(responsesEvents(scripted));

/** The stream of an answer that failed after `scripted` had begun. */
export function responsesFailure(code: string, message: string, scripted: Scripted = { parts: [] }): Wire[] {
  const begun = responsesEvents(scripted).slice(0, -1);
  const failed = { ...response(scripted, 'failed', [], null), error: { code, message } };
  return numbered([...begun, { type: 'response.failed', response: failed }]);
}
