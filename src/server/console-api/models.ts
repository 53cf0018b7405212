/** What the console can talk to: names, what upstreams list behind a pattern, and the patterns. */
import type { OfferedModel } from '../../engines/model-catalogue.js';
import { sendJson } from '../http/respond.js';
import type { ConsoleApiHandler } from './context.js';
import type { ModelWire } from './wire/sessions.js';

export const listConsoleModels: ConsoleApiHandler = async (exchange, { dispatcher, models }) => {
  const listed = await exchange.untilAborted(dispatcher.models());
  const data = models.offered(exchange.principal, listed).map(toWire);
  sendJson(exchange, 200, { data }, { 'cache-control': 'no-store' });
};

function toWire(model: OfferedModel): ModelWire {
  return {
    name: model.name,
    pattern: model.pattern,
    engine: model.engine,
    display_name: model.displayName ?? null,
    upstreams: [...model.upstreams],
    root: model.root ?? null,
    context_window: model.contextWindow ?? null,
    priced: model.priced,
  };
}
