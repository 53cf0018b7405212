/** For whoever watches the gateway. */
import { GatewayError } from '../core/errors.js';
import type { Handler } from './context.js';
import { sendJson, sendStatus, sendText } from './respond.js';

/** The process answers. */
export const health: Handler = (exchange) => {
  sendJson(exchange, 200, { status: 'ok' });
};

/** New work is welcome. */
export const readiness: Handler = async (exchange, { store, isDraining, log }) => {
  if (isDraining()) {
    throw new GatewayError('unavailable', 'The gateway is shutting down.', { retryAfter: 1 });
  }
  try {
    await store.info();
  } catch (error) {
    log.warn({ id: exchange.id, err: error }, 'store not reachable');
    throw new GatewayError('unavailable', 'The store does not answer.', { retryAfter: 1, cause: error });
  }
  sendJson(exchange, 200, { status: 'ready' });
};

export const metrics: Handler = async (exchange, context) => {
  const text = await context.metrics.render();
  sendText(exchange, 200, 'text/plain; version=0.0.4; charset=utf-8', text);
};

/** Some clients ask whether anyone is there before their first request. */
export const probe: Handler = (exchange) => {
  sendStatus(exchange, 200);
};
