/** `/api/keys`: keys at run time, for administrators. */
import { GatewayError } from '../../core/errors.js';
import { isGlob, ModelGlob } from '../../routing/model-glob.js';
import type { Exchange } from '../http/exchange.js';
import { NO_STORE, sendJson } from '../http/respond.js';
import type { ConsoleApiContext, ConsoleApiHandler } from './context.js';
import { KeyAdministration } from './key-administration.js';
import { readJsonBody } from './request.js';

export const listKeys: ConsoleApiHandler = async (exchange, context) => {
  sendJson(exchange, 200, { data: await administration(context).list() }, NO_STORE);
};

export const createKey: ConsoleApiHandler = async (exchange, context) => {
  const body = await readJsonBody(exchange, context.limits);
  const made = await administration(context).create(body, exchange.principal.name);
  sendJson(exchange, 201, made, NO_STORE);
};

export const rotateKey: ConsoleApiHandler = async (exchange, context, { id = '' }) => {
  const body = hasBody(exchange) ? await readJsonBody(exchange, context.limits) : {};
  const rotated = await administration(context).rotate(id, body, exchange.principal.name);
  sendJson(exchange, 200, rotated, NO_STORE);
};

/** The id or the name is in the path or in the query. */
export const revokeKey: ConsoleApiHandler = async (exchange, context, parameters) => {
  const which = parameters['id'] ?? new URLSearchParams(exchange.query).get('id') ?? '';
  if (which === '') {
    throw new GatewayError('invalid_request', 'id: say which key, as DELETE /api/keys/ID.', { param: 'id' });
  }
  const revoked = await administration(context).revoke(which, exchange.principal.name);
  sendJson(exchange, 200, revoked, NO_STORE);
};

function hasBody({ request: { headers } }: Exchange): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

function administration({ keys, store, models }: ConsoleApiContext): KeyAdministration {
  const names = () => models.offered({ name: '', models: ['*'] }).map(({ name }) => name);
  return new KeyAdministration({
    ring: keys,
    store: store.keys,
    hasModel: (pattern) => meets(pattern, names()),
  });
}

/** Whether a pattern of a key and one of the configuration can mean the same model. */
export function meets(pattern: string, names: readonly string[]): boolean {
  return names.some((name) => {
    if (name === pattern || name === '*' || pattern === '*') return true;
    if (isGlob(pattern) && new ModelGlob(pattern).matches(name.replaceAll('*', ''))) return true;
    return isGlob(name) && new ModelGlob(name).matches(pattern.replaceAll('*', ''));
  });
}
