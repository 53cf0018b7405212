/** Health, readiness and metrics. */
import { GatewayError } from '../../core/errors.js';
import type { Principal } from '../../engines/engine.js';
import type { Log } from '../../observability/log.js';
import type { StoreGauges } from '../../observability/store-figures.js';
import { seesModel } from '../access/auth.js';
import { sendJson, sendStatus, sendText } from '../http/respond.js';
import type { Handler, HttpRoute } from '../http/route-table.js';
import { OTLP_ROUTES, type OtlpContext } from './otlp.js';

export interface ObserveContext extends OtlpContext {
  readiness: Readiness;
  gauges: StoreGauges;
  /** The figures of the gateway, those of its siblings among them where it has some. */
  figures(): Promise<string>;
  log: Log;
  /** No new work: the gateway is about to stop. */
  isDraining(): boolean;
}

/** How long an answer of the store is believed: anybody may ask, and each look is a write. */
const BELIEVED_MS = 1000;

export class Readiness {
  readonly #probe: () => Promise<void>;
  #askedAt = Number.NEGATIVE_INFINITY;
  #answer = Promise.resolve();

  constructor(probe: () => Promise<void>) {
    this.#probe = probe;
  }

  /** Rejects where the store cannot be written. */
  check(now = performance.now()): Promise<void> {
    if (now - this.#askedAt >= BELIEVED_MS) {
      this.#askedAt = now;
      this.#answer = this.#probe();
      this.#answer.catch(() => {});
    }
    return this.#answer;
  }
}

/** The process answers. */
const health: Handler<ObserveContext> = (exchange) => {
  sendJson(exchange, 200, { status: 'ok' });
};

/** New work is welcome. */
const isReady: Handler<ObserveContext> = async (exchange, { readiness, isDraining, log }) => {
  if (isDraining()) {
    throw new GatewayError('unavailable', 'The gateway is shutting down.', { retryAfter: 1 });
  }
  try {
    await readiness.check();
  } catch (error) {
    log.warn({ id: exchange.id, err: error }, 'the store cannot be used');
    throw new GatewayError('unavailable', 'The store cannot be used. The log says why.', {
      retryAfter: 1,
      cause: error,
    });
  }
  sendJson(exchange, 200, { status: 'ready' });
};

const metrics: Handler<ObserveContext> = async (exchange, context) => {
  const { principal } = exchange;
  const rendered = `${await context.figures()}${await context.gauges.render()}`;
  const text = withoutOthers(rendered, principal);
  sendText(exchange, 200, 'text/plain; version=0.0.4; charset=utf-8', text);
};

/** Of requests without a model, and of names that nothing routes. */
const UNNAMED: ReadonlySet<string> = new Set(['', 'other']);
const MODEL_LABEL = /[{,]model="((?:[^"\\]|\\.)*)"/;

const TEAM_LABEL = /[{,]team="((?:[^"\\]|\\.)*)"/;

/** Figures of models that the key may not call, and of teams that it does not belong to, are left out, line by line. */
function withoutOthers(text: string, principal: Principal): string {
  const isAdmin = principal.scopes.includes('admin');
  return text
    .split('\n')
    .filter((line) => {
      const model = MODEL_LABEL.exec(line)?.[1];
      const team = TEAM_LABEL.exec(line)?.[1];
      if (team !== undefined && !isAdmin && team !== principal.team) return false;
      return model === undefined || UNNAMED.has(model) || seesModel(principal, model);
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
  { method: 'GET', path: '/readyz', access: { area: 'public' }, handle: isReady, whileDraining: true },
  { method: 'GET', path: '/metrics', access: { area: 'metrics' }, handle: metrics, whileDraining: true },
  ...OTLP_ROUTES,
];
