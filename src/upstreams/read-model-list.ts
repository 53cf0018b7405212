/** The lists of models that upstreams give: OpenAI's, Anthropic's and what grew around them. */
import { isObject } from '../core/is-object.js';
import type { ListedModel } from './upstream.js';

/** Where servers put the size of the context. */
const CONTEXT_FIELDS = [
  'context_window',
  'context_length',
  'max_model_len',
  'max_context_length',
  'max_input_tokens',
];

/** Undefined where `body` is no list. */
export function readModelList(body: unknown): ListedModel[] | undefined {
  const list = isObject(body) ? (body.data ?? body.models) : body;
  if (!Array.isArray(list)) return undefined;
  return list.flatMap((entry: unknown) => {
    if (!isObject(entry) || typeof entry.id !== 'string' || entry.id === '') return [];
    const contextWindow = CONTEXT_FIELDS.map((name) => entry[name]).find(
      (value) => typeof value === 'number',
    );
    return [
      {
        // Gemini's list has `models/…`, its requests take the bare name.
        id: entry.id.replace(/^models\//, ''),
        ...(typeof entry.display_name === 'string' ? { displayName: entry.display_name } : {}),
        ...(isMoment(entry.created) ? { created: entry.created } : {}),
        ...(typeof contextWindow === 'number' ? { contextWindow } : {}),
      },
    ];
  });
}

/** Unix seconds that a date can hold. */
function isMoment(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < 1e11;
}
