/** Health, readiness and metrics. */
import { GatewayError } from '../../core/errors.js';
import type { Log } from '../../observability/log.js';
import type { Metrics } from '../../observability/metrics.js';
import type { Store } from '../../store/store.js';
import { seesModel } from '../access/auth.js';
import { sendJson, sendStatus, sendText } from '../http/respond.js';
import type { Handler, HttpRoute } from '../http/route-table.js';

export interface ObserveContext {
  store: Pick<Store, 'info'>;
  metrics: Metrics;
  log: Log;
  /** No new work: the gateway is about to stop. */
  isDraining(): boolean;
}

/** The process answers. */
const health: Handler<ObserveContext> = (exchange) => {
  sendJson(exchange, 200, { status: 'ok' });
};

/** New work is welcome. */
const readiness: Handler<ObserveContext> = async (exchange, { store, isDraining, log }) => {
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

const metrics: Handler<ObserveContext> = async (exchange, context) => {
  const { principal } = exchange;
  const text = withoutOthers(await context.metrics.render(), (model) => seesModel(principal, model));
  sendText(exchange, 200, 'text/plain; version=0.0.4; charset=utf-8', text);
};

/** Of requests without a model, and of names that nothing routes. */
const UNNAMED: ReadonlySet<string> = new Set(['', 'other']);
const MODEL_LABEL = /[{,]model="((?:[^"\\]|\\.)*)"/;

/** Figures of models that the key may not call are left out, line by line. */
function withoutOthers(text: string, sees: (model: string) => boolean): string {
  return text
    .split('\n')
    .filter((line) => {
      const model = MODEL_LABEL.exec(line)?.[1];
      return model === undefined || UNNAMED.has(model) || sees(model);
    })
    .join('\n');
}

/** Some clients ask whether anyone is there before their first request. */
const probe: Handler<ObserveContext> = (exchange) => {
  sendStatus(exchange, 200);
};

export const OBSERVE_ROUTES: readonly HttpRoute<ObserveContext>[] = [
  { method: 'HEAD', path: '/', access: { area: 'public' }, handle: probe, whileDraining: true },
  { method: 'HEAD', path: '/api/hello', access: { area: 'public' }, handle: probe, whileDraining: true },
  { method: 'GET', path: '/healthz', access: { area: 'public' }, handle: health, whileDraining: true },
  { method: 'GET', path: '/readyz', access: { area: 'public' }, handle: readiness, whileDraining: true },
  { method: 'GET', path: '/metrics', access: { area: 'metrics' }, handle: metrics, whileDraining: true },
];
