import type { LookupFunction } from 'node:net';

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface HttpRequest {
  method: Method;
  /** Not changed afterwards: its object stands for it from then on. */
  url: URL;
  /** Beyond `host` and the framing headers, which are the client's own business. */
  headers: Readonly<Record<string, string>>;
  /** Not kept: dropped once it is written and no stale connection can ask for it again. */
  body?: Uint8Array | string;
  /** Ends the request at any stage, the body included, and destroys its connection at once. */
  signal: AbortSignal;
  /** Name lookup, connection, proxy and TLS together. */
  connectTimeoutMs: number;
  /** From the request being sent to the head of the answer. */
  headersTimeoutMs: number;
  /** Between two reads of the answer; not counted while the consumer is the slow one. */
  idleTimeoutMs: number;
}

export interface HttpResponse {
  status: number;
  /** Lower case; repeated headers joined with `, `. Without content-encoding and length once decoded. */
  headers: Record<string, string>;
  /**
   * One buffer for each read of the socket, unframed and decoded; reads are joined when the consumer
   * fell behind. Throws GatewayError when the answer ends early. To be read to its end (the connection
   * goes back to the pool) or ended with `return()` (the connection is destroyed).
   */
  body: ResponseBody;
}

export interface ResponseBody extends AsyncIterableIterator<Buffer, undefined> {
  return(): Promise<IteratorReturnResult<undefined>>;
}

export interface HttpClientOptions {
  /** Idle connections kept for each origin. */
  maxIdlePerHost?: number;
  /** How long a connection may stay idle; a shorter `keep-alive: timeout` of the upstream wins. */
  keepAliveMs?: number;
  /** Name lookup; must answer `all: true`. */
  lookup?: LookupFunction;
  /** Certificate authorities to trust instead of the built-in ones (PEM). */
  ca?: string | Buffer | (string | Buffer)[];
  /** Where HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY are read from. */
  env?: Readonly<Record<string, string | undefined>>;
}
