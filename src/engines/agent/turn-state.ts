/** What an engine saves beside the transcript, and how it is read again. */

import type { JsonObject } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import type { Turn } from '../../sessions/sessions.js';

export interface TurnState {
  /** The snapshot of the conversation's tool session. */
  tools?: JsonObject | undefined;
  /** Why calls of the last message must not run, by id. */
  problems?: Readonly<Record<string, string>> | undefined;
}

export function encodeTurnState({ tools, problems }: TurnState): JsonObject {
  return { ...(tools === undefined ? {} : { tools }), ...(problems === undefined ? {} : { problems }) };
}

/**
 * A fork begins with what its parent had at the end of the answer where both part: the model knows
 * of that much. An import begins with nothing.
 */
export function decodeTurnState({ state }: Pick<Turn, 'state'>): TurnState {
  const { tools, problems } = state ?? {};
  return {
    ...(isObject(tools) ? { tools } : {}),
    ...(isObject(problems) ? { problems: textsOf(problems) } : {}),
  };
}

function textsOf(values: JsonObject): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [key, value] of Object.entries(values)) if (typeof value === 'string') texts[key] = value;
  return texts;
}
