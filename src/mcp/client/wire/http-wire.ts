/** A server somewhere on the network: streamable HTTP, or the older transport with SSE. */
import { atMost } from '../../../core/deferred.js';
import type { HttpClient } from '../../../transport/http-client/http-client.js';
import { createBoundedFetch } from './bounded-fetch.js';
import type { FetchLike, OAuthClientProvider, Sdk } from './sdk.js';
import type { Wire, WireContext } from './wire.js';

interface HttpOptions {
  type: 'http' | 'sse';
  url: URL;
  headers: Readonly<Record<string, string>>;
  client: HttpClient;
  /** For other hosts than the server's own. */
  elsewhere?: (url: URL, signal: AbortSignal) => Promise<HttpClient>;
  /** Absent where the configuration itself has the credential. */
  authProvider?: OAuthClientProvider;
}

/** What the SDK says of a listening stream that it could not keep. */
const STREAM_TROUBLE = /SSE stream|reconnect/i;

export function openHttp(sdk: Sdk, options: HttpOptions, context: WireContext): Wire {
  const { url, headers, client } = options;
  let refused = false;
  let failure: unknown;
  const fetch = createBoundedFetch({
    client,
    origin: url.origin,
    headers,
    limits: context.limits,
    ...(options.elsewhere === undefined ? {} : { elsewhere: options.elsewhere }),
    onStatus(status, { origin }) {
      if (origin === url.origin && status === 401) refused = true;
    },
    onFailure(error) {
      failure = error;
    },
  });
  const made =
    options.type === 'http'
      ? streamable(sdk, options, fetch, context)
      : sse(sdk, options, fetch, context, () => failure);
  return { ...made, ending: () => undefined, lastWords: () => undefined, refusedCredential: () => refused };
}

type Made = Pick<Wire, 'transport' | 'close'>;

function streamable(
  sdk: Sdk,
  { url, authProvider }: HttpOptions,
  fetch: FetchLike,
  context: WireContext,
): Made {
  const transport = new sdk.StreamableHTTPClientTransport(url, {
    fetch,
    ...(authProvider === undefined ? {} : { authProvider }),
  });
  transport.onerror = (error) => {
    if (STREAM_TROUBLE.test(error.message)) context.onDoubt();
  };
  let closing: Promise<void> | undefined;
  return {
    transport,
    close() {
      closing ??= (async () => {
        // Only a courtesy: neither its failure nor its delay matters.
        await atMost(
          context.limits.endSessionMs,
          transport.terminateSession().catch(() => {}),
        );
        await transport.close();
      })();
      return closing;
    },
  };
}

function sse(
  sdk: Sdk,
  { url, authProvider }: HttpOptions,
  fetch: FetchLike,
  context: WireContext,
  failure: () => unknown,
): Made {
  const transport = new sdk.SSEClientTransport(url, {
    fetch,
    ...(authProvider === undefined ? {} : { authProvider }),
  });
  const start = transport.start.bind(transport);
  let started = false;
  transport.start = async () => {
    try {
      await start();
      started = true;
    } catch (error) {
      // Its event source keeps only the text of what went wrong.
      throw failure() ?? error;
    }
  };
  // Its event source connects again by itself, but to a session that was never initialised. It says
  // so before it sets its timer: closing it at that moment does not stop the timer.
  transport.onerror = (error) => {
    if (!started || !(error instanceof sdk.SseError)) return;
    queueMicrotask(() => context.onBroken('it closed the connection'));
  };
  return { transport, close: () => transport.close() };
}
