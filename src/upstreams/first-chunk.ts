/**
 * Holds a stream until its first real piece: until then an error can still become a status, and
 * another upstream can still answer. What was held is given first.
 */
import { GatewayError } from '../core/errors.js';
import type { ModelEvent } from '../core/events.js';

/** These say nothing yet: an upstream may send them and fail at once. */
const PRELUDE: ReadonlySet<ModelEvent['type']> = new Set(['start', 'ping', 'usage', 'break', 'loss']);

/** After so many of them the client gets to see that something comes. */
const PRELUDE_LIMIT = 10_000;

export function isPrelude(event: ModelEvent): boolean {
  return PRELUDE.has(event.type);
}

/** Rejects with the error of a stream that begins with one, or that ends without a word. */
export async function untilFirstChunk(
  batches: AsyncGenerator<readonly ModelEvent[]>,
): Promise<AsyncIterable<readonly ModelEvent[]>> {
  const held: ModelEvent[] = [];
  for (;;) {
    const next = await batches.next();
    if (next.done) {
      throw new GatewayError('upstream_failed', 'The upstream closed the connection without an answer.', {
        retryable: true,
      });
    }
    for (const event of next.value) held.push(event);
    const first = next.value.find((event) => !isPrelude(event));
    if (first === undefined && held.length < PRELUDE_LIMIT) continue;
    if (first?.type === 'error') {
      await batches.return(undefined);
      throw first.error;
    }
    return withHeld(held, batches);
  }
}

/** By hand: a generator that delegates to another costs each batch two more promises. */
function withHeld(
  held: readonly ModelEvent[],
  rest: AsyncGenerator<readonly ModelEvent[]>,
): AsyncIterableIterator<readonly ModelEvent[]> {
  let isGiven = false;
  return {
    next() {
      if (isGiven) return rest.next();
      isGiven = true;
      return Promise.resolve({ done: false, value: held });
    },
    return() {
      isGiven = true;
      return rest.return(undefined);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
