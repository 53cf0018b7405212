/**
 * Holds a stream until its first real piece: until then an error can still become a status, and
 * another upstream can still answer. What was held is given first.
 */
import { GatewayError } from '../core/errors.js';
import type { TurnEvent } from '../core/events.js';

/** These say nothing yet: an upstream may send them and fail at once. */
const PRELUDE: ReadonlySet<TurnEvent['type']> = new Set(['start', 'ping', 'usage', 'break', 'loss']);

/** After so many of them the client gets to see that something comes. */
const PRELUDE_LIMIT = 10_000;

export function isPrelude(event: TurnEvent): boolean {
  return PRELUDE.has(event.type);
}

/** Rejects with the error of a stream that begins with one, or that ends without a word. */
export async function gateStream(
  batches: AsyncGenerator<readonly TurnEvent[]>,
): Promise<AsyncIterable<readonly TurnEvent[]>> {
  const held: TurnEvent[] = [];
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

async function* withHeld(
  held: readonly TurnEvent[],
  rest: AsyncGenerator<readonly TurnEvent[]>,
): AsyncGenerator<readonly TurnEvent[]> {
  try {
    yield held;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}
