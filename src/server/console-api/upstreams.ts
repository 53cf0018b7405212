/** `/api/upstreams`: upstreams at run time, for administrators. */
import { NO_STORE, sendJson, sendText } from '../http/respond.js';
import type { ConsoleApiHandler } from './context.js';
import { readJsonBody } from './request.js';

export const listUpstreams: ConsoleApiHandler = async (exchange, { upstreams }) => {
  sendJson(exchange, 200, await upstreams.list(), NO_STORE);
};

export const addUpstream: ConsoleApiHandler = async (exchange, { upstreams, limits }) => {
  const body = await readJsonBody(exchange, limits);
  sendJson(exchange, 201, await upstreams.add(body, exchange.principal.name), NO_STORE);
};

export const testUpstream: ConsoleApiHandler = async (exchange, { upstreams, limits }) => {
  const body = await readJsonBody(exchange, limits);
  sendJson(exchange, 200, await upstreams.test(body, exchange.signal), NO_STORE);
};

/** Takes nothing from the caller: which addresses are asked is fixed. */
export const findLocalUpstreams: ConsoleApiHandler = async (exchange, { upstreams }) => {
  sendJson(exchange, 200, await upstreams.local(exchange.signal), NO_STORE);
};

export const removeUpstream: ConsoleApiHandler = async (exchange, { upstreams }, { name = '' }) => {
  sendJson(exchange, 200, await upstreams.remove(name, exchange.principal.name), NO_STORE);
};

/** Those that were connected at run time, as the file would say it. */
export const exportUpstreams: ConsoleApiHandler = async (exchange, { upstreams }) => {
  sendText(exchange, 200, 'text/plain; charset=utf-8', await upstreams.toYaml(), NO_STORE);
};
