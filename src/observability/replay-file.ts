/** One recorded request as a file: `trace ID --save` and the console write it, `trace --replay` reads it. */
import type { JsonObject } from '../core/conversation.js';

interface Recorded {
  id: string;
  at: number;
  model: string;
  status: number;
  summary: JsonObject;
}

export function toReplayFile({ id, at, model, status, summary }: Recorded, payload: JsonObject): JsonObject {
  const { session } = summary;
  return {
    ...{ request: id, at, model, status },
    // Of a turn in a conversation that the gateway keeps.
    ...(session === undefined ? {} : { session }),
    ...payload,
  };
}
