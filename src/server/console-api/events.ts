/**
 * `GET /api/events`: everything that the console shows, as it happens. See wire/events.ts. With
 * `?once=1` it is the snapshot alone, as JSON.
 */
import { NO_STORE, sendJson } from '../http/respond.js';
import type { ConsoleApiHandler } from './context.js';
import { viewerOf } from './events/event-streams.js';

export const readEvents: ConsoleApiHandler = async (exchange, { events, streams }) => {
  const query = new URLSearchParams(exchange.query);
  if (query.get('once') === '1') {
    const { id, snapshot } = await events.snapshot(viewerOf(exchange.principal));
    sendJson(exchange, 200, { id, prev: null, ...snapshot }, NO_STORE);
    return;
  }
  const header = exchange.request.headers['last-event-id'];
  const last = typeof header === 'string' && header !== '' ? header : query.get('last_event_id');
  await streams.serve(exchange, last ?? undefined);
};
