/**
 * How the messages of a session come and go: streamable HTTP, or HTTP with SSE, the transport of
 * 2024-11-05, which has one stream for all answers and an address for everything that is sent.
 */
import { GatewayError } from '../../core/errors.js';
import type { McpLog } from '../client/wire/log.js';
import { EventMemory } from './event-memory.js';
import type { VirtualLimits } from './limits.js';
import type { ServerSdk, Transport } from './sdk.js';

export interface SessionWire {
  readonly transport: Transport;
  /** Of the request itself where it has a stream of its own, else of the stream of the session. */
  readonly answersInPlace: boolean;
  respond(request: Request, body: unknown): Promise<Response>;
  /** The stream that waits for news. */
  endStream(): void;
}

export function streamableWire(
  sdk: ServerSdk,
  { id, limits, log }: { id: string; limits: VirtualLimits; log: McpLog },
): SessionWire {
  const transport = new sdk.StreamableTransport({
    sessionIdGenerator: () => id,
    eventStore: new EventMemory(limits),
    // The writer of the stream does that, with one timer for all of them.
    keepAliveMs: 0,
  });
  transport.onerror = (error) => log.debug({ err: error }, 'an MCP client was refused');
  return {
    transport,
    answersInPlace: true,
    respond: (request, body) =>
      transport.handleRequest(request, body === undefined ? {} : { parsedBody: body }),
    endStream: () => transport.closeStandaloneSSEStream(),
  };
}

/** `endpoint`: where the client sends everything to. */
export function sseWire(
  sdk: ServerSdk,
  endpoint: string,
  limits: Pick<VirtualLimits, 'storedChars'>,
): SessionWire {
  const transport = new SseTransport(endpoint, limits.storedChars);
  return {
    transport,
    answersInPlace: false,
    async respond({ method }, body) {
      if (method === 'GET') {
        const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' };
        return new Response(transport.stream, { headers });
      }
      let message: ReturnType<ServerSdk['parseMessage']>;
      try {
        message = sdk.parseMessage(body);
      } catch {
        const error = {
          code: sdk.ErrorCode.InvalidRequest,
          message: 'The body is not one JSON-RPC message.',
        };
        return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 400 });
      }
      transport.onmessage?.(message);
      return new Response(null, { status: 202 });
    },
    endStream: () => void transport.close(),
  };
}

function unread(): GatewayError {
  return new GatewayError('rate_limited', 'Too many answers of this MCP session are unread. Open a new one.');
}

class SseTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  readonly stream: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  /** `most`: bytes that wait for a client that does not read. */
  constructor(endpoint: string, most: number) {
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          this.#write('endpoint', endpoint);
        },
        cancel: () => {
          this.#controller = undefined;
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: most }),
    );
  }

  async start(): Promise<void> {}

  async send(message: Parameters<Transport['send']>[0]): Promise<void> {
    this.#write('message', JSON.stringify(message));
  }

  async close(): Promise<void> {
    const controller = this.#controller;
    this.#controller = undefined;
    controller?.close();
    this.onclose?.();
  }

  #write(event: string, data: string): void {
    const controller = this.#controller;
    if (controller === undefined) throw new Error('The stream of the session is closed');
    // Every request is answered here, and nothing else makes its client wait with the next.
    if ((controller.desiredSize ?? 0) <= 0) {
      this.#controller = undefined;
      controller.error(unread());
      throw unread();
    }
    controller.enqueue(new TextEncoder().encode(`event: ${event}\ndata: ${data}\n\n`));
  }
}
