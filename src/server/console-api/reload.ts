/** `POST /api/reload`: the configuration file is loaded again, for administrators. */
import { NO_STORE, sendJson } from '../http/respond.js';
import type { ConsoleApiHandler } from './context.js';
import type { ReloadWire } from './wire/keys.js';

/** Rejects with GatewayError, 422 where the file is wrong; nothing has changed then. `by` is for the log. */
export type Reload = (by: string) => Promise<ReloadWire>;

export const reloadConfiguration: ConsoleApiHandler = async (exchange, { reload }) => {
  sendJson(exchange, 200, await reload(exchange.principal.name), NO_STORE);
};
