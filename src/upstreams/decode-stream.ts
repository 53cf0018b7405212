/** The bytes of a streamed answer into model events. */
import { GatewayError } from '../core/errors.js';
import type { ModelEvent } from '../core/events.js';
import type { ServerSentEvent } from '../core/server-sent-event.js';
import type { StreamDecoder } from '../dialects/shared/dialect.js';
import { SseReader } from '../transport/sse-reader.js';
import type { CredentialConcealer } from './conceal-credential.js';
import type { ToolExtensionCache } from './tool-extension-cache.js';
import type { RequestTrace } from './upstream.js';

/** One batch a read: the cost of an event is a call, not a promise. */
export async function* decodeStream(
  body: AsyncIterable<Buffer>,
  decoder: StreamDecoder,
  concealer: CredentialConcealer,
  trace: RequestTrace | undefined,
  extensions?: ToolExtensionCache,
): AsyncGenerator<ModelEvent[]> {
  const reader = new SseReader();
  const source = body[Symbol.asyncIterator]();
  let events: ServerSentEvent[] = [];
  let over = false;
  try {
    for (let read = await source.next(); read.done !== true; read = await source.next()) {
      trace?.upstreamChunk(read.value);
      reader.push(read.value, events);
      if (events.length === 0) continue;
      const batch: ModelEvent[] = [];
      for (const event of events) decoder.push(event, batch);
      concealer.errorsIn(batch);
      events = [];
      extensions?.remember(batch);
      over = decoder.done;
      if (over) endQuietly(source);
      if (batch.length > 0) yield batch;
      if (over) return;
    }
    over = true;
    reader.end(events);
    const batch: ModelEvent[] = [];
    for (const event of events) decoder.push(event, batch);
    decoder.end(batch);
    concealer.errorsIn(batch);
    if (batch.length > 0) yield batch;
  } catch (error) {
    yield [{ type: 'error', error: brokenStream(error) }];
  } finally {
    if (!over) await source.return?.();
  }
}

/** Time for an upstream to end its answer after the last event, so that the connection can be used again. */
const END_GRACE_MS = 1_000;

/** The answer is whole: the rest of the connection's bytes does not matter. */
function endQuietly(source: AsyncIterator<Buffer>): void {
  const giveUp = setTimeout(() => void source.return?.(), END_GRACE_MS).unref();
  const readOn = async (): Promise<void> => {
    while ((await source.next()).done !== true);
  };
  readOn().then(
    () => clearTimeout(giveUp),
    () => clearTimeout(giveUp),
  );
}

function brokenStream(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  return new GatewayError(
    'upstream_failed',
    'The connection to the upstream broke during its answer. Retry the request.',
    {
      retryable: true,
      cause: error,
    },
  );
}
