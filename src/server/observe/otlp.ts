/**
 * `POST /v1/metrics`, `/v1/logs` and `/v1/traces`: the telemetry that coding programs send to their
 * gateway. It is answered with 200 whether or not somebody collects it: anything else is an error in the
 * client's log at every flush. Where a collector is configured, it gets the bytes and no credential of the client.
 */
import type { Log } from '../../observability/log.js';
import { HttpClient, readAll } from '../../transport/http-client/http-client.js';
import type { Access } from '../access/auth.js';
import type { Limits } from '../http/limits.js';
import { readBody } from '../http/read-request.js';
import { sendText } from '../http/respond.js';
import type { Handler, HttpRoute } from '../http/route-table.js';

/** Where telemetry goes. */
export interface Collector {
  url: string;
  headers: Readonly<Record<string, string>>;
}

/** Never rejects, and keeps nobody waiting: what cannot be taken now is lost. */
export interface TelemetrySink {
  send(signal: string, contentType: string, body: Buffer): void;
  close(): Promise<void>;
}

export interface OtlpContext {
  telemetry: TelemetrySink;
  limits: Limits;
}

/** A flush of a client is some kilobytes. */
const BODY_BYTES = 4 * 1024 * 1024;
/** A collector that falls behind gets no more: its clients send new figures soon. */
const AT_ONCE = 8;
const TIMEOUT_MS = 10_000;
const ANSWER_BYTES = 1024 * 1024;
const JSON_TYPE = 'application/json';
const PROTOBUF_TYPE = 'application/x-protobuf';

/** Not counted against the rate of a key, which is for its requests to models. */
const CALL: Access = { area: 'models', scope: 'call', uncounted: true };

const takeTelemetry =
  (signal: string): Handler<OtlpContext> =>
  async (exchange, { telemetry, limits }) => {
    const isJson = exchange.headers['content-type']?.includes('json') === true;
    const contentType = isJson ? JSON_TYPE : PROTOBUF_TYPE;
    const body = await readBody(exchange, limits, Math.min(BODY_BYTES, limits.bodyBytes));
    telemetry.send(signal, contentType, body);
    // In protobuf an answer without a word is a message without fields.
    sendText(exchange, 200, contentType, isJson ? '{}' : '');
  };

export const OTLP_ROUTES: readonly HttpRoute<OtlpContext>[] = ['metrics', 'logs', 'traces'].map((signal) => ({
  method: 'POST',
  path: `/v1/${signal}`,
  access: CALL,
  handle: takeTelemetry(signal),
}));

const NOWHERE: TelemetrySink = { send: () => {}, close: async () => {} };

export function openTelemetrySink(collector: Collector | undefined, log: Log): TelemetrySink {
  if (collector === undefined) return NOWHERE;
  const { url, headers } = collector;
  const client = new HttpClient();
  const ended = new AbortController();
  let open = 0;
  let isFailing = false;

  async function relay(signal: string, contentType: string, body: Buffer): Promise<void> {
    const { status, body: answer } = await client.request({
      method: 'POST',
      url: new URL(`${url.replace(/\/+$/, '')}/v1/${signal}`),
      headers: { 'content-type': contentType, ...headers },
      body,
      signal: ended.signal,
      connectTimeoutMs: TIMEOUT_MS,
      headersTimeoutMs: TIMEOUT_MS,
      idleTimeoutMs: TIMEOUT_MS,
    });
    await readAll(answer, ANSWER_BYTES);
    if (status < 200 || status >= 300) throw new Error(`The collector answered ${status}.`);
  }

  return {
    send(signal, contentType, body) {
      if (open >= AT_ONCE || ended.signal.aborted) return;
      open += 1;
      relay(signal, contentType, body)
        .then(() => {
          isFailing = false;
        })
        .catch((error: unknown) => {
          // Once for an outage, not once for each flush of each client.
          if (!isFailing && !ended.signal.aborted) log.warn({ err: error }, 'telemetry was not collected');
          isFailing = true;
        })
        .finally(() => {
          open -= 1;
        });
    },
    async close() {
      ended.abort();
      await client.close();
    },
  };
}
