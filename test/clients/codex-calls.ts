/** Calls of tools that only the Responses wire has: free text, and names inside of namespaces. */
import { sse } from '../support/replies.js';
import { call, cut, numbered, responsesObject, responsesSse, type Wire } from '../support/wire.js';
import { asReads, type Step, use } from './scripted-model.js';

interface OwnCall {
  /** As the item stands in the answer. */
  item: Wire & { id: string };
  /** The field that is streamed, and its event. */
  field: 'input' | 'arguments';
  event: string;
  text: string;
}

/** What the wire itself says; every other wire says it with a function. */
function step(own: OwnCall, name: string, input: Wire): Step {
  const { id } = own.item;
  return ({ dialect, model }) =>
    dialect === 'openai-responses'
      ? sse(asReads(responsesSse(eventsOf(own, model))))
      : use([call(name, input, String(own.item['call_id']))], `Calling ${id}.`);
}

function eventsOf({ item, field, event, text }: OwnCall, model: string): Wire[] {
  const place = { item_id: item.id, output_index: 0 };
  const whole = { ...item, [field]: text, status: 'completed' };
  const response = responsesObject({ id: `resp_${item.id}`, model, parts: [], stop: 'tool_use' });
  return numbered([
    { type: 'response.created', response: { ...response, status: 'in_progress', usage: null } },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...item, [field]: '', status: 'in_progress' },
    },
    ...cut(text, 7).map((delta) => ({ type: `response.${event}.delta`, ...place, delta })),
    { type: `response.${event}.done`, ...place, [field]: text },
    { type: 'response.output_item.done', output_index: 0, item: whole },
    { type: 'response.completed', response: { ...response, output: [whole] } },
  ]);
}

/** A call of a tool that takes free text; a function with the one property `input` elsewhere. */
export const freeCall = (name: string, text: string, id: string, namespace?: string): Step =>
  step(
    {
      item: {
        id: `ctc_${id}`,
        type: 'custom_tool_call',
        call_id: id,
        name,
        ...(namespace === undefined ? {} : { namespace }),
      },
      field: 'input',
      event: 'custom_tool_call_input',
      text,
    },
    name,
    { input: text },
  );

/** A call of a function in a namespace; elsewhere its name begins with the namespace. */
export const namespacedCall = (namespace: string, name: string, input: Wire, id: string): Step =>
  step(
    {
      item: { id: `fc_${id}`, type: 'function_call', call_id: id, name, namespace },
      field: 'arguments',
      event: 'function_call_arguments',
      text: JSON.stringify(input),
    },
    `${namespace}__${name}`,
    input,
  );
